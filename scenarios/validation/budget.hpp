// SPDX-License-Identifier: Apache-2.0
// Bars that a validation has to reach, from TOML.
#pragma once

#include <headroom/core/config_reader.hpp>
#include <headroom/scenarios/validation/validation.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// Shares, not percent. `within`, `coverage`, `tau` and `layout_tau` are to be reached, the others not to be passed.
struct BudgetBar {
  std::string name;  ///< of the rows, for people; blank: the group's
  std::string group, metric;
  std::optional<double> coverage, mape, median, p90, within;
  std::optional<double> within_most;              ///< of an interval that claims a share, not a bound
  std::optional<double> left_out;                 ///< MAPE of rows whose source was left out of the fit
  std::optional<double> regret, regret_p90, tau;  ///< of sweeps of strategies: median, 90 % quantile, Kendall's tau
  std::optional<double> layout_tau;               ///< mean of Kendall's tau over questions of several layouts
  std::optional<RowGroup> where;                  ///< the group, where the bar states conditions instead
  std::string file;
  Position at;
};
[[nodiscard]] std::vector<BudgetBar> read_budget(const ConfigValue& root, const std::string& file);

/// ConfigError with every bar whose conditions name a column that no file has.
void require_columns(std::span<const BudgetBar> bars, std::span<const RunFile> files);

/// A limit of a bar against what was reached.
struct BarCheck {
  std::string group, metric;
  std::string_view what;  ///< "mape", "coverage", ...
  double limit = 0.0;
  double reached = 0.0;  ///< NaN: the group has no rows
  bool holds = false;
  bool at_least = false;
  std::string name{};  ///< the bar's
  /// "7.1 %", or "0.62" of a correlation; "-" for NaN.
  [[nodiscard]] std::string text(double value) const;
};
/// Bars on sources left out are held against rows that were predicted so, where there are any.
[[nodiscard]] std::vector<BarCheck> check_bars(const Validation& validation, std::span<const BudgetBar> bars);
/// One line per bar that is missed or names an empty group.
[[nodiscard]] std::vector<std::string> missed_bars(const Validation& validation, std::span<const BudgetBar> bars);

}  // namespace headroom
