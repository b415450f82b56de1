// SPDX-License-Identifier: Apache-2.0
// A search as a document: raw SI with the unit in every key.
#include <headroom/answers/views/render.hpp>
#include <headroom/core/version.hpp>
#include <headroom/scenarios/read/change_text.hpp>
#include <headroom/scenarios/search/search_job.hpp>
#include <headroom/scenarios/search/search_plan.hpp>

namespace headroom {
namespace {

struct GoalMember {
  std::string_view key;
  Hint hint;
};
constexpr std::array<GoalMember, goal_count> goal_members{GoalMember{"step_time_s", Hint::seconds},
                                                          {"time_s", Hint::seconds},
                                                          {"cost_usd", Hint::usd},
                                                          {"energy_j", Hint::joules},
                                                          {"gpu_hours_per_million_samples", Hint::number},
                                                          {"gpus", Hint::count},
                                                          {"memory_bytes", Hint::bytes}};

Value limit(const std::string& key, Hint hint, const std::optional<LimitedBy>& by) {
  return by ? object(Member{"limit_" + key, Value{by->limit, hint}},
                     Member{"reached_" + key, Value{by->reached}.as(hint)}, "kept"_m = by->kept,
                     "kept_probability"_m = by->chance, "kept_at_middle"_m = by->kept_at_middle())
            : Value{};
}

/// Those but the number of GPUs, which stands above.
Value goals_of(const ListedPlan& p) {
  Value goals = object();
  for (std::size_t goal = 0; goal < goal_count; ++goal) {
    if (p.goals[goal] > 0.0 && static_cast<Goal>(goal) != Goal::gpus) {
      goals.add({std::string{goal_members[goal].key}, Value{p.goals[goal], goal_members[goal].hint}});
    }
  }
  return goals;
}

Value listed(const ListedPlan& p) {
  return object("gpu"_m = p.gpu, "gpus"_m = p.gpus, "strategy"_m = strategy_value(p.candidate.strategy), goals_of(p),
                price(p.price), "deadline"_m = limit("s", Hint::seconds, p.deadline),
                "budget"_m = limit("usd", Hint::usd, p.budget), "behind"_m = change(p.behind),
                "indistinguishable"_m = p.indistinguishable, "because"_m = p.why,
                "assignments"_m = texts_of(p.changes));
}

Value space(const SearchResult& r) {
  const SearchCounts& c = r.counts;
  return object("strategies"_m = c.all(), "evaluated"_m = c.evaluated(), "priced"_m = c.priced,
                "does_not_fit"_m = c.no_room, "breaks_a_rule"_m = c.broken, "left_out_by_time"_m = c.bound_time,
                "left_out_by_memory"_m = c.bound_memory, "misses_deadline"_m = c.too_slow,
                "beyond_budget"_m = c.too_dear, "jobs"_m = r.jobs,
                "jobs_not_searched"_m = list(r.dropped, [](const DroppedJob& dropped) {
                  return object("assignments"_m = texts_of(dropped.changes), "why"_m = dropped.why);
                }));
}

Value found(const SearchPlan& s) {
  return object("taken"_m = listed(s.recommended), "taken_because"_m = s.why_recommended,
                "at_middle"_m = s.at_middle ? listed(*s.at_middle) : Value{},
                "middle_text"_m = when(s.at_middle.has_value(), s.middle_text), "best"_m = list(s.best, listed),
                "front"_m = list(s.front, listed),
                "neighbours"_m = list(s.neighbours,
                                      [](const Neighbour& n) {
                                        return object("change"_m = n.change, "verdict"_m = n.verdict,
                                                      "slower"_m = change(n.slower), "memory_bytes"_m = n.memory,
                                                      "because"_m = n.why);
                                      }),
                "plan"_m = plan_document(*s.plan));
}

}  // namespace

Value search_document(const SearchPlan& s) {
  return object("schema"_m = "headroom.search/1", "version"_m = version(), "complete"_m = s.result.complete,
                "minimize"_m = goal_names[static_cast<std::size_t>(s.minimize)],
                "pareto"_m = list(s.front_goals, [](Goal goal) { return goal_names[static_cast<std::size_t>(goal)]; }),
                "space"_m = space(s.result), "emptied_by"_m = s.emptied,
                "assumed"_m = when(!s.notes.empty(), Value{s.notes}), s.plan ? found(s) : Value{});
}

}  // namespace headroom
