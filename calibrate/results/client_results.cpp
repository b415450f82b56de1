// SPDX-License-Identifier: Apache-2.0
// What clients that load a server say of the load. Keys: vLLM's vllm/benchmarks/serve.py, SGLang's bench_serving.py,
// TensorRT-LLM's serve/scripts/benchmark_serving.py; GuideLLM's benchmark reports (version 0.3 to 0.7); AIPerf's
// profile_export_aiperf.json.
#include <headroom/calibrate/results/benchmark_forms.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/json_reader.hpp>
#include <headroom/core/real.hpp>
#include <headroom/core/real_text.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

namespace headroom {
namespace {

std::optional<Seconds> scaled_time(const ConfigValue* value, double to_seconds, std::string_view name, LoadRun& load) {
  const std::optional<double> number = told_amount(value, name, load);
  return number ? std::optional{Seconds{*number * to_seconds}} : std::nullopt;
}

/// The last part of a checkpoint's repository or folder: "Llama-3.1-8B" of "meta-llama/Llama-3.1-8B".
std::string last_part(std::string_view repository) {
  while (repository.ends_with('/')) {
    repository.remove_suffix(1);
  }
  return std::string{repository.substr(repository.find_last_of('/') + 1)};
}

void order_quantiles(ToldLatency& told) {
  std::sort(told.quantiles.begin(), told.quantiles.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
}

/// "p99", "p99.9", "p999" of GuideLLM, "99": a share of 1.
std::optional<double> share_of_name(std::string_view name) {
  name.remove_prefix(name.starts_with("p") ? 1 : 0);
  const std::optional<double> number = whole_real(name);
  if (!number || *number < 0.0) {
    return std::nullopt;
  }
  const double percent = name == "999" || name == "001" ? 0.1 * *number : *number;  // p999 is 99.9 %
  return percent <= 100.0 ? std::optional{0.01 * percent} : std::nullopt;
}

/// Numbers of an array, in order; others as 0.
std::vector<double> numbers_of(const ConfigValue* list) {
  std::vector<double> numbers;
  if (list != nullptr && list->kind == ConfigValue::Kind::array) {
    numbers.reserve(list->items.size());
    for (const ConfigValue& item : list->items) {
      numbers.push_back(amount_of(&item).value_or(0.0));
    }
  }
  return numbers;
}

/// "mean_ttft_ms", "median_ttft_ms", "p99_ttft_ms", "min_", "max_" of one kind.
void read_named_latency(const ConfigValue& root, std::string_view kind, LatencyKind as, LoadRun& load) {
  ToldLatency& told = load.of_kind(as);
  constexpr double milli = 1e-3;
  const std::string end = "_" + std::string{kind} + "_ms";
  for (const ConfigEntry& entry : root.entries) {
    if (!entry.key.ends_with(end)) {
      continue;
    }
    const std::string_view word = std::string_view{entry.key}.substr(0, entry.key.size() - end.size());
    if (word == "std") {
      continue;
    }
    const std::optional<Seconds> time = scaled_time(&entry.value, milli, entry.key, load);
    if (!time) {
      continue;
    }
    if (word == "mean" || word == "avg") {
      told.mean = time;
    } else if (word == "min") {
      told.least = time;
    } else if (word == "max") {
      told.most = time;
    } else if (word == "median") {
      told.quantiles.emplace_back(0.5, *time);
    } else if (const std::optional<double> share = word.starts_with("p") ? share_of_name(word) : std::nullopt) {
      told.quantiles.emplace_back(*share, *time);
    }
  }
  order_quantiles(told);
}

/// {"mean": .., "median": .., "percentiles": {"p99": ..}} of GuideLLM.
void read_distribution(
    const ConfigValue* told, double to_seconds, std::string_view name, LatencyKind kind, LoadRun& load) {
  ToldLatency& latency = load.of_kind(kind);
  const auto time_of = [&](std::string_view statistic) {
    return scaled_time(member_of(told, statistic), to_seconds, std::string{name} + "." + std::string{statistic}, load);
  };
  latency.mean = time_of("mean");
  latency.least = time_of("min");
  latency.most = time_of("max");
  const ConfigValue* const percentiles = member_of(told, "percentiles");
  for (std::size_t i = 0; percentiles != nullptr && i < percentiles->entries.size(); ++i) {
    const ConfigEntry& entry = *(percentiles->entries.begin() + static_cast<std::ptrdiff_t>(i));
    const std::optional<double> share = share_of_name(entry.key);
    const std::optional<Seconds> time =
        scaled_time(&entry.value, to_seconds, std::string{name} + "." + entry.key, load);
    if (share && time) {
      latency.quantiles.emplace_back(*share, *time);
    }
  }
  if (const auto median = time_of("median"); median && !latency.at(0.5)) {
    latency.quantiles.emplace_back(0.5, *median);
  }
  order_quantiles(latency);
}

void read_requests(const ConfigValue& root, LoadRun& load) {
  const std::vector<double> prompts = numbers_of(root.find("input_lens"));
  const std::vector<double> outputs = numbers_of(root.find("output_lens"));
  const std::vector<double> firsts = numbers_of(root.find("ttfts"));
  const std::vector<double> starts = numbers_of(root.find("start_times"));
  const ConfigValue* const latencies = root.find("e2els") != nullptr ? root.find("e2els") : root.find("latencies");
  const std::vector<double> lasts = numbers_of(latencies);
  const ConfigValue* const gaps = root.find("itls");
  const ConfigValue* const errors = root.find("errors");
  const std::size_t count = std::max({firsts.size(), starts.size(), lasts.size()});
  const auto at = [](const std::vector<double>& all, std::size_t i) {
    return i < all.size() ? std::optional{all[i]} : std::nullopt;
  };
  const auto time = [&](const std::vector<double>& all, std::size_t i) {
    return i < all.size() ? std::optional{Seconds{all[i]}} : std::nullopt;
  };
  for (std::size_t i = 0; i < count; ++i) {
    LoadRequest request;
    request.begin = time(starts, i);
    request.first = time(firsts, i);
    request.lasts = time(lasts, i);
    request.prompt = at(prompts, i);
    request.output = at(outputs, i);
    const std::vector<double> own =
        gaps != nullptr && i < gaps->items.size() ? numbers_of(&gaps->items[i]) : std::vector<double>{};
    if (!request.lasts && request.first && !own.empty()) {
      double sum = request.first->raw();
      for (const double gap : own) {
        sum += gap;
      }
      request.lasts = Seconds{sum};
    }
    const std::string error = errors != nullptr && i < errors->items.size() ? errors->items[i].text : std::string{};
    request.failed = !error.empty();
    load.first_error = load.first_error.empty() ? error : load.first_error;
    if (!request.failed) {
      if (request.first && request.first->raw() > 0.0) {
        load.of_kind(LatencyKind::ttft).each.push_back(request.first->raw());
      }
      if (request.lasts) {
        load.of_kind(LatencyKind::request).each.push_back(request.lasts->raw());
      }
      auto& all = load.of_kind(LatencyKind::itl).each;
      all.insert(all.end(), own.begin(), own.end());
    }
    load.requests.push_back(request);
  }
  for (const double queued : numbers_of(root.find("queue_times"))) {
    load.of_kind(LatencyKind::queue).each.push_back(queued);
  }
}

/// The rate of a client: a number, or none where it sent all at once ("inf").
void take_rate(const ConfigValue* value, LoadRun& load) {
  const std::optional<double> rate = number_of(value);
  const bool endless = value != nullptr && value->kind == ConfigValue::Kind::text && value->text.starts_with("inf");
  if (endless || (rate && std::isinf(*rate))) {
    load.at_once = true;
  } else if (rate && *rate > 0.0 && is_amount(*rate)) {
    load.asked_rate = rate;
  }
}

/// Seconds of a unit of AIPerf; nullopt: another word.
std::optional<double> seconds_of_unit(std::string_view unit) {
  constexpr std::array<std::pair<std::string_view, double>, 8> units{{{"", 1e-3},
                                                                      {"ms", 1e-3},
                                                                      {"milliseconds", 1e-3},
                                                                      {"s", 1.0},
                                                                      {"sec", 1.0},
                                                                      {"us", 1e-6},
                                                                      {"ns", 1e-9},
                                                                      {"nanoseconds", 1e-9}}};
  const auto* const known =
      std::find_if(units.begin(), units.end(), [&](const auto& one) { return one.first == unit; });
  return known == units.end() ? std::nullopt : std::optional{known->second};
}

/// One metric of AIPerf: {"unit": "ms", "avg": .., "p99": ..}.
void read_perf_latency(const ConfigValue& root, std::string_view key, LatencyKind kind, LoadRun& load) {
  const ConfigValue* const metric = root.find(key);
  if (metric == nullptr) {
    return;
  }
  const std::string unit = text_of_member(metric, "unit");
  const std::optional<double> scale = seconds_of_unit(unit);
  if (!scale) {
    load.faults.push_back(
        {member_of(metric, "unit")->at, "'unit' is " + quoted(unit) + "; it must be one of ms, s, us, ns"});
    return;
  }
  ToldLatency& told = load.of_kind(kind);
  const auto time_of = [&](std::string_view statistic) {
    return scaled_time(member_of(metric, statistic), *scale, std::string{key} + "." + std::string{statistic}, load);
  };
  told.mean = time_of("avg");
  told.least = time_of("min");
  told.most = time_of("max");
  for (std::size_t i = 0; i < metric->entries.size(); ++i) {
    const ConfigEntry& entry = *(metric->entries.begin() + static_cast<std::ptrdiff_t>(i));
    const bool percentile = entry.key.size() > 1 && entry.key.front() == 'p';
    const std::optional<double> share = percentile ? share_of_name(entry.key) : std::nullopt;
    const std::optional<Seconds> time = share ? time_of(entry.key) : std::nullopt;
    if (time) {
      told.quantiles.emplace_back(*share, *time);
    }
  }
  order_quantiles(told);
}

}  // namespace

LoadRun load_of_client(const ConfigValue& root) {
  LoadRun load;
  const bool sglang = root.find("total_output_tokens_retokenized") != nullptr ||
                      root.find("mean_e2e_latency_ms") != nullptr || root.find("backend") == nullptr;
  load.client = root.find("user_throughput") != nullptr                 ? "trtllm-serve's benchmark"
                : root.find("mean_e2e_latency_ms") != nullptr && sglang ? "SGLang bench_serving"
                                                                        : "vllm bench serve";
  load.line = root.at.line;
  load.model = last_part(text_of_member(&root, "model_id"));
  const std::string type = text_of_member(&root, "endpoint_type");
  load.server = type.empty() ? text_of_member(&root, "backend") : type;
  take_rate(root.find("request_rate"), load);
  const auto amount = [&](std::string_view key) { return told_amount(root.find(key), key, load); };
  load.limit = amount("max_concurrency");
  load.rate = amount("request_throughput");
  load.output_rate = amount("output_throughput");
  load.total_rate =
      amount(root.find("total_token_throughput") != nullptr ? "total_token_throughput" : "total_throughput");
  load.in_flight = amount_of(root.find("concurrency"));
  load.completed = amount_of(root.find("completed"));
  load.failed = amount_of(root.find("failed"));
  const std::optional<double> asked = amount_of(root.find("num_prompts"));
  load.asked = asked;
  if (!load.failed && asked && load.completed && *asked >= *load.completed) {
    load.failed = *asked - *load.completed;
  }
  load.lasts = scaled_time(root.find("duration"), 1.0, "duration", load);
  const double completed = load.completed.value_or(0.0);
  const auto each = [&](std::string_view key) {
    const std::optional<double> total = amount_of(root.find(key));
    return total && completed > 0.0 ? std::optional{*total / completed} : std::nullopt;
  };
  load.prompt = each("total_input_tokens") ? each("total_input_tokens") : each("total_input");
  load.output = each("total_output_tokens") ? each("total_output_tokens") : each("total_output");
  // Lengths that SGLang's client draws: from the ratio's share of the length to all of it, evenly.
  if (const auto length = amount_of(root.find("random_output_len"));
      length && text_of_member(&root, "dataset_name") == "random") {
    load.asked_output = *length * 0.5 * (1.0 + std::min(1.0, amount_of(root.find("random_range_ratio")).value_or(1.0)));
  }
  read_named_latency(root, "ttft", LatencyKind::ttft, load);
  read_named_latency(root, "tpot", LatencyKind::tpot, load);
  read_named_latency(root, "itl", LatencyKind::itl, load);
  read_named_latency(root, root.find("mean_e2e_latency_ms") != nullptr ? "e2e_latency" : "e2el", LatencyKind::request,
                     load);
  read_requests(root, load);
  const auto failed = std::count_if(load.requests.begin(), load.requests.end(),
                                    [](const LoadRequest& request) { return request.failed; });
  load.failed = std::max(load.failed.value_or(0.0), real(failed));
  return load;
}

LoadRun load_of_guidellm(const ConfigValue& benchmark) {
  LoadRun load;
  load.client = "GuideLLM";
  load.line = benchmark.at.line;
  const ConfigValue* strategy = nullptr;
  for (const std::string_view of : {"config", "args", "scheduler"}) {
    strategy = strategy == nullptr ? member_of(benchmark.find(of), "strategy") : strategy;
  }
  const std::string kind = text_of_member(strategy, "type_");
  take_rate(member_of(strategy, "rate"), load);
  load.at_once = kind == "throughput";
  load.limit = amount_of(member_of(strategy, "streams"));
  if (!load.limit && (kind == "concurrent" || kind == "throughput")) {  // of others a default far above any load
    load.limit = amount_of(member_of(strategy, "max_concurrency"));
  }
  if (kind == "synchronous") {
    load.limit = 1.0;
  }
  const ConfigValue* const metrics = benchmark.find("metrics");
  const auto good = [&](std::string_view key) { return member_of(member_of(metrics, key), "successful"); };
  const auto mean_of = [&](std::string_view key) {
    return told_amount(member_of(good(key), "mean"), std::string{key} + ".mean", load);
  };
  load.rate = mean_of("requests_per_second");
  load.output_rate = mean_of("output_tokens_per_second");
  load.total_rate = mean_of("tokens_per_second");
  load.in_flight = amount_of(member_of(good("request_concurrency"), "mean"));
  load.prompt = amount_of(member_of(good("prompt_token_count"), "mean"));
  load.output = amount_of(member_of(good("output_token_count"), "mean"));
  constexpr double milli = 1e-3;
  const auto read = [&](std::string_view key, double to_seconds, LatencyKind as) {
    read_distribution(good(key), to_seconds, key, as, load);
  };
  read("time_to_first_token_ms", milli, LatencyKind::ttft);
  read("time_per_output_token_ms", milli, LatencyKind::tpot);
  read("inter_token_latency_ms", milli, LatencyKind::itl);
  read("request_latency", 1.0, LatencyKind::request);
  const ConfigValue* totals = member_of(metrics, "request_totals");
  totals = totals != nullptr ? totals : benchmark.find("request_totals");
  load.completed = amount_of(member_of(totals, "successful"));
  load.failed = amount_of(member_of(totals, "errored"));
  if (!load.completed) {
    load.completed = amount_of(member_of(good("request_latency"), "count"));
  }
  load.lasts = scaled_time(benchmark.find("duration"), 1.0, "duration", load);
  return load;
}

LoadRun load_of_aiperf(const ConfigValue& root) {
  LoadRun load;
  load.client = "AIPerf";
  load.line = root.at.line;
  const ConfigValue* const input = root.find("input_config");
  const ConfigValue* const loadgen = member_of(input, "loadgen");
  take_rate(member_of(loadgen, "request_rate"), load);
  load.limit = amount_of(member_of(loadgen, "concurrency"));
  if (!load.limit) {
    load.limit = amount_of(member_of(member_of(member_of(input, "perf_analyzer"), "stimulus"), "concurrency"));
  }
  for (const ConfigValue* const of : {member_of(input, "endpoint"), input}) {
    const ConfigValue* const names = member_of(of, "model_names");
    if (load.model.empty() && names != nullptr && !names->items.empty()) {
      load.model = last_part(names->items.front().text);
    }
  }
  const auto average = [&](std::string_view key) {
    return told_amount(member_of(root.find(key), "avg"), std::string{key} + ".avg", load);
  };
  load.rate = average("request_throughput");
  load.output_rate = average("output_token_throughput");
  load.total_rate = average("total_token_throughput");
  load.completed = average("request_count");
  load.failed = average("error_request_count");
  load.prompt = average("input_sequence_length");
  load.output = average("output_sequence_length");
  load.lasts = scaled_time(member_of(root.find("benchmark_duration"), "avg"), 1.0, "benchmark_duration.avg", load);
  const ConfigValue* const prompt = member_of(member_of(input, "input"), "prompt");
  load.asked_output = amount_of(member_of(member_of(prompt, "output_tokens"), "mean"));
  read_perf_latency(root, "time_to_first_token", LatencyKind::ttft, load);
  read_perf_latency(root, "inter_token_latency", LatencyKind::tpot, load);  // AIPerf's is a request's mean
  read_perf_latency(root, "request_latency", LatencyKind::request, load);
  return load;
}

std::vector<JsonLine> json_lines(std::string_view text) {
  std::vector<JsonLine> lines;
  int number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = without_blanks(text.substr(0, end));
    if (!line.empty()) {
      if (line.front() != '{' || line.back() != '}' || line.size() < 3) {
        return {};
      }
      lines.push_back({line, number});
    }
    text.remove_prefix(std::min(text.size(), end + 1));
  }
  return lines;
}

BenchmarkResult benchmark_of_json_lines(const std::vector<JsonLine>& lines, const std::string& file) {
  BenchmarkResult all;
  Diagnostics problems;
  for (const JsonLine& line : lines) {
    try {
      const ConfigValue root = parse_json(line.text, file);
      std::optional<BenchmarkResult> one = benchmark_of_serving(root, file);
      if (!one) {
        problems.add(file, {line.line, 1}, "this line is no result of a client that loads a server");
        continue;
      }
      all.form = one->form;
      all.notes = one->notes;
      for (BenchmarkSeries& series : one->series) {
        BenchmarkSeries& sum = all.series_of(series.of, series.metric, series.unit);
        sum.better = series.better;
        sum.usual = series.usual;
        sum.values.push_back(series.summary ? series.summary->mean : series.values.front());
      }
      for (LoadRun& load : one->loads) {
        load.line = line.line;
        load.of = "line " + std::to_string(line.line);
        all.loads.push_back(std::move(load));
      }
    } catch (const ConfigError& error) {
      for (const Diagnostic& diagnostic : error.diagnostics()) {
        problems.add(file, {line.line, diagnostic.at.column}, diagnostic.message);
      }
    }
  }
  problems.throw_if_any();
  return all;
}

void add_load_series(const LoadRun& load, BenchmarkResult& result) {
  const auto add = [&](const std::string& metric, std::optional<double> value, const std::string& unit, Better better) {
    if (value && *value > 0.0) {
      BenchmarkSeries& series = result.series_of(load.of, metric, unit);
      series.better = better;
      series.values.push_back(*value);
    }
  };
  add("request_throughput", load.rate, "1/s", Better::higher);
  add("output_throughput", load.output_rate, "tokens/s", Better::higher);
  for (const LatencyKind kind : {LatencyKind::ttft, LatencyKind::tpot, LatencyKind::request}) {
    const std::optional<Seconds> mean = load.of_kind(kind).mean;
    add("mean_" + std::string{latency_names[static_cast<std::size_t>(kind)]},
        mean ? std::optional{mean->raw()} : std::nullopt, "s", Better::lower);
  }
}

}  // namespace headroom
