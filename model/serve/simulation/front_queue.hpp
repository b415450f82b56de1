// SPDX-License-Identifier: Apache-2.0
// The processes between clients and engines, one a replica, which texts of prompts and pieces of answers pass one after
// another.
#pragma once

#include <headroom/model/serve/load/request.hpp>
#include <headroom/model/serve/simulation/engine.hpp>
#include <headroom/model/serve/simulation/fleet_simulation.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace headroom {

/// Single servers, first come, first served (Kleinrock 1975, chapter 1). An iteration hands over a piece for each of
/// its sequences at once, in order of admission, so that first tokens come last; where decodes are faster than their
/// pieces pass, these queue up, and a prompt that comes then queues behind them. A stretch of iterations is worked off
/// in closed form: they hand over equally much, evenly.
class FrontQueues {
 public:
  /// Adds the front ends of a pool's replicas, whose engines follow those of the pools before.
  void add(const ReplicaPool& pool);
  [[nodiscard]] bool any() const noexcept { return any_; }
  /// Time at which a prompt that comes to `engine` at `now` has become tokens.
  [[nodiscard]] Picoseconds takes(std::size_t engine,
                                  std::span<const SimulatedEngine> engines,
                                  std::int64_t prompt_tokens,
                                  Picoseconds now) noexcept;
  /// After `of` has ended an iteration at `now`: moves the first tokens and the ends of answers that came with it to
  /// the time at which their pieces have passed.
  void pass(std::size_t engine, const SimulatedEngine& of, Picoseconds now, std::span<RequestTimes> times) noexcept;

 private:
  struct Process {
    FrontWork work;
    std::size_t first = 0, last = 0;  ///< its engines, [first, last)
    Picoseconds free{};               ///< time from which it has nothing to do
  };
  struct Heard {
    std::int64_t iterations = 0, tokens = 0;
  };
  /// Takes over the pieces of what `engine` has ended since it was heard last. Time that those of its last iteration
  /// take.
  Picoseconds hear(std::size_t engine, const SimulatedEngine::Progress& ended) noexcept;

  std::vector<Process> processes_;
  std::vector<std::size_t> of_engine_;  ///< by engine, its process
  std::vector<Heard> heard_;            ///< by engine
  bool any_ = false;
};

}  // namespace headroom
