// SPDX-License-Identifier: Apache-2.0
// Simulated runs of measured rows with queues inside a fit: kernels are priced once, runs are simulated at every point.
#pragma once

#include <headroom/model/serve/engine/iteration_stack.hpp>
#include <headroom/model/serve/replica/engine_terms.hpp>
#include <headroom/scenarios/measured/serving_simulated.hpp>

#include <cstddef>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

class QueueRuns {
 public:
  /// `data` must outlive the runs.
  explicit QueueRuns(const ModelData& data) : data_{data} {}
  /// Stores the question with its engine's kernels and returns its index. `first` is the prediction of the stack in the
  /// files, in the row's unit; not finite when no request was answered.
  std::size_t add(const SimulatedQuestion& question, double& first);
  [[nodiscard]] const SimulatedQuestion& question(std::size_t at) const noexcept { return questions_[at]; }
  /// Ordinal of the question's engine, whose tables its runs share.
  [[nodiscard]] std::ptrdiff_t engine(std::size_t at) const { return engine_of_[at]; }
  [[nodiscard]] std::size_t size() const noexcept { return questions_.size(); }

  /// Predicts the listed questions in their rows' units, for given numbers. Thread-safe.
  using StackOf = std::function<const IterationStack&(std::string_view id)>;
  void predict(std::span<const std::size_t> which,
               const StackOf& stack,
               const IterationPhysics& physics,
               std::span<double> out) const;

 private:
  const ModelData& data_;
  std::vector<SimulatedQuestion> questions_;
  std::map<std::string, std::vector<IterationTerms>, std::less<>> kernels_;  ///< by engine, in order of its tables
  std::map<std::string, std::ptrdiff_t, std::less<>> engines_;  ///< ordinals, in the order in which they came
  std::vector<std::ptrdiff_t> engine_of_;                       ///< of each question
  std::map<std::string, ClientReport, std::less<>> first_;
};

}  // namespace headroom
