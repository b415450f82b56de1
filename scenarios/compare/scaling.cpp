// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/scenarios/compare/scaling.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>

#include <algorithm>
#include <cmath>

namespace headroom::scaling {
namespace {

std::int64_t replica_of(const Strategy& s) noexcept {
  return std::int64_t{s.tp} * s.pp * s.cp;
}

std::int64_t last_count(const TrainScenario& t, const Request& r) noexcept {
  return r.to.value_or(std::min(most_gpus, 8 * t.work.shape.gpus));
}

void check_counts(const TrainScenario& t, const Request& r, Diagnostics& diagnostics) {
  for (const auto& [option, count] : {std::pair{"--from", r.from}, std::pair{"--to", r.to}}) {
    if (count && (*count < 1 || *count > most_gpus)) {
      diagnostics.add(
          "", {},
          std::string{option} + " is " + std::to_string(*count) + "; it must be 1 to " + std::to_string(most_gpus));
    }
  }
  if (diagnostics.empty() && r.from && *r.from > last_count(t, r)) {
    diagnostics.add("", {},
                    "--from is " + std::to_string(*r.from) + ", above --to " + std::to_string(last_count(t, r)) +
                        (r.to ? "" : " (eight times the scenario's GPUs)"));
  }
}

void check_budget(const Scenario& scenario, const TrainScenario& t, const Request& r, Diagnostics& diagnostics) {
  const bool asked = r.budget.run || r.budget.rate;
  if (asked && !scenario.money.price) {
    diagnostics.add("", {}, "--budget needs a price: add [money] to the scenario, or --set 'money.price=2.99 $/h'");
  }
  if (r.budget.run && t.tokens <= 0.0) {
    diagnostics.add(
        "", {},
        "--budget of a whole run needs its tokens: training.tokens, e.g. --set training.tokens=15e12; or give money "
        "per time, e.g. \"500 $/h\"");
  }
}

void check_request(const Scenario& scenario, const TrainScenario& t, const Request& r) {
  Diagnostics diagnostics;
  check_counts(t, r, diagnostics);
  if (!(r.least > 0.0 && r.least <= 1.0)) {
    diagnostics.add("", {}, "--threshold is " + format_number(r.least) + "; it must be above 0, at most 1, e.g. 0.5");
  }
  check_budget(scenario, t, r, diagnostics);
  diagnostics.throw_if_any();
}

/// The batch of a count; nullopt where its share of the scenario's is no whole number.
std::optional<std::int64_t> batch_at(const TrainScenario& t, std::int64_t gpus, Kind kind) noexcept {
  const TrainingShape& shape = t.work.shape;
  if (kind == Kind::strong) {
    return shape.global_batch;
  }
  const double batch = real(shape.global_batch) * real(gpus) / real(shape.gpus);
  return batch >= 1.0 && batch == std::floor(batch) ? std::optional{static_cast<std::int64_t>(batch)} : std::nullopt;
}

std::string joined(const std::vector<Problem>& problems, std::string Problem::*part) {
  std::string text;
  for (const Problem& problem : problems) {
    text += (text.empty() || (problem.*part).empty() ? "" : "; ") + problem.*part;
  }
  return text;
}

Point priced_at(const Scenario& scenario, const TrainScenario& t, std::int64_t gpus, Kind kind) {
  Point point;
  point.gpus = gpus;
  const std::optional<std::int64_t> batch = batch_at(t, gpus, kind);
  if (!batch) {
    point.verdict = "global batch " + std::to_string(t.work.shape.global_batch) + " x " + std::to_string(gpus) + " / " +
                    std::to_string(t.work.shape.gpus) + " is no whole number";
    return point;
  }
  point.global_batch = *batch;
  try {
    point.plan = price_plan(at_count(scenario, gpus, *batch));
  } catch (const ConfigError& error) {
    // The scenario itself was priced: this count alone cannot be, e.g. on a cluster that is too small for it.
    point.verdict = error.diagnostics().front().message;
    return point;
  }
  const TrainPlan& train = point.train();
  point.verdict = train.problems.empty() ? train.verdict : joined(train.problems, &Problem::text);
  point.way_out = joined(train.problems, &Problem::way_out);
  point.fits = train.problems.empty() && train.estimate.verdict == Verdict::feasible;
  point.answered = point.plan->feasible();
  return point;
}

std::vector<Output> outputs_of(const Curve& curve) {
  std::vector<Output> series;
  for (const Point& point : curve.points) {
    if (point.answered) {
      const double per_second = real(point.global_batch) / point.train().estimate.step.raw();
      series.push_back({point.gpus, per_second});
    }
  }
  return series;
}

/// The same of what is paid for: what failures and saves leave, of runs of as many tokens.
std::vector<Output> paid_outputs_of(const Curve& curve, double tokens) {
  std::vector<Output> series;
  for (const Point& point : curve.points) {
    if (point.answered) {
      const TrainScenario& t = std::get<TrainScenario>(point.plan->scenario.question);
      const double per_second = real(point.global_batch) / point.train().estimate.step.raw();
      const double of_run = t.tokens > 0.0 ? tokens / t.tokens : 1.0;  // a larger batch may take more
      const double held = t.gpus_held() / real(t.work.shape.gpus);
      series.push_back({point.gpus, of_run * (point.train().useful() / held) * per_second});
    }
  }
  return series;
}

/// What a point is beside the others: efficiency, what its GPUs added, what a dollar buys.
void relate_points(Curve& curve, const SeriesLaws& told, std::span<const Output> paid, const Money& money) {
  std::size_t next = 0;
  for (Point& point : curve.points) {
    if (!point.answered) {
      continue;
    }
    point.efficiency = told.efficiency[next];
    point.marginal = next > 0 ? std::optional{told.marginal[next]} : std::nullopt;
    const Estimate& e = point.train().estimate;
    point.communication = communication_of(e) / e.step;
    if (money.price) {
      point.samples_per_dollar = paid[next].per_second / (real(point.gpus) * money.price->raw());
    }
    ++next;
  }
}

/// What the budget makes of each count, and which one to take.
void judge_budget(Curve& curve, std::span<const Output> paid, DollarsPerSecond price, double work) {
  const Budget& budget = curve.request.budget;
  std::size_t next = 0;
  for (Point& point : curve.points) {
    if (point.answered) {
      const Output& output = paid[next++];
      point.too_dear = !pays(budget, output, price, work);
      point.cost = budget.run ? cost_of(output, price, work) : Dollars{};
    }
  }
  curve.least_per_dollar = curve.request.least * curve.smallest()->samples_per_dollar;
  curve.most_useful = most_useful_gpus(paid, price, budget, work, curve.least_per_dollar);
}

}  // namespace

const TrainScenario& training_of(const Scenario& scenario) {
  const auto* const train = std::get_if<TrainScenario>(&scenario.question);
  if (train == nullptr) {
    throw ConfigError{"'scale' prices training at several GPU counts; " + quoted(scenario.file) +
                      " serves: 'headroom plan' answers it, replica by replica"};
  }
  return *train;
}

const Point* Curve::smallest() const noexcept {
  const auto found = std::find_if(points.begin(), points.end(), [](const Point& p) { return p.answered; });
  return found == points.end() ? nullptr : &*found;
}

std::size_t Curve::answered() const noexcept {
  return static_cast<std::size_t>(
      std::count_if(points.begin(), points.end(), [](const Point& p) { return p.answered; }));
}

bool Curve::good() const noexcept {
  const bool told = is_series() || (points.size() == 1 && answered() == 1);
  return told && (!(request.budget.run || request.budget.rate) || most_useful);
}

Seconds communication_of(const Estimate& e) noexcept {
  return e.time[Term::tp_comm] + e.time[Term::cp_comm] + e.time[Term::ep_comm] + e.time[Term::pp_comm] +
         e.time[Term::dp_comm];
}

std::vector<std::int64_t> counts_of(const TrainScenario& t, const Request& r) {
  const std::int64_t gpus = t.work.shape.gpus;
  const std::int64_t replica = replica_of(t.strategy);
  std::int64_t from = r.from.value_or(gpus);
  while (!r.from && from % 2 == 0 && (from / 2) % replica == 0) {
    from /= 2;
  }
  std::vector<std::int64_t> counts;
  for (std::int64_t count = from; count <= last_count(t, r); count *= 2) {
    counts.push_back(count);
  }
  return counts;
}

Scenario at_count(const Scenario& scenario, std::int64_t gpus, std::int64_t global_batch) {
  const auto& t = std::get<TrainScenario>(scenario.question);
  Changes changes{{Knob::gpus, gpus}, {Knob::global_batch, global_batch}};
  if (t.stated.strategy.dp) {
    changes.emplace_back(Knob::dp, std::max<std::int64_t>(1, gpus / replica_of(t.strategy)));
  }
  return changed(scenario, changes);
}

Curve scaling_curve(const Scenario& scenario, const Request& request) {
  const TrainScenario& t = training_of(scenario);
  check_request(scenario, t, request);
  if (price_plan(scenario).part == PlanPart::memory) {
    throw ConfigError{"'scale' needs the step's time, and no curve describes the kernels of these layers yet"};
  }
  Curve curve;
  curve.request = request;
  for (const std::int64_t gpus : counts_of(t, request)) {
    curve.points.push_back(priced_at(scenario, t, gpus, request.kind));
  }
  const std::vector<Output> series = outputs_of(curve);
  const std::vector<Output> paid = paid_outputs_of(curve, t.tokens);
  const SeriesLaws told = laws_of(series, request.least);
  relate_points(curve, told, paid, scenario.money);
  curve.amdahl = told.amdahl;
  curve.gustafson = told.gustafson;
  curve.knee = told.knee;
  curve.stop = told.stop;
  if (scenario.money.price && !series.empty() && (request.budget.run || request.budget.rate)) {
    judge_budget(curve, paid, *scenario.money.price, t.tokens / real(t.work.shape.seq_len));
  }
  return curve;
}

}  // namespace headroom::scaling
