// SPDX-License-Identifier: Apache-2.0
// What kernels, ops and calls are, by the names that libraries give them.
#pragma once

#include <headroom/calibrate/diagnosis/rank_graph.hpp>

#include <string_view>

namespace headroom {

/// By the kernel's own name; where it says nothing, by the op that launched it (may be empty).
[[nodiscard]] WorkUse use_of(std::string_view kernel, std::string_view op);
/// A copy from the GPU to its host, as profilers name it.
[[nodiscard]] bool goes_to_host(std::string_view copy);
/// Calls of the driver that get memory or give it back.
[[nodiscard]] bool is_memory_call(std::string_view call);

}  // namespace headroom
