// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/number_words.hpp>
#include <headroom/core/real.hpp>
#include <headroom/core/real_text.hpp>
#include <headroom/core/statistics.hpp>
#include <headroom/scenarios/measured/serving_row.hpp>
#include <headroom/scenarios/measured/serving_simulated.hpp>
#include <headroom/scenarios/plan/own_servers.hpp>
#include <headroom/scenarios/plan/plan.hpp>
#include <headroom/scenarios/traffic/beside.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>
#include <variant>

namespace headroom {
namespace {

constexpr double normal_75 = 0.6745;  // quantile of the normal distribution

double squared(double number) noexcept {
  return number * number;
}

/// The quantity without a queue: the first half of the list.
ServingQuantity steady(ServingQuantity quantity) noexcept {
  constexpr std::size_t kinds = serving_quantity_names.size() / 2;
  return static_cast<ServingQuantity>(static_cast<std::size_t>(quantity) % kinds);
}

/// Which levels a quantity shows: pace, first token, rate.
std::array<double, 3> shown_levels(ServingQuantity quantity) noexcept {
  switch (steady(quantity)) {
    case ServingQuantity::ttft: return {1.0, 1.0, 0.0};
    case ServingQuantity::rate: return {1.0, 0.0, 1.0};
    default: return {1.0, 0.0, 0.0};
  }
}

double product(const std::array<double, 3>& a, const std::array<double, 3>& b) noexcept {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

std::array<double, 3> times_vector(const std::array<std::array<double, 3>, 3>& matrix,
                                   const std::array<double, 3>& vector) noexcept {
  return {product(matrix[0], vector), product(matrix[1], vector), product(matrix[2], vector)};
}

/// A metric of a row as what it measures: its quantity and how well the statistic tells the run's middle, 0 best.
struct TellingMetric {
  ServingQuantity quantity = ServingQuantity::tpot;
  int rank = 0;
};
std::optional<TellingMetric> telling(std::string_view metric) {
  constexpr std::array<std::string_view, 5> statistics{"_mean", "_p50", "_p90", "_p95", "_p99"};
  constexpr std::array<std::string_view, 3> rates{"output_tokens_per_s", "requests_per_s", "total_tokens_per_s"};
  const auto* const rate = std::find(rates.begin(), rates.end(), metric);
  if (rate != rates.end()) {
    return TellingMetric{ServingQuantity::rate, static_cast<int>(rate - rates.begin())};
  }
  const bool ttft = metric.starts_with("ttft_ms");
  if (!ttft && !metric.starts_with("tpot_ms")) {
    return std::nullopt;
  }
  const auto* const statistic = std::find(statistics.begin(), statistics.end(), metric.substr(7));
  if (statistic == statistics.end()) {
    return std::nullopt;
  }
  return TellingMetric{ttft ? ServingQuantity::ttft : ServingQuantity::tpot,
                       static_cast<int>(statistic - statistics.begin())};
}

constexpr int first_tail = 2;  // rank of p90

template <class T>
struct Column {
  std::string_view name;
  T ServingConfiguration::*cell;
};
constexpr std::array text_columns{
    Column<std::string>{"model", &ServingConfiguration::model},
    Column<std::string>{"gpu", &ServingConfiguration::gpu},
    Column<std::string>{"weight_dtype", &ServingConfiguration::weight_dtype},
    Column<std::string>{"kv_dtype", &ServingConfiguration::kv_dtype},
    Column<std::string>{"engine", &ServingConfiguration::engine},
    Column<std::string>{"engine_version", &ServingConfiguration::engine_version},
};
constexpr std::array count_columns{
    Column<std::optional<std::int64_t>>{"tp", &ServingConfiguration::tp},
    Column<std::optional<std::int64_t>>{"pp", &ServingConfiguration::pp},
    Column<std::optional<std::int64_t>>{"ep", &ServingConfiguration::ep},
    Column<std::optional<std::int64_t>>{"gpus", &ServingConfiguration::gpus},
};
constexpr std::array length_columns{
    Column<std::optional<double>>{"isl", &ServingConfiguration::isl},
    Column<std::optional<double>>{"osl", &ServingConfiguration::osl},
};

/// Fills a row's blank cells from "COLUMN=VALUE"; the names of those that were filled go to `filled`.
void complete(ServingConfiguration& run, std::span<const std::string> cells, std::vector<std::string>& filled) {
  for (const std::string& one : cells) {
    const std::size_t equals = one.find('=');
    const std::string_view name = std::string_view{one}.substr(0, equals);
    const std::string value = one.substr(equals + 1);
    const auto fill = [&](const auto& columns, const auto& blank, const auto& read) {
      for (const auto& column : columns) {
        if (column.name == name && blank(run.*column.cell)) {
          run.*column.cell = read(value);
          filled.emplace_back(name);
        }
      }
    };
    const auto unset = [](const auto& cell) { return !cell; };
    fill(
        text_columns, [](const std::string& cell) { return cell.empty(); }, [](const std::string& v) { return v; });
    fill(count_columns, unset, [](const std::string& v) { return integer_of(v); });
    fill(length_columns, unset, [](const std::string& v) { return whole_real(v); });
  }
}

class ServerReader {
 public:
  ServerReader(const ServeScenario& serve, const Sources& sources, Diagnostics& diagnostics)
      : serve_{serve}, sources_{sources}, diagnostics_{diagnostics}, model_{sources}, cells_{cells_of_server(serve)} {
    own_.told.gpu = serve.device.id;
    own_.told.software = serve.engine.id;
    own_.before = server_levels(serve);
  }

  void read(const RunFile& file) {
    if (file.form != RowForm::serving) {
      diagnostics_.add(file.file, {1, 1},
                       "is a file of " + std::string{file.form == RowForm::training ? "training" : "other"} +
                           " rows; the plan is of a server, whose --runs takes results of its clients (bench serve, "
                           "GuideLLM, AIPerf, ...) and serving rows (columns engine and isl)");
      return;
    }
    diagnostics_.add(file.broken_cells);
    for (const RunRow& row : file.rows) {
      if (row.serving.broken.empty()) {
        place(file, row);
      }
    }
  }

  OwnServers result(const std::vector<std::string>& names) {
    if (own_.told.rows == 0 && !names.empty() && diagnostics_.empty()) {
      std::string text = "no run matches: needed are times or rates of " + serve_.architecture.id + " on " +
                         serve_.device.id + " under " + serve_.engine.id;
      text += own_.told.unused.empty() ? "; there are no rows" : "; there are: ";
      for (const UnusedRuns& u : own_.told.unused) {
        text += (&u == &own_.told.unused.front() ? "" : "; ") + counted(u.rows, "row") + " of " + u.what + ": " + u.why;
      }
      diagnostics_.add(names.front(), {}, text);
      return std::move(own_);
    }
    double sum = 0.0;
    for (const auto& [key, quantities] : runs_) {
      for (const auto& [quantity, told] : quantities) {
        own_.errors.push_back({told.quantity, mean(told.errors)});
        sum += own_.errors.back().error;
      }
    }
    own_.after = learned_levels(own_.before, own_.errors);
    own_.told.level.runs = real(runs_.size());
    own_.told.level.mean_error = own_.errors.empty() ? 0.0 : -sum / real(own_.errors.size());  // ours over theirs
    own_.told.level.factor = std::exp(own_.after.mean[0]);
    if (!assumed_.empty()) {
      std::string text = "your runs: ";
      for (const std::string& cell : cells_) {
        const std::string name = cell.substr(0, cell.find('='));
        if (std::find(assumed_.begin(), assumed_.end(), name) != assumed_.end()) {
          text += (text.ends_with(": ") ? "" : ", ") + name + " = " + cell.substr(name.size() + 1);
        }
      }
      own_.told.assumed.push_back(text + " (this plan's; the files do not say)");
    }
    return std::move(own_);
  }

 private:
  struct Told {
    ServingQuantity quantity = ServingQuantity::tpot;  ///< with its queue
    int rank = 0;
    std::vector<double> errors;
  };

  void leave(const std::string& what, const std::string& why) {
    std::vector<UnusedRuns>& unused = own_.told.unused;
    const auto found =
        std::find_if(unused.begin(), unused.end(), [&](const UnusedRuns& u) { return u.what == what && u.why == why; });
    if (found != unused.end()) {
      ++found->rows;
    } else {
      unused.push_back({what, why, 1});
    }
  }

  /// Why a run is not one of the plan's; empty: it is.
  [[nodiscard]] std::string other_than_asked(const ServingConfiguration& run) const {
    const bool preset = sources_.models.knows(run.model) || sources_.models.meant(run.model);
    if (!preset) {
      return "no preset of that name" + sources_.models.suggested(run.model);
    }
    if (sources_.models.find(run.model).id != serve_.architecture.id) {
      return "another model than " + serve_.architecture.id;
    }
    if (const std::optional<std::string> why = sources_.catalog.why_no_device(run.gpu)) {
      return *why;
    }
    if (sources_.catalog.device(run.gpu).id != serve_.device.id) {
      return "another SKU than " + serve_.device.id;
    }
    return engine_of(run.engine) == serve_.engine.engine ? std::string{} : "another engine than " + serve_.engine.id;
  }

  void place(const RunFile& file, const RunRow& written) {
    RunRow row = written;
    std::vector<std::string> filled;
    complete(row.serving, cells_, filled);
    const std::string what = row.serving.model + " on " + row.serving.gpu + " under " + row.serving.engine;
    const std::string other = other_than_asked(row.serving);
    if (!other.empty()) {
      leave(what, other);
      return;
    }
    row.serving.model = serve_.architecture.id;
    const std::optional<TellingMetric> metric = telling(row.metric);
    if (row.doubted || !metric) {
      leave(what, row.doubted ? "notes say " + row.doubt : row.metric + " tells no time of a token and no rate");
      return;
    }
    const bool queue = comes_as_queue(row.serving);
    const bool paced = row.serving.request_rate && std::isfinite(*row.serving.request_rate);
    if (metric->quantity == ServingQuantity::rate && paced) {
      leave(what, "requests came at the client's own rate");
      return;
    }
    const RowPrediction ours = model_.predict(row);
    if (ours.status != RowStatus::ok) {
      leave(what, ours.why);
      return;
    }
    const bool rate = metric->quantity == ServingQuantity::rate;
    const double beaten = rate ? row.measured / ours.fastest : ours.fastest / row.measured;
    if (ours.fastest > 0.0 && beaten > 1.0) {
      diagnostics_.add(file.file, {row.line, 1},
                       row.metric + " is " + general_text(row.measured, 6) + ": faster than the hardware by " +
                           format_number(beaten, 3) + "x; check units, SKU and ranks; no row of the file is used");
      return;
    }
    ++own_.told.rows;
    for (std::string& name : filled) {
      if (std::find(assumed_.begin(), assumed_.end(), name) == assumed_.end()) {
        assumed_.push_back(std::move(name));
      }
    }
    const double error = std::log(row.measured / ours.predicted) * (rate ? -1.0 : 1.0);
    Told& told = runs_[configuration_key(file, written)][static_cast<std::size_t>(metric->quantity)];
    if (told.errors.empty() || metric->rank < told.rank) {
      const bool tail = !rate && metric->rank >= first_tail;
      told = {queue || tail ? in_queue(metric->quantity) : metric->quantity, metric->rank, {}};
    }
    if (metric->rank == told.rank) {
      told.errors.push_back(error);
    }
  }

  const ServeScenario& serve_;
  const Sources& sources_;
  Diagnostics& diagnostics_;
  ServingRowModel model_;
  std::vector<std::string> cells_;
  std::vector<std::string> assumed_;  ///< columns that some used row left blank
  std::map<std::string, std::map<std::size_t, Told>> runs_;
  OwnServers own_;
};

/// An interval of a time moved and narrowed; of a rate with the inverse factor.
template <class Q>
void move_interval(Interval<Q>& interval, double factor, double narrower) {
  const auto end = [&](Q at) { return std::pow(at / interval.mid, narrower) * factor * interval.mid; };
  if (interval.mid > Q{}) {
    interval = {end(interval.low), factor * interval.mid, end(interval.high)};
  }
}

std::string changed_by(double factor, std::string_view more, std::string_view less) {
  return percent(std::abs(factor - 1.0)) + " " + std::string{factor < 1.0 ? less : more};
}

}  // namespace

ServerLevels server_levels(const ServeScenario& serve) {
  const ServingConfidence& confidence = serving_confidence(*serve.data);
  const bool experts = serve.architecture.moe.has_value();
  const auto of = [&](ServingQuantity quantity) {
    const ServingErrors& own = confidence.of(serve.engine.id, quantity, experts);
    return own.level > 0.0 ? own : confidence.of("any", quantity, experts);
  };
  ServerLevels levels;
  levels.pace = of(ServingQuantity::tpot).level;
  const auto beyond = [&](ServingQuantity quantity) {
    return std::sqrt(std::max(0.0, squared(of(quantity).level) - squared(levels.pace)));
  };
  levels.first_token = beyond(ServingQuantity::ttft);
  levels.rate = beyond(ServingQuantity::rate);
  for (std::size_t q = 0; q < levels.noise.size(); ++q) {
    levels.noise[q] = of(static_cast<ServingQuantity>(q)).median / normal_75;
  }
  return levels;
}

double LearnedLevels::shift(ServingQuantity quantity) const noexcept {
  return product(shown_levels(quantity), mean);
}

double LearnedLevels::variance(ServingQuantity quantity) const noexcept {
  const std::array<double, 3> shown = shown_levels(quantity);
  return product(shown, times_vector(covariance, shown));
}

LearnedLevels learned_levels(const ServerLevels& before, std::span<const ServerError> errors) {
  LearnedLevels levels;
  levels.covariance[0][0] = squared(before.pace);
  levels.covariance[1][1] = squared(before.first_token);
  levels.covariance[2][2] = squared(before.rate);
  for (const ServerError& one : errors) {
    const std::array<double, 3> shown = shown_levels(one.quantity);
    const std::array<double, 3> with = times_vector(levels.covariance, shown);
    const double all = product(shown, with) + squared(before.noise[static_cast<std::size_t>(one.quantity)]);
    if (all <= 0.0) {
      continue;
    }
    const double off = one.error - product(shown, levels.mean);
    for (std::size_t i = 0; i < 3; ++i) {
      levels.mean[i] += with[i] / all * off;
      for (std::size_t j = 0; j < 3; ++j) {
        levels.covariance[i][j] -= with[i] * with[j] / all;
      }
    }
  }
  return levels;
}

std::vector<std::string> cells_of_server(const ServeScenario& serve) {
  const ServingLayout& layout = serve.work.layout;
  std::vector<std::string> cells{
      "model=" + serve.architecture.id,
      "gpu=" + serve.device.id,
      "gpus=" + std::to_string(serve.work.gpus),
      "tp=" + std::to_string(layout.tp),
      "pp=" + std::to_string(layout.pp),
      "weight_dtype=" + std::string{name_of(serve.work.weights)},
      "kv_dtype=" + std::string{name_of(serve.work.kv)},
      "engine=" + (serve.engine.names.empty() ? serve.engine.name : serve.engine.names.front()),
      "isl=" + std::to_string(serve.work.isl),
      "osl=" + std::to_string(serve.work.osl)};
  if (serve.architecture.moe) {
    cells.push_back("ep=" + std::to_string(layout.ep));
  }
  if (!serve.engine_version.empty()) {
    cells.push_back("engine_version=" + serve.engine_version);
  }
  return cells;
}

OwnServers learn_from_servers(std::span<const RunFile> files,
                              const ServeScenario& serve,
                              const Sources& sources,
                              Diagnostics& diagnostics) {
  ServerReader reader{serve, sources, diagnostics};
  std::vector<std::string> names;
  for (const RunFile& file : files) {
    names.push_back(file.file);
    reader.read(file);
  }
  return reader.result(names);
}

void apply_own_servers(Plan& plan, OwnServers own) {
  auto* const answer = std::get_if<ServePlan>(&plan.answer);
  plan.notes.insert(plan.notes.end(), own.told.assumed.begin(), own.told.assumed.end());
  if (answer == nullptr || !answer->times) {
    plan.own_runs = std::move(own.told);
    return;
  }
  OwnEffect effect;
  const auto narrower = [&](ServingQuantity quantity) {
    const double noise = squared(own.before.noise[static_cast<std::size_t>(quantity)]);
    const double before = LearnedLevels{learned_levels(own.before, {})}.variance(quantity) + noise;
    return before > 0.0 ? std::sqrt((own.after.variance(quantity) + noise) / before) : 1.0;
  };
  const auto factor = [&](ServingQuantity quantity) { return std::exp(own.after.shift(quantity)); };
  const double slower = factor(ServingQuantity::rate);
  const double rate_width = narrower(ServingQuantity::rate);
  move_interval(answer->ttft, factor(ServingQuantity::ttft), narrower(ServingQuantity::ttft));
  move_interval(answer->tpot, factor(ServingQuantity::tpot), narrower(ServingQuantity::tpot));
  for (Interval<double>* const rate :
       {&answer->output_tokens_per_s, &answer->input_tokens_per_s, &answer->requests_per_s}) {
    move_interval(*rate, 1.0 / slower, rate_width);
  }
  for (Interval<Dollars>* const cost :
       {&answer->cost_per_million_output_tokens, &answer->cost_per_million_input_tokens_apart,
        &answer->cost_per_million_output_tokens_apart}) {
    move_interval(*cost, slower, rate_width);
  }
  const double before = squared(own.before.pace);
  effect.step = factor(ServingQuantity::tpot);
  effect.weight = before > 0.0 ? 1.0 - own.after.variance(ServingQuantity::tpot) / before : 0.0;
  constexpr std::array<std::string_view, 3> names{"pace of iterations", "first tokens beside it", "rates beside it"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    const double now = std::exp(own.after.mean[i]);
    effect.moved.push_back({std::string{names[i]}, "your servers", 1.0, now, false, i == 0 ? now - 1.0 : 0.0});
  }
  const auto runs = static_cast<std::int64_t>(own.told.level.runs);
  plan.interval_source +=
      "; " + counted(runs, "run") + " of yours on " + own.told.gpu + " under " + own.told.software +
      (runs == 1 ? " makes" : " make") + " TTFT " + changed_by(factor(ServingQuantity::ttft), "longer", "shorter") +
      ", TPOT " + changed_by(factor(ServingQuantity::tpot), "longer", "shorter") + " and rates " +
      changed_by(1.0 / slower, "higher", "lower") + ", and their intervals " +
      format_number(narrower(ServingQuantity::ttft), 2) + ", " + format_number(narrower(ServingQuantity::tpot), 2) +
      " and " + format_number(rate_width, 2) + " times as wide; memory and energy are without them";
  answer->times_source = plan.interval_source;
  for (const UnusedRuns& u : own.told.unused) {
    plan.notes.push_back("your runs: " + counted(u.rows, "row") + " of " + u.what + (u.rows == 1 ? " is" : " are") +
                         " not used: " + u.why);
  }
  plan.own_effect = std::move(effect);
  plan.own_runs = std::move(own.told);
}

}  // namespace headroom
