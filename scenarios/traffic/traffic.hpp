// SPDX-License-Identifier: Apache-2.0
// Tables [traffic], [slo] and [fleet]: the open load of a serving question, its promises, and the fleet that serves it.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/model/serve/engine/layout.hpp>
#include <headroom/model/serve/load/request_load.hpp>
#include <headroom/model/serve/load/retries.hpp>
#include <headroom/model/serve/load/tail_objective.hpp>
#include <headroom/model/serve/screen/autoscaling.hpp>
#include <headroom/model/serve/simulation/fleet_simulation.hpp>
#include <headroom/scenarios/traffic/availability.hpp>
#include <headroom/scenarios/traffic/cold_start.hpp>
#include <headroom/scenarios/traffic/kv_offload.hpp>
#include <headroom/scenarios/traffic/request_trace.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// Spellings of GapShape, LengthShape and RequestRouting in [traffic] and [fleet].
inline constexpr std::array<std::string_view, 4> gap_shape_names{"poisson", "gamma", "weibull", "constant"};
inline constexpr std::array<std::string_view, 4> length_shape_names{"fixed", "uniform", "lognormal", "exponential"};
inline constexpr std::array<std::string_view, 5> request_routing_names{"round-robin", "least-outstanding", "random",
                                                                       "shared-queue", "prefix"};

/// Requests of one kind, with their promises.
struct RequestClass {
  std::string name;
  TrafficClass traffic;
  std::vector<TailObjective> objectives;
  std::size_t model = 0;  ///< model that the class uses: 0 the scenario's own, i the i-th of ServeScenario::beside
};

/// Arrival times and lengths from a log instead of distributions.
struct TracedTraffic {
  std::string file;
  RequestTrace trace;
  Hertz rate{};           ///< mean rate that the trace's gaps are scaled to
  std::int64_t bins = 0;  ///< equal parts whose rates are ServingTraffic::day (trace_curve.hpp); 0: it has none
};

/// Clients that resend failed requests. Rates of the traffic count attempts.
struct ClientRetries {
  double failure = 0.0;  ///< probability (0 to 1) that an attempt fails
  RetryPolicy policy;
  double attempts = 1.0;  ///< mean attempts per request, >= 1
};

/// Mean wait between the attempts of a request, for print: "1.45 s", "over a year", "ever longer".
[[nodiscard]] std::string backoff_text(const RetryLoad& load);

struct ServingTraffic {
  std::vector<RequestClass> classes;  ///< at least one; a trace numbers them by its service_class
  std::shared_ptr<const TracedTraffic> traced;
  std::int64_t requests = 20'000;  ///< requests to simulate
  bool requests_stated = false;
  std::uint64_t seed = 1;
  bool objectives_stated = false;
  /// Rate of all classes over the day, or of a trace that is followed over its time; absent: constant.
  std::optional<LoadCurve> day;
  std::optional<ClientRetries> retries;
  /// Load with its retries at `factor` times the rate, on a fleet of this capacity. Precondition: `retries` is set.
  [[nodiscard]] RetryLoad retried(Hertz capacity, double factor = 1.0) const noexcept;
  /// Whether replicas keep shared prefixes; if not, every prompt is computed whole, whatever else is stated.
  bool prefix_caching = true;
  /// Whether requests carry ids of shared prefixes, so that cache hits follow from the fleet.
  [[nodiscard]] bool shares_prefixes() const noexcept;
  /// Whether requests come in sessions of several turns.
  [[nodiscard]] bool has_turns() const noexcept;
  /// Whether what requests share is of their own session alone.
  [[nodiscard]] bool shares_in_sessions() const noexcept;
  /// The same classes, or the trace at one rate, constantly at the highest rate of the day.
  [[nodiscard]] ServingTraffic at_peak() const;
  /// Mean requests per second of all classes together.
  [[nodiscard]] Hertz rate() const noexcept;
  /// Means over all classes, weighted by their rates, and maxima, in tokens. The prompt of a turn is all of it.
  struct Lengths {
    double prompt = 1.0, output = 1.0;
    double computed = 1.0;     ///< prompt tokens not found in a prefix cache; with prefix ids the lower bound
    std::int64_t longest = 2;  ///< longest request, prompt and output together
    std::int64_t longest_prompt = 1;
  };
  [[nodiscard]] Lengths lengths() const noexcept;
  /// Longest load: requests of 60 days at the mean rate can be answered before simulated time ends (106 days).
  static constexpr Seconds longest_load{60.0 * 86400.0};
  /// Fewest requests from which tails can be judged.
  static constexpr std::int64_t least_requests = 100;
  /// Highest rate that a fleet may be asked for, requests/s.
  static constexpr Hertz most_rate{1e11};
  /// Requests that arrive within longest_load at `factor` times the rate, at most `requests`.
  [[nodiscard]] std::int64_t count(double factor = 1.0) const noexcept;
  /// Why a load at `factor` times the rate cannot be judged, with the remedy; empty when it can.
  [[nodiscard]] std::string too_few(double factor = 1.0) const;
  /// Note that fewer requests arrive in time than were asked for; empty when all do.
  [[nodiscard]] std::string cut_short(double factor = 1.0) const;
  /// Requests of the classes or of the trace at `factor` times the rate: count() of them, less those after 1.5
  /// longest_load, which a bursty process may send. At least two. `paces`: time per token of each model's answers, by
  /// which the turns of sessions are planned; usual_token where it has none.
  [[nodiscard]] RequestLoad load(double factor = 1.0, std::span<const Seconds> paces = {}) const;
  /// At least `count` of the requests for clients that wait for answers; sessions are whole, but the first `clients`.
  [[nodiscard]] RequestLoad closed(std::int64_t count, std::int64_t clients = 0) const;
  /// Default number of requests: five minutes' worth, within 20,000 to 200,000.
  [[nodiscard]] static std::int64_t usual_requests(Hertz rate) noexcept;
  /// The traffic at `share` times the rate, with fewer requests when their number was not stated.
  [[nodiscard]] ServingTraffic part(double share) const;
  /// The load of one model alone: its classes and its part of the requests.
  [[nodiscard]] ServingTraffic of_model(std::size_t model) const;

