// SPDX-License-Identifier: Apache-2.0
// Any text as an engine's start-up log: it puts the memory of a plan right, or is refused by ConfigError.
#include <headroom/scenarios/plan/engine_log.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <variant>
#include <vector>

using namespace headroom;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Sources sources = Sources::standard();
  static const Scenario scenario = scenario_from_overrides(
      std::vector<std::string>{"kind=serve", "model=llama3-8b", "hardware.gpu=h100-sxm-80gb", "hardware.gpus=1",
                               "serving.isl=1000", "serving.osl=100", "serving.concurrency=8", "serving.weights=bf16"},
      sources);
  if (size == 0) {
    return 0;
  }
  ServeScenario serve = std::get<ServeScenario>(scenario.question);
  const auto engine = static_cast<Engine>(data[0] % engine_names.size());
  const std::string text{reinterpret_cast<const char*>(data) + 1, size - 1};
  try {
    static_cast<void>(calibrate_memory(read_engine_log({"f", text}, engine), serve));
  } catch (const ConfigError&) {
    return 0;
  }
  if (!std::isfinite(serve.engine.memory.framework.raw()) || !std::isfinite(serve.engine.memory.wide_bytes)) {
    std::abort();
  }
  return 0;
}
