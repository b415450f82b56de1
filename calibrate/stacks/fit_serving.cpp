// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/stacks/fit_serving.hpp>
#include <headroom/calibrate/stacks/fit_serving_queues.hpp>
#include <headroom/model/train/errors/fit_priors.hpp>
#include <headroom/scenarios/measured/power_limits.hpp>
#include <headroom/scenarios/measured/row_cells.hpp>
#include <headroom/scenarios/measured/serving_launches.hpp>
#include <headroom/scenarios/measured/serving_runs.hpp>
#include <headroom/scenarios/validation/row_marks.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace headroom {
namespace {

FitPriors read_priors(const ModelData& data) {
  return priors_in(data, "serve-priors", [](ConfigTable& root, FitPriors& priors) {
    ConfigTable tables = root.table("number");
    const auto amount_of = [](std::string_view key) -> PriorAmount {
      return [time = is_iteration_time(key)](ConfigTable& table, std::string_view name) {
        return time ? table.quantity<Seconds>(name).raw() : table.number(name, {1e-6, 1e6});
      };
    };
    read_priors(tables, "", false, amount_of, priors);
  });
}

ServingKnob make_knob(const FitPriors& priors, const std::string& id, const std::string& key, double value) {
  const auto found = priors.find(key);
  if (found == priors.end()) {
    throw ConfigError{quoted(key) + " of " + id + " is to be fitted, but serve-priors.toml says nothing about it"};
  }
  const FitPrior& p = found->second;
  return {id, key, std::clamp(value, p.low, p.high), p.low, p.high, p.centre, p.width, -1};
}

/// A row with its question and the kernels of its iterations, which do not depend on fitted numbers.
struct Run {
  ServingTimeQuestion question;
  std::vector<IterationTerms> kernels;
  std::vector<std::size_t> behind;
  std::ptrdiff_t queue = -1;  ///< index among the simulated runs; -1: closed form
};

/// Predicts from stored kernels; the iterations of a closed form do not depend on the fitted numbers.
double predicted(const Run& run, const IterationStack& stack, const IterationPhysics& physics) {
  std::size_t next = 0;
  return predict_time(
      run.question, [&](const IterationMix&) { return run.kernels[next++]; }, stack, physics);
}

class Problem {
 public:
  Problem(std::vector<ServingKnob> knobs, const ModelData& data)
      : knobs_{std::move(knobs)}, physics_{iteration_physics(data)} {
    for (const ServingStack& s : serving_stacks(data)) {
      stacks_.emplace(s.id, s.time);
    }
    // What a stack does not state is its parent's at every point, as it is in the files afterwards.
    for (std::size_t i = 0; i < knobs_.size(); ++i) {
      for (const ServingStack& s : serving_stacks(data)) {
        if (!knobs_[i].shared() && inherits(data, s, knobs_[i])) {
          heirs_.push_back({i, s.id});
        }
      }
    }
  }

  /// Of the files.
  [[nodiscard]] const IterationPhysics& physics() const noexcept { return physics_; }
  [[nodiscard]] const std::vector<ServingKnob>& knobs() const noexcept { return knobs_; }

