// SPDX-License-Identifier: Apache-2.0
// A cluster as configuration of the programs that run one: quotas and weights of its tenants, priorities, slices.
#pragma once

#include <headroom/scenarios/pools/cluster_question.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

struct Sources;

namespace pools {

/// GPUs of a pool by tenant, in proportion to their weights, whole and all given away (Hamilton's method of largest
/// remainders); a tenant's quota bounds its own.
[[nodiscard]] std::vector<std::int64_t> nominal_gpus(const ClusterQuestion& question, std::size_t pool);

/// Letters, digits and dashes alone, lower case: a name as Kubernetes (RFC 1123) and Slurm take it.
/// "x" of a name without any.
[[nodiscard]] std::string plain_name(std::string_view name);

/// ResourceFlavors, ClusterQueues, LocalQueues and WorkloadPriorityClasses of Kueue (kubernetes-sigs/kueue,
/// apis/kueue/v1beta2).
[[nodiscard]] std::string kueue_text(const ClusterQuestion& question);

/// A shell script of sacctmgr's commands, accounts and QOS, with the lines of slurm.conf that they need in comments
/// (Slurm 23.02: sacctmgr(1), slurm.conf(5), resource limits).
[[nodiscard]] std::string slurm_qos_text(const ClusterQuestion& question);

/// Pools of slices as the partition editor takes them. ConfigError where no pool is of slices of MIG.
[[nodiscard]] std::string slices_text(const ClusterQuestion& question, const Sources& sources);

}  // namespace pools
}  // namespace headroom
