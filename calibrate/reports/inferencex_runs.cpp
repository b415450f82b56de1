// SPDX-License-Identifier: Apache-2.0
// Rows of InferenceX: agg_*.json, one object or an array of them. Fields: SemiAnalysisAI/InferenceX @ 00923c5,
// docs/results-and-ingestion.md (throughput row schema); units: @ 00e51cc, utils/process_result.py. Times are in
// seconds, rates per GPU.
#include <headroom/calibrate/reports/reported_run.hpp>
#include <headroom/calibrate/results/benchmark_forms.hpp>

#include <array>
#include <string>
#include <utility>

namespace headroom {
namespace {

constexpr std::array inferencex_times{
    ReportedField{"mean_ttft", "ttft_ms_mean", "ms", 1e3},  ReportedField{"median_ttft", "ttft_ms_p50", "ms", 1e3},
    ReportedField{"p90_ttft", "ttft_ms_p90", "ms", 1e3},    ReportedField{"p95_ttft", "ttft_ms_p95", "ms", 1e3},
    ReportedField{"p99_ttft", "ttft_ms_p99", "ms", 1e3},    ReportedField{"mean_tpot", "tpot_ms_mean", "ms", 1e3},
    ReportedField{"median_tpot", "tpot_ms_p50", "ms", 1e3}, ReportedField{"p90_tpot", "tpot_ms_p90", "ms", 1e3},
    ReportedField{"p95_tpot", "tpot_ms_p95", "ms", 1e3},    ReportedField{"p99_tpot", "tpot_ms_p99", "ms", 1e3},
    ReportedField{"mean_e2el", "e2e_ms_mean", "ms", 1e3},   ReportedField{"median_e2el", "e2e_ms_p50", "ms", 1e3},
    ReportedField{"p99_e2el", "e2e_ms_p99", "ms", 1e3},     ReportedField{"avg_power_w", "power_w_per_gpu", "W"},
};

struct InferencexWord {
  std::string_view theirs, ours;
};
/// What `hw` names: each is one SKU of that benchmark's machines.
constexpr std::array inferencex_hardware{
    InferencexWord{"h100", "h100-sxm-80gb"},  InferencexWord{"h200", "h200-sxm-141gb"},
    InferencexWord{"b200", "b200-sxm-180gb"}, InferencexWord{"b300", "b300-sxm-288gb"},
    InferencexWord{"gb200", "gb200-nvl72"},   InferencexWord{"gb300", "gb300-nvl72"},
    InferencexWord{"mi300x", "mi300x"},       InferencexWord{"mi325x", "mi325x"},
    InferencexWord{"mi355x", "mi355x"},
};
constexpr std::array inferencex_engines{
    InferencexWord{"vllm", "vLLM"},
    InferencexWord{"sglang", "SGLang"},
    InferencexWord{"trt", "TensorRT-LLM"},
    InferencexWord{"trtllm", "TensorRT-LLM"},
    InferencexWord{"dynamo-vllm", "vLLM"},
    InferencexWord{"dynamo-sglang", "SGLang"},
    InferencexWord{"dynamo-trt", "TensorRT-LLM"},
    InferencexWord{"dynamo-trtllm", "TensorRT-LLM"},
};

template <std::size_t N>
std::string ours_or_theirs(const std::array<InferencexWord, N>& words, const std::string& theirs) {
  for (const InferencexWord& word : words) {
    if (word.theirs == theirs) {
      return std::string{word.ours};
    }
  }
  return theirs;
}

/// A switch that is a Boolean, or a word.
bool is_set(const ConfigValue& row, std::string_view key) {
  const ConfigValue* const value = row.find(key);
  return value != nullptr && ((value->kind == ConfigValue::Kind::boolean && value->boolean) || value->text == "true" ||
                              value->text == "True");
}

/// "h200-nb_1" and "h200-cw" are machines of one SKU at several sites.
std::string hardware_of(const ConfigValue& row) {
  const std::string hw = text_at_path(row, "hw");
  return ours_or_theirs(inferencex_hardware, hw.substr(0, hw.find('-')));
}

/// Ranks of pools that are apart; the layout's columns are those of the decodes. Returns the GPUs of all.
double set_pools(const ConfigValue& row, ReportedRun& run) {
  for (const std::string pool : {"prefill", "decode"}) {
    const auto copy = [&](std::string_view theirs, std::string_view ours) {
      if (const std::optional<double> count = number_at(row, pool + "_" + std::string{theirs})) {
        run.options[pool + "_" + std::string{ours}] = cell_text(*count);
      }
    };
    copy("num_workers", "workers");
    copy("tp", "tp");
    copy("pp", "pp");
    copy("ep", "ep");
    if (is_set(row, pool + "_dp_attention")) {
      run.options[pool + "_attention_dp"] = "1";
    }
  }
  run.options["disaggregated"] = "1";
  run.set_number("tp", number_at(row, "decode_tp"));
  run.set_number("pp", number_at(row, "decode_pp"));
  run.set_number("ep", number_at(row, "decode_ep"));
  return number_at(row, "num_prefill_gpu").value_or(0.0) + number_at(row, "num_decode_gpu").value_or(0.0);
}

/// GPUs of one server: tp pp and what shards prompts. Attention ranks of data parallelism lie on the same GPUs.
double set_layout(const ConfigValue& row, ReportedRun& run) {
  const double tp = number_at(row, "tp").value_or(1.0);
  const double pp = number_at(row, "pp").value_or(1.0);
  const double gpus = tp * pp * number_at(row, "pcp_size").value_or(1.0);
  if (is_set(row, "dp_attention")) {
    run.set_number("tp", 1.0);
    run.set_number("dp", tp);
    run.options["attention_dp"] = "1";
  } else {
    run.set_number("tp", tp);
    run.set_number("dp", 1.0);
  }
  run.set_number("pp", pp);
  run.set_number("ep", number_at(row, "ep"));
  return gpus;
}

ReportedRun inferencex_run(const ConfigValue& row, const std::string& file, Diagnostics& problems) {
  ReportedRun run;
  run.at = row.at;
  if (row.find("hw") == nullptr || row.find("tput_per_gpu") == nullptr) {
    problems.add(
        file, row.at,
        "this is no row of InferenceX: it lacks " + std::string{row.find("hw") == nullptr ? "'hw'" : "'tput_per_gpu'"});
    return run;
  }
  run.set_text("model", model_name(text_at_path(row, "model")));
  run.set_text("gpu", hardware_of(row));
  const std::string precision = text_at_path(row, "precision");
  run.set_text("weight_dtype",
               precision == "fp4" ? (hardware_of(row).starts_with("mi") ? "mxfp4" : "nvfp4") : precision);
  run.set_text("engine", ours_or_theirs(inferencex_engines, text_at_path(row, "framework")));
  const std::string image = text_at_path(row, "image");
  if (const std::size_t colon = image.find_last_of(':'); colon != std::string::npos) {
    run.set_text("engine_version", image.substr(colon + 1));
  }
  run.set_number("isl", number_at(row, "isl"));
  run.set_number("osl", number_at(row, "osl"));
  run.set_load(number_at(row, "conc"), std::nullopt, false);
  const double gpus = is_set(row, "disagg") ? set_pools(row, run) : set_layout(row, run);
  run.set_number("gpus", gpus);
  const std::string drafts = text_at_path(row, "spec_decoding");
  if (!drafts.empty() && drafts != "none") {
    run.options["speculative"] = drafts;
  }
  run.measure("total_tokens_per_s", "tokens/s", number_at(row, "tput_per_gpu"), gpus);
  run.measure("output_tokens_per_s", "tokens/s", number_at(row, "output_tput_per_gpu"), gpus);
  measure_fields(inferencex_times, row, run);
  return run;
}

}  // namespace

std::vector<ReportedRun> inferencex_runs(std::string_view text, const std::string& file) {
  std::vector<ReportedRun> runs;
  Diagnostics problems;
  const std::vector<ConfigValue> rows = json_objects(text, file);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    runs.push_back(inferencex_run(rows[i], file, problems));
    runs.back().part = rows.size() > 1 ? "row " + std::to_string(i + 1) : "";
  }
  problems.throw_if_any();
  return runs;
}

}  // namespace headroom
