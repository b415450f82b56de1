// SPDX-License-Identifier: Apache-2.0
// What `nvidia-smi` prints of GPUs and their processes, as samples.
#pragma once

#include <headroom/calibrate/telemetry/signals.hpp>

#include <string>
#include <string_view>

namespace headroom {

/// `nvidia-smi --query-gpu=... --format=csv[,nounits]` with its header, one row a GPU and time. Columns that say
/// nothing of use are passed over. ConfigError with every problem: no column that does, a value that is no number, a
/// clock that goes back.
void read_smi_csv(std::string_view text, const std::string& file, Signals& signals);

/// `nvidia-smi --query-compute-apps=gpu_uuid,pid,used_memory,... --format=csv`.
void read_smi_processes(std::string_view text, const std::string& file, Signals& signals);

/// `nvidia-smi -q -d CLOCK,PERFORMANCE,...`, once or several times (-l).
void read_smi_details(std::string_view text, const std::string& file, Signals& signals);

/// Bits of the reason that the driver calls by this name ("hw_thermal_slowdown", "SW Power Cap"); 0: none that is
/// known.
[[nodiscard]] unsigned clock_reason_named(std::string_view name);

}  // namespace headroom
