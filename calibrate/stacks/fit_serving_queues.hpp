// SPDX-License-Identifier: Apache-2.0
// Measured rows of queues inside a fit: their runs are simulated at every point, from kernels priced once.
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
  /// Keeps the question and prices the kernels of its engine; the result is its number. `first` is what the stack as
  /// it is in the files says, in the row's unit; not finite where no request was answered.
  std::size_t add(const SimulatedQuestion& question, double& first);
  [[nodiscard]] const SimulatedQuestion& question(std::size_t at) const noexcept { return questions_[at]; }
  [[nodiscard]] std::size_t size() const noexcept { return questions_.size(); }

  /// Of the listed questions at some numbers, in their rows' units. From any thread.
  using StackOf = std::function<const IterationStack&(std::string_view id)>;
  void predict(std::span<const std::size_t> which,
               const StackOf& stack,
               const IterationPhysics& physics,
               std::span<double> out) const;

 private:
  std::vector<SimulatedQuestion> questions_;
  std::map<std::string, std::vector<IterationTerms>, std::less<>> kernels_;  ///< by engine, in the order of its tables
  std::map<std::string, ClientReport, std::less<>> first_;
};

}  // namespace headroom
