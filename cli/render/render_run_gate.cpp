// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/markup/table.hpp>
#include <headroom/cli/render/render_run_gate.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace headroom::cli {
namespace {

std::string verdict_word(GateVerdict verdict) {
  return std::string{gate_verdict_names[static_cast<std::size_t>(verdict)]};
}

std::string metric_title(const MetricGate& m) {
  return m.of.empty() ? m.metric : m.of + ": " + m.metric;
}

std::string metric_value(double value, const std::string& unit) {
  return unit == "s" ? format(Seconds{value}) : format_number(value, 4) + (unit.empty() ? "" : " " + unit);
}

/// "+3.1 %", "-0.5 %".
std::string signed_share(double share) {
  return (share < 0.0 ? "-" : "+") + percent(std::abs(share), 3);
}

std::size_t count_of(const RunGate& gate, GateVerdict verdict) {
  return static_cast<std::size_t>(std::count_if(gate.metrics.begin(), gate.metrics.end(),
                                                [&](const MetricGate& m) { return m.tested && m.verdict == verdict; }));
}

const MetricGate* first_with(const RunGate& gate, GateVerdict verdict) {
  const auto found = std::find_if(gate.metrics.begin(), gate.metrics.end(),
                                  [&](const MetricGate& m) { return m.tested && m.verdict == verdict; });
  return found == gate.metrics.end() ? nullptr : &*found;
}

std::string gate_sentence(const RunGate& gate, const RunGateRule& rule) {
  const std::string limit = percent(rule.rule.threshold, 2);
  const MetricGate* const first = first_with(gate, gate.verdict);
  const std::string told = first == nullptr
                               ? std::string{}
                               : metric_title(*first) + " changes by " + signed_share(first->change) + " (" +
                                     signed_share(first->low) + " to " + signed_share(first->high) + ")";
  switch (gate.verdict) {
    case GateVerdict::slower: return "The candidate is slower by more than " + limit + ": " + told + ".";
    case GateVerdict::same: return "The candidate is not slower by more than " + limit + ": " + told + ".";
    case GateVerdict::faster: return "The candidate is faster by more than " + limit + ": " + told + ".";
    case GateVerdict::inconclusive: break;
  }
  if (first == nullptr) {
    return "The runs cannot tell: each side has one value of a metric, which no test judges; run each side more often.";
  }
  return "The runs cannot tell whether the candidate is slower by more than " + limit + ": " + told + "; " +
         (first->runs_needed ? format_count(*first->runs_needed) + " runs of each side would tell with " +
                                   percent(rule.power, 2) + " probability."
                             : "no number of runs within a million would tell.");
}

std::string names_line(const std::vector<std::string>& names) {
  constexpr std::size_t shown = 5;
  std::string text;
  for (std::size_t i = 0; i < std::min(shown, names.size()); ++i) {
    text += (i == 0 ? "" : ", ") + names[i];
  }
  return text + (names.size() > shown ? " and " + std::to_string(names.size() - shown) + " more" : "");
}

std::string side_text(const GateSide& side, const std::string& unit) {
  return metric_value(side.median, unit) + (side.n >= 2.0 ? " +- " + format_number(side.deviation, 2) : "");
}

Value side_value(const GateSide& side) {
  return row("n"_m = side.n, "mean"_m = side.mean, "median"_m = side.median, "deviation"_m = side.deviation,
             "outliers"_m = side.outliers);
}

/// Metrics whose means and medians lie on different sides of the threshold.
std::string disagreement(const MetricGate& m, double threshold) {
  const double worse = m.better == Better::higher ? -1.0 : 1.0;
  const bool by_mean = worse * m.change > threshold;
  const bool by_median = worse * m.median_change > threshold;
  return m.tested && by_mean != by_median && std::abs(m.change - m.median_change) > 0.5 * threshold
             ? metric_title(m) + ": means change by " + signed_share(m.change) + ", medians by " +
                   signed_share(m.median_change) + ": a few runs decide; look at them.\n"
             : "";
}

}  // namespace

