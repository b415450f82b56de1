// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/number_words.hpp>
#include <headroom/core/real.hpp>
#include <headroom/core/statistics.hpp>
#include <headroom/scenarios/measured/row_options.hpp>
#include <headroom/scenarios/measured/training_row.hpp>
#include <headroom/scenarios/plan/own_runs.hpp>
#include <headroom/scenarios/training/own_numbers.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

namespace headroom {
namespace {

constexpr std::array<std::string_view, 7> naming_columns{"id",    "source", "source_ref", "metric",
                                                         "value", "unit",   "notes"};

Position place_of(const RunFile& file, const RunRow& row, std::string_view column) {
  const auto found = std::find(file.header.begin(), file.header.end(), column);
  return found == file.header.end() ? Position{row.line, 0}
                                    : row.places[static_cast<std::size_t>(found - file.header.begin())];
}

/// The three names nearest to a framework that nobody knows, whatever their case.
std::string nearest_names(std::string_view word, const std::vector<std::string_view>& names) {
  const auto lower = [](std::string_view text) {
    std::string result{text};
    std::transform(result.begin(), result.end(), result.begin(),
                   [](unsigned char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c); });
    return result;
  };
  std::vector<std::pair<int, std::string_view>> ranked;
  ranked.reserve(names.size());
  for (const std::string_view name : names) {
    ranked.emplace_back(edit_distance(lower(word), lower(name)), name);
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(3, ranked.size()); ++i) {
    text += (i == 0 ? "" : ", ") + quoted(ranked[i].second);
  }
  return text;
}

bool has_column(const RunFile& file, std::string_view column) {
  return std::find(file.header.begin(), file.header.end(), column) != file.header.end();
}

constexpr std::array<std::string_view, 3> size_columns{"layers", "hidden", "heads"};

bool states_sizes(const RunFile& file) {
  return std::any_of(size_columns.begin(), size_columns.end(), [&](auto column) { return has_column(file, column); });
}

/// Fills in what the columns of files leave out.
class RunCompletion {
 public:
  RunCompletion(const TrainScenario& train, const Sources& sources, std::vector<std::string>& assumed)
      : train_{train}, sources_{sources}, assumed_{assumed} {}

  void complete(RunFile& file) {
    if (file.form != RowForm::training) {
      return;
    }
    for (RunRow& row : file.rows) {
      complete(file, row);
    }
  }

 private:
  void complete(const RunFile& file, RunRow& row) {
    RunConfiguration& run = row.run;
    if (!states_sizes(file)) {
      take_preset(run);
    }
    if (!has_column(file, "cp")) {
      run.cp = 1;
    }
    if (!has_column(file, "dp") && run.gpus && run.tp && run.pp && run.cp) {
      const double others = real(*run.tp) * real(*run.pp) * real(*run.cp);
      run.dp = others > 0.0 ? std::max<std::int64_t>(1, static_cast<std::int64_t>(real(*run.gpus) / others)) : 1;
    }
    if (!has_column(file, "framework") && !train_.software.frameworks.empty()) {
      run.framework = train_.software.frameworks.front();
      assume("your runs: framework = " + run.framework + " (this plan's software; no column states one)");
    }
    if (!has_column(file, "unit") && row.metric == "step_time_s") {
      row.unit = "s";
    }
  }

  void take_preset(RunConfiguration& run) {
    auto [at, fresh] = experts_.try_emplace(run.model);
    if (fresh && sources_.models.knows(run.model)) {
      const Architecture preset = sources_.models.find(run.model);
      at->second = preset.moe ? preset.moe->experts : 0;
    }
    run.sizes_of_preset = at->second.has_value();
    if (at->second.value_or(0) > 0) {
      run.experts = at->second;
    }
  }

  void assume(std::string what) {
    if (std::find(assumed_.begin(), assumed_.end(), what) == assumed_.end()) {
      assumed_.push_back(std::move(what));
    }
  }

  const TrainScenario& train_;
  const Sources& sources_;
  std::vector<std::string>& assumed_;
  std::map<std::string, std::optional<std::int64_t>> experts_;  ///< of each named preset; nullopt: no preset
};

class RunReader {
 public:
  RunReader(const TrainScenario& train, const Sources& sources, Diagnostics& diagnostics, TermSet without)
      : train_{train},
        models_{sources.models},
        wanted_{class_of(train.device,
                         train.architecture,
                         train.work.options.method != Method::full,
                         step_confidence(*train.data).measured)},
        model_{sources, without},
        diagnostics_{diagnostics} {
    if (states_network(train)) {
      take(numbers_of(train));
    }
  }

