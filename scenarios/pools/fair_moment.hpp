// SPDX-License-Identifier: Apache-2.0
// Shares of tenants at the moment when most GPUs are asked for.
#pragma once

namespace headroom::pools {

struct ClusterPlan;

/// Fills `fullest`, `shares` (scheduler::fair_shares) and `jain` of a plan that has its schedule. A job asks for the
/// GPUs of the choice that it took, from when it is ready to its end; the capacity is that of the pools that are not
/// rented.
void add_fair_shares(ClusterPlan& plan);

}  // namespace headroom::pools
