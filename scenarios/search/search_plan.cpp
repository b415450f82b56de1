// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/number_words.hpp>
#include <headroom/core/real.hpp>
#include <headroom/model/estimate/spread.hpp>
#include <headroom/model/train/step/step_time.hpp>
#include <headroom/scenarios/read/change_text.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>
#include <headroom/scenarios/search/neighbours.hpp>
#include <headroom/scenarios/search/search_job.hpp>
#include <headroom/scenarios/search/search_plan.hpp>
#include <headroom/scenarios/words/strategy_text.hpp>
#include <headroom/scenarios/words/verdict_text.hpp>

#include <algorithm>
#include <cmath>
#include <map>

namespace headroom {
namespace {

std::string count_text(std::uint64_t count) {
  return format_count(static_cast<double>(count));
}

/// Jobs compiled once each, for the plans of all lists.
class Jobs {
 public:
  explicit Jobs(const SearchQuestion& question) : question_{question} {}
  const SearchJob& operator[](std::uint32_t index) {
    std::unique_ptr<SearchJob>& job = jobs_[index];
    if (!job) {
      job = make_job(question_, index).job;
    }
    return *job;
  }

 private:
  const SearchQuestion& question_;
  std::map<std::uint32_t, std::unique_ptr<SearchJob>> jobs_;
};

template <class Quantity>
LimitedBy limited_by(Quantity limit, const Interval<Quantity>& reached, bool sure, double confidence) {
  // The candidate's own judgement: the same sum in another order may differ in its last bit.
  const bool kept = sure || quantile_of(reached, confidence) <= limit;
  const double chance = chance_of_at_most(reached, limit);
  return {limit.raw(),
          {reached.low.raw(), reached.mid.raw(), reached.high.raw()},
          kept,
          kept ? std::max(chance, confidence) : std::min(chance, confidence),
          confidence};
}

/// What makes a job's scenario run the strategy: its keys, and of a recipe that is open what the layers take of it.
Changes changes_of(const SearchJob& job, const Strategy& strategy, const LayerTable& table) {
  Changes changes = changes_to(strategy);
  const ExpertDispatcher taken = table.step.layer.dispatcher;
  if (job.compiled.step->pricer().recipe().experts.dispatcher != taken) {
    changes.emplace_back(Knob::dispatcher, taken);
  }
  return changes;
}

ListedPlan listed(const SearchJob& job, const Candidate& candidate, const Objective& o) {
  ListedPlan plan;
  if (o.limited()) {
    const bool sure = candidate.strain <= 1.0;
    const Interval<Seconds> run = job.run_interval(candidate.step);
    const double confidence = job.train().confidence;
    plan.deadline = o.deadline ? std::optional{limited_by(*o.deadline, run, sure, confidence)} : std::nullopt;
    plan.budget =
        o.budget ? std::optional{limited_by(*o.budget, job.cost_interval(run), sure, confidence)} : std::nullopt;
  }
  plan.candidate = candidate;
  plan.changes = job.changes;
  const LayerTable table = table_for(job.compiled, candidate.strategy);
  const Changes strategy = changes_of(job, candidate.strategy, table);
  plan.changes.insert(plan.changes.end(), strategy.begin(), strategy.end());
  plan.gpu = job.train().device.id;
  plan.gpus = job.train().work.shape.gpus;
  plan.price = job.scenario.money;
  const Estimate e = evaluate(job.compiled, table, candidate.strategy);
  plan.time = e.time;
  plan.memory = e.device;
  for (std::size_t goal = 0; goal < goal_count; ++goal) {
    plan.goals.push_back(job.value(static_cast<Goal>(goal), e));
  }
  return plan;
}

/// Whether the difference of two plans is less than past errors leave open (docs/confidence.md, "Two plans").
bool within_errors(const SearchJob& a, const SearchJob& b, double ratio) {
  const PlanConfidence of_a = confidence_of(a.train(), step_confidence(*a.train().data));
  const PlanConfidence of_b = confidence_of(b.train(), step_confidence(*b.train().data));
  const double width = ratio_width(of_a, of_b, same_level(a.train(), of_a, b.train(), of_b));
  return std::abs(std::log(ratio)) < std::log1p(width);
}

/// "gpus = 64, tp 8, ...": what makes the plan of a search's axes.
std::string words_of(const SearchJob& job, const Strategy& strategy) {
  std::string text;
  for (const Change& change : job.changes) {
    text += std::string{name_of(change.knob)} + " = " + value_text_of(change) + ", ";
  }
  return text + strategy_text(strategy);
}

/// "61.2 d (46.8 d to 80.0 d) of 60.0 d, kept at the fast end alone".
template <class Quantity>
std::string missed_text(const Interval<Quantity>& reached, Quantity limit) {
  return format(reached.mid) + " (" + format(reached.low) + " to " + format(reached.high) + ") of " + format(limit) +
         (reached.low <= limit ? ", kept at the fast end alone" : "");
}

std::string shortfall_text(const SearchJob& job, const Closest& closest, Limit limit, const Objective& o) {
  const Candidate& c = *closest.candidate;
  std::string value;
  switch (limit) {
    case Limit::memory:
      value = format(Bytes{closest.value}) + " of " + format(job.room) + " per GPU at the upper end";
      break;
    case Limit::host_memory:
      value = format(Bytes{closest.value}) + " of " + format(*job.train().host_memory) + " of host memory per node";
      break;
    case Limit::deadline: value = missed_text(job.run_interval(c.step), *o.deadline); break;
    case Limit::budget: value = missed_text(job.cost_interval(job.run_interval(c.step)), *o.budget); break;
    case Limit::gpus_on_hand:
    case Limit::count: break;
  }
  return "closest: " + value + " with " + words_of(job, c.strategy);
}

/// Which limit took how many, and what came closest to keeping it.
std::vector<std::string> what_emptied(const SearchQuestion& q, const SearchResult& r, Jobs& jobs) {
  std::vector<std::string> text;
  const SearchCounts& c = r.counts;
  const auto add = [&](Limit limit, std::uint64_t count, const std::string& what) {
    const Closest& closest = r.found.closest()[static_cast<std::size_t>(limit)];
    if (closest.candidate) {
      text.push_back(count_text(count) + " of " + count_text(c.all()) + " strategies " + what + "; " +
                     shortfall_text(jobs[closest.candidate->job], closest, limit, q.objective));
    }
  };
  add(Limit::memory, c.no_room + c.bound_memory, "do not surely fit");
  const Closest& host = r.found.closest()[static_cast<std::size_t>(Limit::host_memory)];
  if (host.candidate) {
    text.push_back("of those that do not fit some fit the GPU and not the host; " +
                   shortfall_text(jobs[host.candidate->job], host, Limit::host_memory, q.objective));
  }
  add(Limit::deadline, c.too_slow, "miss the deadline");
  add(Limit::budget, c.too_dear, "are beyond the budget");
  if (r.broken.candidate && c.broken > 0) {
    const Problem problem = problem_of(r.broken.rule, r.broken.candidate->strategy.schedule);
    text.push_back(count_text(c.broken) + " of " + count_text(c.all()) + " strategies break a rule; the plainest: " +
                   problem.text + " (" + strategy_text(r.broken.candidate->strategy) + "); " + problem.way_out);
  }
  if (r.complete && c.all() == 0 && r.dropped.empty()) {
    text.emplace_back("[search] leaves no strategy: its values for tp, cp and pp do not divide the GPUs");
  }
  return text;
}

/// The plan taken, a scenario of its own. A search goes on without a host at the share of those left, whatever the
/// strategy, and so does the plan.
Scenario scenario_taken(const SearchJob& job, const Strategy& strategy) {
  const LayerTable table = table_for(job.compiled, strategy);
  Scenario scenario = changed(job.scenario, changes_of(job, strategy, table));
  auto& train = std::get<TrainScenario>(scenario.question);
  train.balances_stages = strategy.stages_open;
  if (train.long_run && train.long_run->recovery.may_miss > 0 && !train.long_run->recovery.kept) {
    goodput::Recovery& recovery = train.long_run->recovery;
    recovery.kept = recovery.rate(1);
    scenario.assumptions.push_back("goodput.kept = " + percent(*recovery.kept, 2) +
                                   " (hosts left over all, what a search takes for every strategy)");
  }
  return scenario;
}

/// "keeps 60.0 d with probability 53 %, less than the 80 % asked for".
std::string kept_text(const LimitedBy& by, const std::string& limit) {
  return "keeps " + limit + " with probability " + probability_text(by.chance) +
         (by.kept ? "" : ", less than the " + probability_text(by.confidence) + " asked for");
}

template <class Quantity>
std::string limit_text(const std::optional<LimitedBy>& by, const std::string& verb) {
  const auto text = [](double value) { return format(Quantity{value}); };
  return by ? verb + " " + text(by->reached.mid) + " (" + text(by->reached.low) + " to " + text(by->reached.high) +
                  "): " + kept_text(*by, text(by->limit))
            : "";
}

/// " and 2.1 % slower than it"; nothing for less than what is shown.
std::string gives_away(double slower, double dearer) {
  constexpr double visible = 1.0005;
  std::string text = slower > visible ? percent(slower - 1.0, 2) + " slower" : "";
  text += dearer > visible ? (text.empty() ? "" : " and ") + percent(dearer - 1.0, 2) + " dearer" : "";
  return text.empty() ? text : ", " + text + " than it";
}

/// Beside the least of its goal, a plan that is simpler.
std::string simpler_text(const Candidate& taken, const Candidate& least, const Objective& o) {
  const std::string goal{goal_names[static_cast<std::size_t>(o.minimize)]};
  const bool by_time = o.minimize == Goal::step_time || o.minimize == Goal::time;
  const double behind = least.goal > 0.0 ? taken.goal / least.goal - 1.0 : 0.0;
  return (behind > 5e-5 ? percent(behind, 2) + " above the least " : "equal to the least ") + goal +
         gives_away(by_time ? 1.0 : taken.time / least.time,
                    by_time || o.minimize == Goal::cost ? 1.0 : taken.spent / least.spent) +
         " (" + strategy_text(least.strategy) + "), which is more complicated; objective.simplicity = \"" +
         percent(o.simplicity, 2) +
         "\" prefers fewer kinds of parallelism and lower ZeRO stages, \"0 %\" takes the least";
}

std::string why_recommended(const SearchPlan& answer, const Incumbents& found, const Objective& o) {
  const std::string goal{goal_names[static_cast<std::size_t>(o.minimize)]};
  const Candidate& taken = answer.recommended.candidate;
  const bool sure = !o.limited() || taken.strain <= 1.0;
  std::string text;
  if (!sure) {
    text = "none keeps every limit with the probability asked for; of those that keep them at the middle the surest";
  } else if (!same_plan(taken, found.least())) {
    text = simpler_text(taken, found.least(), o);
  } else {
    const bool least = same_plan(taken, answer.best.front().candidate);
    text = "least " + goal + (least ? " of all" : " of those that keep every limit with the probability asked for");
  }
  const std::string limits = limits_text(answer.recommended);
  return text + (limits.empty() ? "" : "; it " + limits);
}

void compare_with(const SearchJob& own, const SearchJob& job, Goal goal, const ListedPlan& to, ListedPlan& plan) {
  plan.behind = to.candidate.goal > 0.0 ? plan.candidate.goal / to.candidate.goal - 1.0 : 0.0;
  plan.why = difference_by_term(plan.time, to.time);
  // Errors are of the step, and of every goal that grows with it; energy's beyond are the same of both.
  const bool of_step = goal != Goal::gpus && goal != Goal::memory;
  const double ratio = of_step ? 1.0 + plan.behind : plan.candidate.step / to.candidate.step;
  plan.indistinguishable = within_errors(own, job, ratio);
}

}  // namespace

std::string limits_text(const ListedPlan& plan) {
  const std::string time = limit_text<Seconds>(plan.deadline, "ends after");
  const std::string money = limit_text<Dollars>(plan.budget, "costs");
  return time + (time.empty() || money.empty() ? "" : ", and ") + money;
}

std::string goal_text(Goal goal, double value) {
  switch (goal) {
    case Goal::step_time:
    case Goal::time: return format(Seconds{value});
    case Goal::cost: return format(Dollars{value});
    case Goal::energy: return format(Joules{value});
    case Goal::gpu_hours:
    case Goal::gpus: return format_count(value);
    case Goal::memory: return format(Bytes{value});
  }
  return {};
}

SearchPlan explain_search(const SearchQuestion& q, SearchResult result) {
  SearchPlan answer;
  Jobs jobs{q};
  answer.minimize = q.objective.minimize;
  answer.front_goals = result.front;
  if (!result.found.found()) {
    answer.emptied = what_emptied(q, result, jobs);
    answer.result = std::move(result);
    return answer;
  }
  const Candidate& chosen = result.found.recommended();
  const SearchJob& own = jobs[chosen.job];
  answer.recommended = listed(own, chosen, q.objective);
  if (const Candidate& middle = result.found.at_middle(); q.objective.limited() && !same_plan(middle, chosen)) {
    const SearchJob& job = jobs[middle.job];
    answer.at_middle = listed(job, middle, q.objective);
    compare_with(own, job, q.objective.minimize, answer.recommended, *answer.at_middle);
    answer.middle_text = "at the middle " + std::to_string(answer.at_middle->gpus) + " x " + answer.at_middle->gpu +
                         " would be taken, with " + words_of(job, middle.strategy) + ": " +
                         goal_text(q.objective.minimize, middle.goal) + "; it " + limits_text(*answer.at_middle);
  }
  const auto list = [&](const std::vector<Candidate>& candidates, std::vector<ListedPlan>& plans) {
    for (const Candidate& candidate : candidates) {
      const SearchJob& job = jobs[candidate.job];
      plans.push_back(listed(job, candidate, q.objective));
      compare_with(own, job, q.objective.minimize, answer.recommended, plans.back());
    }
  };
  list(result.found.best(), answer.best);
  list(result.found.front(), answer.front);
  answer.why_recommended = why_recommended(answer, result.found, q.objective);
  answer.neighbours = find_neighbours(q, own, chosen);
  answer.plan = make_plan(scenario_taken(own, chosen.strategy), false, PlanPart::all, q.without);
  answer.result = std::move(result);
  return answer;
}

}  // namespace headroom