  void read(const RunFile& file) {
    if (file.form != RowForm::training) {
      diagnostics_.add(file.file, {1, 1},
                       "is a file of " + std::string{file.form == RowForm::serving ? "serving" : "other"} +
                           " rows; --runs takes training rows (columns dp and global_batch)");
      return;
    }
    diagnostics_.add(file.broken_cells);
    for (const RunRow& row : file.rows) {
      if (sound(file, row)) {
        place(file, row);
      }
    }
  }

  /// The runs that were read must still be there.
  OwnRuns result() {
    OwnRuns own;
    own.gpu = train_.device.id;
    own.software = train_.software.id;
    own.rows = used_;
    own.unused = unused_;
    if (runs_.empty()) {
      return own;
    }
    std::vector<double> errors;
    for (const auto& [key, run] : runs_) {
      errors.push_back(mean(run.errors));
    }
    own.level.runs = static_cast<double>(errors.size());
    own.level.mean_error = mean(errors);
    own.own = std::make_shared<const OwnNumbers>(updated(errors, own));
    own.level.factor = std::exp(own.own->after.level + own.own->after.discrepancy[question_place]);
    return own;
  }

  /// When nothing matches: what was needed, and what there is.
  void require_a_run(const std::vector<std::string>& names) const {
    if (used_ > 0 || names.empty()) {
      return;
    }
    std::string text = "no run matches: needed are times or throughputs on " + train_.device.id + " under " +
                       train_.software.id + ", " + std::string{run_class_texts[static_cast<std::size_t>(wanted_)]};
    if (!train_.software.frameworks.empty()) {
      text += " (framework " + quoted(train_.software.frameworks.front()) + ")";
    }
    text += unused_.empty() ? "; there are no rows" : "; there are: ";
    for (const UnusedRuns& u : unused_) {
      text += (&u == &unused_.front() ? "" : "; ") + counted(u.rows, "row") + ": " + u.what + ", " + u.why;
    }
    diagnostics_.add(names.front(), {}, text);
  }

 private:
  /// Cells that are there, are numbers and agree with each other.
  bool sound(const RunFile& file, const RunRow& row) {
    const std::size_t before = diagnostics_.size();
    std::vector<std::string_view> absent;
    for (const std::string_view name : missing_training_cells(row.run)) {
      const bool size = std::find(size_columns.begin(), size_columns.end(), name) != size_columns.end();
      if (size && !states_sizes(file)) {
        continue;  // a preset's name stands for its sizes
      }
      const std::optional<std::string> written = cell(file, row, name);
      if (!written) {
        absent.push_back(name);
      } else if (written->empty()) {
        diagnostics_.add(file.file, place_of(file, row, name),
                         "'" + std::string{name} + "' is empty; a run that moves a plan's level must state it");
      }
    }
    if (!states_sizes(file) && !row.run.sizes_of_preset) {
      if (has_column(file, "model")) {
        diagnostics_.add(file.file, place_of(file, row, "model"),
                         "'model' is " + quoted(row.run.model) +
                             ", no preset, and no column states its sizes (layers, hidden, heads, kv_heads, head_dim, "
                             "ffn_hidden, gated_mlp, vocab)" +
                             models_.suggested(row.run.model));
      } else {
        absent.insert(absent.begin(), "model");
      }
    }
    if (!absent.empty()) {
      diagnostics_.add(file.file, {1, 1},
                       std::string{"missing "} + (absent.size() == 1 ? "column " : "columns ") + listed(absent) + "; " +
                           least_run_columns());
    }
    const bool whole = diagnostics_.size() == before && row.broken.empty();
    if (whole) {
      check_layout(file, row);
    }
    return whole && diagnostics_.size() == before;
  }

  void check_layout(const RunFile& file, const RunRow& row) {
    const RunConfiguration& r = row.run;
    const double ranks = real(filled(r.dp)) * real(filled(r.tp)) * real(filled(r.pp)) * real(filled(r.cp));
    if (ranks != real(filled(r.gpus))) {
      diagnostics_.add(file.file, place_of(file, row, "gpus"),
                       "'gpus' is " + std::to_string(filled(r.gpus)) + ", but dp x tp x pp x cp is " +
                           std::to_string(filled(r.dp)) + " x " + std::to_string(filled(r.tp)) + " x " +
                           std::to_string(filled(r.pp)) + " x " + std::to_string(filled(r.cp)));
    }
    const std::int64_t dp = filled(r.dp);
    const std::int64_t micro_batch = r.micro_batch.value_or(1);
    const double shared = real(dp) * real(micro_batch);
    if (dp < 1 || micro_batch < 1 || std::fmod(real(filled(r.global_batch)), shared) != 0.0) {
      diagnostics_.add(file.file, place_of(file, row, "global_batch"),
                       "'global_batch' is " + std::to_string(filled(r.global_batch)) +
                           ", which does not divide by dp x micro_batch = " + std::to_string(dp) + " x " +
                           std::to_string(micro_batch));
    }
  }

