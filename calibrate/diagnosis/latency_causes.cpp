// SPDX-License-Identifier: Apache-2.0
// Latencies far above the others', and what they have in common.
#include <headroom/calibrate/diagnosis/period.hpp>
#include <headroom/calibrate/diagnosis/signal_causes.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/statistics.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace headroom {
namespace {

constexpr std::size_t least_requests = 20;

/// Whether each request is a spike: above twice the median and six scaled median deviations over it.
std::vector<bool> spikes_of(std::span<const double> latencies, double middle) {
  std::vector<double> deviations;
  deviations.reserve(latencies.size());
  for (const double latency : latencies) {
    deviations.push_back(std::abs(latency - middle));
  }
  constexpr double normal = 1.4826;  // standard deviation over the median deviation of normal numbers
  const double line = std::max(2.0 * middle, middle + 6.0 * normal * median(deviations));
  std::vector<bool> spikes;
  for (const double latency : latencies) {
    spikes.push_back(latency > line);
  }
  return spikes;
}

/// Requests with a feature at or above a line are spikes.
struct Rule {
  double line = 0.0;
  std::size_t hits = 0, marked = 0;
};

/// p ln(p / q), 0 at p = 0.
double term(double p, double q) {
  return p > 0.0 ? p * std::log(p / q) : 0.0;
}

/// The line at which most spikes lie above it, four fifths of what lies above being spikes. It must be no chance: of m
/// requests marked at random a share p or more is spikes with a probability of at most exp(-m KL(p, q)) (Chernoff
/// 1952), q being the share of spikes among all, times the lines that are tried.
std::optional<Rule> rule_of(const std::vector<std::pair<double, bool>>& told, std::size_t spikes) {
  std::vector<std::pair<double, bool>> sorted = told;
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  const auto all = static_cast<double>(sorted.size());
  const double usual = static_cast<double>(spikes) / all;
  constexpr double wanted = 0.8;
  const double most_chance = std::log(0.001 / all);
  Rule best;
  std::size_t hits = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    hits += sorted[i].second ? 1 : 0;
    if (i + 1 < sorted.size() && sorted[i + 1].first == sorted[i].first) {
      continue;
    }
    const double marked = static_cast<double>(i + 1);
    const double right = static_cast<double>(hits) / marked;
    if (right < wanted || hits <= best.hits || right <= usual) {
      continue;
    }
    const double divergence = term(right, usual) + term(1.0 - right, 1.0 - usual);
    if (-marked * divergence <= most_chance) {
      best = {sorted[i].first, hits, i + 1};
    }
  }
  constexpr std::size_t least_hits = 3;
  return best.hits >= least_hits ? std::optional{best} : std::nullopt;
}

/// Spikes of one cause.
struct SpikeGroup {
  std::vector<std::size_t> which;
  Seconds excess{};
};

class SpikeReading {
 public:
  SpikeReading(const LatencySeries& series, FindingTable& table) : series_{series}, table_{table} {
    for (const LatencyPoint& point : series.points) {
      latencies_.push_back(point.latency.raw());
      all_ += point.latency;
    }
    middle_ = median(latencies_);
    left_ = spikes_of(latencies_, middle_);
  }

  void add(RunReading& reading) {
    constexpr double most_spikes = 0.3;
    const auto spikes = static_cast<std::size_t>(std::count(left_.begin(), left_.end(), true));
    const double p99 = quantile(latencies_, 0.99);
    reading.notes.push_back(series_.file + ": " + counted(static_cast<std::int64_t>(latencies_.size()), "request") +
                            ", median " + format(Seconds{middle_}) + ", p99 " + format(Seconds{p99}) + ", " +
                            counted(static_cast<std::int64_t>(spikes), "spike") + " above twice the median.");
    if (latencies_.size() < least_requests) {
      reading.notes.push_back(series_.file + ": fewer than 20 requests tell no cause of spikes.");
      return;
    }
    if (spikes == 0 || static_cast<double>(spikes) > most_spikes * static_cast<double>(latencies_.size())) {
      return;
    }
    add_idle(reading);
    add_prompts(reading);
    add_periodic(reading);
    const auto rest = std::count(left_.begin(), left_.end(), true);
    if (rest > 0) {
      reading.notes.push_back(series_.file + ": " + counted(static_cast<std::int64_t>(rest), "spike") +
                              " follow no idleness, no long prompt and no period: look at batching, the network, "
                              "neighbours and preemptions.");
    }
  }

 private:
  void add_idle(RunReading& reading) {
    std::vector<double> gaps{0.0};
    Seconds free = series_.points.front().begin + series_.points.front().latency;
    for (std::size_t i = 1; i < series_.points.size(); ++i) {
      const LatencyPoint& point = series_.points[i];
      gaps.push_back(std::max(0.0, (point.begin - free).raw()));
      free = std::max(free, point.begin + point.latency);
    }
    const std::optional<Rule> rule = rule_over(gaps);
    if (!rule || !(rule->line > 2.0 * median(gaps))) {
      return;
    }
    const SpikeGroup group = take(gaps, rule->line);
    tell(reading, CauseKind::cold_cache, group,
         counted(static_cast<std::int64_t>(rule->hits), "spike") + " of " +
             counted(static_cast<std::int64_t>(rule->marked), "request") + " that come after " +
             format(Seconds{rule->line}) + " and more of idleness: caches, clocks and connections have gone cold.",
         "Keep it warm: a small request at shorter intervals than that, locked clocks, persistence mode, no scaling to "
         "zero.",
         {});
  }

