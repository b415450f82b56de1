// SPDX-License-Identifier: Apache-2.0
// Traces of PyTorch's profiler (Kineto) and others in Chrome's trace event format, read as they stream by.
#pragma once

#include <headroom/calibrate/traces/timeline.hpp>

#include <string>

namespace headroom {

/// Reads the file's events, whole or gzip. Kept are the times of GPU work, of runtime calls, of ops and of named
/// ranges; of the rest only counts. Memory is that of what is kept, some 56 bytes an event. ConfigError with the place
/// in the text where it is no JSON, breaks off, or holds no list of events.
[[nodiscard]] Timeline read_kineto(const std::string& file);

/// What work on the GPU an event of a category is: its name says whether it is communication.
[[nodiscard]] bool is_communication(std::string_view kernel);

}  // namespace headroom
