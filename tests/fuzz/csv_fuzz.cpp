// SPDX-License-Identifier: Apache-2.0
// Any bytes as CSV: rows have the header's width, and measured-row reading never fails but by diagnostics.
#include <headroom/scenarios/measured/run_row.hpp>

#include <cstdint>
#include <cstdlib>
#include <sstream>

using namespace headroom;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text{reinterpret_cast<const char*>(data), size};
  {
    std::istringstream stream{text};
    Diagnostics diagnostics;
    CsvReader csv{stream, "f.csv", diagnostics};
    while (csv.next()) {
      if (csv.fields().size() != csv.header().size()) {
        std::abort();
      }
      for (std::size_t i = 0; i < csv.fields().size(); ++i) {
        static_cast<void>(csv.number(i));
        static_cast<void>(csv.integer(i));
      }
    }
  }
  std::istringstream stream{"id,dp,global_batch,gpus,metric,value,notes,options\n" + text};
  Diagnostics diagnostics;
  static_cast<void>(read_runs(stream, "f.csv", diagnostics));
  return 0;
}
