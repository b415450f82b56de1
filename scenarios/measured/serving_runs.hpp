// SPDX-License-Identifier: Apache-2.0
// Simulated runs of measured serving rows, each once, and what their answers are off by.
#pragma once

#include <headroom/model/serve/engine/serving_confidence.hpp>
#include <headroom/scenarios/measured/serving_simulated.hpp>

#include <cstddef>
#include <functional>
#include <map>
#include <string>

namespace headroom {

/// Simulates each run once, with the stacks of the files, and keeps its report.
class SimulatedRuns {
 public:
  /// `data` must outlive the runs.
  explicit SimulatedRuns(const ModelData& data) : data_{data} {}
  [[nodiscard]] const ClientReport& report(const SimulatedQuestion& question);
  /// The question's answer, in the row's unit.
  [[nodiscard]] double answer(const SimulatedQuestion& question);
  /// What the question's replica makes of its answer at the ends of `speed`, `low` and `high` times as fast. All times
  /// of bursts and closed loops go with the replica's; a slower replica under an open load is the same one under a
  /// faster load, in a time of its own, and is simulated so. A load that keeps limits keeps them at any speed.
  [[nodiscard]] QueueReach reach(const SimulatedQuestion& question, const QueueReach& speed);
  [[nodiscard]] std::size_t kept() const noexcept { return reports_.size() + engines_.size() + limits_.size(); }

 private:
  const SimulatedReplica& engine(const SimulatedQuestion& question);
  const SimulatedReplica* prefilling_engine(const SimulatedQuestion& question);
  const RunAtLimits& limit(const SimulatedQuestion& question);
  double answer_at(const SimulatedQuestion& question, double speed);

  const ModelData& data_;
  std::map<std::string, ClientReport, std::less<>> reports_;
  std::map<std::string, SimulatedReplica, std::less<>> engines_;
  std::map<std::string, RunAtLimits, std::less<>> limits_;
};

/// The errors of a run's answer: those of queues beside what the replica's speed is off by, `rate`. How much of an open
/// load is answered is off by what both of them make of the speed, and by the number of requests that come in the run's
/// time, whose deviation is the root of their number (Poisson).
[[nodiscard]] ServingErrors errors_of_run(const SimulatedQuestion& question,
                                          SimulatedRuns& runs,
                                          const ServingErrors& rate,
                                          const ServingErrors& queue);

}  // namespace headroom
