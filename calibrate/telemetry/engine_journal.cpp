// SPDX-License-Identifier: Apache-2.0
// Lines: vLLM's vllm/v1/metrics/loggers.py and engine/metrics.py; SGLang's srt/managers/scheduler_metrics_mixin.py.
#include <headroom/calibrate/telemetry/engine_journal.hpp>
#include <headroom/calibrate/telemetry/signal_text.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/real_text.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <optional>
#include <utility>

namespace headroom {
namespace {

struct JournalNumber {
  std::string_view before;
  EngineSignal signal;
  double factor;
};
constexpr std::array vllm_numbers{
    JournalNumber{"Avg prompt throughput: ", EngineSignal::prompt_rate, 1.0},
    JournalNumber{"Avg generation throughput: ", EngineSignal::generation_rate, 1.0},
    JournalNumber{"Running: ", EngineSignal::running, 1.0},
    JournalNumber{"Waiting: ", EngineSignal::waiting, 1.0},
    JournalNumber{"Pending: ", EngineSignal::waiting, 1.0},
    JournalNumber{"GPU KV cache usage: ", EngineSignal::cache_use, 0.01},
    JournalNumber{"Prefix cache hit rate: ", EngineSignal::prefix_hits, 0.01},
};
constexpr std::array sglang_numbers{
    JournalNumber{"#running-req: ", EngineSignal::running, 1.0},
    JournalNumber{"#queue-req: ", EngineSignal::waiting, 1.0},
    JournalNumber{"token usage: ", EngineSignal::cache_use, 1.0},
    JournalNumber{"gen throughput (token/s): ", EngineSignal::generation_rate, 1.0},
};
constexpr std::string_view vllm_mark = "Avg prompt throughput: ";
constexpr std::string_view sglang_decode = "Decode batch";
constexpr std::string_view sglang_prefill = "Prefill batch";

/// "[2026-11-20 10:00:00 TP0]", "INFO 11-20 10:00:00 [loggers.py:127]": the time of the line.
std::optional<Seconds> time_of_line(std::string_view line) {
  for (const std::size_t at : {line.find('['), line.find("INFO "), line.find("WARNING ")}) {
    if (at == std::string_view::npos) {
      continue;
    }
    std::string_view rest = line.substr(at);
    rest.remove_prefix(std::min(rest.find_first_of("0123456789"), rest.size()));
    constexpr std::size_t whole = 19;
    constexpr std::size_t without_year = 14;
    if (const auto time = time_of_stamp(rest.substr(0, whole)); time && rest.size() >= whole && rest[4] == '-') {
      return time;
    }
    const bool dated = rest.size() >= without_year && rest[2] == '-';
    const auto time = time_of_stamp(dated ? "1970-" + std::string{rest.substr(0, without_year)} : std::string{"-"});
    if (time) {
      return time;
    }
  }
  return std::nullopt;
}

}  // namespace

bool tells_engine_load(std::string_view line) noexcept {
  return line.find(vllm_mark) != std::string_view::npos ||
         ((line.find(sglang_decode) != std::string_view::npos || line.find(sglang_prefill) != std::string_view::npos) &&
          line.find("token usage: ") != std::string_view::npos);
}

void read_engine_journal(std::string_view text, const std::string& file, Signals& signals) {
  Diagnostics problems;
  EngineSeries vllm{file, "vLLM", {}, {}};
  EngineSeries sglang{file, "SGLang", {}, {}};
  double preempted = 0.0;
  double retracted = 0.0;
  double cached = 0.0;
  double looked_up = 0.0;
  TextLines lines{text};
  const auto take = [&](EngineSample& sample, const auto& numbers) {
    for (const JournalNumber& number : numbers) {
      const std::size_t at = lines.line().find(number.before);
      if (at == std::string_view::npos) {
        continue;
      }
      const std::string_view rest = lines.line().substr(at + number.before.size());
      const RealRead read = read_real(rest);
      const std::string_view digits = rest.substr(0, read.good() ? read.length : std::min(rest.find(' '), rest.size()));
      take_value(sample.at(number.signal),
                 {number.before, digits, number.factor, number.signal == EngineSignal::cache_use}, problems, file,
                 lines.at(digits));
      if (digits.empty()) {
        problems.add(file, {lines.number(), 1}, "the line breaks off behind " + quoted(number.before));
      }
    }
  };
  while (lines.next()) {
    const std::string_view line = lines.line();
    if (line.find("preempted by PreemptionMode") != std::string_view::npos) {
      preempted = reading_behind(line, "total_num_cumulative_preemption=").value_or(preempted + 1.0);
    } else if (line.find("Retract requests") != std::string_view::npos) {
      retracted += reading_behind(line, "#retracted_reqs: ").value_or(1.0);
    }
    if (!tells_engine_load(line)) {
      continue;
    }
    const bool is_vllm = line.find(vllm_mark) != std::string_view::npos;
    EngineSample sample;
    sample.line = lines.number();
    sample.time = time_of_line(line);
    if (is_vllm) {
      take(sample, vllm_numbers);
      sample.at(EngineSignal::preemptions) = preempted;
    } else {
      take(sample, sglang_numbers);
      sample.at(EngineSignal::preemptions) = retracted;
      if (line.find(sglang_prefill) != std::string_view::npos) {
        cached += reading_behind(line, "#cached-token: ").value_or(0.0);
        looked_up +=
            reading_behind(line, "#cached-token: ").value_or(0.0) + reading_behind(line, "#new-token: ").value_or(0.0);
      }
      if (looked_up > 0.0) {
        sample.at(EngineSignal::prefix_hits) = std::clamp(cached / looked_up, 0.0, 1.0);
      }
    }
    (is_vllm ? vllm : sglang).samples.push_back(sample);
  }
  if (problems.empty() && vllm.samples.empty() && sglang.samples.empty()) {
    problems.add(file, {},
                 "no line tells the engine's load ('Avg prompt throughput', 'Decode batch'): give the log of "
                 "a server at work, at level INFO");
  }
  problems.throw_if_any();
  for (EngineSeries* series : {&vllm, &sglang}) {
    if (!series->samples.empty()) {
      if (series == &vllm && preempted > 0.0) {
        series->samples.back().at(EngineSignal::preemptions) = preempted;
      }
      signals.engines.push_back(std::move(*series));
    }
  }
}

}  // namespace headroom
