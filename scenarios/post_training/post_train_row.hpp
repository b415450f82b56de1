// SPDX-License-Identifier: Apache-2.0
// From a measured row of post-training to a prediction: a phase of its step, the step, its rate, or what waits.
#pragma once

#include <headroom/scenarios/measured/row_cells.hpp>
#include <headroom/scenarios/measured/run_row.hpp>
#include <headroom/scenarios/post_training/post_train_plan.hpp>

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace headroom {

struct Sources;

/// The question that a row's columns ask; nullopt, with the reason in `refusal`, where they leave out what nobody else
/// knows. `assumed` of what blank cells are taken for.
[[nodiscard]] std::optional<PostTrainQuestion> post_train_question_of(
    const Sources& sources, const RunFile& file, const RunRow& row, RowPrediction& refusal, std::string& assumed);

/// Predicts rows; those of one configuration share its price.
class PostTrainRowModel {
 public:
  explicit PostTrainRowModel(const Sources& sources) : sources_{sources} {}
  /// The model sees the columns of the configuration, options among them, and the metric.
  [[nodiscard]] RowPrediction predict(const RunFile& file, const RunRow& row);
  [[nodiscard]] std::size_t kept() const noexcept { return kept_.size(); }

 private:
  struct Priced {
    std::optional<PostTrainQuestion> question;
    std::optional<PostTrainWay> way;
    RowPrediction refusal;
    std::string assumed;
  };
  [[nodiscard]] const Priced& priced(const RunFile& file, const RunRow& row);

  const Sources& sources_;
  std::map<std::string, std::unique_ptr<Priced>, std::less<>> kept_;
};

}  // namespace headroom
