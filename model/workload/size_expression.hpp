// SPDX-License-Identifier: Apache-2.0
// Sizes written as arithmetic over named whole numbers: "4 * width", "(heads + 2) * head_dim", "tokens / 4".
#pragma once

#include <headroom/core/config_reader.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// Named whole numbers, and behind them those of whoever is outside.
class Sizes {
 public:
  explicit Sizes(const Sizes* outside = nullptr) : outside_{outside} {}
  void set(std::string_view name, std::int64_t value) { own_.insert_or_assign(std::string{name}, value); }
  [[nodiscard]] std::optional<std::int64_t> find(std::string_view name) const;
  [[nodiscard]] std::vector<std::string_view> names() const;
  /// Its own, without those outside.
  [[nodiscard]] const std::map<std::string, std::int64_t, std::less<>>& own() const noexcept { return own_; }

 private:
  const Sizes* outside_;
  std::map<std::string, std::int64_t, std::less<>> own_;
};

struct SizeResult {
  std::int64_t value = 1;
  std::string problem;  ///< empty: none
};

/// + - * / and parentheses over whole numbers and names. A division with a remainder is a problem, as are names that
/// nobody has and values beyond 2^52.
[[nodiscard]] SizeResult evaluate_size(std::string_view text, const Sizes& sizes);

/// Writes the value of every text under `keys` of `table` in its place, in arrays too.
void put_sizes(ConfigValue& table, const Sizes& sizes, std::span<const std::string_view> keys, ConfigTable& reader);

/// The size that `key` states as a whole number or as arithmetic; a problem of `table` where it states neither.
std::optional<std::int64_t> read_size(ConfigTable& table, std::string_view key, const Sizes& sizes);

}  // namespace headroom
