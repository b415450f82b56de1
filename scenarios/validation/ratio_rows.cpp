// SPDX-License-Identifier: Apache-2.0
#include <headroom/scenarios/measured/row_options.hpp>
#include <headroom/scenarios/validation/ratio_rows.hpp>

#include <cmath>

namespace headroom {
namespace {

bool of_one_table(const RunRow& a, const RunRow& b) {
  return a.source == b.source && a.metric == b.metric && a.run.model == b.run.model && a.run.gpu == b.run.gpu &&
         a.run.gpus == b.run.gpus;
}

}  // namespace

bool only_ratios(const RunRow& row) {
  return row.form == RowForm::training && option(row.run, "ratios") == "1";
}

RowPrediction predict_ratio(std::span<const RunRow> table,
                            const RunRow& row,
                            const std::function<RowPrediction(const RunRow&)>& predict) {
  RowPrediction answer = predict(row);
  if (answer.status != RowStatus::ok) {
    return answer;
  }
  double level = 0.0;
  double others = 0.0;
  for (const RunRow& other : table) {
    if (other.id == row.id || other.doubted || !only_ratios(other) || !of_one_table(other, row)) {
      continue;
    }
    if (const RowPrediction beside = predict(other); beside.status == RowStatus::ok) {
      level += std::log(other.measured / beside.predicted);
      others += 1.0;
    }
  }
  if (others == 0.0) {
    return unsupported("only ratios between runs of its table are predicted, and no other run of it is answered");
  }
  const double factor = std::exp(level / others);
  for (double* const value : {&answer.predicted, &answer.low, &answer.high}) {
    *value *= factor;
  }
  answer.fastest = 0.0;  // of a job that the row does not state
  answer.assumed = "the level of the other runs of its table: only ratios between them are predicted";
  return answer;
}

}  // namespace headroom
