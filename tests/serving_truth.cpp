// SPDX-License-Identifier: Apache-2.0
// The serving model on published measurements: errors by set, ranking of layouts and intervals against the bars of
// scenarios/accuracy/serving-bars.toml, and the bound that no row beats. Prints a table; exit 1 when a bar that is held
// here is missed.
#include <headroom/scenarios/question/scenario.hpp>
#include <headroom/scenarios/validation/accuracy_reference.hpp>
#include <headroom/scenarios/validation/validation.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

using namespace headroom;

namespace {

/// A limit that the model is known to miss: told, and it never fails. One that is reached after all says so.
struct Miss {
  std::string_view bar, what;
};
constexpr std::array known_misses{
    Miss{"one batch, throughput", "mape"}, Miss{"one batch, throughput", "median"},
    Miss{"one batch, first token", "median"},  // 10.0 of 9 since launches hide whole behind kernels, on A100 9 too fast
    Miss{"everything queued, TensorRT-LLM 0.20 and later, dense", "mape"},
    Miss{"everything queued, TensorRT-LLM 0.20 and later, dense", "median"},
    // 88.4 %: widths hold 80 % of the rows whose publication was left out of the fit, and of these, which it saw, more.
    Miss{"intervals of fixed loads", "within_most"},
    Miss{"one request at a time, TPOT, 7 B and larger", "median"},  // 9.8 to 10.4 % of 10, over the last fits
};

bool is_known(const BarCheck& check) {
  return std::any_of(known_misses.begin(), known_misses.end(),
                     [&](const Miss& miss) { return miss.bar == check.name && miss.what == check.what; });
}

/// Every limit of scenarios/accuracy/serving-bars.toml against what is reached.
bool check_limits(const Validation& validation) {
  bool holds = true;
  std::size_t known = 0;
  for (const BarCheck& check : check_bars(validation, accuracy_reference().serving_bars)) {
    const bool excused = is_known(check);
    known += excused ? 1 : 0;
    const std::string_view verdict = check.holds ? (excused ? " (reached: hold it)" : "")
                                     : excused   ? " (known to miss)"
                                                 : " MISSED";
    std::printf("%-56s %-12s %8s, %s %s%s\n", check.name.c_str(), std::string{check.what}.c_str(),
                check.text(check.reached).c_str(), check.at_least ? "at least" : "at most",
                check.text(check.limit).c_str(), std::string{verdict}.c_str());
    holds = holds && (check.holds || excused);
  }
  if (known != known_misses.size()) {
    std::puts("a limit that is known to be missed is no longer asked for");
    holds = false;
  }
  return holds;
}

/// A tau of few questions would say little.
bool check_ranking(const Validation& validation) {
  constexpr std::size_t least = 100;
  const std::size_t questions = validation.layouts.empty() ? 0 : validation.layouts.front().questions;
  std::printf("layouts ranked in %zu questions, %zu asked%s\n", questions, least, questions < least ? " MISSED" : "");
  return questions >= least;
}

bool check_bound(const std::vector<ScoredRow>& rows) {
  bool holds = true;
  std::size_t compared = 0;
  for (const ScoredRow& row : rows) {
    const RowPrediction& p = row.prediction;
    if (p.status == RowStatus::ok && p.fastest > 0.0) {
      ++compared;
      if (!beyond_hardware(row.metric, row.measured, p).empty()) {
        std::printf("%s beats its bound and is not rejected\n", row.id.c_str());
        holds = false;
      }
    }
    if (p.why.find("faster than the roofline") == std::string::npos) {
      continue;
    }
    std::printf("%s: %s\n", row.id.c_str(), p.why.c_str());
    holds = false;
  }
  std::printf("%zu rows stay behind what the hardware can do%s\n", compared, holds ? "" : " MISSED");
  return holds && compared > 5000;
}

constexpr std::array serving_sets{"serve_kvcap",     "serve_trtllm",   "serve_aic_silicon_agg",
                                  "serve_accelmark", "serve_gpustack", "serve_mlperf"};

std::vector<RunFile> serving_files(const std::string& folder) {
  std::vector<std::string> paths;
  for (const char* name : serving_sets) {
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
  if (files.size() < serving_sets.size()) {
    std::puts("Skipped: no measured rows");
    return 0;
  }
  const Sources sources = Sources::standard();
  ValidationScope scope;
  scope.groups = accuracy_reference().groups();
  const Validation validation = validate(files, scope, sources);
  bool holds = check_limits(validation);
  holds = check_ranking(validation) && holds;
  holds = check_bound(validation.rows) && holds;
  return holds ? 0 : 1;
}
