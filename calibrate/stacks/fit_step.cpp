// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/stacks/fit_step.hpp>
#include <headroom/calibrate/stacks/step_posterior.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/statistics.hpp>
#include <headroom/model/train/errors/confidence.hpp>
#include <headroom/model/train/step/step_parts.hpp>
#include <headroom/scenarios/measured/row_options.hpp>
#include <headroom/scenarios/measured/training_row.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>

namespace headroom {
namespace {

constexpr std::size_t workers = 2;
constexpr double unknown = unknown_error;

bool is_time(std::string_view metric) noexcept {
  return metric == "step_time_s" || metric == "tokens_per_s_per_gpu" || metric == "samples_per_s";
}

bool is_flop_rate(std::string_view metric) noexcept {
  return metric == "model_tflops_per_gpu" || metric == "hardware_tflops_per_gpu" || metric == "mfu";
}

double log_error(const RowPrediction& prediction, const RunRow& row) noexcept {
  const double ratio = std::log(prediction.predicted / row.measured);
  return row.metric == "step_time_s" ? ratio : -ratio;
}

/// `experts`: the network has some, whether the row states them or names a preset.
std::string kind_of(const RunConfiguration& run, bool experts) {
  const auto method = run.options.find("method");
  return method != run.options.end() ? method->second == "sft" ? "sft" : "adapters" : experts ? "experts" : "dense";
}

/// Key of a run's configuration, whatever the unit it was published in.
std::string configuration_key(const RunRow& row) {
  const RunConfiguration& r = row.run;
  std::string key =
      row.source + "|" + r.model + "|" + r.gpu + "|" + r.precision + "|" + r.recompute + "|" + r.framework;
  for (const auto& value : {r.layers, r.hidden, r.heads, r.seq_len, r.gpus, r.dp, r.tp, r.pp, r.vpp, r.cp, r.ep,
                            r.micro_batch, r.global_batch, r.zero, r.seq_parallel, r.flash_attn}) {
    key += "|" + (value ? std::to_string(*value) : "");
  }
  for (const auto& [option, value] : r.options) {
    key += "|" + option + "=" + value;
  }
  return key;
}

/// Key of what a layer's time depends on; rows that share it repeat one measurement.
std::string profile_key(const RunRow& row) {
  const RunConfiguration& r = row.run;
  std::string key = r.precision + "|" + r.recompute;
  for (const auto& value : {r.hidden, r.seq_len, r.tp, r.cp, r.ep, r.micro_batch}) {
    key += "|" + (value ? std::to_string(*value) : "");
  }
  return key;
}

double to_scale(const StepKnob& knob, double value) noexcept {
  return knob.linear ? value : std::log(value);
}
double from_scale(const StepKnob& knob, double x) noexcept {
  return knob.linear ? x : std::exp(x);
}

/// A worker's model, set to the last point of the fit that it evaluated.
struct Worker {
  TrainingRowModel model;
  std::vector<double> point;
};

class StepProblem {
 public:
  StepProblem(const Sources& sources, StepKnobs knobs)
      : knobs_{std::move(knobs)},
        parameters_{step_parameters(sources.data)},
        stacks_{memory_stacks(sources.data)},
        measured_{step_confidence(sources.data).measured} {
    for (std::size_t i = 0; i < workers; ++i) {
      workers_.push_back(std::make_unique<Worker>(Worker{TrainingRowModel{sources}, {}}));
    }
  }

  /// Collects the predictable rows of time, and counts the others.
  void take_rows(std::span<const RunFile> files, StepFit& fit) {
    std::set<std::string> timed;
    for (const RunFile& file : files) {
      for (const RunRow& row : file.rows) {
        if (row.form == RowForm::training && is_time(row.metric) && !row.doubted) {
          timed.insert(configuration_key(row));
        }
      }
    }
    for (const RunFile& file : files) {
      for (const RunRow& row : file.rows) {
        const bool wanted =
            is_time(row.metric) || (is_flop_rate(row.metric) && !timed.contains(configuration_key(row)));
        if (row.form == RowForm::training && wanted) {
          take(row, fit);
        }
      }
    }
  }

