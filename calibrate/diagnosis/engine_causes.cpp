// SPDX-License-Identifier: Apache-2.0
// What a serving engine's load says: its cache, its queue, what it computed twice.
#include <headroom/calibrate/diagnosis/signal_causes.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace headroom {
namespace {

/// Above it the next request waits for blocks of others.
constexpr double full_cache = 0.95;

/// The mean, the highest, and the last told value of a number.
struct Told {
  double sum = 0.0, most = 0.0, first = 0.0, last = 0.0;
  std::int64_t count = 0;
  void take(std::optional<double> value) {
    if (value) {
      first = count == 0 ? *value : first;
      sum += *value;
      most = std::max(most, *value);
      last = *value;
      ++count;
    }
  }
  [[nodiscard]] FindingCell mean() const { return count > 0 ? FindingCell{sum / real(count)} : FindingCell{}; }
  [[nodiscard]] FindingCell highest() const { return count > 0 ? FindingCell{most} : FindingCell{}; }
};

struct EngineLoad {
  std::array<Told, engine_signal_count> told{};
  std::int64_t samples = 0, at_work = 0, full = 0, queued = 0;
  int first_full = 0;  ///< line

  [[nodiscard]] const Told& of(EngineSignal signal) const { return told[static_cast<std::size_t>(signal)]; }

  explicit EngineLoad(const EngineSeries& series) {
    for (const EngineSample& sample : series.samples) {
      ++samples;
      for (std::size_t i = 0; i < engine_signal_count; ++i) {
        told[i].take(sample.values[i]);
      }
      const double running = sample.get(EngineSignal::running).value_or(0.0);
      const double waiting = sample.get(EngineSignal::waiting).value_or(0.0);
      at_work += running > 0.0 || waiting > 0.0 ? 1 : 0;
      const bool full_now = sample.get(EngineSignal::cache_use).value_or(0.0) >= full_cache;
      full += full_now && waiting > 0.0 ? 1 : 0;
      queued += waiting > 0.0 && !full_now ? 1 : 0;
      first_full = first_full == 0 && full_now && waiting > 0.0 ? sample.line : first_full;
    }
  }
  /// Preempted while the file tells of it; of one sample alone, since the start.
  [[nodiscard]] double preempted() const {
    const Told& counted_ones = of(EngineSignal::preemptions);
    return counted_ones.count > 1 && counted_ones.last >= counted_ones.first
               ? std::max(counted_ones.last - counted_ones.first, counted_ones.first == 0.0 ? counted_ones.last : 0.0)
               : counted_ones.last;
  }
  /// Share of prompt tokens that the cache held.
  [[nodiscard]] std::optional<double> prefix_hits() const {
    const Told& hits = of(EngineSignal::prefix_hits);
    const Told& queries = of(EngineSignal::prefix_queries);
    if (queries.count > 0) {
      return queries.last > 0.0 ? std::optional{std::min(1.0, hits.last / queries.last)} : std::nullopt;
    }
    return hits.count > 0 && hits.last <= 1.0 ? std::optional{hits.last} : std::nullopt;
  }
};

}  // namespace

void add_engines(const Signals& signals, RunReading& reading) {
  FindingTable table{"engines",
                     "Load of the engines",
                     {{"engine", "<engine"},
                      {"server", "<server"},
                      {"running", "running"},
                      {"waiting", "waiting"},
                      {"cache_use", "KV cache"},
                      {"most_cache_use", "at most"},
                      {"generated_tokens_per_s", "tokens/s"},
                      {"preemptions", "preempted"},
                      {"prefix_hits", "prefix hits"}},
                     {}};
  for (const EngineSeries& series : signals.engines) {
    const EngineLoad load{series};
    const std::optional<double> hits = load.prefix_hits();
    const double preempted = load.preempted();
    table.rows.push_back({series.engine, series.server.empty() ? FindingCell{} : FindingCell{series.server},
                          load.of(EngineSignal::running).mean(), load.of(EngineSignal::waiting).mean(),
                          load.of(EngineSignal::cache_use).mean(), load.of(EngineSignal::cache_use).highest(),
                          load.of(EngineSignal::generation_rate).mean(),
                          load.of(EngineSignal::preemptions).count > 0 ? FindingCell{preempted} : FindingCell{},
                          hits ? FindingCell{*hits} : FindingCell{}});
    const double all = real(std::max<std::int64_t>(1, load.at_work));
    const double full = real(load.full) / all;
    if (full >= least_signal_share || (preempted > 0.0 && load.of(EngineSignal::cache_use).most >= full_cache)) {
      std::vector<std::string> evidence;
      if (load.first_full > 0) {
        evidence.push_back(series.file + ":" + std::to_string(load.first_full) +
                           ": the cache is full and requests wait");
      }
      if (preempted > 0.0) {
        evidence.push_back(series.file + ": " + format_count(preempted) + " requests preempted");
      }
      reading.causes.push_back(
          {CauseKind::cache_full, full, std::nullopt,
           "The KV cache of " + series.engine + " is full for " + percent(full) +
               " of the time at work, and requests wait" +
               (preempted > 0.0 ? "; " + format_count(preempted) + " were preempted and are computed again." : "."),
           "Give the cache more: an FP8 KV cache, a higher memory fraction, fewer or narrower weights (quantised, more "
           "tensor ranks); or bound the requests in flight, so that none is computed twice.",
           std::move(evidence)});
    }
    const double queued = real(load.queued) / all;
    constexpr double mostly = 0.5;
    if (queued >= mostly) {
      reading.notes.push_back(series.file + ": requests wait for " + percent(queued) +
                              " of the time while the KV cache has room: the bound of requests or of tokens a step "
                              "(--max-num-seqs, --max-num-batched-tokens; --max-running-requests) holds them.");
    }
  }
  keep_table(std::move(table), reading);
}

}  // namespace headroom
