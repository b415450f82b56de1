// SPDX-License-Identifier: Apache-2.0
// Shares of tenants at the moment when most GPUs are asked for.
#pragma once

#include <cstdint>
#include <vector>

namespace headroom::pools {

struct ClusterPlan;

/// Weighted max-min shares of `capacity` GPUs: nobody gets more than it asks for, and what it leaves goes to the others
/// in proportion to their weights (Bertsekas and Gallager 1992, section 6.5.2). `asked`, `weights`: by tenant, weights
/// above 0. The result is by tenant, in GPUs, and need not be whole.
[[nodiscard]] std::vector<double> max_min_shares(double capacity,
                                                 const std::vector<double>& asked,
                                                 const std::vector<double>& weights);

/// Fills `fullest` and `shares` of a plan that has its schedule. A job asks for the GPUs of the choice that it took,
/// from when it is ready to its end; the capacity is that of the pools that are not rented.
void add_fair_shares(ClusterPlan& plan);

}  // namespace headroom::pools
