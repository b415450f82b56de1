// SPDX-License-Identifier: Apache-2.0
// Fits the numbers behind a serving iteration from measured rows, and says what they are worth on sources never seen.
#pragma once

#include <headroom/calibrate/solver/hierarchical_fit.hpp>
#include <headroom/scenarios/measured/serving_times.hpp>
#include <headroom/scenarios/validation/validation.hpp>

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// One free number, in the units of the files; times in seconds.
struct ServingKnob {
  std::string id;  ///< of the stack; "serve": of all engines
  std::string key;
  double value = 0.0, low = 0.0, high = 0.0;
  double centre = 0.0, width = 1.0;  ///< of the prior, in the logarithm
  std::ptrdiff_t parent = -1;        ///< the knob that this one is expected near
  [[nodiscard]] bool shared() const noexcept { return id == "serve"; }
  [[nodiscard]] std::string name() const { return id + "." + key; }
};

/// One measured time or rate that the fit rests on. Errors are ln(predicted / measured) of the row's own value.
struct FittedServingRun {
  const RunRow* row = nullptr;
  std::string stack;
  bool experts = false;
  bool queue = false;  ///< answered by a simulated run
  std::size_t family = 0;
  double weight = 1.0;
  double before = 0.0, fitted = 0.0;
  double left_out = 0.0;  ///< with its whole source out of the fit; NaN when that was not asked for
};

struct ServingFit {
  std::vector<ServingKnob> knobs;
  std::vector<double> values;
  HierarchicalResult result;
  std::vector<FittedServingRun> runs;
  std::vector<std::string> only;  ///< stacks and numbers that were fitted, all others held; empty: all
  [[nodiscard]] bool held(const ServingKnob& knob) const;
};

struct ServingFitOptions {
  bool leave_one_out = true;
  std::vector<std::string> only;  ///< stacks and numbers ("vllm.sequence") that are fitted, all others held
  double noise = 0.05;            ///< log error of one row, against which priors are weighed
  double scale = 0.10;            ///< log error beyond which a row counts linearly
};

/// Rows of one source, SKU, network and metric are a family; a row weighs 1 / sqrt(rows of its family). Rows in doubt
/// and rows that no model answers are left out. Rows of queues
/// (serving_simulated.hpp) move the host's numbers of engines without a server before them, never kernels; tails and
/// the waits of open loops move nothing. ConfigError where no row is left.
[[nodiscard]] ServingFit fit_serving(std::span<const RunFile> files,
                                     const Sources& sources,
                                     const ServingFitOptions& options,
                                     const std::function<void(std::string_view)>& progress = {});

/// The free numbers of the embedded and user files, with their priors (model/stacks/step/serve-priors.toml).
[[nodiscard]] std::vector<ServingKnob> serving_knobs();

}  // namespace headroom
