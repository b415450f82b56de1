// SPDX-License-Identifier: Apache-2.0
// Names of metrics: DCGM exporter's default counters and DCGM's field identifiers; vllm/v1/metrics/loggers.py and older
// vllm/engine/metrics.py; sglang/srt/metrics/collector.py. Format: Prometheus, "Exposition formats", 0.0.4.
#include <headroom/calibrate/telemetry/prometheus_reader.hpp>
#include <headroom/calibrate/telemetry/signal_text.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/json_reader.hpp>
#include <headroom/core/real_text.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace headroom {
namespace {

struct GpuMetric {
  std::string_view name;
  Signal signal;
  double factor;
};
constexpr std::array gpu_metrics{
    GpuMetric{"DCGM_FI_DEV_GPU_UTIL", Signal::busy, 0.01},
    GpuMetric{"DCGM_FI_PROF_GR_ENGINE_ACTIVE", Signal::engine_active, 1.0},
    GpuMetric{"DCGM_FI_PROF_SM_ACTIVE", Signal::sm_active, 1.0},
    GpuMetric{"DCGM_FI_PROF_SM_OCCUPANCY", Signal::occupancy, 1.0},
    GpuMetric{"DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", Signal::tensor_active, 1.0},
    GpuMetric{"DCGM_FI_PROF_DRAM_ACTIVE", Signal::memory_active, 1.0},
    GpuMetric{"DCGM_FI_DEV_MEM_COPY_UTIL", Signal::memory_busy, 0.01},
    GpuMetric{"DCGM_FI_DEV_SM_CLOCK", Signal::sm_clock, 1e6},
    GpuMetric{"DCGM_FI_DEV_MAX_SM_CLOCK", Signal::most_sm_clock, 1e6},
    GpuMetric{"DCGM_FI_DEV_GPU_TEMP", Signal::temperature, 1.0},
    GpuMetric{"DCGM_FI_DEV_POWER_USAGE", Signal::power, 1.0},
    GpuMetric{"DCGM_FI_DEV_POWER_MGMT_LIMIT", Signal::power_limit, 1.0},
    GpuMetric{"DCGM_FI_DEV_ENFORCED_POWER_LIMIT", Signal::power_limit, 1.0},
    GpuMetric{"DCGM_FI_DEV_FB_USED", Signal::memory_used, 0x1p20},
    GpuMetric{"DCGM_FI_DEV_FB_TOTAL", Signal::memory_total, 0x1p20},
    GpuMetric{"DCGM_FI_PROF_PCIE_TX_BYTES", Signal::pcie_sent, 1.0},
    GpuMetric{"DCGM_FI_PROF_PCIE_RX_BYTES", Signal::pcie_received, 1.0},
    GpuMetric{"DCGM_FI_DEV_XID_ERRORS", Signal::xid, 1.0},
    GpuMetric{"DCGM_FI_DEV_CLOCK_THROTTLE_REASONS", Signal::reasons, 1.0},
    GpuMetric{"DCGM_FI_DEV_CLOCKS_EVENT_REASONS", Signal::reasons, 1.0},
};

struct EngineMetric {
  std::string_view name;
  EngineSignal signal;
};
constexpr std::array engine_metrics{
    EngineMetric{"vllm:num_requests_running", EngineSignal::running},
    EngineMetric{"vllm:num_requests_waiting", EngineSignal::waiting},
    EngineMetric{"vllm:kv_cache_usage_perc", EngineSignal::cache_use},
    EngineMetric{"vllm:gpu_cache_usage_perc", EngineSignal::cache_use},
    EngineMetric{"vllm:num_preemptions_total", EngineSignal::preemptions},
    EngineMetric{"vllm:num_preemptions", EngineSignal::preemptions},
    EngineMetric{"vllm:prefix_cache_hits_total", EngineSignal::prefix_hits},
    EngineMetric{"vllm:gpu_prefix_cache_hits_total", EngineSignal::prefix_hits},
    EngineMetric{"vllm:prefix_cache_queries_total", EngineSignal::prefix_queries},
    EngineMetric{"vllm:gpu_prefix_cache_queries_total", EngineSignal::prefix_queries},
    EngineMetric{"vllm:gpu_prefix_cache_hit_rate", EngineSignal::prefix_hits},
    EngineMetric{"vllm:avg_prompt_throughput_toks_per_s", EngineSignal::prompt_rate},
    EngineMetric{"vllm:avg_generation_throughput_toks_per_s", EngineSignal::generation_rate},
    EngineMetric{"sglang:num_running_reqs", EngineSignal::running},
    EngineMetric{"sglang:num_queue_reqs", EngineSignal::waiting},
    EngineMetric{"sglang:token_usage", EngineSignal::cache_use},
    EngineMetric{"sglang:gen_throughput", EngineSignal::generation_rate},
    EngineMetric{"sglang:cache_hit_rate", EngineSignal::prefix_hits},
    EngineMetric{"sglang:num_retracted_reqs", EngineSignal::preemptions},
};

/// What DCGM tells of a field that it has not (dcgm_structs.h, DCGM_INT32_BLANK, DCGM_INT64_BLANK, DCGM_FP64_BLANK),
/// and vLLM of a share of nothing.
bool is_blank(std::string_view name, std::string_view value) {
  constexpr double blank_32 = 2147483632.0;  // 0x7ffffff0
  constexpr double blank_real = 140737488355328.0;
  constexpr double blank_64 = 9223372036854775792.0;
  const double number = whole_real(value).value_or(0.0);
  const bool counts = name.find("_PCIE_") == std::string_view::npos;
  return (counts && number >= blank_32 && number < blank_32 + 16.0) || number == blank_real || number >= blank_64 ||
         (name.ends_with("hit_rate") && number == -1.0);
}

using Labels = std::map<std::string, std::string, std::less<>>;

std::string label(const Labels& labels, std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    if (const auto found = labels.find(name); found != labels.end()) {
      return found->second;
    }
  }
  return {};
}

