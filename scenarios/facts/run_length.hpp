// SPDX-License-Identifier: Apache-2.0
// How long a benchmark's run is: the samples that it takes to its target, and what is evaluated on the way.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace headroom {

/// Numbers that a publication states for some global batches: "8:3187 16:4051".
using NumbersByBatch = std::map<double, double>;
/// Empty when the text is no such list of numbers above zero.
[[nodiscard]] NumbersByBatch numbers_by_batch(std::string_view text);
/// Between two published batches along logarithms; the nearest beyond them. 0: none is published.
[[nodiscard]] double at_batch(const NumbersByBatch& published, double batch);

/// A run to its target, counted in samples.
struct RunLength {
  double trained = 0.0;      ///< samples of all steps
  double evaluations = 0.0;  ///< how often the run evaluates, the last time at its target
  double evaluated = 0.0;    ///< samples of one evaluation

  /// Steps that take as long as the run, with forward passes of whole batches in evaluations, `passes` of which are as
  /// long as a step.
  [[nodiscard]] double steps(double batch, double passes) const noexcept;
};

/// From the options `samples_to_train` (by global batch), `evaluate_every` (samples), `evaluation_samples` and
/// `first_evaluations_skipped` (by global batch); without the latter three nothing is evaluated. nullopt when the first
/// is not stated.
[[nodiscard]] std::optional<RunLength> run_length_of(const std::map<std::string, std::string, std::less<>>& options,
                                                     double batch);

}  // namespace headroom
