// SPDX-License-Identifier: Apache-2.0
// MLPerf's logs: loadgen's summary and detail (mlcommons/inference, loadgen/results.cc) and MLLOG of training
// (mlcommons/logging, mlperf_logging/mllog/constants.py).
#include <headroom/calibrate/results/benchmark_forms.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/json_reader.hpp>
#include <headroom/core/real_text.hpp>

#include <algorithm>
#include <cstddef>
#include <sstream>
#include <string>
#include <utility>

namespace headroom {
namespace {

constexpr double from_ns = 1e-9;
constexpr double from_ms = 1e-3;

/// "Mean", "99.00 percentile", "min" of a kind of latency.
void take_latency(std::string_view statistic, double nanoseconds, ToldLatency& latency) {
  const Seconds time{from_ns * nanoseconds};
  if (statistic == "Mean" || statistic == "mean") {
    latency.mean = time;
  } else if (statistic == "Min" || statistic == "min") {
    latency.least = time;
  } else if (statistic == "Max" || statistic == "max") {
    latency.most = time;
  } else if (const RealRead percent = read_real(statistic); percent.good() && percent.value <= 100.0) {
    latency.quantiles.emplace_back(0.01 * percent.value, time);
    std::sort(latency.quantiles.begin(), latency.quantiles.end());
  }
}

/// A line of the summary that tells a latency: "99.00 percentile first token latency (ns)".
void take_summary_latency(std::string_view name, double value, LoadRun& load) {
  const std::string_view statistic = name.substr(0, std::min(name.find(' '), name.size()));
  const auto ends = [&](std::string_view words) { return name.ends_with(words); };
  if (ends("First Token latency (ns)") || ends("first token latency (ns)")) {
    take_latency(statistic, value, load.of_kind(LatencyKind::ttft));
  } else if (ends("Time to Output Token (ns)") || ends("time to output token (ns)")) {
    take_latency(statistic, value, load.of_kind(LatencyKind::tpot));
  } else if (ends(" latency (ns)") && !name.starts_with("target")) {
    take_latency(statistic, value, load.of_kind(LatencyKind::request));
  }
}

/// A key of the detail: "result_first_token_99.00_percentile_latency_ns".
void take_detail_latency(std::string_view key, double value, LoadRun& load) {
  constexpr std::string_view first = "result_first_token_";
  constexpr std::string_view token = "result_time_per_output_token_";
  constexpr std::string_view any = "result_";
  const auto statistic = [](std::string_view rest) { return rest.substr(0, std::min(rest.find('_'), rest.size())); };
  if (key.starts_with(first)) {
    take_latency(statistic(key.substr(first.size())), value, load.of_kind(LatencyKind::ttft));
  } else if (key.starts_with(token)) {
    take_latency(statistic(key.substr(token.size())), value, load.of_kind(LatencyKind::tpot));
  } else if (key.starts_with(any) && key.ends_with("_latency_ns")) {
    take_latency(statistic(key.substr(any.size())), value, load.of_kind(LatencyKind::request));
  }
}

/// Rates of either log by what their names hold.
void take_rate_named(std::string_view name, double value, LoadRun& load) {
  const auto holds = [&](std::string_view word) { return name.find(word) != std::string_view::npos; };
  const bool scheduled = holds("cheduled") || holds("nferred");
  if (holds("okens per second") || holds("tokens_per_sec")) {
    load.output_rate = scheduled ? load.output_rate : value;
  } else if (holds("amples per second") || holds("samples_per_sec") || holds("queries_per_sec")) {
    load.rate = scheduled ? load.rate : value;
  }
}

void finish_load(BenchmarkResult& result, LoadRun load, std::string_view scenario) {
  load.client = "MLPerf loadgen";
  load.scenario = scenario;
  load.at_once = scenario == "Offline";
  if (scenario != "Server") {
    load.asked_rate.reset();
  }
  if (scenario == "SingleStream") {
    load.limit = 1.0;
  }
  const bool told = load.rate || load.output_rate ||
                    std::any_of(load.latencies.begin(), load.latencies.end(),
                                [](const ToldLatency& latency) { return latency.told(); });
  if (told) {
    result.loads.push_back(std::move(load));
  }
}

/// What a log of training tells while it is read. Times are milliseconds.
struct TrainingLogReader {
  TrainingRun run;
  std::optional<double> init, start, block, block_samples, evaluation;
  bool begun = false;

