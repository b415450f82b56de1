// SPDX-License-Identifier: Apache-2.0
// Any bytes as JSON: read, or refused by ConfigError.
#include <headroom/core/json_reader.hpp>

#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    static_cast<void>(headroom::parse_json({reinterpret_cast<const char*>(data), size}, "f.json"));
  } catch (const headroom::ConfigError&) {
    return 0;
  }
  return 0;
}
