// SPDX-License-Identifier: Apache-2.0
// Line: "iter = 55, global_rank = 0, rank = 0, currank_total_requests = 9/72, host_step_time = 20.1ms,
// prev_device_step_time = 19.0ms, timestamp = 2026-01-16 06:20:17, num_scheduled_requests: 9, states =
// {'num_ctx_requests': 0, 'num_ctx_tokens': 0, 'num_generation_tokens': 9}" of
// tensorrt_llm/_torch/pyexecutor/py_executor.py, behind the logger's stamp; before release 1.0 without the ranks.
#include <headroom/calibrate/telemetry/iteration_log.hpp>
#include <headroom/calibrate/telemetry/signal_text.hpp>
#include <headroom/core/diagnostic.hpp>

#include <optional>
#include <utility>

namespace headroom {
namespace {

constexpr std::string_view host_time = "host_step_time = ";
constexpr std::string_view device_time_word = "prev_device_step_time = ";
constexpr std::string_view scheduled = "num_scheduled_requests: ";
constexpr std::string_view prompts = "'num_ctx_tokens': ";
constexpr std::string_view generated = "'num_generation_tokens': ";

/// A number of a line that may be a time in milliseconds or a count.
std::optional<double> counted_after(std::string_view line, std::string_view word) noexcept {
  constexpr double most = 1e12;
  const std::optional<double> number = reading_behind(line, word);
  return number && *number >= 0.0 && *number <= most ? number : std::nullopt;
}

bool is_iteration(std::string_view line) noexcept {
  return line.find("iter = ") != std::string_view::npos && line.find(host_time) != std::string_view::npos;
}

}  // namespace

bool tells_iterations(std::string_view text) noexcept {
  return text.find(host_time) != std::string_view::npos && text.find(scheduled) != std::string_view::npos;
}

void read_iteration_log(std::string_view text, const std::string& file, Signals& signals) {
  Diagnostics problems;
  IterationLog log;
  log.file = file;
  std::optional<double> rank;
  TextLines lines{text};
  while (lines.next()) {
    const std::string_view line = lines.line();
    if (!is_iteration(line)) {
      continue;
    }
    const std::optional<double> own = reading_behind(line, "rank = ");  // of "global_rank"
    rank = rank ? rank : own;
    if (own != rank) {
      continue;
    }
    EngineIteration iteration;
    iteration.line = lines.number();
    const std::optional<double> host = counted_after(line, host_time);
    const std::optional<double> requests = counted_after(line, scheduled);
    const std::optional<double> context = counted_after(line, prompts);
    const std::optional<double> tokens = counted_after(line, generated);
    if (!host || !requests || !context || !tokens) {
      problems.add(file, {lines.number(), 1},
                   "the iteration breaks off: it needs host_step_time, num_scheduled_requests, num_ctx_tokens and "
                   "num_generation_tokens; take the line out where the log was cut");
      continue;
    }
    constexpr double milli = 1e-3;
    iteration.host = Seconds{milli * *host};
    if (const std::optional<double> device = counted_after(line, device_time_word); device) {
      iteration.device_before = Seconds{milli * *device};
    }
    iteration.requests = *requests;
    iteration.prompt_tokens = *context;
    iteration.generated_tokens = *tokens;
    log.iterations.push_back(iteration);
  }
  if (problems.empty() && log.iterations.empty()) {
    problems.add(file, {}, "no line tells an iteration; serve with print_iter_log: true");
  }
  problems.throw_if_any();
  signals.iterations.push_back(std::move(log));
}

}  // namespace headroom
