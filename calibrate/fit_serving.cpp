// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/fit_serving.hpp>
#include <headroom/core/embedded.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace headroom {
namespace embedded {
EmbeddedIndex embedded_models() noexcept;  // NOLINT(misc-use-internal-linkage)
}

namespace {

struct Prior {
  double centre = 0.0, width = 1.0, child = 1.0, low = 0.0, high = 0.0;
};
using Priors = std::map<std::string, Prior, std::less<>>;

Priors read_priors() {
  const DataStore store{embedded::embedded_models(), DataStore::user_folders()};
  const std::optional<DataStore::Entry> entry = store.find("stacks/step", "serve-priors");
  if (!entry) {
    throw ConfigError{"there is no serve-priors.toml among the parameters of the step"};
  }
  const ConfigValue document = store.tree("stacks/step", *entry);
  Diagnostics diagnostics;
  ConfigTable root{document, "", diagnostics};
  require_schema(root);
  static_cast<void>(root.text("id"));
  ConfigTable tables = root.table("number");
  Priors priors;
  for (const std::string_view key : tables.keys()) {
    std::optional<ConfigTable> table = tables.maybe_table(key);
    if (!table) {
      continue;
    }
    const auto amount = [&](std::string_view name) {
      return is_iteration_time(key) ? table->quantity<Seconds>(name).raw() : table->number(name, {1e-6, 1e6});
    };
    Prior prior;
    prior.centre = amount("centre");
    prior.low = amount("low");
    prior.high = amount("high");
    prior.width = table->number("width", {0.001, 10.0});
    prior.child = table->maybe_number("child", {0.001, 10.0}).value_or(prior.width);
    static_cast<void>(table->text("source"));
    if (prior.low > prior.centre || prior.centre > prior.high) {
      table->problem("centre", "lies outside low and high");
    }
    table->finish();
    priors[std::string{key}] = prior;
  }
  tables.finish();
  root.finish();
  diagnostics.throw_if_any();
  return priors;
}

ServingKnob make_knob(const Priors& priors, const std::string& id, const std::string& key, double value) {
  const auto found = priors.find(key);
  if (found == priors.end()) {
    throw ConfigError{quoted(key) + " of " + id + " is to be fitted, but serve-priors.toml says nothing about it"};
  }
  const Prior& p = found->second;
  return {id, key, std::clamp(value, p.low, p.high), p.low, p.high, p.centre, p.width, -1};
}

/// A row with its question and the kernels of its iterations, which no fitted number changes.
struct Run {
  ServingTimeQuestion question;
  std::vector<IterationTerms> kernels;
  std::vector<std::size_t> behind;
};

/// Predicts from kernels priced once: the iterations of a closed form do not depend on the numbers.
double predicted(const Run& run, const IterationStack& stack, const IterationPhysics& physics) {
  std::size_t next = 0;
  return predict_time(
      run.question, [&](const IterationMix&) { return run.kernels[next++]; }, stack, physics);
}

class Problem {
 public:
  Problem(std::vector<ServingKnob> knobs, const std::vector<ServingStack>& stacks) : knobs_{std::move(knobs)} {
    for (const ServingStack& s : stacks) {
      stacks_.emplace(s.id, s.time);
    }
  }

  [[nodiscard]] const std::vector<ServingKnob>& knobs() const noexcept { return knobs_; }

  /// Stacks and shared numbers at a point of logarithms.
  struct Numbers {
    std::map<std::string, IterationStack, std::less<>> stacks;
    IterationPhysics physics;
  };
  [[nodiscard]] Numbers at(std::span<const double> point) const {
    Numbers n{stacks_, iteration_physics()};
    for (std::size_t i = 0; i < knobs_.size(); ++i) {
      const double value = std::exp(point[i]);
      if (knobs_[i].shared()) {
        set_iteration_number(n.physics, knobs_[i].key, value);
      } else {
        set_iteration_number(n.stacks.at(knobs_[i].id), knobs_[i].key, value);
      }
    }
    return n;
  }
  /// A first token's wait says little of kernels: it moves what a request waits for beside them, and nothing else.
  [[nodiscard]] std::vector<std::size_t> behind(const std::string& stack, bool first_token) const {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < knobs_.size(); ++i) {
      const bool waits = knobs_[i].key == "request" || knobs_[i].key == "steps" || knobs_[i].key == "burst";
      if ((knobs_[i].shared() || knobs_[i].id == stack) && (!first_token || waits)) {
        found.push_back(i);
      }
    }
    return found;
  }

 private:
  std::vector<ServingKnob> knobs_;
  std::map<std::string, IterationStack, std::less<>> stacks_;
};

std::string family_of(const RunRow& row) {
  return row.source + "/" + row.serving.gpu + "/" + row.serving.model + "/" + row.metric + "/" + row.engine;
}

