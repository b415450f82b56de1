// SPDX-License-Identifier: Apache-2.0
// Any bytes as a pickle: a flight recorder's dump, a snapshot of memory, other plain data, or refused by ConfigError.
#include <headroom/calibrate/diagnosis/hang_reading.hpp>
#include <headroom/calibrate/diagnosis/memory_reading.hpp>
#include <headroom/calibrate/pickle/pickle_reader.hpp>
#include <headroom/core/diagnostic.hpp>

#include "require.hpp"
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headroom;
  try {
    const PlainData plain = read_pickle({reinterpret_cast<const char*>(data), size}, "rank_0");
    fuzz::require(plain.root() < plain.size());
    RunReading reading;
    if (is_memory_snapshot(plain)) {
      const MemorySnapshot snapshot = read_memory_snapshot(plain, "rank_0");
      add_memory_reading({&snapshot, 1}, {}, reading);
    } else if (is_recorder_dump(plain)) {
      const RankRecord record = read_recorder_dump(plain, "rank_0");
      add_hang_reading({&record, 1}, reading);
    }
    for (const Cause& cause : reading.causes) {
      fuzz::require(cause.lost >= 0.0 && cause.lost <= 1.0 && !cause.says.empty());
    }
  } catch (const ConfigError&) {
    return 0;
  }
  return 0;
}