  void finish(BenchmarkResult& result) {
    if (begun || !run.rates.empty()) {
      result.trainings.push_back(std::move(run));
    }
    *this = {};
  }

  void take(const std::string& key, std::optional<double> at, const ConfigValue* value, const ConfigValue* metadata) {
    const auto since = [&](std::optional<double>& from) -> std::optional<Seconds> {
      const std::optional<double> begin = std::exchange(from, std::nullopt);
      return begin && at && *at >= *begin ? std::optional{Seconds{from_ms * (*at - *begin)}} : std::nullopt;
    };
    const std::optional<double> samples = amount_of(member_of(metadata, "samples_count"));
    if (key == "init_start") {
      init = at;
    } else if (key == "init_stop") {
      run.init = since(init);
    } else if (key == "run_start") {
      start = at;
      begun = true;
    } else if (key == "run_stop") {
      run.run = since(start);
      run.status = text_of_member(metadata, "status");
    } else if (key == "global_batch_size") {
      run.batch = amount_of(value);
    } else if (key == "max_sequence_length" || key == "sequence_length") {
      run.sequence = amount_of(value);
    } else if (key == "submission_benchmark" && value != nullptr) {
      run.benchmark = value->text;
    } else if (key == "block_start" || key == "epoch_start") {
      block = at;
      block_samples = samples;
    } else if (key == "block_stop" || key == "epoch_stop") {
      if (const std::optional<Seconds> time = since(block)) {
        run.blocks.push_back(*time);
        const bool both = samples && block_samples && *samples > *block_samples;
        run.block_samples.push_back(both ? std::optional{*samples - *block_samples} : std::nullopt);
      }
    } else if (key == "eval_start") {
      evaluation = at;
    } else if (key == "eval_stop") {
      if (const std::optional<Seconds> time = since(evaluation)) {
        run.evaluations.push_back(*time);
      }
    } else if (key == "tracked_stats") {
      take_stats(value);
    }
  }

  void take_stats(const ConfigValue* value) {
    for (const std::string_view name : {"train_step_time", "step_time", "iteration_time"}) {
      if (const std::optional<double> time = amount_of(member_of(value, name)); time && *time > 0.0) {
        run.steps.push_back(Seconds{*time});
        break;
      }
    }
    if (const std::optional<double> rate = amount_of(member_of(value, "throughput")); rate && *rate > 0.0) {
      run.rates.push_back(*rate);
    }
  }
};

/// A line's document, with the line's own number in what is wrong with it.
ConfigValue line_of_log(std::string_view text, const std::string& file, int number) {
  try {
    return parse_json(text, file);
  } catch (const ConfigError& error) {
    Diagnostics problems;
    for (const Diagnostic& diagnostic : error.diagnostics()) {
      problems.add(file, {number, diagnostic.at.column},
                   diagnostic.message + "; a log that was cut off loses its last line: take it out");
    }
    problems.throw_if_any();
    throw;
  }
}

}  // namespace

BenchmarkResult benchmark_of_loadgen(std::string_view text, const std::string& file) {
  BenchmarkResult result;
  result.form = "MLPerf loadgen";
  Diagnostics problems;
  LoadRun load;
  std::string scenario;
  std::istringstream lines{std::string{text}};
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) {
      continue;
    }
    const std::string name{without_blanks(std::string_view{line}.substr(0, colon))};
    const std::string_view value = without_blanks(std::string_view{line}.substr(colon + 1));
    if (name == "Result is" && value != "VALID") {
      load.invalid.push_back("the result is " + quoted(value));
      load.line = number;
    } else if (name == "Scenario") {
      scenario = value;
    } else if (name.ends_with(" satisfied") && value != "Yes" && value != "YES") {
      load.invalid.push_back(name + " is " + quoted(value));
    }
    const std::optional<double> read = whole_real(value);
    if (read && is_amount(*read) && *read > 0.0) {
      take_summary_latency(name, *read, load);
      take_rate_named(name, *read, load);
      load.asked_rate = name == "target_qps" ? read : load.asked_rate;
    }
    const bool measured =
        name.find("per second") != std::string::npos || name.find("latency (ns)") != std::string::npos;
    if (read && *read > 0.0 && measured && name.find("target") == std::string::npos) {
      BenchmarkSeries& series = result.series_of("", name);
      series.better = name.find("per second") != std::string::npos ? Better::higher : Better::lower;
      series.usual = name.find("per second") != std::string::npos || name.starts_with("Mean") ||
                     name.starts_with("99.00") || name.starts_with("90.00");
      series.values.push_back(*read);
    }
  }
  if (result.series.empty() && problems.empty()) {
    problems.add(file, {}, "the summary holds no samples a second and no latency");
  }
  problems.throw_if_any();
  finish_load(result, std::move(load), scenario);
  result.notes.emplace_back("A summary of loadgen is one run: name several of each side (--baseline, --candidate).");
  return result;
}

