// SPDX-License-Identifier: Apache-2.0
// Conditions on the columns of measured rows.
#pragma once

#include <headroom/scenarios/validation/run_row.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// A condition "column=a|b", "!=", "<=", ">="; columns may be "options.KEY".
struct RowFilter {
  enum class Op : std::uint8_t { equal, unequal, at_most, at_least };
  std::string column;
  Op op = Op::equal;
  std::vector<std::string> values;
  double bound = 0.0;
};
/// ConfigError for an expression that is none.
[[nodiscard]] RowFilter parse_filter(std::string_view expression);
[[nodiscard]] bool passes(const RowFilter& filter, const RunFile& file, const RunRow& row);
[[nodiscard]] bool passes_all(std::span<const RowFilter> filters, const RunFile& file, const RunRow& row);

/// Rows that pass all of a group's conditions belong to it, beside those that every row names.
struct RowGroup {
  std::string name;
  std::vector<RowFilter> where;
};
/// "where gpus>=65 and arch=dense" of the expressions; ConfigError for one that is none.
[[nodiscard]] RowGroup parse_group(std::span<const std::string> expressions);

}  // namespace headroom
