// SPDX-License-Identifier: Apache-2.0
// Fits the numbers of post-training softwares, of all of them together and of ways of sending weights to measured rows,
// and estimates their error on publications that were no part of the fit.
#pragma once

#include <headroom/calibrate/solver/hierarchical_fit.hpp>
#include <headroom/scenarios/post_training/post_train_row.hpp>

#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// What a knob belongs to: all softwares, one of them, or a way of sending weights.
enum class PostTrainOwner : std::uint8_t { population, software, way };

struct PostTrainKnob {
  PostTrainOwner owner = PostTrainOwner::population;
  std::string id;       ///< of the software, or the word of the way; empty of the population
  std::string key;      ///< "rollout", "share" ...
  double value = 0.0;   ///< in the files, seconds or a factor
  double centre = 0.0;  ///< of its prior; of a software's the population's number
  double low = 0.0, high = 0.0, width = 1.0;
  std::ptrdiff_t parent = -1;
  [[nodiscard]] std::string name() const;
  [[nodiscard]] bool is_time() const noexcept;
};

/// The numbers at one point of a fit.
struct PostTrainPoint {
  PostTrainNumbers population;
  std::map<std::string, PostTrainNumbers, std::less<>> of;  ///< by id; who is not here has the population's
  std::array<SyncPath, weight_sync_names.size()> paths{};
  [[nodiscard]] const PostTrainNumbers& numbers_of(std::string_view software) const;
};

/// A measured figure. Errors are ln(predicted / measured) of a time; of an idle share predicted - measured.
struct FittedPostTrainRun {
  const RunRow* row = nullptr;
  const PostTrainCase* known = nullptr;
  std::string software;
  PostTrainFigure figure = PostTrainFigure::step;
  bool beside = false;  ///< seconds beside the phases: a sample of the fit that has no figure
  double weight = 1.0;
  double before = 0.0, fitted = 0.0;
  double left_out = 0.0;     ///< with its source left out; NaN where not computed
  bool others_left = false;  ///< whether its software had rows of other sources then
};

struct PostTrainFit {
  std::vector<PostTrainKnob> knobs;
  std::vector<double> values;
  HierarchicalResult result;
  std::vector<FittedPostTrainRun> runs;
  std::size_t asked = 0;                     ///< rows without a mark
  std::size_t answered = 0;                  ///< of them
  std::shared_ptr<PostTrainRowModel> model;  ///< whose configurations the runs refer to
};

struct PostTrainFitOptions {
  bool leave_out = true;
  double noise = 0.1;   ///< log error of one row, which weighs rows against priors
  double scale = 0.15;  ///< log error beyond which a row counts linearly
};

/// Rows of post-training in `files`, without those that their notes doubt. Rows of one source, model and metric weigh
/// together as n^0.65 rows, those whose answers' lengths are not published less, by how far these may be off. Idle
/// shares are no part of the fit, and judged by it. `files` and `sources` must outlive the fit. ConfigError when no row
/// is left.
[[nodiscard]] PostTrainFit fit_post_training(std::span<const RunFile> files,
                                             const Sources& sources,
                                             const PostTrainFitOptions& options,
                                             const std::function<void(std::string_view)>& progress = {});

/// Half-width of the interval that holds 80 % of a figure's rows with their source left out, within
/// 1 / (1 + width) .. 1 + width, of an idle share in shares of the step: of n errors that with rank 0.8 (n + 1),
/// rounded up (split conformal prediction; Vovk et al. 2005; Lei et al. 2018, section 2.2). 0 where fewer than `least`
/// rows, or fewer than four, tell it. `of`: the rows that count.
[[nodiscard]] double left_out_width(const PostTrainFit& fit,
                                    PostTrainFigure figure,
                                    const std::function<bool(const FittedPostTrainRun&)>& of,
                                    std::size_t least = 1);

/// Publications of a figure's rows that were left out in turn.
[[nodiscard]] std::size_t left_out_sources(const PostTrainFit& fit,
                                           PostTrainFigure figure,
                                           const std::function<bool(const FittedPostTrainRun&)>& of);

/// The width that a software's answers get: of its own rows where at least 12 of two sources tell it, else of all. An
/// idle share that fewer than three sources tell gets what the width w of whole steps does to it, w / (1 + w).
[[nodiscard]] double width_of(const PostTrainFit& fit, PostTrainFigure figure, std::string_view software);

/// Share of a figure's left-out rows inside intervals that rows of the other sources alone made.
[[nodiscard]] double left_out_coverage(const PostTrainFit& fit, PostTrainFigure figure);

}  // namespace headroom