  void errors(std::span<const double> point,
              std::span<const std::size_t> samples,
              std::span<double> out,
              std::size_t worker,
              const std::vector<FittedRun>& runs) {
    Worker& w = *workers_[worker];
    if (!std::equal(point.begin(), point.end(), w.point.begin(), w.point.end())) {
      w.point.assign(point.begin(), point.end());
      StepParameters parameters = parameters_;
      MemoryStacks stacks = stacks_;
      knobs_.apply(values(point), parameters, stacks);
      w.model.set_parameters(std::move(parameters), std::move(stacks));
    }
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const RunRow& row = *runs[samples[i]].row;
      out[i] = log_error(w.model.predict(row.run, row.metric, row.unit), row);
    }
  }

  /// How far closing an axis moves the predictions of runs that state it, at the point that worker 0 was last set to.
  [[nodiscard]] BlankError blank_error(BlankAxis axis, const std::vector<FittedRun>& runs) {
    TrainingRowModel& model = workers_.front()->model;
    double weights = 0.0, sum = 0.0, squares = 0.0;
    BlankError error;
    for (const FittedRun& run : runs) {
      const std::optional<RunConfiguration> blank = without_axis(run.row->run, axis);
      if (!blank || (axis == BlankAxis::experts && model.closed_axes(run.row->run)[static_cast<std::size_t>(axis)])) {
        continue;
      }
      const RowPrediction closed = model.predict(*blank, run.row->metric, run.row->unit);
      if (closed.status != RowStatus::ok) {
        continue;
      }
      const double moved = log_error(closed, *run.row) - run.fitted;
      weights += run.weight;
      sum += run.weight * moved;
      squares += run.weight * moved * moved;
      ++error.rows;
    }
    if (weights > 0.0) {
      error.mean = sum / weights;
      error.deviation = std::sqrt(std::max(0.0, squares / weights - error.mean * error.mean));
    }
    return error;
  }

  /// Share of stragglers in a run's step, at the numbers that the fit began with.
  [[nodiscard]] double straggler_share(const RunConfiguration& run) const {
    return headroom::straggler_share(parameters_.physics, static_cast<double>(run.gpus.value_or(1)));
  }

  [[nodiscard]] std::vector<double> values(std::span<const double> point) const {
    std::vector<double> result;
    result.reserve(point.size());
    for (std::size_t i = 0; i < point.size(); ++i) {
      result.push_back(from_scale(knobs_.all()[i], point[i]));
    }
    return result;
  }
  [[nodiscard]] const StepKnobs& knobs() const noexcept { return knobs_; }

 private:
  /// Why a row cannot be fitted; nullopt when it can, with its prediction.
  std::optional<UnusedRow> unused(const RunRow& row, RowPrediction& prediction) {
    TrainingRowModel& model = workers_.front()->model;
    if (row.doubted) {
      return UnusedRow{&row, UnusedKind::doubted, "its notes say " + row.doubt};
    }
    if (!row.broken.empty()) {
      return UnusedRow{&row, UnusedKind::broken, row.broken};
    }
    prediction = model.predict(row.run, row.metric, row.unit);
    if (prediction.status != RowStatus::ok) {
      const UnusedKind kind = !missing_training_cells(row.run).empty()   ? UnusedKind::unpublished
                              : prediction.status == RowStatus::rejected ? UnusedKind::broken
                                                                         : UnusedKind::unpredicted;
      return UnusedRow{&row, kind, prediction.why};
    }
    if (!option(row.run, "accumulation").empty()) {
      return UnusedRow{&row, UnusedKind::unpublished, "not published: global_batch, for its micro-batches are told"};
    }
    // Predicted with another software, the row would move that software's numbers.
    const std::optional<RowJob> job = model.job_of(row.run);
    if (!job) {
      return UnusedRow{&row, UnusedKind::unpublished,
                       "not published: " + listed(missing_training_cells(row.run)) +
                           "; a layout that was searched for the row says nothing of a software's numbers"};
    }
    if (job->software == nullptr) {
      return UnusedRow{&row, UnusedKind::framework,
                       "framework " + quoted(row.run.framework) + " is known to no software" +
                           suggestion(row.run.framework, model.frameworks()) +
                           "; name it under `frameworks` of one (docs/train-fit.md)"};
    }
    if (std::string bound = beyond_hardware(row.metric, row.measured, prediction); !bound.empty()) {
      return UnusedRow{&row, UnusedKind::impossible, std::move(bound)};
    }
    return std::nullopt;
  }

