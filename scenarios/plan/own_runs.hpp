// SPDX-License-Identifier: Apache-2.0
// Measured runs of the user's own: they move the numbers behind a plan's step and its level as far as the posterior of
// the fit allows, and narrow its interval.
#pragma once

#include <headroom/scenarios/measured/run_row.hpp>
#include <headroom/scenarios/training/confidence.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace headroom {

struct Sources;
struct TrainScenario;

/// A class's width once a share `weight` of what is not noise of single runs is known: ln(1 + w) scales with the
/// standard deviation that is left, sqrt((shape^2 + level^2 (1 - weight)) / (shape^2 + level^2)).
[[nodiscard]] double narrowed_width(double width, double weight, const ClassErrors& errors) noexcept;

/// Rows that say nothing about this plan's level.
struct UnusedRuns {
  std::string what;  ///< "a100-sxm-80gb under megatron-core"
  std::string why;
  std::size_t rows = 0;
};

/// A run that does not go with the others.
struct OddRun {
  std::string file;
  int line = 0;
  double slow = 0.0;    ///< ours over theirs - 1, with all that the runs moved
  double weight = 1.0;  ///< that it counts by (run_weight())
};

struct OwnRuns {
  std::string gpu, software;  ///< ids
  std::size_t rows = 0;       ///< used; several metrics of one configuration are one run
  MeasuredLevel level;
  std::shared_ptr<const OwnNumbers> own;  ///< null without a run
  /// Runs that the others contradict: off by more than three standard deviations of the noise where all are believed,
  /// the one that is off the most left out, and so on. They count by their weights.
  std::vector<OddRun> odd;
  std::vector<OddRun> less;  ///< others whose weight is below 1, by file and line
  std::vector<UnusedRuns> unused;
  std::vector<std::string> assumed;  ///< what the files' columns leave out, and what is taken for it
  /// Ours over theirs - 1, of the step.
  [[nodiscard]] double slow() const noexcept;
};

/// The user's rows with what their columns leave out: sizes of the preset that `model` names, dp that the other axes
/// leave, cp 1, and the plan's own software. A cell that is there stays as it is, also an empty one. What was taken is
/// added to `assumed` once.
[[nodiscard]] std::vector<RunFile> completed_runs(std::span<const RunFile> files,
                                                  const TrainScenario& train,
                                                  const Sources& sources,
                                                  std::vector<std::string>& assumed);

/// The runs of the scenario's SKU, software and class of question. Rows of another SKU, software or class, in doubt,
/// of memory, or that cannot be priced are listed as unused. Every problem goes to `diagnostics`, with its place: a
/// file that is not of training, missing columns, blank or broken cells, dp tp pp cp that do not make the GPUs, a batch
/// that does not divide, a measurement that beats the hardware; no run that matches.
[[nodiscard]] OwnRuns learn_from_runs(std::span<const RunFile> files,
                                      const TrainScenario& train,
                                      const Sources& sources,
                                      Diagnostics& diagnostics,
                                      TermSet without = {});

/// What tells two runs apart: the cells that configure a row, without those that name or measure it.
[[nodiscard]] std::string configuration_key(const RunFile& file, const RunRow& row);

}  // namespace headroom
