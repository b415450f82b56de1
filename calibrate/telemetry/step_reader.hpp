// SPDX-License-Identifier: Apache-2.0
// Tables that people write of a run: phases of steps, latencies of requests, jobs of a cluster, kernels of a timeline.
#pragma once

#include <headroom/calibrate/telemetry/signals.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// Which of the tables a header is of.
enum class TableForm : std::uint8_t { none, phases, wide_phases, latencies };
[[nodiscard]] TableForm table_form_of(std::string_view header);

/// phase,seconds (or ms, us)[,count][,bytes][,step]: a row a phase, of a step or step by step. Or a row a step, a
/// column a phase: step,data_load_ms,forward_ms,... An unit ends the name of its column; a bare "time" is in seconds.
/// "total" and "step_time" are the whole step. ConfigError with every problem.
void read_phases(std::string_view text, const std::string& file, Signals& signals);

/// time,latency[,prompt_tokens]: when a request began and how long it took. ConfigError with every problem; the clock
/// must not go back.
void read_latencies(std::string_view text, const std::string& file, Signals& signals);

/// `sacct -P`: columns between bars, JobID and State among them. ConfigError with every problem.
void read_accounting(std::string_view text, const std::string& file, Signals& signals);

/// `nsys stats --report cuda_gpu_trace --format csv`: a row a kernel or copy, with its start and duration.
void read_kernel_list(std::string_view text, const std::string& file, Signals& signals);

/// Time behind a name: "latency_ms" and "Duration (ns)" are 1e-3 and 1e-9 s; without an unit 1. 0: another unit.
[[nodiscard]] double unit_of_column(std::string_view name);

}  // namespace headroom
