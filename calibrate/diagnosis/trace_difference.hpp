// SPDX-License-Identifier: Apache-2.0
// What changed between two runs of one program: the parts of a step, and its kernels by name.
#pragma once

#include <headroom/calibrate/diagnosis/trace_reading.hpp>

#include <span>
#include <string>
#include <string_view>

namespace headroom {

/// A kernel's name without its parameters, numbers of its template alike: builds and shapes change these, not what the
/// kernel is.
[[nodiscard]] std::string plain_kernel_name(std::string_view name);

/// Adds to the reading of the run after a change two tables, each summing to its difference: parts of a step, and time
/// of kernels of a step by plain name (added, gone, slower, faster; the largest, then all others). Preconditions: ranks
/// on both sides.
void add_difference(RunReading& reading, std::span<const TracedRank> before, std::span<const TracedRank> after);

}  // namespace headroom
