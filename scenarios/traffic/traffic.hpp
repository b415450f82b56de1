// SPDX-License-Identifier: Apache-2.0
// The open load of a serving question, what is promised to it, and the fleet that serves it: tables [traffic], [slo]
// and [fleet].
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/model/serve/engine/layout.hpp>
#include <headroom/model/serve/load/request_load.hpp>
#include <headroom/model/serve/load/retries.hpp>
#include <headroom/model/serve/load/tail_objective.hpp>
#include <headroom/model/serve/screen/autoscaling.hpp>
#include <headroom/model/serve/simulation/fleet_simulation.hpp>
#include <headroom/scenarios/traffic/availability.hpp>
#include <headroom/scenarios/traffic/kv_offload.hpp>
#include <headroom/scenarios/traffic/request_trace.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// As [traffic] and [fleet] spell them: GapShape, LengthShape and RequestRouting.
inline constexpr std::array<std::string_view, 4> gap_shape_names{"poisson", "gamma", "weibull", "constant"};
inline constexpr std::array<std::string_view, 4> length_shape_names{"fixed", "uniform", "lognormal", "exponential"};
inline constexpr std::array<std::string_view, 5> request_routing_names{"round-robin", "least-outstanding", "random",
                                                                       "shared-queue", "prefix"};

/// Requests of one kind and what they are promised.
struct RequestClass {
  std::string name;
  TrafficClass traffic;
  std::vector<TailObjective> objectives;
  std::size_t model = 0;  ///< that it asks: 0 the scenario's, i the i-th of ServeScenario::beside
};

/// Times and lengths of a log instead of distributions.
struct TracedTraffic {
  std::string file;
  RequestTrace trace;
  Hertz rate{};  ///< mean, to which its gaps are scaled
};

/// Clients that send again what failed. Rates of the traffic are of attempts.
struct ClientRetries {
  double failure = 0.0;  ///< chance that an attempt fails
  RetryPolicy policy;
  double attempts = 1.0;  ///< of a request, mean
};

/// The mean wait between the attempts of a request: "1.45 s", "over a year", "ever longer".
[[nodiscard]] std::string backoff_text(const RetryLoad& load);

struct ServingTraffic {
  std::vector<RequestClass> classes;  ///< one at least; of a trace their service_class counts them
  std::shared_ptr<const TracedTraffic> traced;
  std::int64_t requests = 20'000;  ///< simulated
  bool requests_stated = false;
  std::uint64_t seed = 1;
  bool objectives_stated = false;
  /// The rate of all classes over time, where it changes.
  std::optional<LoadCurve> day;
  std::optional<ClientRetries> retries;
  /// What the retries make of the load at `factor` times its rate on a fleet of so much capacity. Precondition:
  /// retries.
  [[nodiscard]] RetryLoad retried(Hertz capacity, double factor = 1.0) const noexcept;
  /// Replicas keep what prompts share; without, every prompt is computed whole, whatever else is stated.
  bool prefix_caching = true;
  /// Requests carry ids of what they share, so that what is found follows from the fleet.
  [[nodiscard]] bool shares_prefixes() const noexcept;
  /// The same classes at the highest rate of the day, all the time.
  [[nodiscard]] ServingTraffic at_peak() const;
  /// Mean requests per second of all classes together.
  [[nodiscard]] Hertz rate() const noexcept;
  /// Tokens of a mean request and of the longest, over all classes by their rates.
  struct Lengths {
    double prompt = 1.0, output = 1.0;
    double computed = 1.0;     ///< of the prompt: what no prefix cache holds; of requests with ids the least it can be
    std::int64_t longest = 2;  ///< prompt and output together
    std::int64_t longest_prompt = 1;
  };
  [[nodiscard]] Lengths lengths() const noexcept;
  /// Simulated time ends after 106 days: what comes in 60 of them at the mean rate has time to be answered.
  static constexpr Seconds longest_load{60.0 * 86400.0};
  /// Fewer requests say nothing of tails.
  static constexpr std::int64_t least_requests = 100;
  /// The most that a fleet may be asked per second, all of the world's people ten times over.
  static constexpr Hertz most_rate{1e11};
  /// Of those asked for, the requests that come in time at `factor` times the rate.
  [[nodiscard]] std::int64_t count(double factor = 1.0) const noexcept;
  /// Why a load at `factor` times the rate cannot be judged, with the way out; empty: it can be.
  [[nodiscard]] std::string too_few(double factor = 1.0) const;
  /// That fewer come in time than were asked for; empty: all do.
  [[nodiscard]] std::string cut_short(double factor = 1.0) const;
  /// The classes' processes, or the trace's requests, at `factor` times the rate: count() of them, but for those that a
  /// process of few and long gaps sends beyond three halves of the longest load. Two at least.
  [[nodiscard]] RequestLoad load(double factor = 1.0) const;
  /// As many requests as five minutes bring, in bounds.
  [[nodiscard]] static std::int64_t usual_requests(Hertz rate) noexcept;
  /// The same at a share of the rate, with fewer requests where their number was not stated.
  [[nodiscard]] ServingTraffic part(double share) const;
  /// The classes that ask one model, as the load of that model alone; requests likewise.
  [[nodiscard]] ServingTraffic of_model(std::size_t model) const;
};

/// Prompts on replicas of their own, which send the cache to the others.
struct DisaggregatedPrefill {
  std::optional<std::int64_t> replicas;  ///< blank: as many as keep the promises
  std::int64_t tp = 1;                   ///< of a prefill replica
  BytesPerSecond link{};                 ///< of a replica to the decode pool
  Seconds latency{};
};

/// Replicas that follow the load.
struct AutoscaleQuestion {
  Seconds cold_start{};    ///< from the decision to a replica that serves
  double target = 0.7;     ///< of the saturation rate, that replicas are held at
  std::int64_t least = 1;  ///< replicas that are never given back
};

struct FleetQuestion {
  std::optional<std::int64_t> replicas;   ///< blank: the fewest that keep the promises
  std::int64_t spare = 0;                 ///< replicas that may be down with the promises still kept
  std::optional<FleetFailures> failures;  ///< from which the spare ones follow instead
  RequestRouting routing = RequestRouting::least_outstanding;
  PrefixRouting prefix_routing;
  KvOffload kv_offload;  ///< where caches go that the GPUs have no room for
  std::optional<DisaggregatedPrefill> prefill;
  std::optional<AutoscaleQuestion> autoscaling;
  /// On top of `needed` replicas of so many GPUs.
  [[nodiscard]] std::int64_t spare_of(std::int64_t needed, std::int64_t gpus) const noexcept {
    return failures ? spare_for(needed, failures->up(gpus), failures->availability) : spare;
  }
};

/// Of a prompt of the class's mean length, the tokens that others have in common with it: no cache finds more.
[[nodiscard]] double most_cached(const TrafficClass& traffic) noexcept;
}  // namespace headroom