  void take(const RunRow& row, StepFit& fit) {
    TrainingRowModel& model = workers_.front()->model;
    RowPrediction prediction;
    if (std::optional<UnusedRow> why = unused(row, prediction)) {
      return fit.unused.push_back(std::move(*why));
    }
    FittedRun run;
    run.row = &row;
    run.before = run.fitted = log_error(prediction, row);
    run.left_out = run.deviation = unknown;
    const Device& device = *model.device_of(row.run);
    const std::optional<RowJob> job = model.job_of(row.run);
    const bool experts = job && job->architecture.moe.has_value();
    run.owner = {model.software_of(row.run).id, device.id, device.generation, experts};
    const std::string kind = kind_of(row.run, experts);
    run.kind = kind == "experts" ? StepKind::experts : kind == "dense" ? StepKind::dense : StepKind::adapters;
    run.own_kernels = class_of(device, {}, false, measured_) != RunClass::other_kernels;
    constexpr std::int64_t usual = 8;  // GPUs per host when the row does not state them
    const bool hosts = row.run.gpus.value_or(1) > row.run.gpus_per_node.value_or(usual);
    const RunFamily family{row.source, row.run.gpu, kind, hosts, 0, 0.0};
    const auto same = std::find_if(fit.families.begin(), fit.families.end(), [&](const RunFamily& f) {
      return f.source == family.source && f.gpu == family.gpu && f.kind == family.kind && f.hosts == family.hosts;
    });
    run.family = static_cast<std::size_t>(same - fit.families.begin());
    if (same == fit.families.end()) {
      fit.families.push_back(family);
    }
    ++fit.families[run.family].runs;
    fit.runs.push_back(run);
  }

