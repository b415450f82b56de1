// SPDX-License-Identifier: Apache-2.0
// What the accuracy page holds our errors against: bars, other predictors on the same rows, and what predictors of
// serving claim on rows of their own (scenarios/accuracy).
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

/// What another predictor says of its error, in its own words: on its own data, so on no row of ours.
struct Claim {
  std::string tool;
  std::string quantity;  ///< "time to first token"
  std::string claim;     ///< "MAPE 18.0 after tuning, 26.4 before": in %
  std::string data;      ///< that the claim stands on
  std::string source;
  std::optional<RowGroup> where;  ///< our rows whose error is the like one; none where we have no such row
  std::string metric;             ///< of those
};

struct AccuracyReference {
  std::vector<BudgetBar> bars;          ///< of training
  std::vector<BudgetBar> serving_bars;  ///< of serving
  std::vector<Rival> rivals;
  std::vector<Claim> claims;
  /// The groups that they name by conditions: a validation has to score them for the page to show them.
  [[nodiscard]] std::vector<RowGroup> groups() const;
};

/// Of the embedded files. ConfigError when one is broken.
[[nodiscard]] const AccuracyReference& accuracy_reference();

/// Every problem goes to `diagnostics`.
[[nodiscard]] std::vector<Rival> read_rivals(const ConfigValue& root, Diagnostics& diagnostics);
[[nodiscard]] std::vector<Claim> read_claims(const ConfigValue& root, Diagnostics& diagnostics);

}  // namespace headroom