/// Sorts values into samples: of one series by its own count, or by time where that is told.
class MetricKeeper {
 public:
  MetricKeeper(const std::string& file, Diagnostics& problems) : file_{file}, problems_{problems} {}

  /// Whether anything is made of a metric of this name.
  static bool knows(std::string_view name) {
    return std::any_of(gpu_metrics.begin(), gpu_metrics.end(), [&](const auto& m) { return m.name == name; }) ||
           std::any_of(engine_metrics.begin(), engine_metrics.end(), [&](const auto& m) { return m.name == name; });
  }

  void take(
      std::string_view name, const Labels& labels, std::string_view value, std::optional<Seconds> time, Position at) {
    if (is_blank(name, value)) {
      value = "N/A";
    }
    for (const GpuMetric& metric : gpu_metrics) {
      if (metric.name == name) {
        const std::string host = label(labels, {"Hostname", "hostname", "instance", "node"});
        hosts_.insert(host);
        const std::string instance = label(labels, {"GPU_I_ID"});
        const std::string gpu = label(labels, {"gpu", "GPU", "UUID", "device"});
        GpuHeld& held = gpus_[{host, (gpu.empty() ? "0" : gpu) + (instance.empty() ? "" : " instance " + instance)}];
        held.name = held.name.empty() ? label(labels, {"modelName", "model"}) : held.name;
        GpuSample& sample = held.samples[key(held.counts, name, time)];
        sample.time = time;
        sample.line = sample.line == 0 ? at.line : sample.line;
        take_value(sample.at(metric.signal), {name, value, metric.factor, is_share(metric.signal)}, problems_, file_,
                   at);
      }
    }
    for (const EngineMetric& metric : engine_metrics) {
      if (metric.name == name) {
        const std::string server = label(labels, {"instance", "pod"});
        const std::string part = label(labels, {"engine", "engine_index", "tp_rank", "dp_rank"});
        EngineHeld& held = engines_[server + (server.empty() || part.empty() ? "" : " ") + part];
        held.engine = name.starts_with("vllm") ? "vLLM" : "SGLang";
        EngineSample& sample = held.samples[key(held.counts, name, time)];
        sample.time = time;
        sample.line = sample.line == 0 ? at.line : sample.line;
        take_value(sample.at(metric.signal), {name, value, 1.0, metric.signal == EngineSignal::cache_use}, problems_,
                   file_, at);
      }
    }
  }

