// SPDX-License-Identifier: Apache-2.0
// Requests, accepted drafts and storage. Fields: neuralmagic/vllm-vcr @ 4b460a1, crates/sim-trace/src/trace.rs
// (TraceMeta, TraceRecord); SemiAnalysisAI/InferenceX @ 0c66e11, golden_al_distribution/README.md (the mean counts the
// model's own token); argonne-lcf/dlio_benchmark, src/utils/statscounter.py (its MB are 2^20 bytes).
#include <headroom/calibrate/reports/import_records.hpp>
#include <headroom/calibrate/reports/reported_run.hpp>
#include <headroom/calibrate/results/benchmark_forms.hpp>
#include <headroom/core/csv.hpp>
#include <headroom/core/json_reader.hpp>
#include <headroom/core/printable.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real_text.hpp>
#include <headroom/core/yaml/yaml_reader.hpp>
#include <headroom/model/serve/engine/draft_acceptance.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

namespace headroom {
namespace {

struct RecordedRequest {
  double arrival_ms = 0.0;
  std::int64_t prompt = 0, output = 0, cached = 0;
};

/// A count of a record; a problem where it is none.
std::int64_t recorded_count(const ConfigValue& record,
                            std::string_view key,
                            bool required,
                            const std::string& file,
                            int line,
                            Diagnostics& problems) {
  constexpr std::int64_t most_tokens = 1'000'000'000;
  const ConfigValue* const value = record.find(key);
  if (value == nullptr && !required) {
    return 0;
  }
  if (value == nullptr || value->kind != ConfigValue::Kind::integer || value->integer < (required ? 1 : 0) ||
      value->integer > most_tokens) {
    problems.add(file, {line, value == nullptr ? 1 : value->at.column},
                 quoted(key) + (value == nullptr ? " is missing; a record of a request has it"
                                                 : " must be a whole number of tokens" +
                                                       std::string{required ? " above 0" : ", 0 or above"}));
    return 0;
  }
  return value->integer;
}

void read_request(const ConfigValue& record,
                  const std::string& file,
                  int line,
                  std::vector<RecordedRequest>& requests,
                  Diagnostics& problems) {
  RecordedRequest request;
  request.prompt = recorded_count(record, "prompt_tokens", true, file, line, problems);
  request.output = recorded_count(record, "output_tokens", true, file, line, problems);
  request.cached = recorded_count(record, "cached_tokens", false, file, line, problems);
  const std::optional<double> arrival = number_of(record.find("arrival_ms"));
  if (!arrival || !(*arrival >= 0.0) || !std::isfinite(*arrival)) {
    problems.add(file, {line, 1},
                 "'arrival_ms' is missing or no time; record the trace with arrivals, or state a rate "
                 "instead of a trace (traffic.rate)");
  } else {
    request.arrival_ms = *arrival;
  }
  if (request.cached > request.prompt) {
    problems.add(file, {line, 1},
                 "'cached_tokens' is " + std::to_string(request.cached) + ", more than the prompt's " +
                     std::to_string(request.prompt));
  }
  requests.push_back(request);
}

/// A number of a summary, 0 to `most`; a problem where it is none.
double summary_number(const ConfigValue& root,
                      const ConfigValue* in,
                      std::string_view key,
                      const std::string& file,
                      Diagnostics& problems) {
  const ConfigValue* const value = member_of(in, key);
  const std::optional<double> number = number_of(value);
  if (!number || !(*number > 0.0) || !std::isfinite(*number)) {
    problems.add(
        file, value == nullptr ? root.at : value->at,
        quoted(key) + (value == nullptr ? " is missing; it must be a number above 0" : " is no number above 0"));
    return 1.0;
  }
  return *number;
}

/// acceptance_of(), at the ends of its range as well: nothing, or all that is drafted, is accepted.
double acceptance_at(std::int64_t draft, double tokens) {
  return tokens <= 1.0 ? 0.0 : tokens >= static_cast<double>(draft) + 1.0 ? 1.0 : acceptance_of(tokens, draft);
}

/// Mode tables below a model, or lengths right below it.
void read_lengths(const std::string& model,
                  const std::string& mode,
                  const ConfigValue& lengths,
                  const std::string& file,
                  ImportedSamples& result,
                  Diagnostics& problems) {
  for (const ConfigEntry& entry : lengths.entries) {
    if (entry.value.kind == ConfigValue::Kind::table) {
      read_lengths(model, mode.empty() ? entry.key : mode + "/" + entry.key, entry.value, file, result, problems);
      continue;
    }
    const std::optional<std::int64_t> draft = integer_of(entry.key);
    const std::optional<double> tokens = number_of(&entry.value);
    if (!draft || *draft < 1 || *draft > 64) {
      problems.add(file, entry.value.key_at, quoted(entry.key) + " is no number of drafted tokens, 1 to 64");
    } else if (!tokens || !(*tokens >= 1.0) || !(*tokens <= static_cast<double>(*draft) + 1.0)) {
      problems.add(file, entry.value.at,
                   "the mean accepted length of " + entry.key + " drafted tokens must be 1 to " +
                       std::to_string(*draft + 1) + ", the model's own token counted");
    } else {
      result.text += csv_field(shown(model)) + "," + csv_field(shown(mode)) + "," + std::to_string(*draft) + "," +
                     general_text(*tokens, 6) + "," + general_text(acceptance_at(*draft, *tokens), 4) + "\n";
    }
  }
}

}  // namespace

ImportedSamples import_vllm_vcr(std::string_view text, const std::string& file) {
  ImportedSamples result;
  Diagnostics problems;
  std::vector<RecordedRequest> requests;
  for (const ConfigValue& record : json_objects_of_lines(text, file, problems)) {
    const ConfigValue* const meta = record.find("meta");
    if (meta == nullptr || !requests.empty()) {
      read_request(record, file, record.at.line, requests, problems);
      continue;
    }
    for (const std::string_view key : {"model", "gpu"}) {
      if (const ConfigValue* const value = member_of(meta, key); value != nullptr && !value->text.empty()) {
        result.remarks.push_back(shown(file) + ": recorded of " + std::string{key} + " " + shown(value->text));
      }
    }
  }
  if (requests.empty() && problems.empty()) {
    problems.add(file, {}, "holds no request: a trace of vllm-vcr is one JSON object a line with 'prompt_tokens'");
  }
  problems.throw_if_any();
  std::stable_sort(requests.begin(), requests.end(),
                   [](const auto& a, const auto& b) { return a.arrival_ms < b.arrival_ms; });
  result.text = "arrival_s,prompt_tokens,output_tokens,cached_tokens\n";
  for (const RecordedRequest& request : requests) {
    result.text += general_text(1e-3 * request.arrival_ms, 12) + "," + std::to_string(request.prompt) + "," +
                   std::to_string(request.output) + "," + std::to_string(request.cached) + "\n";
  }
  return result;
}

ImportedSamples import_speed_bench(std::string_view text, const std::string& file) {
  ImportedSamples result;
  result.text = "model,mode,draft,tokens,acceptance\n";
  const std::size_t header = result.text.size();
  Diagnostics problems;
  for (const ConfigEntry& entry : parse_yaml(text, file).entries) {
    if (entry.key.starts_with('_')) {
      continue;
    }
    if (entry.value.kind != ConfigValue::Kind::table) {
      problems.add(file, entry.value.at,
                   quoted(entry.key) + " is " + std::string{kind_name(entry.value.kind)} +
                       "; a model holds accepted lengths by mode and drafted tokens");
      continue;
    }
    read_lengths(entry.key, "", entry.value, file, result, problems);
  }
  if (result.text.size() == header && problems.empty()) {
    problems.add(file, {}, "holds no accepted length: it is 'MODEL: {MODE: {DRAFTED TOKENS: LENGTH}}'");
  }
  problems.throw_if_any();
  result.remarks.push_back(shown(file) +
                           ": acceptance is by E[tokens] = (1 - a^(draft + 1)) / (1 - a), of the prompts that were "
                           "measured; take a row with --set serving.speculative.draft=N --set "
                           "serving.speculative.acceptance=A");
  return result;
}

ImportedSamples import_mlperf_storage(std::string_view text, const std::string& file) {
  const ConfigValue root = parse_json(text, file);
  const ConfigValue* const metric = root.find("metric");
  Diagnostics problems;
  if (member_of(metric, "train_throughput_mean_samples_per_second") == nullptr) {
    problems.add(file, root.at,
                 "this is no summary.json of a training run of MLPerf Storage: it lacks "
                 "'metric.train_throughput_mean_samples_per_second'");
    problems.throw_if_any();
  }
  const double samples = summary_number(root, metric, "train_throughput_mean_samples_per_second", file, problems);
  const double mebibytes = summary_number(root, metric, "train_io_mean_MB_per_second", file, problems);
  const double use = summary_number(root, metric, "train_au_mean_percentage", file, problems);
  const double accelerators = summary_number(root, &root, "num_accelerators", file, problems);
  const double hosts =
      root.find("num_hosts") == nullptr ? 1.0 : summary_number(root, &root, "num_hosts", file, problems);
  if (use > 100.0) {
    problems.add(file, metric->at, "'train_au_mean_percentage' is above 100");
  }
  problems.throw_if_any();
  constexpr double mebi = 1048576.0;
  const double bytes = mebi * mebibytes;
  ImportedSamples result;
  result.text = "# From " + shown(file) + ", MLPerf Storage: " + general_text(accelerators, 9) +
                " simulated accelerators, " + general_text(hosts, 9) + " hosts, " + general_text(samples, 6) +
                " samples/s, " + general_text(mebibytes, 6) + " MiB/s, accelerators busy " + general_text(use, 4) +
                " %.\n[data]\nsample_bytes = \"" + general_text(bytes / samples, 6) + " B\"\nstorage_bandwidth = \"" +
                general_text(bytes / hosts / 1e6, 6) +
                " MB/s\"\ngpu_rate = " + general_text(samples / hosts / (0.01 * use), 6) + "\n";
  if (root.find("num_hosts") == nullptr) {
    result.remarks.push_back(shown(file) + ": 'num_hosts' is missing; one host is assumed");
  }
  const ConfigValue* const met = member_of(metric, "train_au_meet_expectation");
  result.remarks.push_back(shown(file) + ": storage_bandwidth is what was read, " +
                           (met != nullptr && met->text == "success"
                                ? "at which the accelerators were fed: storage may give more"
                                : "at which the accelerators waited for storage or loaders: what they give together"));
  return result;
}

ImportedSamples import_records(RecordForm form, std::string_view text, const std::string& file) {
  switch (form) {
    case RecordForm::tracelens: return import_tracelens(text, file);
    case RecordForm::chakra: return import_chakra(text, file);
    case RecordForm::vllm_vcr: return import_vllm_vcr(text, file);
    case RecordForm::speed_bench: return import_speed_bench(text, file);
    case RecordForm::mlperf_storage: return import_mlperf_storage(text, file);
    case RecordForm::count: break;
  }
  throw ConfigError{"no such form"};
}

}  // namespace headroom
