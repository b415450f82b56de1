// SPDX-License-Identifier: Apache-2.0
// Tables [goodput] and [target] of a training scenario, resolved.
#pragma once

#include <headroom/core/diagnostic.hpp>
#include <headroom/scenarios/goodput/goodput.hpp>
#include <headroom/scenarios/goodput/target_loss.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace headroom::goodput {

/// Failures and checkpoints of a job on the scenario's GPUs. `run_of` (run_outlook.hpp) fills what is left open.
struct Question {
  Interval<Hertz> per_gpu{};  ///< failures per second and GPU; zero: only `per_job` counts
  Hertz per_job{};            ///< rate of stops that do not depend on the size of the job, e.g. preemptions
  std::string rate_source;    ///< "Llama 3 405B pre-training, 54 days (Grattafiori et al. 2024, ...)"
  Bytes checkpoint{};         ///< bytes of a checkpoint: as stated, or weights and optimizer states
  CheckpointStore store;
  std::optional<Seconds> interval;  ///< training time between saves; absent with interval_steps 0: the best interval
  std::int64_t interval_steps = 0;
  Recovery recovery;
  Seconds evaluation{};  ///< pause for one evaluation
  std::int64_t evaluation_every = 0;
  std::optional<std::chrono::sys_days> start;
  std::optional<double> bad_node;  ///< chance of one node to turn bad in a day, 0 to 1
  std::uint64_t seed = 1;
  std::optional<std::int64_t> runs;  ///< simulated runs; absent: as many as take little time
  std::string file;  ///< file of the table or of the steps between saves, for problems that only the step time reveals
  Position at;

  /// GPUs of the standby hosts.
  [[nodiscard]] double spare_gpus(std::int64_t gpus_per_node) const noexcept {
    return static_cast<double>(recovery.spares) * static_cast<double>(gpus_per_node);
  }
};

/// Tokens needed for a loss, or the loss that the stated tokens reach.
struct Target {
  std::string law;         ///< id
  std::string law_source;  ///< authors and table
  double parameters = 0.0;
  double loss = 0.0;  ///< nats per token
  TargetLoss way;
  bool predicted = false;  ///< true when tokens were stated and the loss follows from them
};

}  // namespace headroom::goodput
