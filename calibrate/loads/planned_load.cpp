// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/diagnosis/signal_causes.hpp>
#include <headroom/calibrate/loads/planned_load.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>

#include <algorithm>
#include <cmath>
#include <string>

namespace headroom {
namespace {

/// A metric of a load as plain numbers, seconds or a second.
struct HeldMetric {
  std::string_view name;
  std::optional<double> run;
  double low = 0.0, plan = 0.0, high = 0.0;
  bool time = false;

  [[nodiscard]] bool within() const { return run && *run >= low && *run <= high; }
  [[nodiscard]] FindingCell cell(double number) const {
    return time ? FindingCell{Seconds{number}} : FindingCell{number};
  }
  [[nodiscard]] std::string text(double number) const {
    return time ? format(Seconds{number}) : format_number(number, 3);
  }
};

HeldMetric held_time(std::string_view name, std::optional<Seconds> run, const Interval<Seconds>& plan) {
  return {name, run ? std::optional{run->raw()} : std::nullopt, plan.low.raw(), plan.mid.raw(), plan.high.raw(), true};
}

HeldMetric held_rate(std::string_view name, std::optional<double> run, const Interval<double>& plan) {
  return {name, run, plan.low, plan.mid, plan.high, false};
}

std::string sentence(const ToldLoad& load, const std::vector<HeldMetric>& metrics) {
  std::string text = load.who + ": ";
  bool first = true;
  for (const HeldMetric& metric : metrics) {
    if (!metric.run || metric.plan <= 0.0) {
      continue;
    }
    const double ratio = *metric.run / metric.plan;
    text += (first ? "" : "; ") + std::string{metric.name} + " " + metric.text(*metric.run) + ", planned " +
            metric.text(metric.plan) +
            (metric.within() ? ", as planned"
                             : ", " + percent(std::abs(ratio - 1.0), 2) + (ratio > 1.0 ? " more" : " less"));
    first = false;
  }
  return text + ".";
}

void add_terms(const PlannedTerms& terms, const HeldMetric& metric, const ToldLoad& load, FindingTable& table) {
  const double gap = *metric.run - metric.plan;
  PlannedTerms sorted = terms;
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  constexpr double rounding = 1e-3;
  for (const auto& [name, time] : sorted) {
    if (time.raw() <= rounding * metric.plan) {
      continue;
    }
    const double alone = (time.raw() + gap) / time.raw();
    table.rows.push_back({load.who, std::string{metric.name}, std::string{name}, time, time.raw() / metric.plan,
                          alone > 0.0 ? FindingCell{alone} : FindingCell{}});
  }
}

}  // namespace

void add_planned_load(const PlannedLoad& plan, RunReading& reading) {
  FindingTable held{"planned_loads",
                    "The load beside its plan:",
                    {{"load", "<load"},
                     {"metric", "<metric"},
                     {"run", "run"},
                     {"plan_low", "plan, low"},
                     {"plan", "plan"},
                     {"plan_high", "plan, high"},
                     {"of_plan", "run over plan"}},
                    {}};
  FindingTable terms{"planned_terms",
                     "What the plan spends it on, and how many times as long each would be, were it alone to blame:",
                     {{"load", "<load"},
                      {"metric", "<metric"},
                      {"term", "<term"},
                      {"plan_s", "plan"},
                      {"share", "of it"},
                      {"times_as_long", "alone to blame"}},
                     {}};
  for (const ToldLoad& load : reading.loads) {
    const HeldMetric first = held_time("TTFT", load.ttft, plan.ttft);
    const HeldMetric each = held_time("TPOT", load.tpot, plan.tpot);
    const std::vector<HeldMetric> metrics{
        first, each, held_rate("requests/s", load.requests_per_s, plan.requests_per_s),
        held_rate("output tokens/s", load.output_tokens_per_s, plan.output_tokens_per_s)};
    bool any = false;
    for (const HeldMetric& metric : metrics) {
      if (metric.run && metric.plan > 0.0) {
        any = true;
        held.rows.push_back({load.who, std::string{metric.name}, metric.cell(*metric.run), metric.cell(metric.low),
                             metric.cell(metric.plan), metric.cell(metric.high), *metric.run / metric.plan});
      }
    }
    if (first.run && *first.run > first.high) {
      add_terms(plan.ttft_terms, first, load, terms);
    }
    if (each.run && *each.run > each.high) {
      add_terms(plan.tpot_terms, each, load, terms);
    }
    if (any) {
      reading.notes.push_back(sentence(load, metrics));
    }
    constexpr double alike = 1.5;
    if (plan.concurrency > 0.0 && load.in_flight &&
        (*load.in_flight > alike * plan.concurrency || plan.concurrency > alike * *load.in_flight)) {
      reading.notes.push_back(load.who + ": " + format_number(*load.in_flight, 3) +
                              " requests are in flight, the plan has " + format_number(plan.concurrency, 3) +
                              ": set serving.concurrency to what was measured.");
    }
  }
  for (FindingTable* table : {&held, &terms}) {
    keep_table(std::move(*table), reading);
  }
}

}  // namespace headroom
