// SPDX-License-Identifier: Apache-2.0
// Memory by what it is for, over time: prof.export_memory_timeline("memory.raw.json.gz").
#pragma once

#include <headroom/core/quantity.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace headroom {

/// What memory is for, in the order of the raw form's numbers (torch/profiler/_memory_profiler.py).
inline constexpr std::array<std::string_view, 8> memory_purposes{
    "parameters", "optimizer_state", "inputs", "temporaries", "activations", "gradients", "autograd", "unknown"};

struct MemoryTimeline {
  std::string file;
  Bytes peak{};                                          ///< of all together
  std::array<Bytes, memory_purposes.size()> at_peak{};   ///< of each when all together are at their peak
  std::array<Bytes, memory_purposes.size()> own_peak{};  ///< of each by itself
  std::int64_t peak_ns = 0;                              ///< from the first event with a time
  std::int64_t span_ns = 0;                              ///< from the first to the last
  std::int64_t events = 0;
};

/// Reads a list of [time, action, bytes, purpose]. ConfigError with its number for an event that is none, and for a
/// list without one.
[[nodiscard]] MemoryTimeline read_memory_timeline(const std::string& file);

}  // namespace headroom
