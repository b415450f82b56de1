// SPDX-License-Identifier: Apache-2.0
// Any text as measured kernels or collectives: rows whose times are above 0, or refused with its problems.
#include <headroom/calibrate/kernels/kernel_rows.hpp>

#include "require.hpp"
#include <optional>
#include <sstream>

using namespace headroom;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text{reinterpret_cast<const char*>(data), size};
  std::istringstream stream{text};
  Diagnostics diagnostics;
  try {
    const KernelFile file = read_kernel_rows(stream, "f.csv", std::nullopt, diagnostics);
    for (const KernelRow& row : file.rows) {
      fuzz::require(row.latency > Seconds{});
      static_cast<void>(shape_hash(row));
    }
  } catch (const ConfigError&) {
    return 0;
  }
  return 0;
}
