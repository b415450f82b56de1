// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/gate/run_gate.hpp>
#include <headroom/calibrate/samples/spread.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/statistics.hpp>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

namespace headroom {
namespace {

constexpr double of_normal = 1.4826;  // standard deviation over median absolute deviation of a normal distribution

bool is_among(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::string title_of(const BenchmarkSeries& series) {
  return series.of.empty() ? series.metric : series.of + ": " + series.metric;
}

GateSide side_of(const BenchmarkSeries& series) {
  GateSide side;
  if (series.summary) {
    const BenchmarkSummary& told = *series.summary;
    return {told.n, told.mean, told.mean, told.deviation, 0};
  }
  side.n = static_cast<double>(series.values.size());
  side.mean = mean(series.values);
  side.median = median(series.values);
  std::vector<double> away;
  away.reserve(series.values.size());
  for (const double value : series.values) {
    away.push_back(std::abs(value - side.median));
  }
  side.deviation = of_normal * median(away);
  const std::vector<bool> odd = outliers_of(series.values);
  side.outliers = static_cast<std::size_t>(std::count(odd.begin(), odd.end(), true));
  return side;
}

/// Moments of logarithms of times: of a metric that is better higher, of its reciprocal.
LogMoments time_moments(const BenchmarkSeries& series, Better better) {
  LogMoments m = series.summary ? log_moments(series.summary->n, series.summary->mean, series.summary->deviation)
                                : log_moments(series.values);
  m.mean = better == Better::higher ? -m.mean : m.mean;
  return m;
}

double as_change(double time_ratio, Better better) {
  return (better == Better::higher ? 1.0 / time_ratio : time_ratio) - 1.0;
}

struct Pair {
  const BenchmarkSeries* baseline = nullptr;
  const BenchmarkSeries* candidate = nullptr;
};

class Judge {
 public:
  Judge(RunGate& gate, const RunGateRule& rule) : gate_{gate}, rule_{rule} {}

  void run() {
    check_names();
    const std::vector<Pair> pairs = matched();
    for (const Pair& pair : pairs) {
      check_values(*pair.baseline, gate_.baseline.file);
      check_values(*pair.candidate, gate_.candidate.file);
    }
    problems_.throw_if_any();
    if (pairs.empty()) {
      throw ConfigError{nothing_in_common()};
    }
    std::vector<GateRow> rows;
    for (const Pair& pair : pairs) {
      judge_pair(pair, rows);
    }
    correct_for_number(rows, rule_.rule);
    std::size_t next = 0;
    for (MetricGate& metric : gate_.metrics) {
      if (metric.tested) {
        metric.verdict = rows[next].verdict;
        metric.p = rows[next].p;
        ++next;
      }
    }
    set_verdict();
    const auto order = [](const MetricGate& m) {
      return !m.tested ? 4 : m.verdict == GateVerdict::slower ? 0 : m.verdict == GateVerdict::inconclusive ? 1 : 2;
    };
    std::stable_sort(gate_.metrics.begin(), gate_.metrics.end(),
                     [&](const MetricGate& a, const MetricGate& b) { return order(a) < order(b); });
  }

 private:
  void check_names() {
    for (const std::vector<std::string>* const names : {&rule_.metrics, &rule_.lower, &rule_.higher}) {
      for (const std::string& name : *names) {
        for (const BenchmarkResult* const side : {&gate_.baseline, &gate_.candidate}) {
          std::vector<std::string_view> known;
          for (const BenchmarkSeries& series : side->series) {
            known.push_back(series.metric);
          }
          if (std::find(known.begin(), known.end(), name) == known.end()) {
            problems_.add(side->file, {}, "it has no metric " + quoted(name) + suggestion(name, known));
          }
        }
      }
    }
    for (const std::string& name : rule_.lower) {
      if (is_among(rule_.higher, name)) {
        problems_.add("", {}, quoted(name) + " is named by --lower and by --higher; one is true");
      }
    }
  }

  [[nodiscard]] Better better_in(const BenchmarkSeries& series) const {
    return is_among(rule_.lower, series.metric)    ? Better::lower
           : is_among(rule_.higher, series.metric) ? Better::higher
                                                   : series.better;
  }

  [[nodiscard]] bool is_asked(const BenchmarkSeries& series) const {
    return rule_.metrics.empty()
               ? series.usual || is_among(rule_.lower, series.metric) || is_among(rule_.higher, series.metric)
               : is_among(rule_.metrics, series.metric);
  }

  static std::set<std::string> cases_of(const BenchmarkResult& result) {
    std::set<std::string> cases;
    for (const BenchmarkSeries& series : result.series) {
      cases.insert(series.of);
    }
    return cases;
  }

  std::vector<Pair> matched() {
    std::vector<Pair> pairs;
    const bool alone = cases_of(gate_.baseline).size() == 1 && cases_of(gate_.candidate).size() == 1;
    const auto same = [&](const BenchmarkSeries& a, const BenchmarkSeries& b) {
      return a.metric == b.metric && (alone || a.of == b.of);
    };
    const auto has = [&](const BenchmarkResult& result, const BenchmarkSeries& other) {
      return std::find_if(result.series.begin(), result.series.end(),
                          [&](const BenchmarkSeries& one) { return same(one, other); });
    };
    for (const BenchmarkSeries& series : gate_.baseline.series) {
      const auto other = has(gate_.candidate, series);
      if (!is_asked(series)) {
        continue;
      }
      if (other == gate_.candidate.series.end()) {
        gate_.only_baseline.push_back(title_of(series));
      } else if (better_in(series) != Better::unknown) {
        pairs.push_back({&series, &*other});
      } else if (is_among(rule_.metrics, series.metric)) {
        problems_.add(gate_.baseline.file, {}, no_direction(series.metric));
      } else if (!is_among(gate_.passed_over, series.metric)) {
        gate_.passed_over.push_back(series.metric);
      }
    }
    for (const BenchmarkSeries& series : gate_.candidate.series) {
      if (is_asked(series) && has(gate_.baseline, series) == gate_.baseline.series.end()) {
        gate_.only_candidate.push_back(title_of(series));
      }
    }
    if (pairs.empty() && problems_.empty() && !gate_.passed_over.empty()) {
      problems_.add(gate_.baseline.file, {}, no_direction(gate_.passed_over.front()));
    }
    return pairs;
  }

  static std::string no_direction(const std::string& metric) {
    return "the name " + quoted(metric) + " does not say whether less or more is better; say --lower " + metric +
           " or --higher " + metric;
  }

  void check_values(const BenchmarkSeries& series, const std::string& file) {
    const auto wrong = std::find_if(series.values.begin(), series.values.end(),
                                    [](double value) { return !(value > 0.0) || !std::isfinite(value); });
    if (wrong != series.values.end() || (series.summary && !(series.summary->mean > 0.0))) {
      problems_.add(file, {},
                    title_of(series) + " holds " +
                        std::to_string(wrong != series.values.end() ? *wrong : series.summary->mean) +
                        ", and changes are told as shares, for which values must be above 0; take the run out, or "
                        "judge other metrics with --metric");
    }
    if (!series.summary && series.values.empty()) {
      problems_.add(file, {}, title_of(series) + " holds no value");
    }
  }

  [[nodiscard]] std::string nothing_in_common() const {
    const auto first = [](const std::vector<std::string>& names) { return names.empty() ? "" : quoted(names.front()); };
    return "the two hold no metric in common: the baseline has " + first(gate_.only_baseline) + ", the candidate " +
           first(gate_.only_candidate);
  }

  void judge_pair(const Pair& pair, std::vector<GateRow>& rows) {
    MetricGate m;
    m.of = pair.baseline->of;
    m.metric = pair.baseline->metric;
    m.unit = pair.baseline->unit;
    m.better = better_in(*pair.baseline);
    m.baseline = side_of(*pair.baseline);
    m.candidate = side_of(*pair.candidate);
    m.median_change = m.candidate.median / m.baseline.median - 1.0;
    m.tested = m.baseline.n >= 2.0 && m.candidate.n >= 2.0;
    if (m.tested) {
      const LogMoments a = time_moments(*pair.baseline, m.better);
      const LogMoments b = time_moments(*pair.candidate, m.better);
      const LogDifference d = welch(a, b);
      GateRow row;
      judge(row, d, rule_.rule);
      m.change = as_change(row.ratio, m.better);
      m.low = std::min(as_change(row.low, m.better), as_change(row.high, m.better));
      m.high = std::max(as_change(row.low, m.better), as_change(row.high, m.better));
      m.least_shown = least_shown(d, rule_.power, rule_.rule);
      m.runs_needed = runs_needed(0.5 * (a.variance + b.variance), rule_.power, rule_.rule);
      rows.push_back(std::move(row));
    } else {
      m.change = m.low = m.high = m.candidate.mean / m.baseline.mean - 1.0;
    }
    gate_.metrics.push_back(std::move(m));
  }

  void set_verdict() {
    bool tested = false;
    bool any_same = false;
    bool unsure = false;
    gate_.verdict = GateVerdict::inconclusive;
    for (const MetricGate& metric : gate_.metrics) {
      if (!metric.tested) {
        continue;
      }
      tested = true;
      if (metric.verdict == GateVerdict::slower) {
        gate_.verdict = GateVerdict::slower;
        return;
      }
      unsure = unsure || metric.verdict == GateVerdict::inconclusive;
      any_same = any_same || metric.verdict == GateVerdict::same;
    }
    if (tested && !unsure) {
      gate_.verdict = any_same ? GateVerdict::same : GateVerdict::faster;
    }
  }

  RunGate& gate_;
  const RunGateRule& rule_;
  Diagnostics problems_;
};

}  // namespace

RunGate judge_runs(BenchmarkResult baseline, BenchmarkResult candidate, const RunGateRule& rule) {
  RunGate gate;
  gate.baseline = std::move(baseline);
  gate.candidate = std::move(candidate);
  Judge{gate, rule}.run();
  return gate;
}

}  // namespace headroom
