// SPDX-License-Identifier: Apache-2.0
// The parts of the page of kind cluster: the verdict, the timeline of its pools, tenants and jobs, credit, other ways.
#include <headroom/answers/cluster/timeline.hpp>
#include <headroom/answers/page/sections.hpp>

#include <string>

namespace headroom::report {

std::string cluster_answer(const Documents& documents) {
  const Place cluster = documents.find("cluster");
  if (!cluster.there()) {
    return {};
  }
  return verdict_line(cluster["verdict"].text() == "feasible" ? "fits" : "no", cluster["verdict_text"].text()) +
         headline_numbers({{"the last job ends after", cluster["work_end_s"], ""},
                           {"services hold GPUs until", cluster["makespan_s"], ""},
                           {"no schedule ends before", cluster["makespan_bound_s"], ""},
                           {"mean wait", cluster["wait_mean_s"], ""},
                           {"cost", cluster["cost_usd"], ""},
                           {"95 % of waits", cluster["wait_p95_s"], ""},
                           {"longest wait", cluster["wait_longest_s"], ""},
                           {"GPUs that nobody held cost", cluster["idle_cost_usd"], ""},
                           {"jobs late", cluster["late"], ""},
                           {"jobs that do not run", cluster["refused"], ""}},
                          "");
}

std::string timeline_section(const Documents& documents) {
  const Place cluster = documents.find("cluster");
  if (cluster["holds"].items().empty()) {
    return {};
  }
  return section("timeline", "Who holds which GPUs when",
                 "A box is a job on GPUs of a node, in the colour of its tenant.",
                 "<figure role=\"img\" aria-label=\"Timeline of the pools; the table of jobs has the numbers\">" +
                     cluster_timeline(cluster) + "</figure>\n");
}

std::string cluster_section(const Documents& documents) {
  const Place cluster = documents.find("cluster");
  return section("cluster", "Pools, tenants and jobs", "",
                 items_table("pools", cluster["pools"],
                             {"name", "gpu", "gpus", "rented", "busy", "most_gpus", "stranded_gpu_hours",
                              "fragmented_gpu_hours", "cost_usd"}) +
                     items_table("tenants", cluster["tenants"],
                                 {"name", "weight", "jobs_ran", "gpu_hours", "wait_mean_s", "asked_gpus", "fair_gpus",
                                  "got_gpus", "credit_gpu_hours", "credit_left_gpu_hours", "cost_usd"}) +
                     items_table("jobs", cluster["jobs"],
                                 {"name", "tenant", "count", "done", "late", "refused", "crashed", "start_s", "end_s",
                                  "wait_mean_s", "wait_longest_s", "stops", "gpu_hours", "cost_usd", "why"}));
}

std::string ledger_section(const Documents& documents) {
  const Place cluster = documents.find("cluster");
  return section(
      "ledger", "Credit", "",
      items_table("ledger", cluster["ledger"], {"at_s", "tenant", "line", "gpu_hours", "left_gpu_hours", "job"}));
}

std::string beside_cluster_section(const Documents& documents) {
  const Place cluster = documents.find("cluster");
  const std::string notes = cluster.there() ? text_list(cluster["notes"]) : "";
  return section("beside", "Other orders, other clusters", "",
                 object_table("first come, first served", cluster["fifo"]) +
                     object_table("the shortest, whatever the shares", cluster["without_fairness"]) +
                     items_table("one more node", cluster["one_more_node"],
                                 {"pool", "makespan_s", "makespan_saved_s", "wait_mean_s", "wait_mean_saved_s", "late",
                                  "cost_usd", "cost_added_usd"}) +
                     object_table("rented and spilled over", cluster["spill_over"]) +
                     items_table("rollouts", cluster["rollouts"],
                                 {"job", "at_s", "goes", "replicas", "surge_gpus", "spare_gpus", "least_capacity",
                                  "time_s", "rollback_s", "why"}) +
                     (notes.empty() ? "" : "<h3>Assumed</h3>\n" + notes));
}

}  // namespace headroom::report
