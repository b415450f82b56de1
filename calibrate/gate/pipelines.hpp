// SPDX-License-Identifier: Apache-2.0
// Pipelines that reach the same thing on unlike hardware, compared fairly: everything that is waited and paid for, at
// equal quality.
#pragma once

#include <headroom/core/quantity.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// What one pipeline was seen to take, from raw data to a checked model.
struct MeasuredPipeline {
  std::string name;
  Seconds preparation{};  ///< of data, on its host
  Seconds copies{};       ///< to the device and back, where no other part holds them
  Seconds training{};
  Seconds evaluation{};
  double quality = 0.0;                   ///< in the comparison's measure
  std::optional<DollarsPerSecond> price;  ///< of all its machines together
  std::optional<Watts> power;             ///< of all its machines together, mean over the run

  [[nodiscard]] Seconds time() const noexcept { return preparation + copies + training + evaluation; }
  [[nodiscard]] std::optional<Dollars> cost() const noexcept;
  [[nodiscard]] std::optional<Joules> energy() const noexcept;
};

struct PipelinePair {
  std::string measure;  ///< "AUC"
  bool higher_is_better = true;
  double tolerance = 0.0;                   ///< qualities within it are equal
  std::vector<MeasuredPipeline> pipelines;  ///< two; the first is what the second is held against
};

/// Reads schema = 1, quality ("AUC"), better ("higher" or "lower"), tolerance and two [[pipeline]] of name,
/// preparation, copies, training, evaluation, quality, price and power. ConfigError with every problem: a pipeline that
/// states preparation or copies nowhere says so with "0 s", because what is left out is what makes a comparison unfair.
[[nodiscard]] PipelinePair read_pipelines(std::string_view text, const std::string& file);

/// The second pipeline over the first; shares above 1 are more.
struct PipelineVerdict {
  double quality_difference = 0.0;
  bool equal_quality = false;
  double time_ratio = 1.0;
  std::optional<double> cost_ratio, energy_ratio;
  double training_ratio = 1.0;  ///< of training alone, as unfair comparisons tell it
  std::optional<double> training_cost_ratio;
  double left_out_first = 0.0, left_out_second = 0.0;  ///< shares of their time that training alone leaves out
  std::string verdict;                                 ///< a sentence
  std::vector<std::string> unfair;  ///< what a comparison of training alone would have left out, a sentence each
};
/// Time, money and energy are compared at equal quality alone: where qualities differ by more than the tolerance the
/// verdict says which must be tuned further.
[[nodiscard]] PipelineVerdict compare_pipelines(const PipelinePair& question);

}  // namespace headroom
