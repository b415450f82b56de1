// SPDX-License-Identifier: Apache-2.0
// Shared by the sections of the accuracy page: lines of Markdown tables, shares as percent, and bars with what was
// reached.
#pragma once

#include <headroom/scenarios/validation/budget.hpp>

#include <span>
#include <string>
#include <vector>

namespace headroom {

/// "12.5" for 0.125; "-" for NaN.
[[nodiscard]] std::string percent_text(double fraction);
[[nodiscard]] std::string signed_percent_text(double fraction);
/// "0.86"; "-" for NaN.
[[nodiscard]] std::string correlation_text(double tau);

/// Name of a group without its leading "where ", for a column that already says so.
[[nodiscard]] std::string shown_group(const std::string& group);

/// Line of a table, "| a | b |"; a `|` inside a cell is escaped.
[[nodiscard]] std::string table_line(const std::vector<std::string>& cells);
/// Column names and the line of dashes below them.
[[nodiscard]] std::string table_header(const std::vector<std::string>& names);

/// Table of all limits with the values reached, and the number of limits that hold.
[[nodiscard]] std::string bars_table(const Validation& validation, std::span<const BudgetBar> bars);

}  // namespace headroom
