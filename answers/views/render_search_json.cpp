// SPDX-License-Identifier: Apache-2.0
// A search as JSON: raw SI with the unit in every key.
#include <headroom/answers/views/json_members.hpp>
#include <headroom/answers/views/render.hpp>
#include <headroom/core/version.hpp>
#include <headroom/scenarios/read/change_text.hpp>
#include <headroom/scenarios/search/search_job.hpp>
#include <headroom/scenarios/search/search_plan.hpp>

namespace headroom {
namespace {

constexpr std::array<std::string_view, goal_count> goal_keys{
    "step_time_s", "time_s", "cost_dollars", "energy_j", "gpu_hours_per_million_samples", "gpus", "memory_bytes"};

void limit_object(JsonWriter& json, std::string_view name, std::string_view key, const std::optional<LimitedBy>& by) {
  if (by) {
    json.key(name);
    json.begin_object();
    json.member("limit_" + std::string{key}, by->limit);
    interval(json, "reached_" + std::string{key}, by->reached);
    json.member("kept", by->kept);
    json.member("kept_at_middle", by->kept_at_middle());
    json.end_object();
  }
}

void listed(JsonWriter& json, const ListedPlan& p) {
  json.begin_object();
  json.member("gpu", std::string_view{p.gpu});
  json.member("gpus", p.gpus);
  json.key("strategy");
  json.begin_object();
  strategy_members(json, p.candidate.strategy);
  json.end_object();
  for (std::size_t goal = 0; goal < goal_count; ++goal) {
    if (p.goals[goal] > 0.0 && static_cast<Goal>(goal) != Goal::gpus) {  // which stand above
      json.member(goal_keys[goal], p.goals[goal]);
    }
  }
  if (p.price.price) {
    json.member("price_usd_per_gpu_s", p.price.price->raw());
    json.member("price_source", std::string_view{p.price.source});
  }
  limit_object(json, "deadline", "s", p.deadline);
  limit_object(json, "budget", "dollars", p.budget);
  json.member("behind", p.behind);
  json.member("indistinguishable", p.indistinguishable);
  json.member("because", std::string_view{p.why});
  texts(json, "assignments", texts_of(p.changes));
  json.end_object();
}

void lists(JsonWriter& json, const SearchPlan& s) {
  for (const auto& [name, plans] : {std::pair{"best", &s.best}, std::pair{"front", &s.front}}) {
    json.key(name);
    json.begin_array();
    for (const ListedPlan& p : *plans) {
      listed(json, p);
    }
    json.end_array();
  }
  json.key("neighbours");
  json.begin_array();
  for (const Neighbour& n : s.neighbours) {
    json.begin_object();
    json.member("change", std::string_view{n.change});
    json.member("verdict", std::string_view{n.verdict});
    json.member("slower", n.slower);
    json.member("memory_bytes", n.memory.raw());
    json.member("because", std::string_view{n.why});
    json.end_object();
  }
  json.end_array();
}

void counts(JsonWriter& json, const SearchResult& r) {
  const SearchCounts& c = r.counts;
  json.key("space");
  json.begin_object();
  for (const auto& [name, value] :
       {std::pair{"strategies", c.all()}, std::pair{"evaluated", c.evaluated()}, std::pair{"priced", c.priced},
        std::pair{"does_not_fit", c.no_room}, std::pair{"breaks_a_rule", c.broken},
        std::pair{"left_out_by_time", c.bound_time}, std::pair{"left_out_by_memory", c.bound_memory},
        std::pair{"misses_deadline", c.too_slow}, std::pair{"beyond_budget", c.too_dear}, std::pair{"jobs", r.jobs}}) {
    json.member(name, static_cast<std::int64_t>(value));
  }
  json.key("jobs_not_searched");
  json.begin_array();
  for (const DroppedJob& dropped : r.dropped) {
    json.begin_object();
    texts(json, "assignments", texts_of(dropped.changes));
    json.member("why", std::string_view{dropped.why});
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

}  // namespace

std::string search_json(const SearchPlan& s) {
  JsonWriter json;
  json.begin_object();
  json.member("schema", "headroom.search/1");
  json.member("version", version());
  json.member("complete", s.result.complete);
  json.member("minimize", goal_names[static_cast<std::size_t>(s.minimize)]);
  json.key("pareto");
  json.begin_array();
  for (const Goal goal : s.front_goals) {
    json.text(goal_names[static_cast<std::size_t>(goal)]);
  }
  json.end_array();
  counts(json, s.result);
  texts(json, "emptied_by", s.emptied);
  if (s.plan) {
    json.key("taken");
    listed(json, s.recommended);
    json.member("taken_because", std::string_view{s.why_recommended});
    if (s.at_middle) {
      json.key("at_middle");
      listed(json, *s.at_middle);
      json.member("middle_text", std::string_view{s.middle_text});
    }
    lists(json, s);
    json.key("plan");
    write_plan(json, *s.plan);
  }
  json.end_object();
  return json.take();
}

}  // namespace headroom
