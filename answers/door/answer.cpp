// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/door/answer.hpp>
#include <headroom/answers/door/blank_layout.hpp>
#include <headroom/scenarios/compare/cures.hpp>
#include <headroom/scenarios/plan/beside_plan.hpp>
#include <headroom/scenarios/plan/own_servers.hpp>

#include <optional>
#include <span>
#include <utility>

namespace headroom {
namespace {

/// What the user's runs say of the plan's level, every problem of all files at once; nullopt without files.
std::optional<OwnRuns> level_of(const Scenario& scenario, const AnswerOptions& options) {
  const auto* const train = std::get_if<TrainScenario>(&scenario.question);
  if (options.runs.empty() || train == nullptr) {
    return std::nullopt;
  }
  Diagnostics diagnostics;
  OwnRuns level = learn_from_runs(options.runs, *train, *scenario.sources, diagnostics, options.without);
  diagnostics.throw_if_any();
  return level;
}

/// What the user's servers say of the plan's, likewise.
std::optional<OwnServers> servers_of(const Scenario& scenario, const AnswerOptions& options) {
  const auto* const serve = std::get_if<ServeScenario>(&scenario.question);
  if (options.runs.empty() || serve == nullptr) {
    return std::nullopt;
  }
  Diagnostics diagnostics;
  OwnServers own = learn_from_servers(options.runs, *serve, *scenario.sources, diagnostics);
  diagnostics.throw_if_any();
  return own;
}

void add_beside(Plan& plan, std::span<const RunFile> runs, const Sources& sources) {
  add_nearest(plan, runs, sources);
  add_sensitivities(plan);
}

class Answerer {
 public:
  explicit Answerer(const AnswerOptions& options) : options_{options} {}

  GivenAnswer operator()(asked::OnePlan& q) const {
    const Sources& sources = *q.scenario.sources;
    if (std::optional<Scenario> least = on_least_gpus(q.scenario)) {
      q.scenario = *std::move(least);
    }
    std::optional<OwnRuns> level = level_of(q.scenario, options_);
    std::optional<OwnServers> servers = servers_of(q.scenario, options_);
    Plan plan = make_plan(std::move(q.scenario), options_.explain, options_.part, options_.without, std::move(level));
    if (servers) {
      apply_own_servers(plan, *std::move(servers));
    }
    if (options_.runs.empty()) {
      if (std::optional<SearchQuestion> every = search_of_blank(plan)) {
        asked::BestPlan best{*std::move(every)};
        SearchPlan found = found_plan(best);
        if (found.plan || !found.result.complete) {
          found.notes.push_back(blank_layout_note(plan, found.result.complete));
          return found;
        }
      }
      if (const std::optional<BoxQuestion> every = box_of_blank(plan)) {
        BoxCurve curve = box_curve(*every, box_options(options_));
        curve.notes.push_back(blank_layout_note(plan, curve.complete));
        return curve;
      }
    }
    if (options_.beside) {
      add_beside(plan, options_.runs, sources);
    }
    return plan;
  }

  GivenAnswer operator()(asked::BestPlan& q) const { return found_plan(q); }

  SearchPlan found_plan(asked::BestPlan& q) const {
    q.question.without = options_.without;
    SearchOptions how;
    how.threads = options_.threads;
    how.checkpoint = options_.checkpoint;
    how.stop = options_.stop;
    how.progress = options_.progress;
    how.tell = options_.tell;
    SearchPlan found = explain_search(q.question, options_.search(q.question, how));
    if (found.plan && options_.explain) {
      found.plan = make_plan(std::move(found.plan->scenario), true, PlanPart::all, options_.without);
    }
    if (found.plan && options_.beside) {
      add_beside(*found.plan, {}, *q.question.sources);
    }
    return found;
  }

  GivenAnswer operator()(asked::SimulatedFleet& q) const {
    ServingSimulation simulation =
        simulate_serving(std::get<ServeScenario>(q.scenario.question), q.scenario.money, q.factor, options_.record);
    return given::Simulated{std::move(q.scenario), std::move(simulation)};
  }

  GivenAnswer operator()(asked::SideBySide& q) const {
    return compare_plans(std::move(q.scenarios), q.objectives, std::move(q.refused));
  }

  GivenAnswer operator()(asked::FleetsSideBySide& q) const {
    return compare_fleets(q.fleets, fleet_options(options_), std::move(q.refused));
  }

  GivenAnswer operator()(asked::GpuSeries& q) const {
    scaling::Curve curve = scaling::scaling_curve(q.scenario, q.request);
    return given::Series{std::move(q.scenario), std::move(curve)};
  }

  GivenAnswer operator()(asked::SpeedupSeen& q) const {
    scaling::SpeedupAnswer answer = scaling::explain_speedup(q.scenario, q.measured);
    return given::Speedup{std::move(q.scenario), std::move(answer)};
  }

  template <class Asked>
  GivenAnswer operator()(Asked& question) const {
    return KindOf<Asked>::answer(question, options_);
  }

 private:
  const AnswerOptions& options_;
};

struct Goodness {
  bool operator()(const Plan& plan) const noexcept { return plan.feasible(); }
  bool operator()(const SearchPlan& plan) const noexcept { return plan.result.complete && plan.plan.has_value(); }
  bool operator()(const given::Simulated& s) const noexcept { return s.simulation.good(); }
  bool operator()(const Comparison& c) const noexcept {
    for (const ComparedPlan& compared : c.plans) {
      if (compared.plan.feasible()) {
        return true;
      }
    }
    return false;
  }
  bool operator()(const FleetComparison& c) const noexcept { return c.complete && !c.ranking.empty(); }
  bool operator()(const given::Series& s) const noexcept { return s.curve.good(); }
  bool operator()(const given::Speedup& s) const noexcept { return s.answer.base.feasible(); }
  template <class Given>
  bool operator()(const Given& answer) const noexcept {
    return KindOf<Given>::good(answer);
  }
};

/// Where an answer says whether it was stopped: itself, or the result that it is made of.
template <class Given>
auto* stoppable(Given& given) noexcept {
  if constexpr (requires { given.result.time_over; }) {
    return &given.result;
  } else if constexpr (requires { given.time_over; }) {
    return &given;
  } else {
    return static_cast<const Given*>(nullptr);
  }
}

}  // namespace

GivenAnswer answer_of(AskedQuestion question, const AnswerOptions& options) {
  GivenAnswer answer = std::visit(Answerer{options}, question);
  std::visit(
      [&](auto& given) {
        if constexpr (requires { stoppable(given)->time_over; }) {
          stoppable(given)->time_over = !stoppable(given)->complete && options.time_over && options.time_over();
        }
      },
      answer);
  return answer;
}

bool is_complete(const GivenAnswer& answer) noexcept {
  return std::visit(
      [](const auto& given) {
        if constexpr (requires { stoppable(given)->time_over; }) {
          return stoppable(given)->complete;
        } else {
          return true;
        }
      },
      answer);
}

bool is_time_over(const GivenAnswer& answer) noexcept {
  return std::visit(
      [](const auto& given) {
        if constexpr (requires { stoppable(given)->time_over; }) {
          return stoppable(given)->time_over;
        } else {
          return false;
        }
      },
      answer);
}

bool is_good(const GivenAnswer& answer) noexcept {
  return std::visit(Goodness{}, answer);
}

}  // namespace headroom
