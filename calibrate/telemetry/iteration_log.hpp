// SPDX-License-Identifier: Apache-2.0
// Iterations that a TensorRT-LLM server logs (trtllm-serve with print_iter_log, trtllm-bench --iteration_log off).
#pragma once

#include <headroom/calibrate/telemetry/signals.hpp>

#include <string>
#include <string_view>

namespace headroom {

/// Whether a text holds a line of an iteration.
[[nodiscard]] bool tells_iterations(std::string_view text) noexcept;

/// Lines of iterations of the first rank that has any; others are passed over. ConfigError with every problem: no such
/// line, a number that is none, a line that breaks off.
void read_iteration_log(std::string_view text, const std::string& file, Signals& signals);

}  // namespace headroom