  /// Stacks and shared numbers for a point of the fit.
  struct Numbers {
    std::map<std::string, IterationStack, std::less<>> stacks;
    IterationPhysics physics;
  };
  [[nodiscard]] Numbers at(std::span<const double> point) const {
    Numbers n{stacks_, physics_};
    for (std::size_t i = 0; i < knobs_.size(); ++i) {
      const double value = std::exp(point[i]);
      if (knobs_[i].shared()) {
        set_iteration_number(n.physics, knobs_[i].key, value);
      } else {
        set_iteration_number(n.stacks.at(knobs_[i].id), knobs_[i].key, value);
      }
    }
    for (const Heir& heir : heirs_) {
      set_iteration_number(n.stacks.at(heir.stack), knobs_[heir.knob].key, std::exp(point[heir.knob]));
    }
    return n;
  }
  /// Knobs that a row depends on. A first token's wait says little about kernels, so it only moves the other waits of a
  /// request, and what a host does for a prompt of delta rules alone.
  [[nodiscard]] std::vector<std::size_t> behind(const std::string& stack, bool first_token) const {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < knobs_.size(); ++i) {
      const bool waits = knobs_[i].key == "request" || knobs_[i].key == "tokenise" || knobs_[i].key == "steps" ||
                         knobs_[i].key == "burst" || knobs_[i].key == "delta_layer" || knobs_[i].key == "mxfp4_call";
      if ((knobs_[i].shared() || moves(i, stack)) && (!first_token || waits)) {
        found.push_back(i);
      }
    }
    return found;
  }
  /// Knobs that a row with queues depends on: what hosts add for many requests at once, since kernels have their own
  /// rows. For engines behind a server there are none, because closed loops determine the engine's numbers.
  [[nodiscard]] std::vector<std::size_t> behind_queue(const std::string& stack) const {
    std::vector<std::size_t> found;
    const bool served = stacks_.find(stack)->second.intake.raw() > 0.0;
    for (std::size_t i = 0; !served && i < knobs_.size(); ++i) {
      const std::string& key = knobs_[i].key;
      // No row without a queue holds a batch of unpacked weights.
      const bool unpacked = knobs_[i].shared() && key == "written_out";
      if (unpacked || (moves(i, stack) && (key == "sequence" || key == "layer" || key == "prompt_launch"))) {
        found.push_back(i);
      }
    }
    return found;
  }

 private:
  /// A stack that has a knob of another one.
  struct Heir {
    std::size_t knob = 0;
    std::string stack;
  };
  /// Whether a stack takes a number from the knob's: neither it nor one between them fits the number or has another
  /// value.
  static bool inherits(const ModelData& data, const ServingStack& stack, const ServingKnob& knob) {
    const std::vector<ServingStack>& all = serving_stacks(data);
    for (const ServingStack* s = &stack; !s->base.empty();) {
      const auto base =
          std::find_if(all.begin(), all.end(), [&](const ServingStack& other) { return other.id == s->base; });
      const auto fits = std::find(s->time.fitted.begin(), s->time.fitted.end(), knob.key);
      if (base == all.end() || fits != s->time.fitted.end() ||
          iteration_number(s->time, knob.key) != iteration_number(base->time, knob.key)) {
        return false;
      }
      if (base->id == knob.id) {
        return true;
      }
      s = &*base;
    }
    return false;
  }
  /// Whether a stack has the knob, as its own or as its heir.
  [[nodiscard]] bool moves(std::size_t knob, const std::string& stack) const {
    return knobs_[knob].id == stack || std::any_of(heirs_.begin(), heirs_.end(), [&](const Heir& heir) {
             return heir.knob == knob && heir.stack == stack;
           });
  }
  std::vector<ServingKnob> knobs_;
  std::vector<Heir> heirs_;
  const IterationPhysics& physics_;
  std::map<std::string, IterationStack, std::less<>> stacks_;
};

std::string family_of(const RunRow& row) {
  return row.source + "/" + row.serving.gpu + "/" + row.serving.model + "/" + row.metric + "/" + row.engine;
}

/// What the fit needs from a row besides its question.
FittedServingRun fitted_run(const RunRow& row,
                            const std::string& stack,
                            bool experts,
                            double before,
                            std::map<std::string, std::size_t>& families) {
  FittedServingRun fitted;
  fitted.row = &row;
  fitted.stack = stack;
  fitted.experts = experts;
  fitted.family = families.try_emplace(family_of(row), families.size()).first->second;
  fitted.before = std::log(before / row.measured);
  fitted.left_out = std::numeric_limits<double>::quiet_NaN();
  return fitted;
}

/// All inputs of the fit from its rows.
struct Gathered {
  QueueRuns queues;
  SimulatedRuns ends;             ///< of the same runs at the ends of measured rates
  std::vector<std::string> only;  ///< stacks and numbers that the fit moves; empty: all
  std::vector<Run> runs;
  std::map<std::string, std::size_t> families;
};

