// SPDX-License-Identifier: Apache-2.0
// What vLLM and SGLang print while they serve.
#pragma once

#include <headroom/calibrate/telemetry/signals.hpp>

#include <string>
#include <string_view>

namespace headroom {

/// Whether a line tells an engine's load.
[[nodiscard]] bool tells_engine_load(std::string_view line) noexcept;

/// Lines of load, preemption and retraction; others are passed over. ConfigError with every problem: no line of load, a
/// number that is none.
void read_engine_journal(std::string_view text, const std::string& file, Signals& signals);

}  // namespace headroom
