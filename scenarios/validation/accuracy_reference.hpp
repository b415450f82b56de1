// SPDX-License-Identifier: Apache-2.0
// What the accuracy page compares our errors with: bars, other predictors on the same rows, and errors that other
// serving predictors claim for their own data (scenarios/accuracy).
#pragma once

#include <headroom/scenarios/validation/budget.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headroom {

/// Error of another predictor on published rows; errors are shares (0.1 is 10 %).
struct Rival {
  std::string tool;
  double mape = 0.0;
  std::optional<double> median, p90;
  std::int64_t rows = 0;  ///< number of rows behind their error
  RowGroup where;         ///< our rows to compare with
  std::string metric;
  std::string source;
};

/// Error that another predictor claims, in its own words, on its own data (none of our rows).
struct Claim {
  std::string tool;
  std::string quantity;  ///< "time to first token"
  std::string claim;     ///< "MAPE 18.0 after tuning, 26.4 before": in %
  std::string data;      ///< data behind the claim
  std::string source;
  std::optional<RowGroup> where;  ///< our comparable rows; absent when we have none
  std::string metric;             ///< metric of our comparable rows
};

struct AccuracyReference {
  std::vector<BudgetBar> bars;          ///< bars for training rows
  std::vector<BudgetBar> serving_bars;  ///< bars for serving rows
  std::vector<Rival> rivals;
  std::vector<Claim> claims;
  std::vector<BudgetBar> published_bars;  ///< bars for the rows that ship, by publication
  /// Groups that these entries define by conditions; a validation must score them for the page.
  [[nodiscard]] std::vector<RowGroup> groups() const;
};

/// The embedded files, parsed once. Throws ConfigError when one is broken.
[[nodiscard]] const AccuracyReference& accuracy_reference();

/// Read one file each; problems go to `diagnostics`.
[[nodiscard]] std::vector<Rival> read_rivals(const ConfigValue& root, Diagnostics& diagnostics);
[[nodiscard]] std::vector<Claim> read_claims(const ConfigValue& root, Diagnostics& diagnostics);

}  // namespace headroom
