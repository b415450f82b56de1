// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/quantity_text.hpp>
#include <headroom/scenarios/validation/accuracy_tables.hpp>

#include <cmath>
#include <cstddef>
#include <string_view>

namespace headroom {

std::string percent_text(double fraction) {
  constexpr double rounding = 1e-12;  // error left by rounding when a single row fits its own constant
  return !std::isfinite(fraction) ? "-" : format_number(std::abs(fraction) < rounding ? 0.0 : 100.0 * fraction);
}

std::string signed_percent_text(double fraction) {
  return (std::isfinite(fraction) && fraction > 0.0 ? "+" : "") + percent_text(fraction);
}

std::string correlation_text(double tau) {
  return std::isfinite(tau) ? format_number(tau, 2) : std::string{"-"};
}

std::string shown_group(const std::string& group) {
  constexpr std::string_view where = "where ";
  return group.starts_with(where) ? group.substr(where.size()) : group;
}

std::string table_line(const std::vector<std::string>& cells) {
  std::string text = "|";
  for (const std::string& cell : cells) {
    text += ' ';
    for (const char letter : cell) {
      text += letter == '|' ? "\\|" : std::string(1, letter);
    }
    text += " |";
  }
  return text + '\n';
}

std::string table_header(const std::vector<std::string>& names) {
  std::string rule = "|";
  for (std::size_t i = 0; i < names.size(); ++i) {
    rule += "---|";
  }
  return table_line(names) + rule + '\n';
}

std::string bars_table(const Validation& validation, std::span<const BudgetBar> bars) {
  std::string text = table_header({"rows", "figure", "bar", "reached", ""});
  std::size_t held = 0;
  const std::vector<BarCheck> checks = check_bars(validation, bars);
  for (const BarCheck& check : checks) {
    const bool any = std::isfinite(check.reached);
    held += check.holds ? 1 : 0;
    const std::string rows =
        !check.name.empty() ? check.name : shown_group(check.group) + (check.metric.empty() ? "" : ", " + check.metric);
    const std::string_view figure = check.what == "within_most" ? "within" : check.what;
    text +=
        table_line({rows, std::string{figure}, (check.at_least ? "at least " : "at most ") + check.text(check.limit),
                    check.text(check.reached),
                    check.holds ? "holds"
                    : any       ? "**missed**"
                                : "no rows"});
  }
  return text + "\n" + std::to_string(held) + " of " + std::to_string(checks.size()) + " hold.\n";
}

}  // namespace headroom
