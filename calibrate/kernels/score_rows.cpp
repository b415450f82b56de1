// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/kernels/score_rows.hpp>
#include <headroom/calibrate/samples/csv_lines.hpp>
#include <headroom/core/diagnostic.hpp>

#include <numeric>

namespace headroom {
namespace {}  // namespace

void predict_rows(const ModelData& data,
                  const KernelGroup& group,
                  const Device& device,
                  const Node* node,
                  const std::function<ScoredCurve()>& curve,
                  RowPredictions& predictions) {
  RowPrediction refused;
  try {
    const ScoredCurve found = curve();
    const CurveProblem problem = curve_problem(data, group, device, node);
    std::vector<std::size_t> all(group.rows.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    std::vector<double> seconds(all.size());
    problem.predict(found.values, all, seconds);
    for (std::size_t i = 0; i < all.size(); ++i) {
      RowPrediction p;
      p.status = RowStatus::ok;
      p.predicted = seconds[i] / micro;
      p.low = p.predicted / (1.0 + found.p90);
      p.high = p.predicted * (1.0 + found.p90);
      p.roofline = problem.roofline[i].raw() / micro;
      predictions[group.rows[i]] = p;
    }
    return;
  } catch (const ConfigError& error) {
    refused.why = error.diagnostics().front().message;
  }
  for (const KernelRow* row : group.rows) {
    predictions[row] = refused;
  }
}

Validation score_rows_of(
    std::span<const KernelFile> files,
    RowPredictions& predictions,
    const std::function<std::vector<std::string>(const KernelFile&, const KernelRow&)>& groups_of) {
  std::vector<ScoredRow> rows;
  for (const KernelFile& file : files) {
    for (const KernelRow& row : file.rows) {
      rows.push_back({row_id(file, row), file.path, "latency_us", "us", row.latency.raw() / micro, predictions[&row],
                      groups_of(file, row), 1.0});
    }
  }
  return score_rows(std::move(rows));
}

std::string row_id(const KernelFile& file, const KernelRow& row) {
  return file.path + ":" + std::to_string(row.line);
}

}  // namespace headroom
