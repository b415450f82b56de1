// SPDX-License-Identifier: Apache-2.0
// Traces of rocprofiler-sdk's tool (rocprofv3 --kernel-trace --memory-copy-trace --output-format json).
#pragma once

#include <headroom/calibrate/traces/timeline.hpp>

#include <string>

namespace headroom {

/// Reads kernels and copies, whole or gzip, as they stream by; a GPU's number is its `gpu_index`. ConfigError with the
/// place in the text where it is no JSON or breaks off, and for a file without "rocprofiler-sdk-tool".
[[nodiscard]] Timeline read_rocprof(const std::string& file);

}  // namespace headroom
