// SPDX-License-Identifier: Apache-2.0
// A new version of a service, replica by replica: what the surge needs, what is left of the service under way, how long
// it takes.
#pragma once

namespace headroom::pools {

struct ClusterPlan;

/// Fills `rollouts` of a plan that has its schedule: scheduler::rollout with the GPUs of the service's pool that are
/// free when it begins.
void add_rollouts(ClusterPlan& plan);

}  // namespace headroom::pools