  /// Used, listed as not used with the reason, or a problem.
  void place(const RunFile& file, const RunRow& row) {
    const std::optional<RowJob> job = model_.job_of(row.run);
    const std::string framework = job && job->software != nullptr ? job->software->id : quoted(row.run.framework);
    const std::string what = (job ? job->device->id : quoted(row.run.gpu)) + " under " + framework;
    const std::string unasked = row.doubted                  ? "notes say " + row.doubt
                                : is_step_metric(row.metric) ? std::string{}
                                                             : "memory tells no time";
    if (!unasked.empty()) {
      leave(what, unasked);
      return;
    }
    const RowPrediction prediction = model_.predict(row.run, row.metric, row.unit);
    if (prediction.status != RowStatus::ok || !job) {
      leave(what, prediction.why);
      return;
    }
    if (const double beaten = step_error(row.metric, prediction.fastest, row.measured); beaten > 0.0) {
      diagnostics_.add(file.file, place_of(file, row, "value"),
                       "'value' is " + quoted(row.cells[index_of(file, "value")]) + " of " + row.metric +
                           ": faster than the roofline by " + format_number(std::exp(beaten), 3) +
                           "x; check units, SKU and batch; no row of the file is used");
      return;
    }
    const std::string other = job->software == nullptr ? "no software known here; nearest " +
                                                             nearest_names(row.run.framework, model_.frameworks())
                                                       : other_than_asked(*job);
    if (!other.empty()) {
      leave(what, other);
      return;
    }
    ++used_;
    LearnedRun& run = runs_[configuration_key(file, row)];
    run.file = &file.file;
    run.row = run.row == nullptr ? &row : run.row;
    run.hidden = job->architecture.hidden;
    run.errors.push_back(step_error(row.metric, prediction.predicted, row.measured));
  }

  /// The posterior of the fit, given the runs; tells `runs` which of them count less than others.
  OwnNumbers updated(const std::vector<double>& errors, OwnRuns& runs) {
    const StepPosterior& posterior = step_posterior(*train_.data);
    std::vector<JobPlace> places;
    for (const auto& [key, run] : runs_) {
      places.push_back(
          job_place_of(run.row->run, posterior.blank_variance(model_.closed_axes(run.row->run)), run.hidden));
    }
    OwnNumbers own = numbers_without_runs(train_, wanted_, places);
    own.derivatives =
        derivatives_of(own.keyed, own.before, [&](const StepNumbers& numbers) { return log_steps(numbers); });
    std::vector<ToldRun> told;
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      // Where nothing is known of how like runs are, the blank axes of each are its own.
      const double blank = posterior.length > 0.0 ? 0.0 : places[i].blank;
      told.push_back(
          {own.derivatives[i], errors[i], own.noise + blank, question_place + 1 + static_cast<std::ptrdiff_t>(i)});
    }
    own.weights = learn_all(own.after, told);
    own.numbers = own.keyed.moved(own.after.by);
    std::vector<bool> out(told.size(), false);
    runs.odd = odd_runs(own.before, told, own.weights, out);
    for (std::size_t i = 0; i < told.size(); ++i) {
      if (!out[i] && own.weights[i] < 1.0) {
        runs.less.push_back(weighed_run(i, own.after, told[i], own.weights[i]));
      }
    }
    std::sort(runs.less.begin(), runs.less.end(),
              [](const OddRun& a, const OddRun& b) { return std::tie(a.file, a.line) < std::tie(b.file, b.line); });
    return own;
  }

  /// The i-th run as numbers leave it that runs have moved.
  [[nodiscard]] OddRun weighed_run(std::size_t i,
                                   const UpdatedNumbers& after,
                                   const ToldRun& told,
                                   double weight) const {
    const LearnedRun& run = std::next(runs_.begin(), static_cast<std::ptrdiff_t>(i))->second;
    return {*run.file, run.row->line, std::expm1(told.error + after.departure(told.derivative, told.place)), weight};
  }

  /// The runs that the others contradict, which are then `out`: the one that stays off the most is left out, as long as
  /// one is off by more than three standard deviations of its noise.
  std::vector<OddRun> odd_runs(const UpdatedNumbers& before,
                               const std::vector<ToldRun>& told,
                               const std::vector<double>& weights,
                               std::vector<bool>& out) const {
    constexpr double far = 3.0;
    std::vector<OddRun> odd;
    while (odd.size() + 1 < told.size()) {
      UpdatedNumbers after = before;
      for (std::size_t i = 0; i < told.size(); ++i) {
        if (!out[i]) {
          learn(after, told[i]);
        }
      }
      std::size_t worst = told.size();
      double most = far;
      for (std::size_t i = 0; i < told.size(); ++i) {
        const double off =
            std::abs(told[i].error + after.departure(told[i].derivative, told[i].place)) / std::sqrt(told[i].variance);
        if (!out[i] && off > most) {
          worst = i;
          most = off;
        }
      }
      if (worst == told.size()) {
        break;
      }
      out[worst] = true;
      odd.push_back(weighed_run(worst, after, told[worst], weights[worst]));
    }
    return odd;
  }

