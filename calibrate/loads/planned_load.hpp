// SPDX-License-Identifier: Apache-2.0
// A load that was measured beside the plan of a server: first tokens, tokens, rates, and the plan's terms of each.
#pragma once

#include <headroom/calibrate/diagnosis/cause.hpp>
#include <headroom/core/quantity.hpp>
#include <headroom/model/estimate/estimate.hpp>

#include <string_view>
#include <utility>
#include <vector>

namespace headroom {

/// Terms of a time, which sum to its middle.
using PlannedTerms = std::vector<std::pair<std::string_view, Seconds>>;

/// What a plan says of its server under a fixed load.
struct PlannedLoad {
  double concurrency = 0.0;  ///< requests in flight that it was asked for; 0: not stated
  Interval<Seconds> ttft, tpot;
  Interval<double> requests_per_s, output_tokens_per_s;
  PlannedTerms ttft_terms, tpot_terms;
};

/// Adds tables "planned_loads" (each metric of each load beside the plan) and "planned_terms" (what the plan spends it
/// on, and how many times as long a term would be were it alone to blame for the gap), and a sentence for each load.
/// Precondition: the reading has a load, and the plan times above 0.
void add_planned_load(const PlannedLoad& plan, RunReading& reading);

}  // namespace headroom
