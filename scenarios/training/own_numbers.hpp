// SPDX-License-Identifier: Apache-2.0
// The numbers behind steps of one software on one SKU, as the fit has them and as measured runs of the user's own move
// them.
#pragma once

#include <headroom/hardware/catalog/device.hpp>
#include <headroom/model/train/errors/confidence.hpp>
#include <headroom/model/train/errors/fit_priors.hpp>
#include <headroom/model/train/errors/step_update.hpp>
#include <headroom/model/train/software/step_stack.hpp>

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

class ModelData;
struct TrainScenario;

/// What a step is priced with.
struct StepNumbers {
  StepParameters parameters;
  StepStacks time;  ///< of the software
};

/// Whether the scenario's cluster states what share of its network training reaches.
[[nodiscard]] bool states_network(const TrainScenario& train) noexcept;
/// The fitted numbers of a scenario, with what its cluster states in place of them.
[[nodiscard]] StepNumbers numbers_of(const TrainScenario& train);

/// The numbers of a question, one for each key of the posterior.
class KeyedNumbers {
 public:
  /// `data` must outlive the object.
  KeyedNumbers(const ModelData& data, StepNumbers numbers, const Device& device, bool experts);
  [[nodiscard]] std::size_t size() const noexcept { return keys_.size(); }
  /// Of a key, in the units of the files, times in seconds; NaN where the question has no such number.
  [[nodiscard]] double value(std::size_t key) const noexcept { return keys_[key].value; }
  /// The same moved by `by` in the scale of the fit, within the bounds of its prior.
  [[nodiscard]] double value(std::size_t key, double by) const noexcept;
  /// How far a move of `by` goes within these bounds.
  [[nodiscard]] double reach(std::size_t key, double by) const noexcept;
  /// Its name, "host", and whose it is: "all", or the id of a SKU or generation; empty: the software's.
  [[nodiscard]] std::string_view key(std::size_t key) const noexcept { return keys_[key].key; }
  [[nodiscard]] std::string_view owner(std::size_t key) const noexcept {
    return keys_[key].scope == "physics" ? "all" : std::string_view{keys_[key].level};
  }
  /// All numbers, moved.
  [[nodiscard]] StepNumbers moved(std::span<const double> by) const;

 private:
  struct Keyed {
    std::string_view scope, key;
    std::string level;  ///< id of the table of levels that states it
    double value = 0.0, low = 0.0, high = 0.0;
    bool linear = false;
  };
  StepNumbers numbers_;
  bool experts_;
  std::vector<Keyed> keys_;
};

/// What the user's own runs made of a question's numbers.
struct OwnNumbers {
  StepNumbers numbers;
  KeyedNumbers keyed;     ///< before the runs
  UpdatedNumbers before;  ///< without runs
  UpdatedNumbers after;
  double noise = 0.0;  ///< variance of ln(step) of a run that neither numbers, level nor discrepancy tell
  std::vector<std::vector<double>> derivatives;  ///< of each run's ln(step) by each key; empty: no run
  std::vector<double> weights{};                 ///< of each run, 1 where it counts in full
};

/// A question's numbers while no run is known, as the posterior of the fit has them. Nobody fitted the kernels of
/// `other_kernels`: their level is as wide as past errors of that class were.
/// Discrepancies are at the question's own place, which is the first, then at those of `runs`.
[[nodiscard]] OwnNumbers numbers_without_runs(const TrainScenario& train,
                                              RunClass run_class,
                                              std::span<const JobPlace> runs = {});
/// Of the question among the places of its numbers.
inline constexpr std::ptrdiff_t question_place = 0;

/// ln(step) of some jobs, priced with these numbers.
using LogSteps = std::function<std::vector<double>(const StepNumbers& numbers)>;
/// Derivatives of each job's ln(step) by each key, by forward differences of 0.01 as the fit takes them, backward at an
/// upper bound; 0 by keys that `prior` knows for certain.
[[nodiscard]] std::vector<std::vector<double>> derivatives_of(const KeyedNumbers& keyed,
                                                              const UpdatedNumbers& prior,
                                                              const LogSteps& steps);

}  // namespace headroom
