// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/results/benchmark.hpp>
#include <headroom/calibrate/results/benchmark_forms.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/input_file.hpp>
#include <headroom/core/json_reader.hpp>
#include <headroom/core/real_text.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <utility>

namespace headroom {
namespace {

constexpr std::array<std::string_view, 11> worse_words{"error",      "errors",     "failed", "failures", "loss", "rmse",
                                                       "perplexity", "mispredict", "misses", "dropped",  "wer"};
constexpr std::array<std::string_view, 28> rate_words{
    "throughput", "rate",  "rps",    "qps",  "fps",  "ips",         "ops",         "bandwidth", "busbw", "algbw",
    "gbps",       "flops", "tflops", "mfu",  "hfu",  "mbu",         "speedup",     "accuracy",  "auc",   "f1",
    "goodput",    "score", "gflops", "psnr", "bleu", "utilization", "utilisation", "precision"};
constexpr std::array<std::string_view, 38> lower_words{
    "time",  "latency", "duration", "seconds", "second", "secs",     "sec",   "s",       "ms",     "us",
    "ns",    "minutes", "hours",    "ttft",    "tpot",   "itl",      "e2el",  "elapsed", "wall",   "memory",
    "bytes", "mib",     "gib",      "mb",      "gb",     "cost",     "usd",   "dollars", "energy", "joules",
    "wh",    "kwh",     "watts",    "power",   "real",   "walltime", "delay", "ttst"};
constexpr std::array<std::string_view, 6> rate_signs{"per_s", "per s", "persecond", "/s", "_s-1", "per-s"};

bool holds_word(std::string_view text, std::span<const std::string_view> words) noexcept {
  const auto lettered = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = begin;
    while (end < text.size() && lettered(text[end])) {
      ++end;
    }
    if (std::find(words.begin(), words.end(), text.substr(begin, end - begin)) != words.end()) {
      return true;
    }
    begin = end + 1;
  }
  return false;
}

std::string small_letters(std::string_view text) {
  std::string small{text};
  std::transform(small.begin(), small.end(), small.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return small;
}

std::string_view first_line(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  const std::string_view rest = begin == std::string_view::npos ? std::string_view{} : text.substr(begin);
  return rest.substr(0, std::min(rest.size(), rest.find_first_of("\r\n")));
}

/// A text that ends within its document was cut off.
ConfigValue whole_document(std::string_view text, const std::string& file) {
  const std::size_t last = text.find_last_not_of(" \t\r\n");
  if (last != std::string_view::npos && text[last] == '}') {
    return parse_json(text, file);
  }
  try {
    return parse_json(text, file);
  } catch (const ConfigError& error) {
    Diagnostics problems;
    for (const Diagnostic& diagnostic : error.diagnostics()) {
      problems.add(file, diagnostic.at,
                   diagnostic.message + "; the file was cut off: let the benchmark run to its end, or copy it again");
    }
    problems.throw_if_any();
    throw;
  }
}

void add_run(const std::string& file,
             const std::vector<std::string>& by,
             std::vector<BenchmarkResult>& runs,
             Diagnostics& problems) {
  try {
    runs.push_back(parse_benchmark(read_file(file).text, file, by));
    runs.back().file = file;
  } catch (const ConfigError& error) {
    problems.add(error);
  }
}

/// Of one run among `several` a summary counts as its mean.
void join_series(const BenchmarkSeries& series, bool several, BenchmarkResult& all) {
  BenchmarkSeries& sum = all.series_of(series.of, series.metric, series.unit);
  sum.better = series.better;
  sum.usual = series.usual;
  if (series.summary && several) {
    sum.values.push_back(series.summary->mean);
  } else {
    sum.values.insert(sum.values.end(), series.values.begin(), series.values.end());
    sum.summary = series.summary;
  }
}

}  // namespace

Better better_of(std::string_view metric, std::string_view unit) noexcept {
  const std::string name = small_letters(std::string{metric} + " " + std::string{unit});
  if (holds_word(name, worse_words)) {
    return Better::lower;
  }
  const bool rate = std::any_of(rate_signs.begin(), rate_signs.end(),
                                [&](std::string_view sign) { return name.find(sign) != std::string::npos; });
  if (rate || holds_word(name, rate_words)) {
    return Better::higher;
  }
  return holds_word(name, lower_words) ? Better::lower : Better::unknown;
}

BenchmarkSeries& BenchmarkResult::series_of(const std::string& of, const std::string& metric, const std::string& unit) {
  const auto found = std::find_if(series.begin(), series.end(),
                                  [&](const BenchmarkSeries& one) { return one.of == of && one.metric == metric; });
  if (found != series.end()) {
    return *found;
  }
  BenchmarkSeries fresh;
  fresh.of = of;
  fresh.metric = metric;
  fresh.unit = unit;
  fresh.better = better_of(metric, unit);
  return series.emplace_back(std::move(fresh));
}

BenchmarkResult read_result(std::string_view text, const std::string& file, const std::vector<std::string>& by) {
  const std::string_view line = first_line(text);
  if (line.empty()) {
    throw ConfigError{{Diagnostic{file, {}, "the file is empty: a result holds numbers"}}};
  }
  if (line.front() == '{') {
    const std::string plain = with_plain_numbers(text);
    text = plain;
    if (const std::vector<JsonLine> lines = json_lines(text); lines.size() > 1) {
      return benchmark_of_json_lines(lines, file);
    }
    const ConfigValue root = whole_document(text, file);
    if (std::optional<BenchmarkResult> result = benchmark_of_json(root, file)) {
      return *result;
    }
    throw ConfigError{{Diagnostic{file,
                                  {},
                                  "this JSON is no result of google-benchmark, pytest-benchmark, hyperfine, 'vllm "
                                  "bench serve' or its kin, GuideLLM, AIPerf or genai-perf, MLPerf Endpoints or "
                                  "trtllm-bench; write its numbers as a CSV with a column a metric and a row a "
                                  "repetition"}}};
  }
  if (text.find(":::MLLOG") != std::string_view::npos) {
    return benchmark_of_mllog(text, file);
  }
  if (text.find("MLPerf Results Summary") != std::string_view::npos) {
    return benchmark_of_loadgen(text, file);
  }
  if (text.find("= PERFORMANCE OVERVIEW") != std::string_view::npos) {
    return benchmark_of_trtllm_report(text, file);
  }
  if (small_letters(line).starts_with("metric,")) {
    return benchmark_of_metric_rows(text, file);
  }
  return line.find(',') == std::string_view::npos ? benchmark_of_lines(text, file) : benchmark_of_csv(text, file, by);
}

BenchmarkResult parse_benchmark(std::string_view text, const std::string& file, const std::vector<std::string>& by) {
  BenchmarkResult result = read_result(text, file, by);
  Diagnostics problems;
  for (const LoadRun& load : result.loads) {
    for (const std::string& rule : load.invalid) {
      problems.add(file, {load.line, 1},
                   rule + ": the benchmark's own rules are not kept, so that it measures nothing");
    }
  }
  problems.throw_if_any();
  return result;
}

bool tells_load(std::string_view head) noexcept {
  const std::string_view line = first_line(head);
  const auto holds = [&](std::string_view word) { return head.find(word) != std::string_view::npos; };
  if (line.empty() || line.front() != '{') {
    return holds(":::MLLOG") || holds("MLPerf Results Summary") || holds("= PERFORMANCE OVERVIEW");
  }
  return (holds("\"completed\"") && holds("\"request_throughput\"")) ||
         (holds("\"benchmarks\"") && (holds("\"guidellm") || holds("\"strategy\""))) ||
         (holds("\"request_latency\"") && holds("\"unit\"")) || holds("\"n_samples_issued\"") ||
         holds("\"tracked_samples_issued\"") || holds("\"system_output_throughput_tok_s\"");
}

BenchmarkResult read_benchmarks(const std::vector<std::string>& files, const std::vector<std::string>& by) {
  Diagnostics problems;
  std::vector<BenchmarkResult> runs;
  for (const std::string& file : files) {
    add_run(file, by, runs, problems);
  }
  problems.throw_if_any();
  BenchmarkResult all;
  for (BenchmarkResult& one : runs) {
    all.file += (all.file.empty() ? "" : ", ") + one.file;
    all.form = all.form.empty() || all.form == one.form ? one.form : "several forms";
    for (const BenchmarkSeries& series : one.series) {
      join_series(series, files.size() > 1, all);
    }
    std::move(one.loads.begin(), one.loads.end(), std::back_inserter(all.loads));
    std::move(one.trainings.begin(), one.trainings.end(), std::back_inserter(all.trainings));
    for (std::string& note : one.notes) {
      if (std::find(all.notes.begin(), all.notes.end(), note) == all.notes.end()) {
        all.notes.push_back(std::move(note));
      }
    }
  }
  return all;
}

std::optional<double> number_of(const ConfigValue* value) noexcept {
  if (value == nullptr) {
    return std::nullopt;
  }
  switch (value->kind) {
    case ConfigValue::Kind::integer: return static_cast<double>(value->integer);
    case ConfigValue::Kind::number: return value->number;
    case ConfigValue::Kind::text: return whole_real(value->text);
    default: return std::nullopt;
  }
}

bool is_amount(double number) noexcept {
  constexpr double least = 1e-18;
  constexpr double most = 1e24;
  return number == 0.0 || (number >= least && number <= most);
}

std::optional<double> amount_of(const ConfigValue* value) noexcept {
  const std::optional<double> number = number_of(value);
  return number && is_amount(*number) ? number : std::nullopt;
}

std::string with_plain_numbers(std::string_view text) {
  std::string plain{text};
  bool within = false;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    if (within) {
      i += plain[i] == '\\' ? 1U : 0U;
      within = i >= plain.size() || plain[i] != '"';
    } else if (plain[i] == '"') {
      within = true;
    } else if (plain.compare(i, 8, "Infinity") == 0) {
      plain.replace(i, 8, "\"inf\"   ");
      if (i > 0 && plain[i - 1] == '-') {
        plain[i - 1] = ' ';
      }
      within = false;
      i += 7;
    } else if (plain.compare(i, 3, "NaN") == 0) {
      plain.replace(i, 3, "\"\" ");
      i += 2;
    }
  }
  return plain;
}

std::optional<double> told_amount(const ConfigValue* value, std::string_view name, LoadRun& load) {
  const std::optional<double> number = amount_of(value);
  if (value == nullptr || number || value->kind == ConfigValue::Kind::null) {
    return number;
  }
  const std::optional<double> other = number_of(value);
  const std::string told = other ? general_text(*other, 9) : value->text.empty() ? "NaN" : quoted(value->text);
  load.faults.push_back({value->at, quoted(name) + " is " + told + "; it must be a number, 0 or more"});
  return std::nullopt;
}

std::string text_of_member(const ConfigValue* object, std::string_view key) {
  const ConfigValue* const value = member_of(object, key);
  return value != nullptr && value->kind == ConfigValue::Kind::text ? value->text : std::string{};
}

std::string_view without_blanks(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  return begin == std::string_view::npos ? std::string_view{}
                                         : text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

const ConfigValue* member_of(const ConfigValue* object, std::string_view key) noexcept {
  return object != nullptr && object->kind == ConfigValue::Kind::table ? object->find(key) : nullptr;
}

}  // namespace headroom