/// Whether rows of a stack can move any fitted number.
bool wanted(const Gathered& all, const std::string& stack) {
  return all.only.empty() || std::any_of(all.only.begin(), all.only.end(), [&](const std::string& name) {
           return name == stack || name.starts_with(stack + ".");
         });
}

/// First tokens of closed loops are simulated, and as wide as fixed loads.
bool first_token_of_loop(const ServingConfiguration& run, std::string_view metric) {
  return (metric == "ttft_ms_mean" || metric == "ttft_ms_p50") && scenario_of(run) != "offline" && !comes_as_queue(run);
}

void gather_queue(const RunRow& row,
                  const ServingConfiguration& launch,
                  const std::string& sku,
                  ServingTimeModel& model,
                  const Problem& problem,
                  ServingFit& fit,
                  Gathered& all) {
  RowPrediction refusal;
  const std::optional<SimulatedQuestion> question =
      simulated_question(launch, row.metric, row.unit, model.places(), refusal);
  if (!question || !wanted(all, question->placed.stack->id) || !question->limits_kept.empty()) {
    return;  // a rate at which limits were kept is an answer, no load
  }
  double before = 0.0;
  Run run;
  run.queue = static_cast<std::ptrdiff_t>(all.queues.add(*question, before));
  if (!std::isfinite(before) || before <= 0.0) {
    return;
  }
  const bool tail = question->statistic == RunStatistic::p95 || question->statistic == RunStatistic::p99;
  // A wait in an open loop depends on the distance to saturation: one percent of it may be half of the wait.
  const bool edge = question->metric == ServingMetric::ttft && question->load.kind == ClientKind::open;
  const bool loop = first_token_of_loop(launch, row.metric);
  if (loop) {
    run.behind = problem.behind(question->placed.stack->id, true);
  } else if (!tail && !edge) {
    run.behind = problem.behind_queue(question->placed.stack->id);
  }
  fit.runs.push_back(
      fitted_run(row, question->placed.stack->id, question->placed.arch->moe.has_value(), before, all.families));
  if (!loop) {
    FittedServingRun& fitted = fit.runs.back();
    fitted.queue = true;
    fitted.offered = question->rate_of_open_load();
    const ServingErrors rate =
        serving_confidence(model.places().data())
            .of(fitted.stack, ServingQuantity::rate, fitted.experts, sku, weights_named(row.serving.weight_dtype));
    fitted.reach = all.ends.reach(*question, {rate.low, rate.high});
  }
  all.runs.push_back(std::move(run));
}

void gather_form(const RunRow& row,
                 const ServingConfiguration& launch,
                 ServingTimeModel& model,
                 const Problem& problem,
                 ServingFit& fit,
                 Gathered& all) {
  RowPrediction refusal;
  std::optional<ServingTimeQuestion> question = model.question(launch, row.metric, row.unit, refusal);
  if (!question || !wanted(all, question->stack->id)) {
    return;
  }
  Run run{std::move(*question), {}, {}};
  const ServingTimeQuestion& q = run.question;
  run.behind = problem.behind(q.stack->id, q.metric == ServingMetric::ttft && q.kind == ServingLoad::closed);
  const double before = predict_time(
      q,
      [&](const IterationMix& mix) {
        run.kernels.push_back(q.replica->terms(mix));
        return run.kernels.back();
      },
      q.stack->time, problem.physics());
  fit.runs.push_back(fitted_run(row, q.stack->id, q.experts, before, all.families));
  all.runs.push_back(std::move(run));
}

