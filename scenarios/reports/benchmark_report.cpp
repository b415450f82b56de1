// SPDX-License-Identifier: Apache-2.0
// Fields: llm-d/llm-d-benchmark @ 8bc9f1d, llmdbenchmark/analysis/benchmark_report/br_v0_2_1_json_schema.json; what an
// engine's accelerator count is of (one replica): native_to_br0_2.py.
#include <headroom/core/printable.hpp>
#include <headroom/core/version.hpp>
#include <headroom/scenarios/launch/serve_forms.hpp>
#include <headroom/scenarios/reports/plan_reports.hpp>
#include <headroom/scenarios/traffic/traffic.hpp>

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace headroom {
namespace {

using namespace launch;

/// A name for a configuration that equal ones share: FNV-1a (Fowler, Noll, Vo 1991) of its text.
std::string name_of_text(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  }
  std::string name;
  for (int shift = 60; shift >= 0; shift -= 4) {
    name += digits[(hash >> static_cast<unsigned>(shift)) & 15U];
  }
  return name;
}

void put(std::vector<ConfigEntry>& entries, std::string_view key, Seconds value) {
  if (std::isfinite(value.raw()) && value > Seconds{}) {
    entries.push_back({std::string{key}, number_value(value.raw())});
  }
}

ConfigValue statistics(const TimeSummary& times, std::string_view units) {
  std::vector<ConfigEntry> entries{{"units", word_value(units)}};
  put(entries, "mean", times.mean);
  put(entries, "p50", times.p50);
  put(entries, "p90", times.p90);
  put(entries, "p95", times.p95);
  put(entries, "p99", times.p99);
  return table_value(std::move(entries));
}

ConfigValue mean_of(double value, std::string_view units) {
  return table_value({{"units", word_value(units)}, {"mean", number_value(value)}});
}

ConfigValue metadata(const std::string& label, const std::string& of) {
  return table_value({{"label", word_value(label)}, {"cfg_id", word_value(name_of_text(of))}});
}

ConfigValue no_native() {
  return table_value({{"args", table_value({})}, {"envars", table_value({})}});
}

/// An engine of the stack; `tp` and `gpus` of one of its replicas.
ConfigValue engine_component(
    const ServedResult& result, std::string_view role, std::int64_t replicas, std::int64_t tp, std::int64_t gpus) {
  const ServeScenario& s = *result.serve;
  const ServingLayout& layout = s.work.layout;
  const std::string tool{engine_names[static_cast<std::size_t>(s.engine.engine)]};
  const std::string version = s.engine_version.empty() ? std::string{"unstated"} : s.engine_version;
  std::vector<ConfigEntry> ranks{{"tp", count_value(tp)},
                                 {"pp", count_value(layout.pp)},
                                 {"dp", count_value(layout.attention_groups())},
                                 {"dp_local", count_value(layout.attention_groups())}};
  if (s.architecture.moe) {
    ranks.push_back({"ep", count_value(layout.ep)});
  }
  ConfigValue standardized =
      table_value({{"kind", word_value("inference_engine")},
                   {"tool", word_value(tool)},
                   {"tool_version", word_value(version)},
                   {"role", word_value(role)},
                   {"replicas", count_value(replicas)},
                   {"model", table_value({{"name", word_value(checkpoint_of(serve_keys(*result.scenario, s)))}})},
                   {"accelerator", table_value({{"model", word_value(s.device.id)},
                                                {"count", count_value(gpus)},
                                                {"parallelism", table_value(std::move(ranks))}})}});
  const std::string label = tool + "-" + std::string{role};
  return table_value({{"metadata", metadata(label, yaml_text(standardized))},
                      {"standardized", std::move(standardized)},
                      {"native", no_native()}});
}

ConfigValue length(double tokens) {
  return table_value({{"distribution", word_value("fixed")}, {"value", number_value(tokens)}});
}

ConfigValue load_of(const ServedResult& result) {
  std::vector<ConfigEntry> load{{"tool", word_value("headroom")},
                                {"tool_version", word_value(version())},
                                {"source", word_value("unknown")},
                                {"input_seq_len", length(result.isl)},
                                {"output_seq_len", length(result.osl)}};
  if (result.rate) {
    load.push_back({"rate_qps", number_value(*result.rate)});
  }
  if (result.concurrency) {
    load.push_back({"concurrency", number_value(*result.concurrency)});
  }
  ConfigValue standardized = table_value(std::move(load));
  return table_value({{"metadata", table_value({{"cfg_id", word_value(name_of_text(yaml_text(standardized)))}})},
                      {"standardized", std::move(standardized)},
                      {"native", no_native()}});
}

ConfigValue results_of(const ServedResult& result) {
  const ConfigValue requests = table_value({{"total", count_value(result.requests)},
                                            {"failures", count_value(result.failed)},
                                            {"input_length", mean_of(result.isl, "count")},
                                            {"output_length", mean_of(result.osl, "count")}});
  const ConfigValue latency = table_value({{"time_to_first_token", statistics(result.ttft, "s")},
                                           {"inter_token_latency", statistics(result.tpot, "s/token")},
                                           {"request_latency", statistics(result.e2e, "s")}});
  const ConfigValue throughput =
      table_value({{"request_rate", mean_of(result.requests_per_s, "queries/s")},
                   {"input_token_rate", mean_of(result.input_tokens_per_s, "tokens/s")},
                   {"output_token_rate", mean_of(result.output_tokens_per_s, "tokens/s")},
                   {"total_token_rate", mean_of(result.input_tokens_per_s + result.output_tokens_per_s, "tokens/s")}});
  return table_value(
      {{"request_performance",
        table_value({{"aggregate",
                      table_value({{"requests", requests}, {"latency", latency}, {"throughput", throughput}})}})}});
}

}  // namespace

ExportedLaunch benchmark_report(const ServedResult& result) {
  const ServeScenario& s = *result.serve;
  const ServingLayout& layout = s.work.layout;
  std::vector<ConfigValue> stack{
      engine_component(result, result.prefill > 0 ? "decode" : "replica", result.replicas, layout.tp, layout.gpus())};
  if (result.prefill > 0 && s.fleet && s.fleet->prefill) {
    stack.push_back(engine_component(result, "prefill", result.prefill, s.fleet->prefill->tp, s.fleet->prefill->tp));
  }
  const std::string name = shown(result.scenario->name);
  const ConfigValue report =
      table_value({{"version", word_value("0.2.1")},
                   {"run", table_value({{"uid", word_value(name_of_text(yaml_text(list_value(stack)) + name))},
                                        {"description", word_value("Predicted by " + std::string{version()} +
                                                                   ", not measured: " + name)}})},
                   {"scenario", table_value({{"stack", list_value(std::move(stack))}, {"load", load_of(result)}})},
                   {"results", results_of(result)}});
  std::vector<LaunchNote> notes{
      {"serving.weights", "serving.weights (a report has no field of formats; add --weights when it is read back)"},
      {"confidence",
       "the intervals of the times (a report holds one number of each statistic; those here are the middles)"}};
  if (!result.distributed) {
    notes.push_back(
        {"slo", "percentiles (a fixed load is priced by its means; state [traffic] for a simulated fleet)"});
  }
  std::string text = "# " + name + ": predicted, not measured\n";
  for (const LaunchNote& note : notes) {
    text += "# not expressed: " + note.text + "\n";
  }
  return {text + yaml_text(report), notes, true};
}

}  // namespace headroom
