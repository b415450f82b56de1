// SPDX-License-Identifier: Apache-2.0
// Fits the numbers behind a serving iteration to measured rows, and estimates their error on unseen sources.
#pragma once

#include <headroom/calibrate/solver/hierarchical_fit.hpp>
#include <headroom/model/serve/engine/serving_confidence.hpp>
#include <headroom/scenarios/measured/serving_times.hpp>
#include <headroom/scenarios/validation/validation.hpp>

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// A free number, in the units of the files; times in seconds.
struct ServingKnob {
  std::string id;  ///< id of the stack; "serve": shared by all engines
  std::string key;
  double value = 0.0, low = 0.0, high = 0.0;
  double centre = 0.0, width = 1.0;  ///< centre and width of the prior, width in the logarithm
  std::ptrdiff_t parent = -1;        ///< index of the knob that the prior is centred on; -1: none
  [[nodiscard]] bool shared() const noexcept { return id == "serve"; }
  [[nodiscard]] std::string name() const { return id + "." + key; }
};

/// A measured time or rate in the fit. Errors are ln(predicted / measured) of the row's value.
struct FittedServingRun {
  const RunRow* row = nullptr;
  std::string stack;
  std::string sku, weights;  ///< id in the catalog; format of the weights as the row spells it
  bool experts = false;
  bool queue = false;  ///< predicted by simulation
  bool offered =
      false;         ///< the rate of an open load, which below saturation is what was offered: tells no width of queues
  QueueReach reach;  ///< of the replica's speed, by the rates of the files' classes; 1 and 1 without a queue
  std::size_t family = 0;
  double weight = 1.0;
  double before = 0.0, fitted = 0.0;
  double left_out = 0.0;  ///< error with the row's source left out; NaN when not computed
};

struct ServingFit {
  std::vector<ServingKnob> knobs;
  std::vector<double> values;
  HierarchicalResult result;
  std::vector<FittedServingRun> runs;
  std::vector<ServingErrors> classes;      ///< errors of the files
  std::vector<WidthFactor> skus, formats;  ///< of the files too
  std::vector<std::string> only;           ///< stacks and numbers to fit, all others held; empty: all
  [[nodiscard]] bool held(const ServingKnob& knob) const;
};

struct ServingFitOptions {
  bool leave_one_out = true;
  std::vector<std::string> only;  ///< stacks and numbers ("vllm.sequence") to fit, all others held; empty: all
  double noise = 0.05;            ///< log error of one row, which weighs rows against priors
  double scale = 0.10;            ///< log error beyond which a row counts linearly
};

/// A family is the rows of one source, SKU, network and metric; a row weighs 1 / sqrt(rows of its family). Doubted and
/// unpredictable rows are left out, and those of SKUs whose kernels nobody measured. Rows with queues
/// (serving_simulated.hpp) only move host numbers of engines without a separate server process, never kernels; tails
/// and waits of open loads move nothing. Throws ConfigError when no row is left.
[[nodiscard]] ServingFit fit_serving(std::span<const RunFile> files,
                                     const Sources& sources,
                                     const ServingFitOptions& options,
                                     const std::function<void(std::string_view)>& progress = {});

/// The free numbers of the embedded and user files, with their priors (model/stacks/step/serve-priors.toml).
[[nodiscard]] std::vector<ServingKnob> serving_knobs(const ModelData& data);

}  // namespace headroom
