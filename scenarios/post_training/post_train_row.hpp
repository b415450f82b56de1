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
#include <span>
#include <string>
#include <string_view>

namespace headroom {

struct Sources;

/// The question that a row's columns ask; nullopt, with the reason in `refusal`, where they leave out what nobody else
/// knows. `assumed` of what blank cells are taken for.
[[nodiscard]] std::optional<PostTrainQuestion> post_train_question_of(
    const Sources& sources, const RunFile& file, const RunRow& row, RowPrediction& refusal, std::string& assumed);

/// A configuration of rows, priced once.
struct PostTrainCase {
  std::optional<PostTrainQuestion> question;
  std::optional<PostTrainWay> way;  ///< nothing: weights that are sent alone, or a refusal
  RowPrediction refusal;
  std::string assumed;
};

/// What a metric of rows is of; nullopt: nothing that is predicted, or of the seconds beside phases.
[[nodiscard]] std::optional<PostTrainFigure> figure_of(std::string_view metric) noexcept;

/// The value of a metric under a software's numbers; nullopt: not predicted. Times in seconds, shares of the step.
/// Weights that are sent alone depend on `paths` alone.
[[nodiscard]] std::optional<double> post_train_value(const PostTrainCase& known,
                                                     const PostTrainNumbers& numbers,
                                                     std::span<const SyncPath> paths,
                                                     std::string_view metric);

/// Predicts rows; those of one configuration share its price.
class PostTrainRowModel {
 public:
  explicit PostTrainRowModel(const Sources& sources) : sources_{sources} {}
  /// The model sees the columns of the configuration, options among them, and the metric.
  [[nodiscard]] RowPrediction predict(const RunFile& file, const RunRow& row);
  /// The configuration of a row, which lives as long as the model.
  [[nodiscard]] const PostTrainCase& priced(const RunFile& file, const RunRow& row);
  [[nodiscard]] std::size_t kept() const noexcept { return kept_.size(); }

 private:
  const Sources& sources_;
  std::map<std::string, std::unique_ptr<PostTrainCase>, std::less<>> kept_;
};

}  // namespace headroom