  void add_prompts(RunReading& reading) {
    std::vector<double> prompts;
    bool told = false;
    for (std::size_t i = 0; i < series_.points.size(); ++i) {
      prompts.push_back(longest_beside(i));
      told = told || series_.points[i].prompt.has_value();
    }
    const std::optional<Rule> rule = told ? rule_over(prompts) : std::nullopt;
    if (!rule || !(rule->line > 2.0 * median(prompts))) {
      return;
    }
    const SpikeGroup group = take(prompts, rule->line);
    tell(
        reading, CauseKind::long_prompts, group,
        counted(static_cast<std::int64_t>(rule->hits), "spike") + " of " +
            counted(static_cast<std::int64_t>(rule->marked), "request") + " with, or beside, a prompt of " +
            format_number(rule->line) + " tokens and more: their prefill holds the others up.",
        "Prefill in chunks (fewer tokens a step), put long prompts on servers of their own, or cache their beginnings.",
        {});
  }

  void add_periodic(RunReading& reading) {
    std::vector<Seconds> events;
    std::vector<std::size_t> which;
    Seconds until{-1.0};
    for (std::size_t i = 0; i < series_.points.size(); ++i) {
      if (!left_[i]) {
        continue;
      }
      const LatencyPoint& point = series_.points[i];
      // A stop holds up all requests in flight: they are one event, as are those that queue behind them.
      const Seconds end = point.begin + point.latency;
      if (events.empty() || point.begin > until) {
        events.push_back(end);
      }
      until = std::max(until, end);
      which.push_back(i);
    }
    const std::optional<Period> period = period_of(events);
    if (!period) {
      return;
    }
    SpikeGroup group;
    for (const std::size_t i : which) {
      put(group, i);
    }
    tell(reading, CauseKind::collector, group,
         counted(static_cast<std::int64_t>(events.size()), "spike") + " come every " + format(period->period) +
             ": something stops the server at a fixed period (a garbage collector, a checkpoint or a health check, a "
             "job of the host, a clock that heat holds down).",
         "Look at what runs at that period: collect garbage between requests (gc.freeze, a higher threshold), move "
         "periodic work off the serving host, compare with clocks over time.",
         period->period);
  }

  /// The longest prompt among a request and those in flight beside it.
  [[nodiscard]] double longest_beside(std::size_t i) const {
    const std::vector<LatencyPoint>& points = series_.points;
    constexpr std::size_t most_beside = 256;
    double longest = points[i].prompt.value_or(0.0);
    const Seconds end = points[i].begin + points[i].latency;
    for (std::size_t j = i + 1; j < points.size() && j - i <= most_beside && points[j].begin < end; ++j) {
      longest = std::max(longest, points[j].prompt.value_or(0.0));
    }
    for (std::size_t back = 1; back <= std::min(i, most_beside); ++back) {
      const LatencyPoint& before = points[i - back];
      if (before.begin + before.latency > points[i].begin) {
        longest = std::max(longest, before.prompt.value_or(0.0));
      }
    }
    return longest;
  }

  [[nodiscard]] std::optional<Rule> rule_over(std::span<const double> feature) const {
    std::vector<std::pair<double, bool>> told;
    std::size_t spikes = 0;
    for (std::size_t i = 0; i < feature.size(); ++i) {
      told.emplace_back(feature[i], left_[i]);
      spikes += left_[i] ? 1 : 0;
    }
    return spikes == 0 ? std::nullopt : rule_of(told, spikes);
  }

  void put(SpikeGroup& group, std::size_t i) {
    group.which.push_back(i);
    group.excess += series_.points[i].latency - Seconds{middle_};
    left_[i] = false;
  }

  /// The spikes at or above a line, taken from those that are left.
  SpikeGroup take(std::span<const double> feature, double line) {
    SpikeGroup group;
    for (std::size_t i = 0; i < feature.size(); ++i) {
      if (left_[i] && feature[i] >= line) {
        put(group, i);
      }
    }
    return group;
  }

  void tell(RunReading& reading,
            CauseKind kind,
            const SpikeGroup& group,
            std::string says,
            std::string cure,
            std::optional<Seconds> period) {
    std::vector<double> cured = latencies_;
    for (const std::size_t i : group.which) {
      cured[i] = middle_;
    }
    const double lost = group.excess / all_;
    says += " Without them the p99 is " + format(Seconds{quantile(cured, 0.99)}) + " in place of " +
            format(Seconds{quantile(latencies_, 0.99)}) + ".";
    std::vector<std::string> evidence;
    constexpr std::size_t most_lines = 4;
    for (const std::size_t i : group.which) {
      if (evidence.size() < most_lines) {
        const LatencyPoint& point = series_.points[i];
        evidence.push_back(series_.file + ":" + std::to_string(point.line) + ": " + format(point.latency));
      }
    }
    table_.rows.push_back({series_.file, std::string{cause_names[static_cast<std::size_t>(kind)]},
                           static_cast<std::int64_t>(group.which.size()),
                           Seconds{middle_} + group.excess / static_cast<double>(group.which.size()),
                           period ? FindingCell{*period} : FindingCell{}});
    reading.causes.push_back({kind, lost, 1.0 - lost, std::move(says), std::move(cure), std::move(evidence)});
  }

  const LatencySeries& series_;
  std::vector<double> latencies_;
  std::vector<bool> left_;  ///< spikes that no cause explains yet
  Seconds all_{};
  double middle_ = 0.0;
  FindingTable& table_;
};

}  // namespace

void add_latencies(const Signals& signals, RunReading& reading) {
  FindingTable table{"spikes",
                     "Spikes of the latency by cause",
                     {{"file", "<file"},
                      {"cause", "<cause"},
                      {"count", "spikes"},
                      {"latency_s", "mean latency"},
                      {"period_s", "every"}},
                     {}};
  for (const LatencySeries& series : signals.latencies) {
    SpikeReading{series, table}.add(reading);
  }
  keep_table(std::move(table), reading);
}

}  // namespace headroom
