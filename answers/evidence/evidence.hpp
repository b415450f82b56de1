// SPDX-License-Identifier: Apache-2.0
// What a page shows beside its answer: other numbers of GPUs, the ops of a layer against the roofs, past errors by
// class, a fleet at other rates. What cannot be worked out is left out with the reason.
#pragma once

#include <headroom/answers/markup/place.hpp>
#include <headroom/scenarios/fleet/fleet_plan.hpp>
#include <headroom/scenarios/plan/network_plan.hpp>
#include <headroom/scenarios/plan/plan.hpp>

namespace headroom::report {

/// "scaling", "roofline", "accuracy".
void add_evidence(Documents& documents, const Plan& plan);
/// "accuracy".
void add_evidence(Documents& documents, const NetworkPlan& plan);
/// "load" (schema "headroom.load/1"): the fleet taken at other rates of its traffic, from a tenth of its saturation to
/// all of it, each simulated with as many requests as the answer. On so many threads, the same bytes.
void add_evidence(Documents& documents, const FleetPlan& plan, unsigned threads);

/// Schema "headroom.accuracy/1": widths of past errors of every class, and which class is asked for.
[[nodiscard]] Value accuracy_document(const Confidence& table, RunClass asked);

}  // namespace headroom::report
