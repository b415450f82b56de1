// SPDX-License-Identifier: Apache-2.0
// Any text as a launch file of any form: it is read, or refused by ConfigError, and what is read reads again.
#include <headroom/scenarios/launch/launch.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>

#include <cstdint>
#include <cstdlib>

using namespace headroom;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Sources sources = Sources::standard();
  if (size == 0) {
    return 0;
  }
  ImportRequest request;
  request.assignments = {"hardware.gpu=h100-sxm-80gb"};
  request.ignore_unknown = (data[0] & 1U) != 0;
  if ((data[0] & 2U) != 0) {
    request.assignments.emplace_back("model=llama3-8b");
  }
  if ((data[0] & 4U) != 0) {
    request.from = static_cast<LaunchForm>((data[0] >> 3U) % launch_form_names.size());
  }
  const std::string text{reinterpret_cast<const char*>(data) + 1, size - 1};
  std::optional<ImportedLaunch> launch;
  try {
    launch = import_launch({"f", text}, request, sources);
  } catch (const ConfigError&) {
    return 0;
  }
  try {
    static_cast<void>(read_scenario(parse_toml(launch->toml, "again"), "again", sources));
  } catch (const ConfigError&) {
    std::abort();  // what was written does not read
  }
  return 0;
}
