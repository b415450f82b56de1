// SPDX-License-Identifier: Apache-2.0
// Any text as a scenario: it is read and planned, or refused by ConfigError, and nothing else.
#include <headroom/scenarios/plan/plan.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>

#include <cstdint>

using namespace headroom;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Sources sources = Sources::standard();
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  try {
    const ConfigValue root = parse_toml(text, "f.toml");
    static_cast<void>(make_plan(read_scenario(root, "f.toml", sources), true));
  } catch (const ConfigError&) {
    return 0;
  }
  return 0;
}
