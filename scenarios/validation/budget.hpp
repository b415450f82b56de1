// SPDX-License-Identifier: Apache-2.0
// Bars (required accuracies) of a validation, from TOML.
#pragma once

#include <headroom/core/config_reader.hpp>
#include <headroom/scenarios/validation/validation.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// Limits are shares, not percent. `within`, `coverage`, `tau` and `layout_tau` are minima, the others maxima.
struct BudgetBar {
  std::string name;  ///< name for print; blank: name of the group
  std::string group, metric;
  std::optional<double> coverage, mape, median, p90, within;
  std::optional<double> within_most;  ///< maximum share within the interval, for intervals that are not bounds
  std::optional<double> left_out;     ///< MAPE of rows whose source was left out of the fit
  std::optional<double> regret, regret_p90, tau;  ///< sweeps: median regret, its 90 % quantile, Kendall's tau
  std::optional<double> layout_tau;               ///< mean Kendall's tau over questions with several layouts
  std::optional<RowGroup> where;                  ///< conditions in place of `group`
  std::string file;
  Position at;
};
[[nodiscard]] std::vector<BudgetBar> read_budget(const ConfigValue& root, const std::string& file);

/// Throws ConfigError naming every bar whose conditions use a column that no file has.
void require_columns(std::span<const BudgetBar> bars, std::span<const RunFile> files);

/// One limit of a bar and the value reached.
struct BarCheck {
  std::string group, metric;
  std::string_view what;  ///< "mape", "coverage", ...
  double limit = 0.0;
  double reached = 0.0;  ///< NaN: the group has no rows
  bool holds = false;
  bool at_least = false;
  std::string name{};  ///< name of the bar
  /// `value` for print: "7.1 %", "0.62" for a correlation, "-" for NaN.
  [[nodiscard]] std::string text(double value) const;
};
/// Checks all bars; limits on left-out sources use the rows predicted without their source, if there are any.
[[nodiscard]] std::vector<BarCheck> check_bars(const Validation& validation, std::span<const BudgetBar> bars);
/// One line per bar that is missed or names an empty group; empty when all hold.
[[nodiscard]] std::vector<std::string> missed_bars(const Validation& validation, std::span<const BudgetBar> bars);

}  // namespace headroom
