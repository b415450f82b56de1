// SPDX-License-Identifier: Apache-2.0
// Reports of Nsight Systems as `nsys export --type sqlite` writes them.
#pragma once

#include <headroom/calibrate/traces/timeline.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// Most rows of a table that are read.
inline constexpr std::int64_t most_nsys_rows = 100'000'000;

/// Whether a file's beginning is that of a database of SQLite 3 (its file format, section 1.3.1).
[[nodiscard]] bool begins_as_sqlite(std::string_view head) noexcept;

/// Reads kernels, copies, fills, calls of CUDA and NVTX ranges (Nsight Systems, "SQLite Export Schema Reference"), one
/// timeline for each process that used a GPU, in the order of their numbers. Ranges that count steps ("step 3",
/// "iteration_3", "ProfilerStep#3") are named as PyTorch's profiler names them. The file is opened for reading alone,
/// as one that nobody changes; nothing of its schema is run. ConfigError where it is no database, is packed, or
/// holds neither kernels nor copies.
[[nodiscard]] std::vector<Timeline> read_nsys(const std::string& file);

}  // namespace headroom