  void take(const StepNumbers& numbers) {
    MemoryStacks stacks = memory_stacks(*train_.data);
    stacks.set_time(train_.software.id, numbers.time);
    model_.set_parameters(numbers.parameters, std::move(stacks));
  }

  /// ln of the predicted step of each configuration, up to a constant of its unit.
  std::vector<double> log_steps(const StepNumbers& numbers) {
    take(numbers);
    std::vector<double> steps;
    for (const auto& [key, run] : runs_) {
      const RunRow& row = *run.row;
      steps.push_back(step_error(row.metric, model_.predict(row.run, row.metric, row.unit).predicted, 1.0));
    }
    return steps;
  }

  [[nodiscard]] std::string other_than_asked(const RowJob& job) const {
    const bool sku = job.device->id != train_.device.id;
    const bool software = job.software->id != train_.software.id;
    if (sku || software) {
      return std::string{"another "} + (sku ? "SKU" : "") + (sku && software ? " and another " : "") +
             (software ? "software" : "");
    }
    return job.run_class == wanted_
               ? std::string{}
               : "another class: " + std::string{run_class_texts[static_cast<std::size_t>(job.run_class)]};
  }

  void leave(const std::string& what, const std::string& why) {
    const auto found = std::find_if(unused_.begin(), unused_.end(),
                                    [&](const UnusedRuns& u) { return u.what == what && u.why == why; });
    if (found != unused_.end()) {
      ++found->rows;
    } else {
      unused_.push_back({what, why, 1});
    }
  }

  static std::size_t index_of(const RunFile& file, std::string_view column) {
    return static_cast<std::size_t>(std::find(file.header.begin(), file.header.end(), column) - file.header.begin());
  }

  const TrainScenario& train_;
  const ModelLibrary& models_;
  RunClass wanted_;
  TrainingRowModel model_;
  Diagnostics& diagnostics_;
  std::size_t used_ = 0;
  /// Rows of one configuration.
  struct LearnedRun {
    const std::string* file = nullptr;
    const RunRow* row = nullptr;  ///< the first
    std::int64_t hidden = 0;      ///< of its network
    std::vector<double> errors;
  };
  std::map<std::string, LearnedRun> runs_;
  std::vector<UnusedRuns> unused_;
};

}  // namespace

double narrowed_width(double width, double weight, const ClassErrors& errors) noexcept {
  if (weight <= 0.0) {
    return width;
  }
  const double shape = errors.shape * errors.shape;
  const double level = errors.level * errors.level;
  const double left = std::sqrt((shape + level * (1.0 - weight)) / (shape + level));
  return std::expm1(left * std::log1p(width));
}

double OwnRuns::slow() const noexcept {
  return std::exp(level.mean_error) - 1.0;
}

std::string configuration_key(const RunFile& file, const RunRow& row) {
  // By name: files may order their columns differently.
  std::map<std::string_view, std::string_view> cells;
  for (std::size_t i = 0; i < file.header.size(); ++i) {
    const std::string_view column = file.header[i];
    if (!row.cells[i].empty() &&
        std::find(naming_columns.begin(), naming_columns.end(), column) == naming_columns.end()) {
      cells[column] = row.cells[i];
    }
  }
  std::string key;
  for (const auto& [column, value] : cells) {
    key += std::string{column} + '\x1e' + std::string{value} + '\x1f';
  }
  return key;
}

std::vector<RunFile> completed_runs(std::span<const RunFile> files,
                                    const TrainScenario& train,
                                    const Sources& sources,
                                    std::vector<std::string>& assumed) {
  std::vector<RunFile> completed{files.begin(), files.end()};
  RunCompletion completion{train, sources, assumed};
  for (RunFile& file : completed) {
    completion.complete(file);
  }
  return completed;
}

OwnRuns learn_from_runs(std::span<const RunFile> files,
                        const TrainScenario& train,
                        const Sources& sources,
                        Diagnostics& diagnostics,
                        TermSet without) {
  RunReader reader{train, sources, diagnostics, without};
  std::vector<std::string> names;
  std::vector<std::string> assumed;
  const std::vector<RunFile> completed = completed_runs(files, train, sources, assumed);
  for (const RunFile& file : completed) {
    names.push_back(file.file);
    reader.read(file);
  }
  if (diagnostics.empty()) {
    reader.require_a_run(names);
  }
  OwnRuns own = reader.result();
  own.assumed = std::move(assumed);
  return own;
}

}  // namespace headroom
