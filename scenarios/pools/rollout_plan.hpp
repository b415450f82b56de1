// SPDX-License-Identifier: Apache-2.0
// A new version of a service, replica by replica: what the surge needs, what is left of the service under way, how long
// it takes.
#pragma once

namespace headroom::pools {

struct ClusterPlan;

/// Fills `rollouts` of a plan that has its schedule. Replicas of the new version start on GPUs of the service's pool
/// that are free when the rollout begins, up to the surge, and old ones drain once new ones answer; where no replica
/// has room beside the old ones, as many as may be unavailable are drained first. Of n replicas the surge is rounded up
/// and the unavailable down, and one may be unavailable where both are 0 (Kubernetes, deployment controller,
/// ResolveFenceposts).
void add_rollouts(ClusterPlan& plan);

}  // namespace headroom::pools
