// SPDX-License-Identifier: Apache-2.0
// Any text as a trace of requests, CSV or JSON lines: times in order and lengths above 0, or refused with its problems.
// The first byte chooses the size of the prefix cache.
#include <headroom/scenarios/traffic/request_trace.hpp>

#include "require.hpp"
#include <sstream>

using namespace headroom;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::Chosen chosen{data, size, 4};
  for (const char* const file : {"f.csv", "f.jsonl"}) {
    std::istringstream stream{chosen.text};
    Diagnostics diagnostics;
    const RequestTrace trace = read_request_trace(stream, file, diagnostics, static_cast<std::int64_t>(chosen.which));
    fuzz::require(trace.failed >= 0);
  }
  return 0;
}
