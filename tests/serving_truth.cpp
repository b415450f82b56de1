// SPDX-License-Identifier: Apache-2.0
// The serving model on published measurements: errors by set against the bars asked of them, ranking of layouts,
// intervals, and the bound that no row beats. Prints a table; exit 1 when a bar that is held here is missed.
#include <headroom/core/statistics.hpp>
#include <headroom/scenarios/scenario.hpp>
#include <headroom/scenarios/validation/serving_simulated.hpp>
#include <headroom/scenarios/validation/validation.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

using namespace headroom;

namespace {

/// A measured row, where it stands and what the model says of it.
struct Scored {
  const RunFile* file = nullptr;
  const RunRow* row = nullptr;
  const ScoredRow* answer = nullptr;

  [[nodiscard]] std::string column(std::string_view name) const { return cell(*file, *row, name).value_or(""); }
  [[nodiscard]] bool from(std::string_view name) const {
    return std::filesystem::path{file->file}.stem().string() == name;
  }
  [[nodiscard]] bool scenario(std::string_view name) const { return column("options.scenario") == name; }
  [[nodiscard]] bool experts() const { return !column("experts").empty(); }
  [[nodiscard]] bool engine(std::string_view name) const {
    return column("engine") == name || column("engine") == "Dynamo+" + std::string{name};
  }
  /// 0.17 as 17, 1.2 as 1002; 0 where it is not stated.
  [[nodiscard]] int release() const {
    int major = 0;
    int minor = 0;
    return std::sscanf(column("engine_version").c_str(), "%d.%d", &major, &minor) >= 1 ? 1000 * major + minor : 0;
  }
  /// Attention-DP over ranks whose expert groups nobody published; a lone GPU is one group.
  [[nodiscard]] bool groups_without_ep() const {
    const std::string groups = column("options.attention_dp");
    return !groups.empty() && groups != "0" && column("ep").empty() && column("gpus") != "1";
  }
  [[nodiscard]] bool ok() const { return answer->prediction.status == RowStatus::ok; }
};

using Choice = std::function<bool(const Scored&)>;

/// A set of rows with what is asked of it; shares. Bars that are not held are printed, and never fail: they are known
/// to be missed. One that is reached after all says so.
struct Bar {
  std::string_view name;
  Choice choice;
  double coverage = 0.0;
  std::optional<double> mape, median;
  bool mape_held = true, median_held = true;
};

bool static_rows(const Scored& r) {
  return r.from("serve_trtllm") && r.scenario("static");
}
bool offline_rows(const Scored& r) {
  return r.from("serve_trtllm") && r.scenario("offline") && r.row->metric == "output_tokens_per_s";
}
bool agg(const Scored& r, std::string_view metric) {
  return r.from("serve_aic_silicon_agg") && r.row->metric == metric;
}
bool trtllm_or_vllm(const Scored& r) {
  return r.engine("TensorRT-LLM") || r.engine("vLLM");
}

std::vector<Bar> bars() {
  return {
      {"static throughput", [](const Scored& r) { return static_rows(r) && r.row->metric == "output_tokens_per_s"; },
       0.90, 0.12, 0.07, false, false},
      {"static TTFT", [](const Scored& r) { return static_rows(r) && r.row->metric == "ttft_ms_mean"; }, 0.90, 0.17,
       0.09},
      {"offline throughput, TensorRT-LLM 0.11-0.17",
       [](const Scored& r) { return offline_rows(r) && r.release() >= 11 && r.release() <= 17; }, 0.90, 0.12, 0.09},
      {"offline throughput, 0.20 and later, dense",
       [](const Scored& r) { return offline_rows(r) && r.release() >= 20 && !r.experts(); }, 0.90, 0.09, 0.06, false,
       false},
      {"offline throughput, 0.20 and later, experts",
       [](const Scored& r) { return offline_rows(r) && r.release() >= 20 && r.experts() && !r.groups_without_ep(); },
       0.90, 0.25, std::nullopt, false},
      {"closed TPOT, dense, TensorRT-LLM and vLLM",
       [](const Scored& r) { return agg(r, "tpot_ms_mean") && trtllm_or_vllm(r) && !r.experts(); }, 0.85, 0.09, 0.07,
       false},
      {"closed TPOT, experts, TensorRT-LLM and vLLM",
       [](const Scored& r) { return agg(r, "tpot_ms_mean") && trtllm_or_vllm(r) && r.experts(); }, 0.85, 0.16,
       std::nullopt, false},
      {"closed TPOT, SGLang", [](const Scored& r) { return agg(r, "tpot_ms_mean") && r.engine("SGLang"); }, 0.85, 0.18,
       std::nullopt},
      {"closed TTFT, vLLM", [](const Scored& r) { return agg(r, "ttft_ms_mean") && r.engine("vLLM"); }, 0.85,
       std::nullopt, 0.18},
      {"closed TTFT, TensorRT-LLM", [](const Scored& r) { return agg(r, "ttft_ms_mean") && r.engine("TensorRT-LLM"); },
       0.85, std::nullopt, 0.28, true, false},
      {"one request at a time, TPOT, 7 B and more",
       [](const Scored& r) {
         return r.from("serve_accelmark") && r.scenario("interactive") && r.row->metric == "tpot_ms_p50" &&
                std::strtod(r.column("params_b").c_str(), nullptr) >= 6.9;
       },
       0.90, 0.20, 0.10},
  };
}

/// One number against its bar. A bar that is not held is told, and never fails.
bool judge(double reached, double bar, bool held, std::string_view what) {
  const bool holds = reached <= bar;
  std::printf("  %s %5.1f %% of %4.1f %%%s", std::string{what}.c_str(), 100.0 * reached, 100.0 * bar,
              holds ? (held ? "" : " (reached: hold it)") : (held ? " MISSED" : " (known to miss)"));
  return holds || !held;
}

bool check_set(const Bar& bar, const std::vector<Scored>& rows) {
  std::vector<double> errors;
  double answerable = 0.0;
  for (const Scored& r : rows) {
    if (!bar.choice(r) || r.answer->prediction.status == RowStatus::rejected) {
      continue;
    }
    answerable += 1.0;
    if (r.ok()) {
      errors.push_back(std::abs(r.answer->error()));
    }
  }
  const double coverage = answerable > 0.0 ? static_cast<double>(errors.size()) / answerable : 0.0;
  bool holds = coverage >= bar.coverage && !errors.empty();
  std::printf("%-46s %4zu rows, %5.1f %% answered%s", std::string{bar.name}.c_str(), errors.size(), 100.0 * coverage,
              holds ? "" : " MISSED");
  if (!errors.empty() && bar.mape) {
    holds = judge(mean(errors), *bar.mape, bar.mape_held, "MAPE") && holds;
  }
  if (!errors.empty() && bar.median) {
    holds = judge(median(errors), *bar.median, bar.median_held, "median") && holds;
  }
  std::puts("");
  return holds;
}

/// Layouts of one model, GPU, engine, format and load, of three and more: do they come in the measured order?
bool check_ranking(const std::vector<Scored>& rows) {
  constexpr double bar = 0.7;
  struct Sweep {
    std::vector<double> predicted, measured;
    std::set<std::string> layouts;
  };
  std::map<std::string, Sweep> sweeps;
  for (const Scored& r : rows) {
    if (!r.ok() || r.row->metric == "max_concurrent_sequences") {
      continue;
    }
    std::string key = r.file->file + r.row->metric + r.column("options.scenario");
    for (const char* same :
         {"source", "model", "gpu", "engine", "engine_version", "weight_dtype", "isl", "osl", "concurrency"}) {
      key += '\x1f' + r.column(same);
    }
    std::string layout;
    for (const char* axis : {"gpus", "tp", "pp", "ep", "dp", "options.attention_dp"}) {
      layout += '\x1f' + r.column(axis);
    }
    Sweep& sweep = sweeps[key];
    sweep.predicted.push_back(r.answer->prediction.predicted);
    sweep.measured.push_back(r.row->measured);
    sweep.layouts.insert(layout);
  }
  std::vector<double> taus;
  for (const auto& [key, sweep] : sweeps) {
    if (sweep.layouts.size() >= 3) {
      taus.push_back(kendall_tau(sweep.predicted, sweep.measured));
    }
  }
  const bool holds = taus.size() >= 100 && mean(taus) >= bar;
  std::printf("ranking of layouts: Kendall's tau %.2f over %zu sweeps, %.1f asked%s\n", mean(taus), taus.size(), bar,
              holds ? "" : " MISSED");
  return holds;
}

/// Of loads that closed forms answer; queues have intervals of their own (serving_queues.cpp).
bool check_intervals(const std::vector<Scored>& rows) {
  double all = 0.0;
  double inside = 0.0;
  for (const Scored& r : rows) {
    if (!r.ok() || r.row->metric == "max_concurrent_sequences" || asks_for_run(r.row->serving, r.row->metric)) {
      continue;
    }
    const RowPrediction& p = r.answer->prediction;
    all += 1.0;
    inside += p.low <= r.row->measured && r.row->measured <= p.high ? 1.0 : 0.0;
  }
  const double share = all > 0.0 ? inside / all : 0.0;
  const bool holds = share >= 0.75 && share <= 0.85;
  std::printf("intervals hold %.1f %% of %.0f rows, 75 to 85 %% asked%s\n", 100.0 * share, all, holds ? "" : " MISSED");
  return holds;
}

bool check_bound(const std::vector<Scored>& rows) {
  bool holds = true;
  std::size_t compared = 0;
  for (const Scored& r : rows) {
    const RowPrediction& p = r.answer->prediction;
    if (r.ok() && p.fastest > 0.0) {
      ++compared;
      if (!beyond_hardware(r.row->metric, r.row->measured, p).empty()) {
        std::printf("%s beats its bound and is not rejected\n", r.row->id.c_str());
        holds = false;
      }
    }
    if (p.why.find("faster than the roofline") == std::string::npos) {
      continue;
    }
    std::printf("%s: %s\n", r.row->id.c_str(), p.why.c_str());
    holds = false;
  }
  std::printf("%zu rows stay behind what the hardware can do%s\n", compared, holds ? "" : " MISSED");
  return holds && compared > 5000;
}

std::vector<RunFile> serving_files(const std::string& folder) {
  std::vector<std::string> paths;
  for (const char* name : {"serve_trtllm", "serve_aic_silicon_agg", "serve_accelmark", "serve_gpustack"}) {
    const std::filesystem::path path = std::filesystem::path{folder} / (std::string{name} + ".csv");
    if (std::filesystem::exists(path)) {
      paths.push_back(path.string());
    }
  }
  Diagnostics diagnostics;
  std::vector<RunFile> files = read_run_files(paths, diagnostics);
  diagnostics.throw_if_any();
  return files;
}

}  // namespace

int main(int count, char** arguments) {
  const std::vector<RunFile> files = serving_files(count > 1 ? arguments[1] : "");
  if (files.size() < 4) {
    std::puts("Skipped: no measured rows");
    return 0;
  }
  const Sources sources = Sources::standard();
  const Validation validation = validate(files, {}, sources);
  std::vector<Scored> rows;
  for (const RunFile& file : files) {
    for (const RunRow& row : file.rows) {
      rows.push_back({&file, &row, &validation.rows[rows.size()]});
      if (rows.back().answer->id != row.id) {
        std::puts("rows came back in another order");
        return 1;
      }
    }
  }
  bool holds = true;
  for (const Bar& bar : bars()) {
    holds = check_set(bar, rows) && holds;
  }
  holds = check_ranking(rows) && holds;
  holds = check_intervals(rows) && holds;
  holds = check_bound(rows) && holds;
  return holds ? 0 : 1;
}