BenchmarkResult benchmark_of_mllog(std::string_view text, const std::string& file) {
  BenchmarkResult result;
  result.form = "MLLOG";
  constexpr std::string_view sign = ":::MLLOG";
  std::optional<double> run_start;
  std::optional<double> block_start;
  TrainingLogReader training;
  LoadRun load;
  std::string scenario;
  double failed = 0.0;
  int number = 0;
  std::istringstream lines{std::string{text}};
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const std::size_t at = line.find(sign);
    if (at == std::string::npos) {
      continue;
    }
    const ConfigValue root = line_of_log(std::string_view{line}.substr(at + sign.size()), file, number);
    const ConfigValue* const key = root.find("key");
    const std::optional<double> milliseconds = amount_of(root.find("time_ms"));
    const std::string name = key == nullptr ? "" : key->text;
    const ConfigValue* const value = root.find("value");
    const ConfigValue* const metadata = root.find("metadata");
    if (name == "init_start" && training.begun) {
      training.finish(result);
    }
    training.take(name, milliseconds, value, metadata);
    const ConfigValue* const error = member_of(metadata, "is_error");
    if (error != nullptr && error->boolean) {
      failed += 1.0;
      load.first_error = load.first_error.empty() ? name + ": " + text_of_member(&root, "value") : load.first_error;
    }
    if (name == "effective_scenario") {
      scenario = text_of_member(&root, "value");
    } else if (name == "effective_target_qps") {
      load.asked_rate = amount_of(value);
    } else if (name == "result_validity" && text_of_member(&root, "value") != "VALID") {
      load.invalid.push_back("the result is " + quoted(text_of_member(&root, "value")));
      load.line = number;
    } else if (name == "result_invalid_reason") {
      load.invalid.push_back(text_of_member(&root, "value"));
    } else if (const std::optional<double> told = amount_of(value); told && *told > 0.0) {
      take_detail_latency(name, *told, load);
      if (name.starts_with("result_")) {
        take_rate_named(name, *told, load);
      }
    }
    if (name == "run_start") {
      run_start = milliseconds;
    } else if (name == "block_start" || name == "epoch_start") {
      block_start = milliseconds;
    } else if (name == "run_stop" && run_start && milliseconds) {
      BenchmarkSeries& series = result.series_of("", "time_to_train", "s");
      series.values.push_back(1e-3 * (*milliseconds - *run_start));
    } else if ((name == "block_stop" || name == "epoch_stop") && block_start && milliseconds) {
      BenchmarkSeries& series = result.series_of("", "time of " + name.substr(0, name.size() - 5), "s");
      series.values.push_back(1e-3 * (*milliseconds - *block_start));
      block_start.reset();
    } else if (name == "tracked_stats") {
      if (const std::optional<double> rate = number_of(member_of(value, "throughput"))) {
        result.series_of("", "throughput").values.push_back(*rate);
      }
    } else if (name.starts_with("result_") && number_of(value).value_or(0.0) > 0.0) {
      if (better_of(name) != Better::unknown) {
        BenchmarkSeries& series = result.series_of("", name);
        series.usual = name.find("per_second") != std::string::npos || name.find("mean_latency") != std::string::npos;
        series.values.push_back(*number_of(value));
      }
    }
  }
  training.finish(result);
  load.failed = failed > 0.0 ? std::optional{failed} : std::nullopt;
  finish_load(result, std::move(load), scenario);
  if (result.series.empty() && result.trainings.empty()) {
    throw ConfigError{{Diagnostic{file,
                                  {},
                                  "no line of MLLOG tells a time or a rate: neither run_stop after run_start, nor "
                                  "blocks, nor tracked_stats, nor results of loadgen"}}};
  }
  return result;
}

}  // namespace headroom
