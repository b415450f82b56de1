// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/reports/result_rows.hpp>
#include <headroom/cli/frame/plan_files.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/input_file.hpp>
#include <headroom/scenarios/plan/engine_log.hpp>
#include <headroom/scenarios/plan/own_servers.hpp>

#include <array>
#include <optional>
#include <sstream>
#include <utility>
#include <variant>

namespace headroom::cli {
namespace {

/// Problems of the files and of their rows for the plan, all at once.
void find_problems(const std::vector<RunFile>& runs, const Scenario& scenario, TermSet without, Diagnostics& found) {
  if (const auto* const serve = std::get_if<ServeScenario>(&scenario.question)) {
    static_cast<void>(learn_from_servers(runs, *serve, *scenario.sources, found));
  } else {
    static_cast<void>(
        learn_from_runs(runs, std::get<TrainScenario>(scenario.question), *scenario.sources, found, without));
  }
}

/// A client's result as rows of a server like the plan's; nullopt: the file is none, and rows are read of it.
std::optional<RunFile> result_as_rows(const std::string& path, const ServeScenario& serve, Diagnostics& diagnostics) {
  const ConfigSource source = read_file(path);
  if (!result_form_of(source.text)) {
    return std::nullopt;
  }
  const std::array<ConfigSource, 1> files{source};
  std::istringstream rows{import_result_rows(files, std::nullopt, {}, cells_of_server(serve)).text};
  return read_runs(rows, path, diagnostics);
}

}  // namespace

std::vector<RunFile> read_given_runs(const std::vector<std::string>& files, const Scenario& scenario, TermSet without) {
  Diagnostics diagnostics;
  std::vector<RunFile> runs;
  const auto* const serve = std::get_if<ServeScenario>(&scenario.question);
  for (const std::string& path : files) {
    try {
      if (std::optional<RunFile> result = serve == nullptr ? std::nullopt : result_as_rows(path, *serve, diagnostics)) {
        runs.push_back(*std::move(result));
        continue;
      }
      const std::array<std::string, 1> one{path};
      for (RunFile& file : read_run_files(one, diagnostics)) {
        runs.push_back(std::move(file));
      }
    } catch (const ConfigError& error) {
      diagnostics.add(error);
    }
  }
  if (!diagnostics.empty()) {
    find_problems(runs, scenario, without, diagnostics);
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
