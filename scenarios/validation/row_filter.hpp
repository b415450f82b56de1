// SPDX-License-Identifier: Apache-2.0
// Conditions on the columns of measured rows.
#pragma once

#include <headroom/scenarios/measured/run_row.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// A condition "column=a|b", "!=", "<=" or ">=". A column may be "options.KEY"; "file" matches the path or the file
/// name.
struct RowFilter {
  enum class Op : std::uint8_t { equal, unequal, at_most, at_least };
  std::string column;
  Op op = Op::equal;
  std::vector<std::string> values;
  double bound = 0.0;
};
/// Throws ConfigError for an invalid expression; the message begins with `option`.
[[nodiscard]] RowFilter parse_filter(std::string_view expression, std::string_view option = "--where");
/// "no file has a column 'layer'; did you mean 'layers'?"; empty for a column that some file has.
[[nodiscard]] std::string unknown_column(std::span<const RunFile> files, std::string_view column);
[[nodiscard]] bool passes(const RowFilter& filter, const RunFile& file, const RunRow& row);
[[nodiscard]] bool passes_all(std::span<const RowFilter> filters, const RunFile& file, const RunRow& row);

/// A group of rows besides the built-in ones: rows that pass all of `where`, less those that pass all of a non-empty
/// `except`.
struct RowGroup {
  std::string name;
  std::vector<RowFilter> where;
  std::vector<RowFilter> except{};
};
[[nodiscard]] bool belongs(const RowGroup& group, const RunFile& file, const RunRow& row);
/// Group named "where gpus>=65 and arch=dense except zero=3" from its expressions. Throws ConfigError for an invalid
/// one.
[[nodiscard]] RowGroup parse_group(std::span<const std::string> expressions, std::span<const std::string> except = {});

}  // namespace headroom
