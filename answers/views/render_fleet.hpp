// SPDX-License-Identifier: Apache-2.0
// A fleet's plan: what to take, what it keeps, what else there is.
#pragma once

#include <headroom/answers/document/value.hpp>
#include <headroom/scenarios/fleet/fleet_plan.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headroom {

[[nodiscard]] std::string fleet_text(const FleetPlan& plan);
/// Schema "headroom.fleet/1": raw SI, the unit in the key.
[[nodiscard]] Value fleet_document(const FleetPlan& plan);

/// "Llama 3.1 70B, 12.0 req/s, 1500 tokens in, ...; promised ttft_p95 1.00 s": what is asked. Precondition: options.
[[nodiscard]] std::string fleet_heading(const FleetPlan& plan);

/// "take 12 GPUs, 3 replicas of ...", or that nothing keeps what is promised.
[[nodiscard]] std::string fleet_verdict(const FleetPlan& plan);
/// Where the stated replicas are too few: how many would keep what is missed.
[[nodiscard]] std::string fleet_way_out(const FleetPlan& plan);
/// Replicas that follow the load against those of its peak: hours, dollars, GPUs over time. Precondition: they do.
[[nodiscard]] std::string fleet_over_time(const FleetPlan& plan);

/// "at the middle 8 GPUs would do: ...": with replicas as fast as the model says. Empty where that is the fleet taken,
/// or none would.
[[nodiscard]] std::string fleet_at_middle(const FleetPlan& plan);

/// "h100-sxm-80gb, tp 4, vLLM, weights fp8, KV cache fp8", with whatever else of it is searched: in every form of the
/// answer the words of a way to serve.
[[nodiscard]] std::string option_text(const FleetOption& option);
/// The same with so many replicas that prefill alone.
[[nodiscard]] std::string option_text(const FleetOption& option, std::int64_t prefill_replicas);

/// The fleet that replicas which follow the load are held against is the stated one, and not one for the peak.
/// Precondition: plan.autoscaling.
[[nodiscard]] bool fixed_is_stated(const FleetPlan& plan);
/// What following the load saves or costs of GPU-hours, of promises and of replicas, in sentences; none where nothing
/// is followed.
[[nodiscard]] std::vector<std::string> fleet_following(const FleetPlan& plan);

/// What a replica's start takes by its parts, the burst that it is too late for, and what the floor rests on, in
/// sentences; none where nothing is followed.
[[nodiscard]] std::vector<std::string> fleet_floor(const FleetPlan& plan);
/// "more replicas will not help, because ..." where the fleet keeps too little; empty where they do, or nobody knows
/// why not.
[[nodiscard]] std::string fleet_no_help(const FleetPlan& plan);
/// GPUs of a replica, of one that prefills for it with it. Precondition: the plan has options.
[[nodiscard]] std::int64_t gpus_of_a_replica(const FleetPlan& plan);

/// Ways that were left out, a line for each kind of reason, with one of its ways; those that rule out the most first.
[[nodiscard]] std::string fleet_left_out(const FleetPlan& plan);

/// The promise whose limit an option comes nearest to at the slow end, or misses by most there.
struct TightestPromise {
  std::string service_class, promise;  ///< "all", "ttft_p95"
  double of_limit = 0.0;               ///< reached over the limit
};
/// By the simulation; of an option that was screened alone by the closed forms, which know no classes. Nothing where
/// nothing is promised, or reached.
[[nodiscard]] std::optional<TightestPromise> tightest_promise(const FleetOption& option);

/// "12.3 req/s".
[[nodiscard]] std::string rate_text(Hertz rate);
/// "; what is asked is kept with probability 53 %, less than the 80 % asked for"; empty without a chance.
[[nodiscard]] std::string kept_with(const std::optional<double>& chance, double confidence);

}  // namespace headroom
