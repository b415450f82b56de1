// SPDX-License-Identifier: Apache-2.0
// The answer to a question of kind cluster for people and for programs.
#pragma once

#include <headroom/answers/document/value.hpp>

#include <string>

namespace headroom {

namespace pools {
struct ClusterPlan;
struct JobOutcome;
}  // namespace pools

/// `explained`: every job, every line of the ledger and what times rest on.
[[nodiscard]] std::string cluster_text(const pools::ClusterPlan& plan, bool explained);
/// Schema "headroom.cluster/1": raw SI, the unit in the key.
[[nodiscard]] Value cluster_document(const pools::ClusterPlan& plan);
/// A row of each stretch in which a job holds GPUs of a node, in the order of their starts: job, tenant, pool, node,
/// first_gpu, gpus, from_s, to_s.
[[nodiscard]] std::string cluster_csv(const pools::ClusterPlan& plan);

/// "every job runs and keeps its deadline", or how many do not.
[[nodiscard]] std::string cluster_verdict(const pools::ClusterPlan& plan);
/// "done", "late", "refused", "crashed", of several the numbers: "118 done, 2 late".
[[nodiscard]] std::string outcome_text(const pools::JobOutcome& outcome);
/// The pools on which jobs ran, most first: "a100 (3), t4 (1)"; of one its name.
[[nodiscard]] std::string pools_text(const pools::ClusterPlan& plan, const pools::JobOutcome& outcome);

}  // namespace headroom
