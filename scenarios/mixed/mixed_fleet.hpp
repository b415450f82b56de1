// SPDX-License-Identifier: Apache-2.0
// Replicas of unlike SKUs behind one router: what they answer together, whose tail the requests see, and what a router
// loses that gives as many to each.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/model/estimate/estimate.hpp>
#include <headroom/scenarios/mixed/mixed_question.hpp>
#include <headroom/scenarios/serving/simulated_serving.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

inline constexpr std::array<std::string_view, 2> mixed_routing_names{"by rate", "equal"};

/// A pool of replicas by itself.
struct ServedPool {
  std::int64_t replicas = 1;
  std::int64_t gpus_per_replica = 1;
  Interval<Hertz> saturation;  ///< of all its replicas
  double weight = 1.0;         ///< of a replica in a router that splits by rate, that of the fastest 1
};

/// A pool under its share of the requests.
struct RoutedPool {
  double share = 0.0;  ///< of the requests
  Hertz offered{};
  double load = 0.0;  ///< offered over its saturation
  bool overloaded = false;
  IntervalSummary ttft, tpot, e2e;
  bool keeps = false;  ///< what is promised, by itself, at the middle
};

struct RoutedFleet {
  MixedRouting routing = MixedRouting::by_rate;
  Hertz most{};                   ///< that can be offered before a pool saturates
  double loss = 0.0;              ///< of what the replicas answer together
  std::size_t first_to_fill = 0;  ///< pool that saturates first
  std::vector<RoutedPool> pools;  ///< in the order of the question
  bool overloaded = false;
  // Of all requests; NaN where overloaded.
  TimeSummary ttft, tpot, e2e;
  std::vector<KeptPromise> promises;           ///< of all requests, at the middle
  std::optional<Dollars> per_million_outputs;  ///< of the load's output tokens
  [[nodiscard]] bool good() const noexcept;
};

struct MixedFleet {
  MixedQuestion question;
  Hertz offered{};
  Hertz together{};  ///< sum of the pools' saturations
  std::vector<ServedPool> pools;
  std::vector<RoutedFleet> routings;  ///< by rate, then equal
  std::vector<std::string> classes;   ///< names of the classes
  std::string times_source;           ///< of the width of the intervals
  std::vector<std::string> notes;

  /// The one that is asked for.
  [[nodiscard]] const RoutedFleet& asked() const noexcept;
};

/// With n_i replicas of pool i that each answer r_i requests a second at the most, a router that splits by rate gives
/// pool i the share n_i r_i / sum_j n_j r_j, under which all saturate at once at sum_j n_j r_j; one that gives as many
/// to each replica the share n_i / sum_j n_j, under which the slowest saturate first, at min_i r_i sum_j n_j. Requests
/// are given out at random in these shares, under which a Poisson stream makes independent Poisson streams (Kingman
/// 1993, section 5.1, colouring theorem), so that each pool is simulated by itself; the tail of all is that of the
/// pools' requests in proportion to their shares. ConfigError as simulate_serving().
[[nodiscard]] MixedFleet plan_mixed_fleet(MixedQuestion question);

}  // namespace headroom
