// SPDX-License-Identifier: Apache-2.0
// What the scores of kernels and of collectives share: a curve's predictions of measured rows, and the rows scored.
#pragma once

#include <headroom/calibrate/kernels/curve_problem.hpp>
#include <headroom/calibrate/kernels/kernel_rows.hpp>
#include <headroom/model/kernels/curve_library.hpp>
#include <headroom/scenarios/validation/validation.hpp>

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace headroom {

class ModelData;

/// A fitted curve, and the share of its time that nine held-out rows in ten keep within.
struct ScoredCurve {
  std::vector<double> values;
  double p90 = 0.0;
};
template <std::size_t N>
[[nodiscard]] ScoredCurve scored_curve(const FittedCurve<N>& curve) {
  return {{curve.values.begin(), curve.values.end()}, curve.provenance.p90};
}

using RowPredictions = std::map<const KernelRow*, RowPrediction>;

/// Predictions in microseconds of a group's rows; where `curve` or the problem is a ConfigError, each row says why.
void predict_rows(const ModelData& data,
                  const KernelGroup& group,
                  const Device& device,
                  const Node* node,
                  const std::function<ScoredCurve()>& curve,
                  RowPredictions& predictions);

/// Every row of the files scored, in the groups that `groups_of` names.
[[nodiscard]] Validation score_rows_of(
    std::span<const KernelFile> files,
    RowPredictions& predictions,
    const std::function<std::vector<std::string>(const KernelFile&, const KernelRow&)>& groups_of);

/// "FILE:LINE".
[[nodiscard]] std::string row_id(const KernelFile& file, const KernelRow& row);

}  // namespace headroom