std::string run_gate_text(const RunGate& gate, const RunGateRule& rule) {
  std::string text = gate_sentence(gate, rule) + "\n\n";
  Table table{{"metric", "baseline", "candidate", "runs", "change", "interval", "shows", "needs", "<verdict"}};
  constexpr std::size_t shown = 40;
  for (std::size_t i = 0; i < std::min(shown, gate.metrics.size()); ++i) {
    const MetricGate& m = gate.metrics[i];
    table.row({metric_title(m) + (m.better == Better::higher ? ", higher is better" : ", lower is better"),
               side_text(m.baseline, m.unit), side_text(m.candidate, m.unit),
               format_count(m.baseline.n) + ", " + format_count(m.candidate.n), signed_share(m.change),
               m.tested ? signed_share(m.low) + " to " + signed_share(m.high) : "-",
               m.least_shown ? percent(*m.least_shown, 3) : "-", m.runs_needed ? format_count(*m.runs_needed) : "-",
               m.tested ? verdict_word(m.verdict) : "not tested"});
  }
  text += table.text(0);
  text +=
      gate.metrics.size() > shown ? std::to_string(gate.metrics.size() - shown) + " more metrics follow in JSON\n" : "";
  text += "\nA side is its median and 1.4826 median absolute deviations. The change is of means of logarithms with " +
          percent(rule.rule.confidence, 3) +
          " intervals (Welch 1947), outliers moved to the farthest ordinary value, p-values corrected for " +
          counted(static_cast<std::int64_t>(gate.metrics.size()), "metric") +
          " (Holm 1979). These runs show a slow-down of so much with " + percent(rule.power, 2) +
          " probability; to tell no change from " + percent(rule.rule.threshold, 2) +
          " needs so many runs of each side.\n";
  for (const MetricGate& m : gate.metrics) {
    text += disagreement(m, rule.rule.threshold);
    const std::size_t outliers = m.baseline.outliers + m.candidate.outliers;
    text += outliers > 0 ? metric_title(m) + ": " + counted(static_cast<std::int64_t>(outliers), "value") +
                               " lies or lie farther out than five deviations.\n"
                         : "";
  }
  const auto list_of = [&](const std::vector<std::string>& names, const std::string& what) {
    text += names.empty() ? "" : what + names_line(names) + ".\n";
  };
  list_of(gate.passed_over, "Not judged, since the name does not say what is better (--lower, --higher): ");
  list_of(gate.only_baseline, "Only the baseline has: ");
  list_of(gate.only_candidate, "Only the candidate has: ");
  text += "Read as: " + gate.baseline.form + "; " + gate.candidate.form + ".\n";
  for (const std::string& note : gate.baseline.notes) {
    text += note + "\n";
  }
  for (const std::string& note : gate.candidate.notes) {
    const std::vector<std::string>& told = gate.baseline.notes;
    text += std::find(told.begin(), told.end(), note) == told.end() ? note + "\n" : "";
  }
  return text;
}

Value run_gate_document(const RunGate& gate, const RunGateRule& rule) {
  std::vector<std::string> notes = gate.baseline.notes;
  for (const std::string& note : gate.candidate.notes) {
    if (std::find(notes.begin(), notes.end(), note) == notes.end()) {
      notes.push_back(note);
    }
  }
  return object(
      "schema"_m = "headroom.run_gate/1", "verdict"_m = verdict_word(gate.verdict),
      "verdict_text"_m = gate_sentence(gate, rule), "threshold"_m = rule.rule.threshold,
      "confidence"_m = rule.rule.confidence, "power"_m = rule.power, "slower"_m = count_of(gate, GateVerdict::slower),
      "inconclusive"_m = count_of(gate, GateVerdict::inconclusive),
      "baseline"_m = row("file"_m = gate.baseline.file, "form"_m = gate.baseline.form),
      "candidate"_m = row("file"_m = gate.candidate.file, "form"_m = gate.candidate.form),
      "metrics"_m = list(gate.metrics,
                         [](const MetricGate& m) {
                           return object("of"_m = m.of, "metric"_m = m.metric, "unit"_m = m.unit,
                                         "better"_m = m.better == Better::higher ? "higher" : "lower",
                                         "baseline"_m = side_value(m.baseline), "candidate"_m = side_value(m.candidate),
                                         "change"_m = change(m.change), "low"_m = when(m.tested, change(m.low)),
                                         "high"_m = when(m.tested, change(m.high)),
                                         "median_change"_m = change(m.median_change), "p"_m = when(m.tested, m.p),
                                         "least_shown"_m = m.least_shown, "runs_needed"_m = m.runs_needed,
                                         "tested"_m = m.tested, "verdict"_m = verdict_word(m.verdict));
                         }),
      "passed_over"_m = gate.passed_over, "only_baseline"_m = gate.only_baseline,
      "only_candidate"_m = gate.only_candidate, "notes"_m = notes);
}

}  // namespace headroom::cli
