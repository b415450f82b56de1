// SPDX-License-Identifier: Apache-2.0
// Iterations of an engine: a GPU that waits for its host between them, prompts that hold decodes up.
#include <headroom/calibrate/diagnosis/signal_causes.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>
#include <headroom/core/statistics.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headroom {
namespace {

constexpr double least_iteration_share = 0.03;
constexpr std::size_t least_iterations = 20;

/// Sums over a log. The first iterations warm up: a tenth is left out.
struct IterationSums {
  double host = 0.0, told_host = 0.0, device = 0.0, prompt_time = 0.0, requests = 0.0, generated = 0.0;
  std::int64_t count = 0, with_prompts = 0;
  std::vector<double> decodes, mixed;

  explicit IterationSums(const IterationLog& log) {
    const std::size_t first = log.iterations.size() / 10;
    for (std::size_t i = first; i < log.iterations.size(); ++i) {
      const EngineIteration& iteration = log.iterations[i];
      const double time = iteration.host.raw();
      ++count;
      host += time;
      requests += iteration.requests;
      generated += iteration.generated_tokens;
      const bool prompts = iteration.prompt_tokens > 0.0;
      with_prompts += prompts ? 1 : 0;
      prompt_time += prompts ? time : 0.0;
      (prompts ? mixed : decodes).push_back(time);
      // The line tells the GPU's time of the iteration before.
      if (i > first && iteration.device_before) {
        device += iteration.device_before->raw();
        told_host += log.iterations[i - 1].host.raw();
      }
    }
  }
};

void add_log(const IterationLog& log, FindingTable& table, RunReading& reading) {
  const IterationSums sums{log};
  const double count = real(std::max<std::int64_t>(1, sums.count));
  const std::optional<double> busy =
      sums.told_host > 0.0 ? std::optional{std::min(1.0, sums.device / sums.told_host)} : std::nullopt;
  const auto middle = [](const std::vector<double>& times) {
    return times.empty() ? FindingCell{} : FindingCell{Seconds{median(times)}};
  };
  table.rows.push_back({log.file, sums.count, Seconds{sums.host / count},
                        busy ? FindingCell{*busy * Seconds{sums.host / count}} : FindingCell{},
                        real(sums.with_prompts) / count, sums.host > 0.0 ? sums.prompt_time / sums.host : 0.0,
                        middle(sums.decodes), middle(sums.mixed), sums.requests / count});
  if (sums.host > 0.0) {
    reading.notes.push_back(log.file + ": " + format_number(sums.generated / sums.host, 4) +
                            " tokens/s are generated in " + counted(sums.count, "iteration") +
                            "; the first tenth is left out.");
  }
  if (static_cast<std::size_t>(sums.count) < least_iterations) {
    return;
  }
  const std::string place = log.file + ":" + std::to_string(log.iterations.front().line) + ": ";
  if (busy && 1.0 - *busy >= least_iteration_share) {
    reading.causes.push_back(
        {CauseKind::host_bound,
         1.0 - *busy,
         *busy,
         "The host takes " + format(Seconds{sums.host / count}) + " for an iteration whose work the GPU does in " +
             format(*busy * Seconds{sums.host / count}) + ": it waits for the scheduler the rest of the time.",
         "Turn the overlap scheduler and CUDA graphs on, pad batches to the graphs' sizes, give the server whole "
         "cores.",
         {place + "host_step_time beside prev_device_step_time of the next line"}});
  }
  // What prompts cost the decodes beside them: those iterations' time beyond an iteration without.
  if (!sums.decodes.empty() && !sums.mixed.empty()) {
    const double decode = median(sums.decodes);
    double beyond = 0.0;
    for (const double time : sums.mixed) {
      beyond += std::max(0.0, time - decode);
    }
    const double held = median(sums.mixed) / std::max(decode, 1e-12);
    constexpr double much = 2.0;
    if (held > much && beyond / sums.host >= least_iteration_share) {
      reading.causes.push_back({CauseKind::long_prompts,
                                beyond / sums.host,
                                1.0 - beyond / sums.host,
                                "An iteration with prompts takes " + format(Seconds{median(sums.mixed)}) +
                                    ", one without " + format(Seconds{decode}) +
                                    ": decodes beside prompts are held up, " +
                                    percent(real(sums.with_prompts) / count, 2) + " of the iterations.",
                                "Prefill in smaller chunks (fewer tokens an iteration), or on servers of its own.",
                                {place + "num_ctx_tokens above 0"}});
    }
  }
}

}  // namespace

void add_iterations(const Signals& signals, RunReading& reading) {
  FindingTable table{"iterations",
                     "Iterations of the engine:",
                     {{"log", "<log"},
                      {"count", "iterations"},
                      {"host_s", "on the host"},
                      {"device_s", "on the GPU"},
                      {"with_prompts", "with prompts"},
                      {"prompt_time", "of the time"},
                      {"decode_s", "without prompts"},
                      {"mixed_s", "with prompts"},
                      {"requests", "requests"}},
                     {}};
  for (const IterationLog& log : signals.iterations) {
    add_log(log, table, reading);
  }
  keep_table(std::move(table), reading);
}

}  // namespace headroom
