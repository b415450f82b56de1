// SPDX-License-Identifier: Apache-2.0
// A fleet's plan: what to take, what it keeps, what else there is.
#pragma once

#include <headroom/scenarios/serving/fleet_plan.hpp>

#include <optional>
#include <string>

namespace headroom::cli {

[[nodiscard]] std::string fleet_text(const FleetPlan& plan);
/// Schema "headroom.fleet/1": raw SI, the unit in the key.
[[nodiscard]] std::string fleet_json(const FleetPlan& plan);

/// "take 12 GPUs, 3 replicas of ...", or that nothing keeps what is promised.
[[nodiscard]] std::string fleet_verdict(const FleetPlan& plan);
/// How many such replicas would keep what is missed; empty where nothing is missed.
[[nodiscard]] std::string fleet_way_out(const FleetPlan& plan);

/// The promise whose limit an option comes nearest to, or misses by most.
struct TightestPromise {
  std::string service_class, promise;  ///< "all", "ttft_p95"
  double of_limit = 0.0;               ///< reached over the limit
};
/// By the simulation; of an option that was screened alone by the closed forms, which know no classes. Nothing where
/// nothing is promised, or reached.
[[nodiscard]] std::optional<TightestPromise> tightest_promise(const FleetOption& option);

/// "12.3 req/s".
[[nodiscard]] std::string rate_text(Hertz rate);

}  // namespace headroom::cli
