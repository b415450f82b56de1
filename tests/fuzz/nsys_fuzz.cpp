// SPDX-License-Identifier: Apache-2.0
// Any bytes as a report of Nsight Systems in SQLite: read, or refused by ConfigError.
#include <headroom/calibrate/diagnosis/trace_reading.hpp>
#include <headroom/calibrate/traces/nsys_reader.hpp>
#include <headroom/core/diagnostic.hpp>

#include <unistd.h>

#include "require.hpp"
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace headroom;
  std::string name = (std::filesystem::temp_directory_path() / ("headroom-nsys-" + std::string(6, 'X'))).string();
  const int file = mkstemp(name.data());
  fuzz::require(file >= 0 && write(file, data, size) == static_cast<ssize_t>(size));
  close(file);
  try {
    for (const Timeline& timeline : read_nsys(name)) {
      const TracedRank rank = traced_rank(timeline);
      fuzz::require(reading_of({&rank, 1}).step->raw() >= 0.0);
    }
  } catch (const ConfigError&) {
    unlink(name.data());
    return 0;
  }
  unlink(name.data());
  return 0;
}
