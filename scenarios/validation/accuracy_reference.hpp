// SPDX-License-Identifier: Apache-2.0
// What the accuracy page holds our errors against: bars, and other predictors on the same rows (scenarios/accuracy).
#pragma once

#include <headroom/scenarios/validation/budget.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headroom {

/// The error of another predictor on published rows, as a share.
struct Rival {
  std::string tool;
  double mape = 0.0;
  std::optional<double> median, p90;
  std::int64_t rows = 0;  ///< that theirs stands on
  RowGroup where;         ///< ours
  std::string metric;
  std::string source;
};

struct AccuracyReference {
  std::vector<BudgetBar> bars;
  std::vector<Rival> rivals;
  /// The groups that both name by conditions: a validation has to score them for the page to show them.
  [[nodiscard]] std::vector<RowGroup> groups() const;
};

/// Of the embedded files. ConfigError when one is broken.
[[nodiscard]] const AccuracyReference& accuracy_reference();

/// Every problem goes to `diagnostics`.
[[nodiscard]] std::vector<Rival> read_rivals(const ConfigValue& root, Diagnostics& diagnostics);

}  // namespace headroom
