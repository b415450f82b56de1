// SPDX-License-Identifier: Apache-2.0
// The fewest replicas that keep what a fleet promises, by simulation: as fast as the model says, and with the
// probability that is asked for.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/model/serve/simulation/serving_metrics.hpp>
#include <headroom/scenarios/fleet/no_help.hpp>
#include <headroom/scenarios/question/scenario.hpp>
#include <headroom/scenarios/serving/served_replica.hpp>
#include <headroom/scenarios/traffic/promises.hpp>
#include <headroom/scenarios/traffic/traffic.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace headroom {

/// Replicas of a fleet.
struct FleetSize {
  std::int64_t replicas = 0;          ///< that serve
  std::int64_t spare = 0;             ///< on top
  std::int64_t prefill_replicas = 0;  ///< 0: replicas do both
  std::int64_t gpus = 0;              ///< of all of them
};

/// The size of so many replicas, with the spare ones that the question asks for on top.
[[nodiscard]] FleetSize fleet_size(const FleetQuestion& fleet,
                                   const ServedReplica& served,
                                   std::int64_t replicas,
                                   std::int64_t prefill_replicas);

/// What fleets of one question did, by their replicas that serve and that prefill: none is simulated twice.
struct FleetRuns {
  using Size = std::pair<std::int64_t, std::int64_t>;
  std::map<Size, ServingMetrics> middle, slow_end;
  std::map<Size, Hertz> saturation;  ///< of those whose replicas meet
  std::optional<Hertz> of_one;       ///< saturation of one replica that does both phases, and keeps nothing for others
};

/// How many replicas, and what they do under the load. The slow end: replicas as slow as they are with the probability
/// that is asked for (slow_end.hpp).
struct SizedFleet : FleetSize {     ///< the fewest that keep the promises at the slow end, else what `middle` says; the
                                    ///< question's where it states them
  std::optional<FleetSize> middle;  ///< the fewest that keep them at the middle; nullopt: none that was tried
  ServingMetrics metrics;           ///< at the middle, with the spare replicas down
  std::vector<KeptPromise> promises;      ///< at the middle
  std::vector<KeptPromise> slow_end;      ///< the same promises there
  Hertz rate{};                           ///< that was asked
  Hertz saturation{};                     ///< requests/s that these replicas answer at most
  Hertz knee{};                           ///< the most at which the promises are kept at the middle; 0: at none tried
  double slowest = 1.0;                   ///< slowest_iteration() of the question
  std::shared_ptr<const FleetRuns> runs;  ///< of its question, or of one of its equal cells
  /// Some request is answered within the time that is simulated. Where none is, there is no load, rate or cost of it.
  [[nodiscard]] bool answers() const noexcept { return saturation > Hertz{}; }
  /// Of the saturation at the middle; at the slow end. Precondition: answers().
  [[nodiscard]] double load() const noexcept { return rate / saturation; }
  [[nodiscard]] double load_at_slow_end() const noexcept { return slowest * load(); }
  /// No faster than its load. A simulation is finite: early requests of a fleet that falls behind may still keep what
  /// is promised, so that what it shows does not count. Or one with answers that the simulation's clock cannot hold.
  [[nodiscard]] bool overloaded() const noexcept { return metrics.unanswered > 0 || !(rate < saturation); }
  [[nodiscard]] bool keeps_at_middle() const noexcept;
  /// At the slow end, with room: loaded below most_load there. What a fleet to recommend does.
  [[nodiscard]] bool keeps() const noexcept;
};

/// Simulates the load at `factor` times its rate on a fleet. The first warm_up_of() are not counted.
[[nodiscard]] ServingMetrics simulate_fleet(const ServeScenario& scenario,
                                            const ServedReplica& served,
                                            std::int64_t replicas,
                                            std::int64_t prefill_replicas,
                                            double factor = 1.0);

/// The same of replicas as slow as they are with that probability (slow_down()), in the time of the slower fleet.
[[nodiscard]] ServingMetrics simulate_slow_fleet(const ServeScenario& scenario,
                                                 const ServedReplica& served,
                                                 std::int64_t replicas,
                                                 std::int64_t prefill_replicas,
                                                 double probability);

/// Why no number of replicas keeps the promises: one lies below what the datasheet allows, or an idle replica misses
/// it. Neither: some number does.
struct OutOfReach {
  std::optional<NoHelp> at_middle;    ///< and so at the slow end
  std::optional<NoHelp> at_slow_end;  ///< there alone
};
[[nodiscard]] OutOfReach out_of_reach(const ServeScenario& scenario, const ServedReplica& served);

/// Replicas that a question may have.
inline constexpr std::int64_t most_replicas = 1'000'000;

/// Which promises a fleet is sized for.
enum class SizedFor : std::uint8_t { slow_end, middle };

/// The probability with which so many replicas keep the promises and do not fall behind their load: the highest at
/// which they do (slow_end.hpp), from 0.001 to 0.999, to about 0.02. Simulates them up to nine times, and what `known`
/// of the same question does not hold.
[[nodiscard]] double chance_to_keep(const ServeScenario& scenario,
                                    const ServedReplica& served,
                                    const FleetSize& size,
                                    const FleetRuns& known);

/// Sized from `start` on, up or down, each size simulated with the same requests; the question's own number where it
/// states one; `start` replicas that miss where none up to 16 x start + 64 keep the promises at the middle. From there
/// on up to the fewest that keep them at the slow end; none is looked for where the fleet is sized for the middle.
/// Saturation and knee are those of the replicas without the spare ones. Precondition: out_of_reach() says nothing of
/// where it is sized for.
[[nodiscard]] SizedFleet size_fleet(const ServeScenario& scenario,
                                    const ServedReplica& served,
                                    std::int64_t start,
                                    SizedFor sized_for = SizedFor::slow_end);

/// The fewest replicas that keep the promises at the slow end, sized from `start` on as size_fleet() does; nullopt
/// where none does. Precondition: the number of replicas is open, and prompts are not apart.
[[nodiscard]] std::optional<std::int64_t> fewest_replicas(const ServeScenario& scenario,
                                                          const ServedReplica& served,
                                                          std::int64_t start);

}  // namespace headroom
