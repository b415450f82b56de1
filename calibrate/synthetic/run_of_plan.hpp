// SPDX-License-Identifier: Apache-2.0
// A training plan as a run that its tools would have watched.
#pragma once

#include <headroom/calibrate/synthetic/synthetic_run.hpp>
#include <headroom/scenarios/plan/plan.hpp>

#include <cstdint>

namespace headroom {

/// The first `ranks` of the job over `steps` steps. Each term of the plan's step becomes what the GPU or the host does:
/// products by their share of the FLOP, forward a third of it; passes by their bytes; messages of tensor ranks four a
/// layer; gradients in a message for each layer beside the backward pass, as long as leaves exposed what the plan says;
/// the bubble as waits for the neighbouring stages. Stages are alike. ConfigError for a plan without a time, and for
/// more ranks than the job has.
[[nodiscard]] SyntheticRun run_of_plan(const Plan& plan, std::int64_t ranks, std::int64_t steps);

}  // namespace headroom
