// SPDX-License-Identifier: Apache-2.0
// Columns that `nvidia-smi dmon`, `nvidia-smi pmon` and `dcgmi dmon` print, as samples.
#pragma once

#include <headroom/calibrate/telemetry/signals.hpp>

#include <string>
#include <string_view>

namespace headroom {

/// `nvidia-smi dmon`, with or without -o T or D and --format csv. ConfigError with every problem: a row with other
/// columns than its header, a value that is no number, a clock that goes back.
void read_smi_monitor(std::string_view text, const std::string& file, Signals& signals);

/// `nvidia-smi pmon -s um`: which process holds how much of which GPU.
void read_process_monitor(std::string_view text, const std::string& file, Signals& signals);

/// `dcgmi dmon -e FIELDS`: profiling metrics by GPU; other entities than GPUs and their instances are passed over.
void read_dcgm_monitor(std::string_view text, const std::string& file, Signals& signals);

}  // namespace headroom
