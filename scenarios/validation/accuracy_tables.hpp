// SPDX-License-Identifier: Apache-2.0
// What the sections of the accuracy page share: lines of Markdown tables, shares as percent, bars beside what is
// reached.
#pragma once

#include <headroom/scenarios/validation/budget.hpp>

#include <span>
#include <string>
#include <vector>

namespace headroom {

/// "12.5" of 0.125; "-" of no number.
[[nodiscard]] std::string percent_text(double fraction);
[[nodiscard]] std::string signed_percent_text(double fraction);
/// "0.86"; "-" of no number.
[[nodiscard]] std::string correlation_text(double tau);

/// "where gpus>=64" is "gpus>=64" in a table whose first column says which rows.
[[nodiscard]] std::string shown_group(const std::string& group);

/// "| a | b |": a line of a table; a bar inside a cell is escaped.
[[nodiscard]] std::string table_line(const std::vector<std::string>& cells);
/// The names of the columns and the rule below them.
[[nodiscard]] std::string table_header(const std::vector<std::string>& names);

/// Every limit beside what was reached, and how many hold.
[[nodiscard]] std::string bars_table(const Validation& validation, std::span<const BudgetBar> bars);

}  // namespace headroom
