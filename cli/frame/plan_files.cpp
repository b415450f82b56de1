// SPDX-License-Identifier: Apache-2.0
#include <headroom/cli/frame/plan_files.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/input_file.hpp>
#include <headroom/scenarios/plan/engine_log.hpp>

#include <utility>
#include <variant>

namespace headroom::cli {

std::vector<RunFile> read_given_runs(const std::vector<std::string>& files, const Scenario& scenario, TermSet without) {
  if (files.empty()) {
    return {};
  }
  Diagnostics diagnostics;
  std::vector<RunFile> runs = read_run_files(files, diagnostics);
  if (!diagnostics.empty()) {
    static_cast<void>(
        learn_from_runs(runs, std::get<TrainScenario>(scenario.question), *scenario.sources, diagnostics, without));
    diagnostics.throw_if_any();
  }
  return runs;
}

void take_engine_log(const std::string& file, Scenario& scenario) {
  auto& serve = std::get<ServeScenario>(scenario.question);
  const EngineLog log = read_engine_log(read_file(file), serve.engine.engine);
  for (std::string& note : calibrate_memory(log, serve)) {
    scenario.assumptions.push_back(std::move(note));
  }
}

}  // namespace headroom::cli