  void keep(Signals& signals) {
    if (problems_.empty() && gpus_.empty() && engines_.empty()) {
      problems_.add(file_, {},
                    "no metric is one of those that diagnose reads: DCGM_FI_DEV_GPU_UTIL, DCGM_FI_PROF_SM_ACTIVE, "
                    "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE, DCGM_FI_PROF_DRAM_ACTIVE, vllm:num_requests_running, "
                    "sglang:num_running_reqs and their neighbours");
    }
    problems_.throw_if_any();
    for (auto& [who, held] : gpus_) {
      GpuSignals series{file_, hosts_.size() > 1 ? who.first + " " + who.second : who.second, held.name, {}, {}};
      for (auto& [at, sample] : held.samples) {
        series.samples.push_back(sample);
      }
      signals.gpus.push_back(std::move(series));
    }
    for (auto& [who, held] : engines_) {
      EngineSeries series{file_, held.engine, who, {}};
      for (auto& [at, sample] : held.samples) {
        series.samples.push_back(sample);
      }
      signals.engines.push_back(std::move(series));
    }
  }

 private:
  using Counts = std::map<std::string, double, std::less<>>;
  struct GpuHeld {
    std::string name;
    std::map<double, GpuSample> samples;
    Counts counts;
  };
  struct EngineHeld {
    std::string engine;
    std::map<double, EngineSample> samples;
    Counts counts;
  };

  static double key(Counts& counts, std::string_view name, std::optional<Seconds> time) {
    if (time) {
      return time->raw();
    }
    double& count = counts.try_emplace(std::string{name}, 0.0).first->second;
    return count++;
  }

  const std::string& file_;
  Diagnostics& problems_;
  std::set<std::string> hosts_;
  std::map<std::pair<std::string, std::string>, GpuHeld> gpus_;
  std::map<std::string, EngineHeld> engines_;
};

/// A line `name{label="value"} value [milliseconds]`.
struct MetricLine {
  std::string_view name, value;
  Labels labels;
  std::optional<Seconds> time;
  std::string problem;  ///< empty: the line is whole
};

MetricLine metric_line(std::string_view line) {
  MetricLine read;
  const std::size_t end = std::min(line.find_first_of("{ \t"), line.size());
  read.name = line.substr(0, end);
  line.remove_prefix(end);
  if (!line.empty() && line.front() == '{') {
    line.remove_prefix(1);
    while (!line.empty() && line.front() != '}') {
      const std::size_t equals = line.find("=\"");
      if (equals == std::string_view::npos) {
        read.problem = "a label has no value in quotes";
        return read;
      }
      const std::string name{trimmed(line.substr(0, equals))};
      line.remove_prefix(equals + 2);
      std::string value;
      while (!line.empty() && line.front() != '"') {
        if (line.front() == '\\' && line.size() > 1) {
          line.remove_prefix(1);
        }
        value += line.front();
        line.remove_prefix(1);
      }
      if (line.empty()) {
        read.problem = "the value of label " + quoted(name) + " has no end";
        return read;
      }
      line.remove_prefix(1);
      read.labels[name] = value;
      while (!line.empty() && (line.front() == ',' || line.front() == ' ')) {
        line.remove_prefix(1);
      }
    }
    if (line.empty()) {
      read.problem = "the labels have no end";
      return read;
    }
    line.remove_prefix(1);
  }
  const std::vector<std::string_view> words = words_of_line(line);
  if (words.empty()) {
    read.problem = "the metric has no value";
    return read;
  }
  read.value = words.front();
  if (words.size() > 1) {
    const std::optional<double> milliseconds = whole_real(words[1]);
    if (!milliseconds || !std::isfinite(*milliseconds)) {
      read.problem = "the time " + quoted(words[1]) + " is no number of milliseconds";
      return read;
    }
    read.time = Seconds{1e-3 * *milliseconds};
  }
  return read;
}

