// SPDX-License-Identifier: Apache-2.0
// Data of a pickle or of JSON as a graph of plain values: numbers, texts, lists and tables, each stored once however
// often it is referred to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

class PlainData {
 public:
  enum class Kind : std::uint8_t { none, flag, whole, number, text, list, table };
  using Id = std::uint32_t;
  static constexpr Id nothing = 0;  ///< a value that is not there

  /// Most values and most lists and tables of a document: some hundred million bytes of either.
  static constexpr std::size_t most_values = std::size_t{1} << 25U;
  static constexpr std::size_t most_lists = std::size_t{1} << 24U;

  PlainData() : values_(1) {}

  [[nodiscard]] Id root() const noexcept { return root_; }
  [[nodiscard]] Kind kind(Id id) const noexcept { return values_[id].kind; }
  [[nodiscard]] bool is_list(Id id) const noexcept { return kind(id) == Kind::list; }
  [[nodiscard]] bool is_table(Id id) const noexcept { return kind(id) == Kind::table; }

  /// Members of a list; keys and values of a table in turns; empty for other kinds. May refer back to a list that holds
  /// them: whoever walks down counts the levels.
  [[nodiscard]] std::span<const Id> items(Id id) const noexcept;
  /// The value of a table's key, the last of equal ones; `nothing` where there is none, or no table.
  [[nodiscard]] Id find(Id table, std::string_view key) const noexcept;
  /// Empty for other kinds.
  [[nodiscard]] std::string_view text(Id id) const noexcept;
  /// A whole number, also one that is written as a text; nullopt for other kinds and beyond 64 bits.
  [[nodiscard]] std::optional<std::int64_t> whole(Id id) const noexcept;
  [[nodiscard]] std::optional<double> number(Id id) const noexcept;
  /// Of a flag; nullopt for other kinds.
  [[nodiscard]] std::optional<bool> flag(Id id) const noexcept;
  [[nodiscard]] std::size_t size() const noexcept { return values_.size(); }

  // For those who read a file. The bytes of texts stay in `bytes`, where texts refer to them.
  [[nodiscard]] std::string& bytes() noexcept { return bytes_; }
  void set_root(Id id) noexcept { root_ = id; }
  [[nodiscard]] bool full() const noexcept { return values_.size() >= most_values || lists_.size() >= most_lists; }
  Id add_none();
  Id add_flag(bool value);
  Id add_whole(std::int64_t value);
  Id add_number(double value);
  /// The text of `size` bytes from `at` of `bytes`.
  Id add_text(std::size_t at, std::size_t size);
  /// A text of its own, put behind the bytes.
  Id add_text(std::string_view value);
  Id add_list(Kind kind);
  void append(Id list, Id item);
  void append(Id list, std::span<const Id> items);

 private:
  struct Stored {
    std::uint64_t value = 0;  ///< whole, number's bits, place of a text, number of a list
    std::uint32_t length = 0;
    Kind kind = Kind::none;
  };
  Id add(Kind kind, std::uint64_t value, std::uint32_t length = 0);

  std::string bytes_;
  std::vector<Stored> values_;  ///< the first is no value
  std::vector<std::vector<Id>> lists_;
  Id root_ = nothing;
};

}  // namespace headroom
