// SPDX-License-Identifier: Apache-2.0
// What is believed of a fitted number before any run is seen, from the files beside the parameters of the step.
#pragma once

#include <headroom/core/config_reader.hpp>

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace headroom {

class ModelData;

/// In the units of the file, times in seconds.
struct FitPrior {
  double centre = 0.0, low = 0.0, high = 0.0;
  double width = 0.0;   ///< standard deviation in the scale of the fit
  double child = 0.0;   ///< the same around a parent's number
  bool linear = false;  ///< a share: its own scale; else the logarithm's
};
using FitPriors = std::map<std::string, FitPrior, std::less<>>;

/// One number of a table: `amount(table, key)` of "centre", "low" and "high".
using PriorAmount = std::function<double(ConfigTable& table, std::string_view key)>;

/// Adds the priors of a table of tables under `prefix` + key; `amount_of(key)` reads the amounts of that number;
/// `scaled`: its table may state a `scale`.
void read_priors(ConfigTable& tables,
                 const std::string& prefix,
                 bool scaled,
                 const std::function<PriorAmount(std::string_view key)>& amount_of,
                 FitPriors& priors);

/// Reads a file beside the parameters of the step. ConfigError where there is none, or with all that is wrong in it.
[[nodiscard]] FitPriors priors_in(const ModelData& data,
                                  const std::string& file,
                                  const std::function<void(ConfigTable& root, FitPriors& priors)>& read);

/// Of the numbers of a training step, by table and key: "physics.nic", "level.attention", "stack.host".
[[nodiscard]] const FitPriors& step_priors(const ModelData& data);

}  // namespace headroom