  StepKnobs knobs_;
  const StepParameters& parameters_;
  const MemoryStacks& stacks_;
  const MeasuredGround& measured_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

void weigh(StepFit& fit) {
  std::vector<std::map<std::string, std::size_t>> profiles(fit.families.size());
  for (const FittedRun& run : fit.runs) {
    ++profiles[run.family][profile_key(*run.row)];
  }
  for (FittedRun& run : fit.runs) {
    const auto& family = profiles[run.family];
    run.weight =
        1.0 / static_cast<double>(family.at(profile_key(*run.row))) / std::sqrt(static_cast<double>(family.size()));
  }
}

/// Which knobs are free.
std::vector<bool> free_knobs(const std::vector<StepKnob>& knobs, const StepFitOptions& options) {
  std::vector<bool> free;
  for (const StepKnob& knob : knobs) {
    const bool own = (knob.scope == StepScope::stack || knob.scope == StepScope::experts) && knob.id == options.stack;
    const bool level = knob.scope == StepScope::level &&
                       std::find(options.gpus.begin(), options.gpus.end(), knob.id) != options.gpus.end();
    free.push_back(options.stack == "all" || own || level);
  }
  return free;
}

/// Throws ConfigError for a software or level without free numbers.
void require_numbers(const std::vector<StepKnob>& knobs, const StepFitOptions& options, const MemoryStacks& known) {
  if (options.stack != "all") {
    static_cast<void>(known.find(options.stack));
  }
  std::set<std::string_view> stacks, levels;
  for (const StepKnob& knob : knobs) {
    if (knob.scope == StepScope::level) {
      levels.insert(knob.id);
    } else if (knob.scope != StepScope::physics) {
      stacks.insert(knob.id);
    }
  }
  const auto listed = [](const std::set<std::string_view>& names) { return joined(names, std::identity{}); };
  Diagnostics diagnostics;
  for (const std::string& gpu : options.gpus) {
    if (!levels.contains(gpu)) {
      const std::vector<std::string_view> known(levels.begin(), levels.end());
      diagnostics.add("", {},
                      "--level " + quoted(gpu) + " is no level that a fit may move" + suggestion(gpu, known) +
                          "; there are: " + listed(levels));
    }
  }
  if (options.stack != "all" && options.gpus.empty() && !stacks.contains(options.stack)) {
    diagnostics.add("", {},
                    "no number of " + quoted(options.stack) +
                        " may be moved: list some under `fitted` in its [time] table, or fit one of " + listed(stacks));
  }
  diagnostics.throw_if_any();
}

/// Throws ConfigError with the reason of every row.
[[noreturn]] void nothing_to_fit(const StepFit& fit) {
  Diagnostics diagnostics;
  if (fit.runs.empty() && fit.unused.empty()) {
    diagnostics.add("", {},
                    "no row states the time or the throughput of a training step; a fit of " + quoted(fit.stack) +
                        " needs rows of the training form (docs/scenario-format.md)");
  } else if (fit.runs.empty()) {
    diagnostics.add("", {}, "none of the " + std::to_string(fit.unused.size()) + " rows of time can be fitted");
  } else {
    diagnostics.add("", {},
                    "none of the " + std::to_string(fit.runs.size()) +
                        " rows that can be fitted rests on a number of " + quoted(fit.stack) +
                        " that a fit may move: their frameworks are those of other software");
  }
  for (const UnusedRow& unused : fit.unused) {
    diagnostics.add(unused.row->file, {unused.row->line, 1}, unused.why);
  }
  diagnostics.throw_if_any();
  std::abort();  // not reached, because there is at least one problem
}

/// Numbers of one key that depart from a wider table's share the width of that.
std::vector<FitCoordinate> coordinates_of(const std::vector<StepKnob>& knobs,
                                          const std::vector<bool>& free,
                                          bool grouped) {
  std::vector<FitCoordinate> coordinates;
  std::map<std::string, std::ptrdiff_t> groups;
  for (std::size_t i = 0; i < knobs.size(); ++i) {
    const StepKnob& k = knobs[i];
    FitCoordinate c;
    c.start = to_scale(k, k.value);
    c.low = to_scale(k, k.low);
    c.high = to_scale(k, k.high);
    c.centre = to_scale(k, k.centre);
    c.width = k.width;
    c.parent = k.parent;
    if (grouped && k.parent >= 0) {
      c.group = groups
                    .try_emplace(std::string{k.scope == StepScope::level ? "level." : "stack."} + k.key,
                                 static_cast<std::ptrdiff_t>(groups.size()))
                    .first->second;
    }
    c.fixed = !free[i];
    coordinates.push_back(c);
  }
  return coordinates;
}

/// Runs as their uncertainty depends on them, with the derivatives of the whole fit.
std::vector<WeighedRun> weighed_runs(const StepFit& fit, const HierarchicalFit& solver) {
  std::vector<WeighedRun> runs;
  for (std::size_t i = 0; i < fit.runs.size(); ++i) {
    const FittedRun& run = fit.runs[i];
    const RunFamily& family = fit.families[run.family];
    runs.push_back({run.owner, run.kind, family.hosts, run.weight, run.fitted - family.level, solver.derivatives(i),
                    fit.behind[i]});
  }
  return runs;
}

/// Errors of left-out runs with others of their family given, by the number that is given.
struct ToldFamily {
  StepKind kind = StepKind::dense;
  bool own_kernels = true;
  std::vector<ToldError> alone;  ///< with none given
  std::array<std::vector<ToldError>, given_runs.size()> errors;
};

/// The posterior of the others, and a source's runs.
struct LeftOutSource {
  StepPosterior without;
  std::vector<std::size_t> runs;
};

/// Groups left-out runs by family and software, with the posterior that the other sources leave.
struct ToldGroup {
  LeftOutFamily family;
  StepKind kind = StepKind::dense;
  bool own_kernels = true;
};

std::vector<ToldGroup> told_groups(const StepFit& fit,
                                   const std::vector<LeftOutSource>& sources,
                                   const PosteriorMaker& posteriors) {
  std::vector<ToldGroup> groups;
  for (const auto& [without, mine] : sources) {
    std::map<std::pair<std::size_t, std::string>, std::vector<LeftOutRun>> runs_of;
    for (const std::size_t i : mine) {
      const FittedRun& run = fit.runs[i];
      LeftOutRun& told = runs_of[{run.family, run.owner.stack}].emplace_back();
      told.run = i;
      told.configuration = configuration_key(*run.row);
      told.told = {posteriors.derivatives(i), run.left_out, std::pow(fit.posterior.run_noise(run.kind), 2)};
      told.variance = run.deviation * run.deviation;
      told.place = job_place_of(run.row->run, without.blank_variance(blank_axes(run.row->run)));
      told.spread = without.shape * without.shape;
    }
    for (auto& [key, runs] : runs_of) {
      const FittedRun& first = fit.runs[runs.front().run];
      const UpdatedNumbers before =
          without_runs(without.prior_of(posteriors.unknown(runs.front().run)), without.level * without.level);
      groups.push_back({{before, std::move(runs)}, first.kind, first.own_kernels});
    }
  }
  return groups;
}

/// Predicts each group with some of its runs given, and how like they are.
std::vector<ToldFamily> told_families(const std::vector<ToldGroup>& groups, StepPosterior& posterior) {
  std::vector<LeftOutFamily> known;
  for (const ToldGroup& group : groups) {
    if (group.own_kernels && group.family.runs.size() > 1) {
      known.push_back(group.family);
    }
  }
  const FamilyLikeness likeness = likeness_of(known);
  posterior.alike = likeness.alike;
  posterior.length = likeness.length;
  std::vector<ToldFamily> families;
  for (const ToldGroup& group : groups) {
    ToldFamily family{group.kind, group.own_kernels, {}};
    family.alone = told_errors(group.family.before, group.family.runs, 0, likeness);
    for (std::size_t given = 0; given < given_runs.size(); ++given) {
      family.errors[given] = told_errors(group.family.before, group.family.runs, given_runs[given], likeness);
    }
    families.push_back(std::move(family));
  }
  return families;
}

/// What a plan's intervals of left-out families hold; `errors_of` picks the errors of a family.
template <class ErrorsOf>
HeldIntervals held_intervals(const std::vector<ToldFamily>& families, const StepFit& fit, const ErrorsOf& errors_of) {
  std::vector<double> held, widths;
  for (const ToldFamily& family : families) {
    const double quantile = fit.posterior.quantiles_of(family.kind).eighty;
    std::vector<double> inside, wide;
    for (const ToldError& e : errors_of(family)) {
      inside.push_back(std::abs(e.error) <= quantile * e.deviation ? 1.0 : 0.0);
      wide.push_back(std::expm1(quantile * e.deviation));
    }
    if (family.own_kernels && !inside.empty()) {
      held.push_back(mean(inside));
      widths.push_back(mean(wide));
    }
  }
  return held.empty() ? HeldIntervals{} : HeldIntervals{mean(held), median(widths)};
}

/// What the draws say of each run, and of the intervals.
void score_told(const std::vector<ToldFamily>& families, StepFit& fit) {
  fit.held_alone = held_intervals(families, fit, [](const ToldFamily& f) { return std::span{f.alone}; });
  for (std::size_t given = 0; given < given_runs.size(); ++given) {
    std::map<std::size_t, std::vector<double>> of_run;
    for (const ToldFamily& family : families) {
      for (const ToldError& e : family.errors[given]) {
        of_run[e.run].push_back(std::abs(std::expm1(e.error)));
      }
    }
    for (const auto& [run, errors] : of_run) {
      fit.runs[run].after[given] = mean(errors);
    }
    fit.held[given] =
        held_intervals(families, fit, [given](const ToldFamily& f) { return std::span{f.errors[given]}; });
  }
}

void leave_out(HierarchicalFit& solver,
               StepProblem& problem,
               const PosteriorMaker& posteriors,
               StepFit& fit,
               const std::function<void(std::string_view)>& progress) {
  std::set<std::string> sources;
  for (const FittedRun& run : fit.runs) {
    sources.insert(run.row->source);
  }
  std::vector<LeftOutSource> left;
  for (const std::string& source : sources) {
    std::vector<bool> out;
    std::vector<std::size_t> mine;
    for (std::size_t i = 0; i < fit.runs.size(); ++i) {
      if (out.emplace_back(fit.runs[i].row->source == source)) {
        mine.push_back(i);
      }
    }
    if (mine.size() == fit.runs.size()) {
      continue;  // with a single source nothing is left
    }
    if (progress) {
      progress("left out: " + source);
    }
    const HierarchicalResult rest = solver.refit(fit.result, out);
    std::vector<double> errors(mine.size());
    problem.errors(rest.point, mine, errors, 0, fit.runs);
    StepPosterior without = posteriors.of(rest, out);
    without.blank = fit.posterior.blank;
    for (std::size_t i = 0; i < mine.size(); ++i) {
      StepUnknown unknown = posteriors.unknown(mine[i]);
      unknown.blank = blank_axes(fit.runs[mine[i]].row->run);
      unknown.stragglers = problem.straggler_share(fit.runs[mine[i]].row->run);
      fit.runs[mine[i]].left_out = errors[i];
      fit.runs[mine[i]].deviation = std::sqrt(without.variance(unknown).total());
    }
    left.push_back({std::move(without), std::move(mine)});
  }
  std::vector<ScaledError> scaled;
  for (const FittedRun& run : fit.runs) {
    if (run.own_kernels && std::isfinite(run.left_out)) {
      scaled.push_back({run.kind, run.family, run.row->source, std::abs(run.left_out) / run.deviation});
    }
  }
  set_quantiles(scaled, fit.posterior);
  score_told(told_families(told_groups(fit, left, posteriors), fit.posterior), fit);
  fit.posterior.source = "headroom fit --stack all on " + std::to_string(fit.runs.size()) + " runs of " +
                         std::to_string(sources.size()) + " sources, each left out in turn";
}

}  // namespace

StepFit fit_step(std::span<const RunFile> files,
                 const Sources& sources,
                 const StepFitOptions& options,
                 const std::function<void(std::string_view)>& progress) {
  StepFit fit;
  StepProblem problem{sources, StepKnobs::of(sources)};
  fit.knobs = problem.knobs().all();
  fit.stack = options.stack;
  require_numbers(fit.knobs, options, memory_stacks(sources.data));
  fit.free = free_knobs(fit.knobs, options);
  problem.take_rows(files, fit);
  weigh(fit);
  std::vector<FitSample> samples;
  std::set<std::size_t> used;
  for (const FittedRun& run : fit.runs) {
    samples.push_back({run.weight, run.family, problem.knobs().behind(run.owner)});
    fit.behind.push_back(samples.back().behind);
    used.insert(samples.back().behind.begin(), samples.back().behind.end());
  }
  if (std::none_of(used.begin(), used.end(), [&](std::size_t knob) { return fit.free[knob]; })) {
    nothing_to_fit(fit);
  }
  const bool whole = options.stack == "all";
  HierarchicalOptions settings;
  settings.level = fit.families.size() > 1 ? options.level : 0.0;
  settings.variance_rounds = whole ? options.variance_rounds : 0;
  settings.settled_noise = whole && settings.level > 0.0 ? options.settled_noise : 0.0;
  settings.noise = options.noise;
  settings.scale = options.scale;
  settings.workers = workers;
  const auto errors = [&](std::span<const double> point, std::span<const std::size_t> of, std::span<double> out,
                          std::size_t worker) { problem.errors(point, of, out, worker, fit.runs); };
  HierarchicalFit solver{coordinates_of(fit.knobs, fit.free, whole), std::move(samples), errors, settings};
  if (progress) {
    progress("fit of " + std::to_string(fit.runs.size()) + " rows");
  }
  fit.result = solver.fit();
  fit.values = problem.values(fit.result.point);
  std::vector<std::size_t> all(fit.runs.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  std::vector<double> found(all.size());
  problem.errors(fit.result.point, all, found, 0, fit.runs);
  for (std::size_t i = 0; i < all.size(); ++i) {
    fit.runs[i].fitted = found[i];
  }
  for (std::size_t f = 0; f < fit.families.size(); ++f) {
    fit.families[f].level = fit.result.family_level[f];
  }
  std::vector<std::string> stacks;
  for (const MemoryStack& stack : memory_stacks(sources.data).all()) {
    stacks.push_back(stack.id);
  }
  const PosteriorMaker posteriors{problem.knobs(), std::move(stacks), weighed_runs(fit, solver)};
  fit.posterior = posteriors.of(fit.result, {});
  for (std::size_t axis = 0; axis < blank_axis_names.size(); ++axis) {
    fit.posterior.blank[axis] = problem.blank_error(static_cast<BlankAxis>(axis), fit.runs);
  }
  if (options.leave_one_out) {
    leave_out(solver, problem, posteriors, fit, progress);
  }
  return fit;
}

double mape_of(std::span<const double> log_errors) {
  double sum = 0.0;
  for (const double e : log_errors) {
    sum += std::abs(std::exp(e) - 1.0);
  }
  return log_errors.empty() ? unknown : sum / static_cast<double>(log_errors.size());
}

}  // namespace headroom
