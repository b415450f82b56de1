// SPDX-License-Identifier: Apache-2.0
// google-benchmark, pytest-benchmark and hyperfine.
#include <headroom/calibrate/results/benchmark_forms.hpp>
#include <headroom/core/diagnostic.hpp>

#include <array>
#include <string>
#include <utility>

namespace headroom {
namespace {

/// Seconds of a unit of google-benchmark; 0: another word.
double seconds_of(std::string_view unit) noexcept {
  constexpr std::array<std::pair<std::string_view, double>, 4> units{
      {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1.0}}};
  for (const auto& [name, seconds] : units) {
    if (name == unit) {
      return seconds;
    }
  }
  return 0.0;
}

std::string text_at(const ConfigValue& object, std::string_view key) {
  const ConfigValue* const value = object.find(key);
  return value != nullptr && value->kind == ConfigValue::Kind::text ? value->text : "";
}

void fail(Diagnostics& problems, const std::string& file, const ConfigValue& where, std::string message) {
  problems.add(file, where.at, std::move(message));
}

/// A mean and its deviation come as aggregates of the same run_name.
void add_aggregate(BenchmarkSeries& series, const std::string& aggregate, double value, double repetitions) {
  if (!series.summary) {
    series.summary = BenchmarkSummary{};
  }
  series.summary->n = repetitions;
  (aggregate == "mean" ? series.summary->mean : series.summary->deviation) = value;
}

BenchmarkResult google_benchmark(const ConfigValue& benchmarks, const std::string& file) {
  BenchmarkResult result;
  result.form = "google-benchmark";
  Diagnostics problems;
  bool repeated = false;
  for (const ConfigValue& run : benchmarks.items) {
    repeated = repeated || text_at(run, "run_type") != "aggregate";
  }
  for (const ConfigValue& run : benchmarks.items) {
    const std::string name = text_at(run, run.find("run_name") != nullptr ? "run_name" : "name");
    const ConfigValue* const wrong = run.find("error_occurred");
    if (wrong != nullptr && wrong->boolean) {
      fail(problems, file, run, quoted(name) + " ended with an error: " + quoted(text_at(run, "error_message")));
      continue;
    }
    const std::string aggregate = text_at(run, "aggregate_name");
    const bool summary = text_at(run, "run_type") == "aggregate";
    if (summary && (repeated || (aggregate != "mean" && aggregate != "stddev"))) {
      continue;
    }
    const std::string unit = text_at(run, "time_unit");
    const double scale = seconds_of(unit.empty() ? "ns" : unit);
    if (scale == 0.0) {
      fail(problems, file, run, "'time_unit' is " + quoted(unit) + "; it must be one of ns, us, ms, s");
      continue;
    }
    constexpr std::array<std::pair<std::string_view, bool>, 4> kept{
        {{"real_time", true}, {"cpu_time", false}, {"items_per_second", false}, {"bytes_per_second", false}}};
    for (const auto& [key, usual] : kept) {
      const std::optional<double> value = number_of(run.find(key));
      if (!value) {
        if (usual) {
          fail(problems, file, run, quoted(name) + " has no number 'real_time'");
        }
        continue;
      }
      const bool time = key == "real_time" || key == "cpu_time";
      BenchmarkSeries& series = result.series_of(name, std::string{key}, time ? "s" : "");
      series.usual = usual;
      const double in_seconds = *value * (time ? scale : 1.0);
      if (summary) {
        add_aggregate(series, aggregate, in_seconds, number_of(run.find("repetitions")).value_or(0.0));
      } else {
        series.values.push_back(in_seconds);
      }
    }
  }
  problems.throw_if_any();
  return result;
}

BenchmarkResult pytest_benchmark(const ConfigValue& benchmarks, const std::string& file) {
  BenchmarkResult result;
  result.form = "pytest-benchmark";
  Diagnostics problems;
  for (const ConfigValue& run : benchmarks.items) {
    const std::string full = text_at(run, "fullname");
    const std::string name = full.empty() ? text_at(run, "name") : full;
    const ConfigValue* const stats = run.find("stats");
    const std::optional<double> mean = number_of(member_of(stats, "mean"));
    if (!mean) {
      fail(problems, file, run, quoted(name) + " has no number 'stats.mean'");
      continue;
    }
    BenchmarkSeries& series = result.series_of(name, "time", "s");
    if (const ConfigValue* const data = member_of(stats, "data"); data != nullptr && !data->items.empty()) {
      for (const ConfigValue& value : data->items) {
        series.values.push_back(number_of(&value).value_or(0.0));
      }
    } else {
      series.summary = BenchmarkSummary{number_of(member_of(stats, "rounds")).value_or(0.0), *mean,
                                        number_of(member_of(stats, "stddev")).value_or(0.0)};
      result.notes = {
          "The file keeps mean and deviation of its rounds alone, so that outliers cannot be told; "
          "--benchmark-save-data keeps each round."};
    }
  }
  problems.throw_if_any();
  return result;
}

BenchmarkResult hyperfine(const ConfigValue& results, const std::string& file) {
  BenchmarkResult result;
  result.form = "hyperfine";
  Diagnostics problems;
  for (const ConfigValue& run : results.items) {
    const std::string command = text_at(run, "command");
    const ConfigValue* const codes = run.find("exit_codes");
    std::size_t failed = 0;
    for (std::size_t i = 0; codes != nullptr && i < codes->items.size(); ++i) {
      failed += codes->items[i].integer != 0 ? 1U : 0U;
    }
    if (failed > 0) {
      result.notes.push_back(std::to_string(failed) + " runs of " + quoted(command) + " ended with an error.");
    }
    BenchmarkSeries& series = result.series_of(command, "time", "s");
    if (const ConfigValue* const times = run.find("times"); times != nullptr && !times->items.empty()) {
      for (const ConfigValue& time : times->items) {
        series.values.push_back(number_of(&time).value_or(0.0));
      }
    } else if (const std::optional<double> mean = number_of(run.find("mean"))) {
      series.values.push_back(*mean);
      result.notes.emplace_back("Without 'times' a command has its mean alone, which counts as one run.");
    } else {
      fail(problems, file, run, quoted(command) + " has neither 'times' nor 'mean'");
    }
  }
  problems.throw_if_any();
  return result;
}

}  // namespace

std::optional<BenchmarkResult> benchmark_of_json(const ConfigValue& root, const std::string& file) {
  const ConfigValue* const benchmarks = root.find("benchmarks");
  const ConfigValue* const results = root.find("results");
  const auto first_has = [](const ConfigValue* list, std::string_view key) {
    return list != nullptr && !list->items.empty() && member_of(&list->items.front(), key) != nullptr;
  };
  if (first_has(benchmarks, "real_time") || first_has(benchmarks, "error_occurred")) {
    return google_benchmark(*benchmarks, file);
  }
  if (first_has(benchmarks, "stats")) {
    return pytest_benchmark(*benchmarks, file);
  }
  if (first_has(results, "command")) {
    return hyperfine(*results, file);
  }
  return benchmark_of_serving(root, file);
}

}  // namespace headroom
