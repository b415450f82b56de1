// SPDX-License-Identifier: Apache-2.0
// A Hugging Face config.json as its families read it: several spellings a key, null as absent, the text model inside
// or outside of `text_config`.
#pragma once

#include <headroom/core/config_reader.hpp>

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// Bounds of every width and count in a network: products of two stay exact in a double.
inline constexpr Range<std::int64_t> hf_size{1, std::int64_t{1} << 30};
inline constexpr Range<std::int64_t> hf_size_or_none{0, std::int64_t{1} << 30};

using HfKeys = std::initializer_list<std::string_view>;

/// Experts that a token meets, by every name that a family gives them.
inline const HfKeys top_k_keys{"num_experts_per_tok", "num_experts_per_token", "experts_per_token", "moe_top_k"};

/// Looks keys up in the nested table first, then at the root. A spelling may be a path: "attn_config.kv_n_heads".
class HfReader {
 public:
  /// `remarks` are of details that were left blank: they stop nothing.
  HfReader(const ConfigValue& root, std::string file, Diagnostics& diagnostics, Diagnostics& remarks);

  [[nodiscard]] Diagnostics& diagnostics() const noexcept { return *diagnostics_; }
  [[nodiscard]] Diagnostics& remarks() const noexcept { return *remarks_; }
  [[nodiscard]] const std::string& file() const noexcept { return file_; }
  /// The text model's own table when there is one.
  [[nodiscard]] const ConfigValue* nested() const noexcept { return nested_; }

  /// The value of the first spelling that is there and not null.
  [[nodiscard]] const ConfigValue* find(HfKeys keys) const;
  [[nodiscard]] bool has(HfKeys keys) const { return find(keys) != nullptr; }

  /// Required: "missing key 'hidden_size' (or 'n_embd', 'd_model')"; 1 when it is missing or wrong.
  std::int64_t size(HfKeys keys);
  std::optional<std::int64_t> maybe(HfKeys keys, Range<std::int64_t> range = hf_size);
  std::int64_t size_or(HfKeys keys, std::int64_t fallback, Range<std::int64_t> range = hf_size);
  /// A number that no byte and no second hangs on: outside its range it is remarked and stays blank.
  std::optional<double> maybe_detail(HfKeys keys, Range<double> range);
  std::optional<std::int64_t> maybe_detail(HfKeys keys, Range<std::int64_t> range);
  std::optional<bool> maybe_flag(HfKeys keys);
  bool flag_or(HfKeys keys, bool fallback) { return maybe_flag(keys).value_or(fallback); }
  std::string text_or(HfKeys keys, std::string_view fallback);
  /// Arrays; a wrong element is a problem. Missing: empty.
  std::vector<std::string> words(HfKeys keys);
  std::vector<std::int64_t> integers(HfKeys keys, Range<std::int64_t> range = hf_size_or_none);
  /// An array with one element a layer; another length is a problem and gives an empty one.
  std::vector<std::string> words_per_layer(HfKeys keys, std::int64_t layers);
  std::vector<std::int64_t> integers_per_layer(HfKeys keys, std::int64_t layers);

  /// A problem at the value of the first spelling found, or at the text model's table.
  void problem(HfKeys keys, std::string message);

 private:
  struct Found {
    const ConfigValue* value = nullptr;
    std::string_view key;
  };
  [[nodiscard]] Found pick(HfKeys keys) const;
  [[nodiscard]] const ConfigValue* look(std::string_view path) const;
  /// Whether a text is one line of printable characters; a problem where not.
  bool is_line(std::string_view key, const ConfigValue& value);
  /// A value as a number of a kind; a problem where it is none.
  std::optional<std::int64_t> whole(const Found& found);
  std::optional<double> number(const Found& found);
  void add(const ConfigValue* value, std::string message);

  const ConfigValue* root_;
  const ConfigValue* nested_ = nullptr;
  std::string file_;
  Diagnostics* diagnostics_;
  Diagnostics* remarks_;
};

}  // namespace headroom