void gather(std::span<const RunFile> files,
            ServingTimeModel& model,
            const Problem& problem,
            ServingFit& fit,
            std::vector<Run>& runs) {
  std::map<std::string, std::size_t> families;
  std::vector<double> sizes;
  for (const RunFile& file : files) {
    if (file.form != RowForm::serving) {
      continue;
    }
    for (const RunRow& row : file.rows) {
      RowPrediction refusal;
      if (row.doubted || !row.serving.broken.empty()) {
        continue;
      }
      std::optional<ServingTimeQuestion> question = model.question(row.serving, row.metric, row.unit, refusal);
      if (!question) {
        continue;
      }
      Run run{std::move(*question),
              {},
              problem.behind(question->stack->id,
                             question->metric == ServingMetric::ttft && question->kind == ServingLoad::closed)};
      const IterationPhysics& physics = iteration_physics();
      const double before = predict_time(
          run.question,
          [&](const IterationMix& mix) {
            run.kernels.push_back(run.question.replica->terms(mix));
            return run.kernels.back();
          },
          run.question.stack->time, physics);
      const auto [at, fresh] = families.try_emplace(family_of(row), sizes.size());
      if (fresh) {
        sizes.push_back(0.0);
      }
      sizes[at->second] += 1.0;
      FittedServingRun fitted;
      fitted.row = &row;
      fitted.stack = run.question.stack->id;
      fitted.experts = run.question.experts;
      fitted.family = at->second;
      fitted.before = std::log(before / row.measured);
      fitted.left_out = std::numeric_limits<double>::quiet_NaN();
      fit.runs.push_back(fitted);
      runs.push_back(std::move(run));
    }
  }
  for (FittedServingRun& run : fit.runs) {
    run.weight = 1.0 / std::sqrt(sizes[run.family]);
  }
}

std::vector<FitCoordinate> coordinates_of(const std::vector<ServingKnob>& knobs) {
  std::vector<FitCoordinate> coordinates;
  for (const ServingKnob& k : knobs) {
    FitCoordinate c;
    c.start = std::log(k.value);
    c.low = std::log(k.low);
    c.high = std::log(k.high);
    c.centre = std::log(k.centre);
    c.width = k.width;
    c.parent = k.parent;
    coordinates.push_back(c);
  }
  return coordinates;
}

}  // namespace

std::vector<ServingKnob> serving_knobs() {
  const Priors priors = read_priors();
  std::vector<ServingKnob> knobs;
  for (const std::string& key : iteration_physics().fitted) {
    knobs.push_back(make_knob(priors, "serve", key, iteration_number(iteration_physics(), key)));
  }
  const std::vector<ServingStack> stacks = serving_stacks();
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
    const auto parent = std::find_if(knobs.begin(), knobs.end(),
                                     [&](const ServingKnob& k) { return k.id == own->base && k.key == knob.key; });
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
  fit.knobs = serving_knobs();
  ServingTimeModel model{sources};
  const Problem problem{fit.knobs, model.stacks()};
  std::vector<Run> runs;
  tell("pricing the kernels of every row");
  gather(files, model, problem, fit, runs);
  if (runs.empty()) {
    throw ConfigError{"no row of these files is a serving row that the model answers"};
  }
  std::vector<FitSample> samples;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    samples.push_back({fit.runs[i].weight, fit.runs[i].family, runs[i].behind});
  }
  HierarchicalOptions how;
  how.scale = options.scale;
  how.noise = options.noise;
  how.level = 0.0;
  const SampleErrors errors = [&](std::span<const double> point, std::span<const std::size_t> which,
                                  std::span<double> out, std::size_t) {
    const Problem::Numbers numbers = problem.at(point);
    for (std::size_t i = 0; i < which.size(); ++i) {
      const Run& run = runs[which[i]];
      out[i] = std::log(predicted(run, numbers.stacks.find(run.question.stack->id)->second, numbers.physics) /
                        fit.runs[which[i]].row->measured);
    }
  };
  HierarchicalFit solver{coordinates_of(fit.knobs), samples, errors, how};
  tell("fitting " + std::to_string(fit.knobs.size()) + " numbers on " + std::to_string(runs.size()) + " rows");
  fit.result = solver.fit();
  for (const double x : fit.result.point) {
    fit.values.push_back(std::exp(x));
  }
  std::vector<std::size_t> all(runs.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i] = i;
  }
  std::vector<double> error(runs.size());
  errors(fit.result.point, all, error, 0);
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
    std::vector<double> missed(theirs.size());
    errors(rest.point, theirs, missed, 0);
    for (std::size_t i = 0; i < theirs.size(); ++i) {
      fit.runs[theirs[i]].left_out = missed[i];
    }
  }
  return fit;
}

}  // namespace headroom