 private:
  /// Its classes at `factor` times their rate; without what replicas do not keep.
  [[nodiscard]] std::vector<TrafficClass> asked(double factor, std::span<const Seconds> paces = {}) const;
  [[nodiscard]] RequestLoad as_cached(RequestLoad load) const;
};

/// Prefill on separate replicas, which send the KV cache to the decode replicas.
struct DisaggregatedPrefill {
  std::optional<std::int64_t> replicas;  ///< absent: as many as keep the promises
  std::int64_t tp = 1;                   ///< tensor-parallel ranks of a prefill replica
  BytesPerSecond link{};                 ///< rate from one prefill replica to the decode pool
  Seconds latency{};
};

/// Number of replicas that follows the load.
struct AutoscaleQuestion {
  Seconds cold_start{};  ///< time from the decision until a new replica serves; nothing where `parts` are stated
  std::optional<StartParts> parts;
  double target = 0.7;     ///< load per replica that is aimed at, as a share of saturation, in (0, 1)
  std::int64_t least = 1;  ///< replicas that are always kept
};

struct FleetQuestion {
  std::optional<std::int64_t> replicas;   ///< absent: the fewest that keep the promises
  std::int64_t spare = 0;                 ///< replicas that may be down while the promises still hold
  std::optional<FleetFailures> failures;  ///< when set, the number of spare replicas follows from it
  RequestRouting routing = RequestRouting::least_outstanding;
  PrefixRouting prefix_routing;
  KvOffload kv_offload;  ///< tiers for caches that do not fit on the GPUs
  std::optional<DisaggregatedPrefill> prefill;
  std::optional<AutoscaleQuestion> autoscaling;
  /// Spare replicas on top of `needed` replicas of `gpus` GPUs each.
  [[nodiscard]] std::int64_t spare_of(std::int64_t needed, std::int64_t gpus) const noexcept {
    return failures ? spare_for(needed, failures->up(gpus), failures->availability) : spare;
  }
};

/// Mean tokens of a prompt: of sessions all that a turn's holds.
[[nodiscard]] double whole_prompt(const TrafficClass& traffic) noexcept;

/// Upper bound on the prompt tokens found in a cache, for a prompt of the class's mean length. `answers_kept`: as
/// SessionFlow's.
[[nodiscard]] double most_cached(const TrafficClass& traffic, bool answers_kept = true) noexcept;
}  // namespace headroom
