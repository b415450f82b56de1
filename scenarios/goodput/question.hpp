// SPDX-License-Identifier: Apache-2.0
// What a training scenario says of its long run: tables [goodput] and [target], resolved.
#pragma once

#include <headroom/core/diagnostic.hpp>
#include <headroom/scenarios/goodput/goodput.hpp>
#include <headroom/scenarios/goodput/target_loss.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace headroom::goodput {

/// Of a job of the scenario's GPUs. What it leaves open is settled by the job: see `run_of` (run_outlook.hpp).
struct Question {
  Interval<Hertz> per_gpu{};  ///< failures a second and GPU; zero: those of the job alone
  Hertz per_job{};            ///< of what stops a job of any size: its own rate, preemptions
  std::string rate_source;    ///< "Llama 3 405B pre-training, 54 days (Grattafiori et al. 2024, ...)"
  Bytes checkpoint{};         ///< stated, or weights and optimizer states
  CheckpointStore store;
  std::optional<Seconds> interval;  ///< between saves; neither this nor steps: the best one
  std::int64_t interval_steps = 0;
  Recovery recovery;
  Seconds evaluation{};  ///< a pause each so many steps
  std::int64_t evaluation_every = 0;
  std::optional<std::chrono::sys_days> start;
  std::uint64_t seed = 1;
  std::optional<std::int64_t> runs;  ///< of the simulation; blank: as many as are soon done
  std::string file;  ///< of the table, or of steps between saves: for problems that only the step's time shows
  Position at;

  /// Hosts that are held for the run beside those that train.
  [[nodiscard]] double spare_gpus(std::int64_t gpus_per_node) const noexcept {
    return static_cast<double>(recovery.spares) * static_cast<double>(gpus_per_node);
  }
};

/// The way to a loss, or the loss that stated tokens reach.
struct Target {
  std::string law;         ///< id
  std::string law_source;  ///< authors and table
  double parameters = 0.0;
  double loss = 0.0;  ///< nats a token
  TargetLoss way;
  bool predicted = false;  ///< the tokens were stated, the loss follows
};

}  // namespace headroom::goodput
