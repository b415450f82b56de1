// SPDX-License-Identifier: Apache-2.0
// Writes Kueue's objects. Fields and words: kubernetes-sigs/kueue @ ff69552, apis/kueue/v1beta2 (of v1beta1, which is
// deprecated, cohortName was cohort): resourceflavor_types.go (nodeLabels), clusterqueue_types.go (queueingStrategy,
// preemption, resourceGroups, nominalQuota, borrowingLimit, fairSharing), localqueue_types.go (clusterQueue),
// workloadpriorityclass_types.go (value).
#include <headroom/core/number_words.hpp>
#include <headroom/core/printable.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>
#include <headroom/core/real_text.hpp>
#include <headroom/scenarios/pools/cluster_export.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace headroom::pools {
namespace {

constexpr std::string_view api = "apiVersion: kueue.x-k8s.io/v1beta2\n";
constexpr std::string_view cohort = "cluster";

/// A text as YAML 1.2 takes it in double quotes, which are those of JSON.
std::string yaml_quoted(std::string_view text) {
  return toml_string(text);
}

std::string object_head(std::string_view kind, const std::string& name) {
  return "---\n" + std::string{api} + "kind: " + std::string{kind} + "\nmetadata:\n  name: " + name + "\n";
}

/// What a pod asks for one GPU of the pool: of slices the resource of NVIDIA's device plugin (strategy mixed).
std::string resource_of(const AskedPool& asked) {
  if (asked.vendor == "amd") {
    return "amd.com/gpu";
  }
  return asked.slice && asked.slice->mig ? "nvidia.com/mig-" + asked.slice->profile : "nvidia.com/gpu";
}

/// Labels of the pool's nodes: the zone by its well-known name, those of the document by theirs.
std::map<std::string, std::string> node_labels(const AskedPool& asked) {
  std::map<std::string, std::string> labels;
  for (const auto& [label, value] : asked.labels) {
    if (label != "gpu") {
      labels[label == "zone" ? "topology.kubernetes.io/zone" : label] = label == "pool" ? plain_name(value) : value;
    }
  }
  return labels;
}

std::string flavor_text(const AskedPool& asked) {
  std::string text = object_head("ResourceFlavor", plain_name(asked.pool.name)) + "spec:\n  nodeLabels:\n";
  for (const auto& [label, value] : node_labels(asked)) {
    text += "    " + yaml_quoted(label) + ": " + yaml_quoted(value) + "\n";
  }
  return text;
}

std::string queue_text(const ClusterQuestion& question, std::size_t tenant) {
  const scheduler::Tenant& who = question.tenants[tenant];
  const bool strict = question.policy.order == scheduler::Order::fifo;
  std::string text =
      object_head("ClusterQueue", plain_name(who.name)) +
      "spec:\n  namespaceSelector:\n    matchLabels:\n      kubernetes.io/metadata.name: " + plain_name(who.name) +
      "\n  cohortName: " + std::string{cohort} + "\n  queueingStrategy: " + (strict ? "StrictFIFO" : "BestEffortFIFO") +
      "\n  preemption:\n    withinClusterQueue: " + (question.policy.preempt ? "LowerPriority" : "Never") +
      "\n    reclaimWithinCohort: " + (question.policy.preempt ? "Any" : "Never") + "\n";
  if (question.policy.order == scheduler::Order::fair) {
    text += "  fairSharing:\n    weight: " + yaml_quoted(shortest_text(who.weight)) + "\n";
  }
  text += "  resourceGroups:\n";
  std::vector<std::string> resources;
  for (const AskedPool& asked : question.pools) {
    if (std::find(resources.begin(), resources.end(), resource_of(asked)) == resources.end()) {
      resources.push_back(resource_of(asked));
    }
  }
  for (const std::string& resource : resources) {
    text += "  - coveredResources: [" + yaml_quoted(resource) + "]\n    flavors:\n";
    for (std::size_t p = 0; p < question.pools.size(); ++p) {
      if (resource_of(question.pools[p]) != resource) {
        continue;
      }
      const std::int64_t nominal = nominal_gpus(question, p)[tenant];
      text += "    - name: " + plain_name(question.pools[p].pool.name) +
              "\n      resources:\n      - name: " + yaml_quoted(resource) +
              "\n        nominalQuota: " + std::to_string(nominal) + "\n";
      if (!who.quota.empty()) {
        text += "        borrowingLimit: " + std::to_string(who.quota[p] - nominal) + "\n";
      }
    }
  }
  return text + object_head("LocalQueue", plain_name(who.name)) + "  namespace: " + plain_name(who.name) +
         "\nspec:\n  clusterQueue: " + plain_name(who.name) + "\n";
}

/// "priority-10", "priority-minus-5".
std::string priority_name(std::int64_t priority) {
  return priority < 0 ? "priority-minus-" + std::to_string(-priority) : "priority-" + std::to_string(priority);
}

std::string priority_text(std::int64_t priority, const std::string& jobs) {
  return object_head("WorkloadPriorityClass", priority_name(priority)) + "value: " + std::to_string(priority) +
         "\ndescription: " + yaml_quoted("jobs such as " + jobs) + "\n";
}

}  // namespace

std::string kueue_text(const ClusterQuestion& question) {
  std::string text =
      "# Queues of Kueue: 'kubectl apply -f FILE' once Kueue is installed. A job takes a queue by its label\n"
      "# kueue.x-k8s.io/queue-name, and a priority by kueue.x-k8s.io/priority-class. Nodes need the labels of their\n"
      "# ResourceFlavor.\n";
  if (question.policy.order == scheduler::Order::fair) {
    text += "# Weights hold where Kueue's configuration has fairSharing (enable: true until v0.13).\n";
  }
  for (const scheduler::Tenant& tenant : question.tenants) {
    if (tenant.credit) {
      text += "# Not expressed: the credit of " + tenant.name + ", " + format_number(*tenant.credit / hour.raw(), 6) +
              " GPU-h: Kueue has quotas at a time and no ledger.\n";
    }
  }
  if (std::any_of(question.jobs.begin(), question.jobs.end(),
                  [](const AskedJob& job) { return job.deadline.has_value(); })) {
    text += "# Not expressed: deadlines of jobs.\n";
  }
  for (const AskedPool& asked : question.pools) {
    text += flavor_text(asked);
  }
  for (std::size_t t = 0; t < question.tenants.size(); ++t) {
    text += queue_text(question, t);
  }
  std::map<std::int64_t, std::string> priorities;
  for (const AskedJob& job : question.jobs) {
    if (job.priority != 0) {
      priorities.emplace(job.priority, job.name);
    }
  }
  for (const auto& [priority, job] : priorities) {
    text += priority_text(priority, job);
  }
  return text;
}

}  // namespace headroom::pools
