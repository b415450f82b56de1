// SPDX-License-Identifier: Apache-2.0
// Writes accounts and QOS for Slurm's accounting. Facts: sacctmgr(1) of Slurm 23.02 (Fairshare, GrpTRES, GrpTRESMins,
// Priority, Preempt, Flags=NoDecay), slurm.conf(5) (AccountingStorageTRES, AccountingStorageEnforce, PriorityType,
// PreemptType, PartitionName, TRESBillingWeights), "Resource Limits" and "Multifactor Priority Plugin" of its
// documentation.
#include <headroom/core/number_words.hpp>
#include <headroom/core/real.hpp>
#include <headroom/core/real_text.hpp>
#include <headroom/scenarios/pools/cluster_export.hpp>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace headroom::pools {
namespace {

constexpr double seconds_of_minute = 60.0;

/// A priority, and whether jobs of it may be stopped.
using Level = std::pair<std::int64_t, bool>;

std::set<Level> levels_of(const ClusterQuestion& question) {
  std::set<Level> levels;
  for (const AskedJob& job : question.jobs) {
    levels.emplace(job.priority, job.preemptible);
  }
  return levels;
}

/// QOS have no priority below 0: the least of the document is 0.
std::string qos_name(const Level& level, std::int64_t least) {
  return "p" + std::to_string(level.first - least) + (level.second ? "-preemptible" : "");
}

/// Whole numbers in proportion to the weights.
std::int64_t fairshare_of(const ClusterQuestion& question, const scheduler::Tenant& tenant) {
  const bool whole = std::all_of(question.tenants.begin(), question.tenants.end(), [](const scheduler::Tenant& each) {
    return each.weight == std::floor(each.weight) && each.weight <= 1e6;
  });
  constexpr double finer = 100.0;
  return std::max<std::int64_t>(1, std::llround(tenant.weight * (whole ? 1.0 : finer)));
}

std::string pools_conf(const ClusterQuestion& question) {
  std::string types = "gres/gpu", text;
  for (const AskedPool& asked : question.pools) {
    const std::string name = plain_name(asked.pool.name);
    types += ",gres/gpu:" + name;
    std::string features;
    for (const auto& [label, value] : asked.labels) {
      features += (features.empty() ? "" : ",") + plain_name(label) + "_" + plain_name(value);
    }
    const std::string nodes = name + "-[1-" + std::to_string(asked.pool.nodes) + "]";
    text += "# NodeName=" + nodes + " Gres=gpu:" + name + ":" + std::to_string(asked.pool.gpus_per_node) +
            " Feature=" + features + (asked.pool.rented ? " State=CLOUD" : "") + "\n# PartitionName=" + name +
            " Nodes=" + nodes + " TRESBillingWeights=\"GRES/gpu=" + shortest_text(asked.pool.credits) + "\"\n";
  }
  return "# AccountingStorageTRES=" + types + "\n" + text;
}

std::string limits_of(const ClusterQuestion& question, const scheduler::Tenant& tenant) {
  std::string text;
  if (!tenant.quota.empty()) {
    std::string limits;
    for (std::size_t p = 0; p < question.pools.size(); ++p) {
      if (tenant.quota[p] < question.pools[p].pool.gpus()) {
        limits += (limits.empty() ? "" : ",") + ("gres/gpu:" + plain_name(question.pools[p].pool.name)) + "=" +
                  std::to_string(tenant.quota[p]);
      }
    }
    text += limits.empty() ? "" : " GrpTRES=" + limits;
  }
  if (tenant.credit) {
    text += " GrpTRESMins=billing=" + std::to_string(std::llround(*tenant.credit / seconds_of_minute));
  }
  return text;
}

}  // namespace

std::string slurm_qos_text(const ClusterQuestion& question) {
  const std::set<Level> levels = levels_of(question);
  std::int64_t least = 0;
  for (const Level& level : levels) {
    least = std::min(least, level.first);
  }
  const bool credit = std::any_of(question.tenants.begin(), question.tenants.end(),
                                  [](const scheduler::Tenant& tenant) { return tenant.credit.has_value(); });
  const bool fifo = question.policy.order == scheduler::Order::fifo;
  const bool fair = question.policy.order == scheduler::Order::fair;
  std::string text =
      "#!/bin/bash\n# Accounts, limits and priorities of Slurm: run it where sacctmgr reaches slurmdbd. What "
      "slurm.conf "
      "needs beside\n# it:\n# GresTypes=gpu\n" +
      pools_conf(question) + "# AccountingStorageEnforce=limits,qos" + (credit ? ",safe" : "") +
      "\n# SchedulerType=" + (fifo ? "sched/builtin" : "sched/backfill") +
      "\n# PriorityType=priority/multifactor\n# PriorityWeightQOS=100000\n";
  if (fair) {
    text += "# PriorityWeightFairshare=10000\n";
  }
  if (credit) {
    text += "# PriorityDecayHalfLife=0\n";
  }
  if (question.policy.preempt) {
    text += "# PreemptType=preempt/qos\n# PreemptMode=REQUEUE\n";
  }
  text += "set -e\n";
  for (const Level& level : levels) {
    std::string stopped;
    for (const Level& other : levels) {
      if (question.policy.preempt && other.second && other.first < level.first) {
        stopped += (stopped.empty() ? "" : ",") + qos_name(other, least);
      }
    }
    text += "sacctmgr -i add qos " + qos_name(level, least) + "\nsacctmgr -i modify qos " + qos_name(level, least) +
            " set Priority=" + std::to_string(level.first - least) + (stopped.empty() ? "" : " Preempt=" + stopped) +
            (credit ? " Flags=NoDecay" : "") + "\n";
  }
  std::string all;
  for (const Level& level : levels) {
    all += (all.empty() ? "" : ",") + qos_name(level, least);
  }
  for (const scheduler::Tenant& tenant : question.tenants) {
    const std::string name = plain_name(tenant.name);
    text += "sacctmgr -i add account " + name + "\nsacctmgr -i modify account " + name +
            " set Fairshare=" + std::to_string(fairshare_of(question, tenant)) + limits_of(question, tenant) +
            " QOS=" + all + "\n";
  }
  return text;
}

}  // namespace headroom::pools
