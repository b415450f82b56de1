// SPDX-License-Identifier: Apache-2.0
// The answers of verbs as documents of a page, with what a page shows beside a plan: other numbers of GPUs, the ops of
// a layer against the roofs, past errors by class.
#pragma once

#include <headroom/answers/markup/place.hpp>
#include <headroom/scenarios/fleet/fleet_plan.hpp>
#include <headroom/scenarios/plan/network_plan.hpp>
#include <headroom/scenarios/plan/plan.hpp>
#include <headroom/scenarios/search/search_plan.hpp>

#include <string>

namespace headroom::report {

/// "plan", and as far as they can be worked out "scaling", "roofline", "accuracy"; what cannot be is left out with the
/// reason.
[[nodiscard]] Documents plan_documents(const Plan& plan);
[[nodiscard]] Documents network_documents(const NetworkPlan& plan);
/// "search", with the same of the plan taken.
[[nodiscard]] Documents search_documents(const SearchPlan& answer);

/// "fleet", and "load" (schema "headroom.load/1"): the fleet taken at other rates of its traffic, from a tenth of its
/// saturation to all of it, each simulated with as many requests as the answer. On so many threads, the same bytes.
[[nodiscard]] Documents fleet_documents(const FleetPlan& plan, unsigned threads);
/// "simulation".
[[nodiscard]] Documents simulation_documents(const Scenario& scenario, const ServingSimulation& simulation);

/// Schema "headroom.accuracy/1": widths of past errors of every class, and which class is asked for.
[[nodiscard]] std::string accuracy_json(RunClass asked);

}  // namespace headroom::report
