// SPDX-License-Identifier: Apache-2.0
// Questions that leave the layout to the program: where one GPU does not hold what it would get, all are tried.
#pragma once

#include <headroom/scenarios/box/box_question.hpp>
#include <headroom/scenarios/plan/plan.hpp>
#include <headroom/scenarios/search/search_job.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace headroom {

/// The search over every strategy, of a training plan whose question states no ranks and no ZeRO stage, and whose
/// default does not surely fit. nullopt: none is meant.
[[nodiscard]] std::optional<SearchQuestion> search_of_blank(const Plan& plan);

/// The layouts that a serving plan's question leaves open, at the load that it states, where its default does not fit.
[[nodiscard]] std::optional<BoxQuestion> box_of_blank(const Plan& plan);

/// A serving question under a fixed load that states no number of GPUs, on the least that surely hold all its requests
/// at once: replicas of the stated layout; else a power of two, of one replica as far as a host reaches, of several or
/// of several stages beyond. What was taken is under its assumptions. nullopt: GPUs are stated, or most_sized_gpus do
/// not hold it.
[[nodiscard]] std::optional<Scenario> on_least_gpus(const Scenario& scenario);
inline constexpr std::int64_t most_sized_gpus = 1024;

/// "strategy: not stated; a replica on one rank does not surely fit, so that every layout was tried", or layouts up
/// to an interrupt.
[[nodiscard]] std::string blank_layout_note(const Plan& plan, bool complete);

}  // namespace headroom