const ConfigValue* found_in(const ConfigValue& table, std::string_view key, ConfigValue::Kind kind) {
  const ConfigValue* const value = table.kind == ConfigValue::Kind::table ? table.find(key) : nullptr;
  return value != nullptr && value->kind == kind ? value : nullptr;
}

std::optional<double> plain_number(const ConfigValue& value) {
  if (value.kind == ConfigValue::Kind::integer) {
    return static_cast<double>(value.integer);
  }
  return value.kind == ConfigValue::Kind::number ? std::optional{value.number} : std::nullopt;
}

}  // namespace

void read_prometheus_text(std::string_view text, const std::string& file, Signals& signals) {
  Diagnostics problems;
  MetricKeeper keeper{file, problems};
  TextLines lines{text};
  while (lines.next()) {
    const std::string_view line = trimmed(lines.line());
    if (line.empty() || line.front() == '#') {
      continue;
    }
    const std::string_view name = line.substr(0, std::min(line.find_first_of("{ \t"), line.size()));
    const char first = name.empty() ? '{' : name.front();
    const bool letter =
        (first >= 'a' && first <= 'z') || (first >= 'A' && first <= 'Z') || first == '_' || first == ':';
    if (!letter) {
      problems.add(file, {lines.number(), 1},
                   quoted(line) + " is no metric of Prometheus' text format: name{label=\"value\"} number");
      continue;
    }
    const MetricLine read = metric_line(line);
    if (!read.problem.empty()) {
      problems.add(file, {lines.number(), 1}, quoted(name) + ": " + read.problem + "; scrape it again, whole");
      continue;
    }
    if (MetricKeeper::knows(name)) {
      keeper.take(name, read.labels, read.value, read.time, lines.at(read.value));
    }
  }
  keeper.keep(signals);
}

void read_prometheus_json(std::string_view text, const std::string& file, Signals& signals) {
  using Kind = ConfigValue::Kind;
  const ConfigValue document = parse_json(text, file);
  Diagnostics problems;
  MetricKeeper keeper{file, problems};
  const ConfigValue* const data = found_in(document, "data", Kind::table);
  const ConfigValue* const result = data == nullptr ? nullptr : found_in(*data, "result", Kind::array);
  if (result == nullptr) {
    problems.add(file, document.at,
                 "has no data.result: it is no answer of Prometheus' /api/v1/query_range, or one that failed");
    problems.throw_if_any();
    return;
  }
  for (const ConfigValue& series : result->items) {
    const ConfigValue* const metric = found_in(series, "metric", Kind::table);
    Labels labels;
    if (metric != nullptr) {
      for (const ConfigEntry& entry : metric->entries) {
        if (entry.value.kind == Kind::text) {
          labels[entry.key] = entry.value.text;
        }
      }
    }
    const std::string name = label(labels, {"__name__"});
    if (!MetricKeeper::knows(name)) {
      continue;
    }
    const auto take = [&](const ConfigValue& pair) {
      const bool good = pair.kind == Kind::array && pair.items.size() == 2 && pair.items[1].kind == Kind::text;
      const std::optional<double> time = good ? plain_number(pair.items[0]) : std::nullopt;
      if (!time || !std::isfinite(*time)) {
        problems.add(file, pair.at, "a value of " + quoted(name) + " must be [seconds, \"number\"]");
        return;
      }
      keeper.take(name, labels, pair.items[1].text, Seconds{*time}, pair.items[1].at);
    };
    if (const ConfigValue* const values = found_in(series, "values", Kind::array)) {
      std::for_each(values->items.begin(), values->items.end(), take);
    } else if (const ConfigValue* const value = found_in(series, "value", Kind::array)) {
      take(*value);
    } else {
      problems.add(file, series.at, "series " + quoted(name) + " has neither values nor value");
    }
  }
  keeper.keep(signals);
}

}  // namespace headroom