void gather(
    std::span<const RunFile> files, ServingTimeModel& model, const Problem& problem, ServingFit& fit, Gathered& all) {
  for (const RunFile& file : files) {
    if (file.form != RowForm::serving) {
      continue;
    }
    for (const RunRow& row : file.rows) {
      if (row.doubted || !row.serving.broken.empty()) {
        continue;
      }
      const Device* const device = model.places().device_of(row.serving);
      if (device != nullptr && device->curves.empty()) {
        continue;  // the mean of other SKUs' kernels tells nothing of an engine
      }
      const std::size_t before = fit.runs.size();
      LaunchedRow filled = launched(row, published_launches(model.places().data()));
      limit_power(filled, model.places().data(), row);
      const ServingConfiguration& launch = filled.run;
      if (row_number(launch, "launched_places_low")) {
        continue;  // of any number of places in a range: the row measures no one of them
      }
      if (const std::string drafts = row_option(launch, "speculative"); !drafts.empty() && drafts != "0") {
        continue;  // how many drafts are accepted is assumed, so that the row measures the engine times that
      }
      if (asks_for_run(launch, row.metric)) {
        gather_queue(row, launch, device != nullptr ? device->id : std::string{}, model, problem, fit, all);
      } else {
        gather_form(row, launch, model, problem, fit, all);
      }
      if (!row_marks().why(row.source, row.id).empty()) {
        // Scored like every row, but what no column holds of its run would be learnt as the engine's.
        for (std::size_t i = before; i < all.runs.size(); ++i) {
          all.runs[i].behind.clear();
        }
      }
      for (std::size_t i = before; i < fit.runs.size(); ++i) {
        fit.runs[i].sku = device != nullptr ? device->id : std::string{};
        fit.runs[i].weights = weights_named(row.serving.weight_dtype);
      }
    }
  }
  std::vector<double> sizes(all.families.size());
  for (const FittedServingRun& run : fit.runs) {
    sizes[run.family] += 1.0;
  }
  for (FittedServingRun& run : fit.runs) {
    run.weight = 1.0 / std::sqrt(sizes[run.family]);
  }
}

/// Log errors of some runs at a point of the fit.
void errors_at(const Problem::Numbers& numbers,
               const Gathered& all,
               const std::vector<FittedServingRun>& fitted,
               std::span<const std::size_t> which,
               std::span<double> out) {
  std::vector<std::size_t> queues;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < which.size(); ++i) {
    const Run& run = all.runs[which[i]];
    if (run.queue >= 0) {
      queues.push_back(static_cast<std::size_t>(run.queue));
      places.push_back(i);
      continue;
    }
    out[i] = std::log(predicted(run, numbers.stacks.find(run.question.stack->id)->second, numbers.physics) /
                      fitted[which[i]].row->measured);
  }
  std::vector<double> values(queues.size());
  all.queues.predict(
      queues, [&](std::string_view id) -> const IterationStack& { return numbers.stacks.find(id)->second; },
      numbers.physics, values);
  for (std::size_t i = 0; i < queues.size(); ++i) {
    out[places[i]] = std::log(values[i] / fitted[which[places[i]]].row->measured);
  }
}

std::vector<FitCoordinate> coordinates_of(const ServingFit& fit) {
  std::vector<FitCoordinate> coordinates;
  for (const ServingKnob& k : fit.knobs) {
    FitCoordinate c;
    c.start = std::log(k.value);
    c.low = std::log(k.low);
    c.high = std::log(k.high);
    c.centre = std::log(k.centre);
    c.width = k.width;
    c.parent = k.parent;
    c.fixed = fit.held(k);
    coordinates.push_back(c);
  }
  return coordinates;
}

}  // namespace

bool ServingFit::held(const ServingKnob& knob) const {
  return !only.empty() && std::find(only.begin(), only.end(), knob.id) == only.end() &&
         std::find(only.begin(), only.end(), knob.name()) == only.end();
}

