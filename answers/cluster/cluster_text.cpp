// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/batch/render_job.hpp>
#include <headroom/answers/cluster/render_cluster.hpp>
#include <headroom/answers/markup/table.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>
#include <headroom/scenarios/keys/words.hpp>
#include <headroom/scenarios/pools/cluster_plan.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

namespace headroom {
namespace {

using pools::ClusterPlan;
using pools::JobOutcome;
using pools::Variant;

/// Rows of a table that is not explained.
constexpr std::size_t most_rows = 30;

std::string hours_text(double gpu_seconds) {
  return format_number(gpu_seconds / hour.raw(), 4);
}

/// As format(), but a time of nothing in seconds.
std::string time_text(Seconds time) {
  return time == Seconds{} ? "0 s" : format(time);
}

std::string title_text(const ClusterPlan& plan) {
  std::int64_t gpus = 0, jobs = 0;
  for (const pools::AskedPool& pool : plan.question.pools) {
    gpus += pool.pool.gpus();
  }
  for (const pools::AskedJob& job : plan.question.jobs) {
    jobs += job.count;
  }
  return counted(static_cast<std::int64_t>(plan.question.pools.size()), "pool") + " of " + counted(gpus, "GPU") + ", " +
         counted(jobs, "job") +
         (plan.question.tenants_stated
              ? " of " + counted(static_cast<std::int64_t>(plan.question.tenants.size()), "tenant")
              : "") +
         ", order " + std::string{queue_order_names[static_cast<std::size_t>(plan.question.policy.order)]} + "\n";
}

std::string head_text(const ClusterPlan& plan) {
  const scheduler::Schedule& s = plan.schedule;
  Table table{{"", "<"}};
  const std::string bound = s.proven ? ", and no schedule is shorter"
                            : s.bound > Seconds{}
                                ? ", at least " + format(s.bound) + " (" + percent(plan.gap()) + " above)"
                                : "";
  if (plan.services) {
    if (plan.work_end > Seconds{}) {
      table.row({"the last job ends after", time_text(plan.work_end)});
    }
    table.row({"services hold GPUs until", time_text(s.makespan)});
  } else {
    table.row({"the last job ends after", time_text(s.makespan) + bound});
  }
  table.row({"waits", "mean " + time_text(s.mean_wait) + ", 95 % within " + time_text(s.p95_wait) + ", longest " +
                          time_text(plan.longest_wait)});
  if (plan.priced_pools) {
    table.row({"cost", format(s.cost) + ", of which " + format(plan.idle_cost) + " for GPUs that nobody held"});
  }
  if (plan.crashed > 0) {
    table.row({"ended without a result", counted(plan.crashed, "job")});
  }
  return table.text();
}

std::string pool_table(const ClusterPlan& plan) {
  Table table{{"pool", "<SKU", "GPUs", "busy", "at most", "stranded", "fragmented", plan.priced_pools ? "cost" : ""}};
  for (std::size_t i = 0; i < plan.question.pools.size(); ++i) {
    const pools::AskedPool& asked = plan.question.pools[i];
    const scheduler::PoolUse& use = plan.schedule.pools[i];
    table.row({asked.pool.name + (asked.pool.rented ? " (rented)" : ""), asked.gpu, std::to_string(asked.pool.gpus()),
               percent(use.busy), std::to_string(use.most), hours_text(use.stranded), hours_text(use.fragmented),
               asked.price.price ? format(use.cost) : ""});
  }
  return "\n" + table.text() + "  stranded and fragmented are GPU-h that were free while jobs waited\n";
}

std::string tenant_table(const ClusterPlan& plan) {
  if (!plan.question.tenants_stated) {
    return "";
  }
  Table table{{"tenant", "weight", "jobs", "GPU-h", "mean wait", "GPUs asked", "fair share", "got",
               plan.priced_pools ? "cost" : ""}};
  for (std::size_t t = 0; t < plan.question.tenants.size(); ++t) {
    const scheduler::Tenant& tenant = plan.question.tenants[t];
    const scheduler::TenantUse& use = plan.schedule.tenants[t];
    const pools::FairShare& share = plan.shares[t];
    table.row({tenant.name, format_number(tenant.weight), std::to_string(use.ran), hours_text(use.gpu_seconds),
               time_text(use.mean_wait), std::to_string(share.asked), format_number(share.fair),
               std::to_string(share.got), plan.priced_pools ? format(plan.tenant_cost[t]) : ""});
  }
  return "\n" + table.text() + "  shares are those at " + time_text(plan.fullest) + ", when most GPUs were asked for\n";
}

/// "8" or "4 to 8".
std::string gpus_text(const std::vector<scheduler::Choice>& choices) {
  if (choices.empty()) {
    return "";
  }
  const auto [least, most] =
      std::minmax_element(choices.begin(), choices.end(), [](const auto& a, const auto& b) { return a.gpus < b.gpus; });
  return std::to_string(least->gpus) + (least->gpus < most->gpus ? " to " + std::to_string(most->gpus) : "");
}

std::string job_table(const ClusterPlan& plan, bool explained) {
  const std::size_t all = plan.question.jobs.size();
  const std::size_t shown = explained ? all : std::min(all, most_rows);
  Table table{{"job", "<tenant", "jobs", "GPUs", "starts", "ends", "mean wait", "GPU-h",
               plan.priced_pools ? "cost" : "", "<", "<on"}};
  for (std::size_t i = 0; i < shown; ++i) {
    const pools::AskedJob& asked = plan.question.jobs[i];
    const JobOutcome& out = plan.outcomes[i];
    const bool ran = out.ran() > 0;
    table.row({asked.name, plan.question.tenants_stated ? plan.question.tenants[asked.tenant].name : "",
               asked.count > 1 ? std::to_string(asked.count) : "", gpus_text(plan.priced[i].choices),
               ran ? time_text(out.first_start) : "", ran ? time_text(out.last_end) : "",
               ran ? time_text(out.mean_wait) : "", ran ? hours_text(out.gpu_seconds) : "",
               plan.priced_pools && ran ? format(out.cost) : "", outcome_text(out), pools_text(plan, out)});
  }
  return "\n" + table.text() +
         (shown < all ? "  " + std::to_string(all - shown) + " more: headroom explain, or --format json\n" : "");
}

std::string missed_text(const ClusterPlan& plan, bool explained) {
  std::string text;
  std::size_t told = 0, left = 0;
  for (std::size_t i = 0; i < plan.outcomes.size(); ++i) {
    const JobOutcome& out = plan.outcomes[i];
    if (out.why.empty()) {
      continue;
    }
    if (told == most_rows && !explained) {
      ++left;
      continue;
    }
    ++told;
    text += "  " + plan.question.jobs[i].name + (out.refused > 0 ? " does not run: " : " is late: ") + out.why + "\n";
  }
  return text.empty()
             ? ""
             : "\nmissed\n" + text + (left > 0 ? "  " + std::to_string(left) + " more: headroom explain\n" : "");
}

std::string ledger_text(const ClusterPlan& plan, bool explained) {
  const std::vector<scheduler::Entry>& lines = plan.schedule.ledger;
  if (lines.empty()) {
    return "";
  }
  constexpr std::array<std::string_view, 5> words{"granted", "reserved", "used", "refunded", "refused"};
  const std::size_t shown = explained ? lines.size() : std::min(lines.size(), most_rows);
  Table table{{"ledger at", "<tenant", "<", "GPU-h", "left", "<job"}};
  for (std::size_t i = 0; i < shown; ++i) {
    const scheduler::Entry& line = lines[i];
    table.row({time_text(line.at), plan.question.tenants[line.tenant].name,
               std::string{words[static_cast<std::size_t>(line.kind)]}, hours_text(line.amount),
               hours_text(line.balance), line.job ? plan.jobs[*line.job].name : ""});
  }
  return "\n" + table.text() +
         (shown < lines.size() ? "  " + std::to_string(lines.size() - shown) + " more: headroom explain\n" : "");
}

std::string beside_text(const ClusterPlan& plan) {
  Table table{{"beside it", "last job ends", "mean wait", "95 % of waits", "late", plan.priced_pools ? "cost" : ""}};
  const auto add = [&](const std::string& name, const Variant& v) {
    table.row({name, time_text(v.work_end), time_text(v.mean_wait), time_text(v.p95_wait), std::to_string(v.late),
               plan.priced_pools ? format(v.cost) : ""});
  };
  const scheduler::Schedule& s = plan.schedule;
  add("this schedule", {s.makespan, plan.work_end, s.mean_wait, s.p95_wait, s.cost, plan.late, plan.refused});
  if (plan.fifo) {
    add("first come, first served", *plan.fifo);
  }
  if (plan.unfair) {
    add("the shortest, whatever the shares", *plan.unfair);
  }
  for (const pools::NodeGain& gain : plan.gains) {
    add("a node more of " + plan.question.pools[gain.pool].pool.name, gain.with);
  }
  std::string text = "\n" + table.text();
  if (const std::optional<double> price = plan.price_of_fairness()) {
    text += *price > 0.0005 ? "  fair shares make the whole " + percent(*price) + " longer\n"
                            : "  fair shares make the whole no longer\n";
  }
  return text;
}

std::string spill_text(const ClusterPlan& plan) {
  const pools::SpillOver& spill = plan.spill;
  std::string text;
  if (spill.rented_jobs > 0) {
    text += counted(spill.rented_jobs, "job") + (spill.rented_jobs == 1 ? " runs" : " run") +
            " on rented GPUs: " + hours_text(spill.rented_gpu_seconds) + " GPU-h" +
            (plan.priced_pools ? ", " + format(spill.rented_cost) : "") + "\n";
  }
  if (spill.spilled_jobs > 0) {
    text += counted(spill.spilled_jobs, "job") + (spill.spilled_jobs == 1 ? " spills" : " spill") +
            " over to pools that are not its first: " + hours_text(spill.spilled_gpu_seconds) + " GPU-h\n";
  }
  return text.empty() ? "" : "\n" + text;
}

std::string rollout_text(const ClusterPlan& plan) {
  std::string text;
  for (const pools::RolloutOutcome& out : plan.rollouts) {
    const pools::AskedRollout& asked = plan.question.rollouts[out.rollout];
    text += "rollout of " + plan.question.jobs[asked.job].name + " at " + time_text(asked.at) + ": ";
    if (!out.why.empty()) {
      text += "it does not go through: " + out.why + "\n";
      continue;
    }
    const scheduler::Rollout& way = out.way;
    text += "a surge of " + counted(way.surge, "replica") + " of " + std::to_string(out.replicas) + " needs " +
            counted(way.spare_gpus_wanted, "spare GPU") + ", and " + std::to_string(out.spare_gpus) +
            (out.spare_gpus == 1 ? " is" : " are") + " free: " + std::to_string(way.at_once) + " at a time, capacity " +
            (way.lowest < 1.0 ? "drops to " : "stays at ") + percent(way.lowest);
    text += way.duration > Seconds{}
                ? "; it takes " + format(way.duration) + ", the way back " + format(way.rollback) + "\n"
                : "\n";
  }
  return text.empty() ? "" : "\n" + text;
}

std::string basis_text(const ClusterPlan& plan) {
  std::string text;
  for (std::size_t i = 0; i < plan.priced.size(); ++i) {
    const pools::PricedJob& priced = plan.priced[i];
    for (std::size_t c = 0; c < priced.choices.size(); ++c) {
      const scheduler::Choice& choice = priced.choices[c];
      text += "  " + plan.question.jobs[i].name + " on " + plan.question.pools[choice.pool].pool.name + ": " +
              counted(choice.gpus, "GPU") + " for " + format(choice.time) +
              (priced.basis[c].empty() ? "" : " (" + priced.basis[c] + ")") +
              (choice.spill ? ", where its own pools are full" : "") + "\n";
    }
  }
  return "\nwhat jobs take\n" + text;
}

}  // namespace

std::string cluster_text(const ClusterPlan& plan, bool explained) {
  std::string text = title_text(plan) + cluster_verdict(plan) + "\n\n" + head_text(plan) + pool_table(plan) +
                     tenant_table(plan) + job_table(plan, explained) + missed_text(plan, explained) +
                     ledger_text(plan, explained) + beside_text(plan) + spill_text(plan) + rollout_text(plan) +
                     (explained ? basis_text(plan) : "");
  return text + assumed_text(plan.notes);
}

}  // namespace headroom