std::vector<ServingKnob> serving_knobs(const ModelData& data) {
  const FitPriors priors = read_priors(data);
  std::vector<ServingKnob> knobs;
  const IterationPhysics& physics = iteration_physics(data);
  for (const std::string& key : physics.fitted) {
    knobs.push_back(make_knob(priors, "serve", key, iteration_number(physics, key)));
  }
  const std::vector<ServingStack>& stacks = serving_stacks(data);
  for (const ServingStack& stack : stacks) {
    for (const std::string& key : stack.time.fitted) {
      knobs.push_back(make_knob(priors, stack.id, key, iteration_number(stack.time, key)));
    }
  }
  for (ServingKnob& knob : knobs) {
    const auto own = std::find_if(stacks.begin(), stacks.end(), [&](const ServingStack& s) { return s.id == knob.id; });
    if (own == stacks.end() || own->base.empty()) {
      continue;
    }
    const bool near_other = knob.key == "sequence" && !own->time.sequence_near.empty();
    const std::string& near = near_other ? own->time.sequence_near : own->base;
    const auto parent = std::find_if(knobs.begin(), knobs.end(),
                                     [&](const ServingKnob& k) { return k.id == near && k.key == knob.key; });
    if (near_other && parent == knobs.end()) {
      throw ConfigError{"sequence_near of " + own->id + " names " + quoted(near) + ", which has no fitted sequence"};
    }
    if (parent != knobs.end()) {
      knob.parent = parent - knobs.begin();
      knob.width = priors.at(knob.key).child;
    }
  }
  return knobs;
}

ServingFit fit_serving(std::span<const RunFile> files,
                       const Sources& sources,
                       const ServingFitOptions& options,
                       const std::function<void(std::string_view)>& progress) {
  const auto tell = [&](std::string_view what) {
    if (progress) {
      progress(what);
    }
  };
  ServingFit fit;
  fit.classes = serving_confidence(sources.data).classes();
  fit.skus = serving_confidence(sources.data).skus();
  fit.formats = serving_confidence(sources.data).formats();
  fit.knobs = serving_knobs(sources.data);
  fit.only = options.only;
  ServingTimeModel model{sources};
  const Problem problem{fit.knobs, sources.data};
  Gathered all_rows{QueueRuns{sources.data}, SimulatedRuns{sources.data}, {}, {}, {}};
  all_rows.only = options.only;
  tell("pricing the kernels of every row");
  gather(files, model, problem, fit, all_rows);
  const std::vector<Run>& runs = all_rows.runs;
  if (runs.empty()) {
    throw ConfigError{"no row of these files is a serving row that the model answers"};
  }
  std::vector<FitSample> samples;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    FitSample sample{fit.runs[i].weight, fit.runs[i].family, runs[i].behind};
    if (runs[i].queue >= 0) {
      sample.costly = true;
      sample.work = all_rows.queues.engine(static_cast<std::size_t>(runs[i].queue));
    }
    samples.push_back(std::move(sample));
  }
  HierarchicalOptions how;
  how.scale = options.scale;
  how.noise = options.noise;
  how.level = 0.0;
  const SampleErrors errors = [&](std::span<const double> point, std::span<const std::size_t> which,
                                  std::span<double> out,
                                  std::size_t) { errors_at(problem.at(point), all_rows, fit.runs, which, out); };
  HierarchicalFit solver{coordinates_of(fit), samples, errors, how};
  tell("fitting " + std::to_string(fit.knobs.size()) + " numbers on " + std::to_string(runs.size()) + " rows");
  fit.result = solver.fit();
  for (const double x : fit.result.point) {
    fit.values.push_back(std::exp(x));
  }
  std::vector<std::size_t> all(runs.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i] = i;
  }
  const std::vector<double> error = solver.errors_at(fit.result.point, all);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    fit.runs[i].fitted = error[i];
  }
  std::set<std::string> publications;
  for (const FittedServingRun& run : fit.runs) {
    publications.insert(run.row->source);
  }
  for (const std::string& source : options.leave_one_out ? publications : std::set<std::string>{}) {
    tell("without " + source);
    std::vector<bool> out(runs.size());
    std::vector<std::size_t> theirs;
    for (std::size_t i = 0; i < runs.size(); ++i) {
      out[i] = fit.runs[i].row->source == source;
      if (out[i]) {
        theirs.push_back(i);
      }
    }
    const HierarchicalResult rest = solver.refit(fit.result, out);
    const std::vector<double> missed = solver.errors_at(rest.point, theirs);
    for (std::size_t i = 0; i < theirs.size(); ++i) {
      fit.runs[theirs[i]].left_out = missed[i];
    }
  }
  return fit;
}

}  // namespace headroom
