// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/measure/calibration.hpp>
#include <headroom/calibrate/samples/probe_run.hpp>
#include <headroom/calibrate/samples/timing_check.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/statistics.hpp>

#include <algorithm>
#include <chrono>
#include <future>
#include <map>
#include <thread>

namespace headroom {
namespace {

/// Slow-downs that do not belong to the SKU: heat and brakes. A power limit does.
constexpr std::uint64_t heat_and_brakes = 0x8 | 0x20 | 0x40 | 0x80;

bool is_sustained(const Probe& probe) {
  const auto* gemm = std::get_if<GemmProbe>(&probe);
  return gemm != nullptr && gemm->sustained > Seconds{};
}

Seconds sustained_of(const Probe& probe) {
  const auto* gemm = std::get_if<GemmProbe>(&probe);
  return gemm == nullptr ? Seconds{} : gemm->sustained;
}

/// Unique keys of a plan's probes.
std::vector<std::string> keys_of(const ProbePlan& plan) {
  std::vector<std::string> keys;
  std::map<std::string, int> seen;
  for (const Probe& probe : plan.probes) {
    std::string key = name_of(probe);
    for (int times = seen[key]++; times > 0; --times) {
      key += " again";
    }
    keys.push_back(std::move(key));
  }
  return keys;
}

/// Single spans of a measurement if available, else its median.
std::vector<double> spans_of(const Sample& sample) {
  std::vector<double> spans;
  if (sample.lasted <= Seconds{}) {
    for (const Seconds span : sample.told) {
      spans.push_back(span.raw());
    }
  }
  if (spans.empty()) {
    spans.push_back(sample.latency.raw());
  }
  return spans;
}

void add(ProbeTiming& timing, const Sample& sample) {
  const std::vector<double> spans = spans_of(sample);
  timing.spans.insert(timing.spans.end(), spans.begin(), spans.end());
  if (timing.sample.spans == 0) {
    timing.sample = sample;
    timing.sample.told.clear();
    return;
  }
  timing.sample.fastest = std::min(timing.sample.fastest, sample.fastest);
  timing.sample.slowest = std::max(timing.sample.slowest, sample.slowest);
  timing.sample.spans += sample.spans;
  timing.sample.sm_clock = sample.sm_clock;
}

ProbeTiming timing_of(const std::vector<const JournalEntry*>& entries) {
  ProbeTiming timing;
  timing.key = entries.front()->key;
  const auto hot = [](const JournalEntry& e) { return (e.throttle & heat_and_brakes) != 0; };
  for (const JournalEntry* e : entries) {
    ++timing.rounds;
    timing.throttled += e->refused.empty() && hot(*e) ? 1 : 0;
    timing.counted += e->refused.empty() ? 1 : 0;
    timing.refused = e->refused.empty() ? timing.refused : e->refused;
  }
  timing.only_throttled = timing.counted > 0 && timing.throttled == timing.counted;
  for (const JournalEntry* e : entries) {
    if (e->refused.empty() && (timing.only_throttled || !hot(*e))) {
      add(timing, e->sample);
    }
  }
  if (timing.counted > 0) {
    timing.refused.clear();
    timing.spread = spread_of(timing.spans);
    timing.sample.latency = Seconds{timing.spread.median};
  }
  return timing;
}

bool is_met(const ProbeTiming& timing, const CalibrationRules& rules) {
  if (!timing.refused.empty()) {
    return true;  // more measurements cannot help
  }
  return timing.counted > 0 && !timing.only_throttled &&
         (is_sustained(timing.probe) || timing.spread.half_width() <= rules.precision);
}

std::string unmet_text(const ProbeTiming& timing) {
  if (timing.counted == 0) {
    return timing.key + ": not measured";
  }
  if (timing.only_throttled) {
    return timing.key + ": the device was slowed by heat or a brake every time";
  }
  return timing.key + ": " +
         (timing.spread.told ? "the median is known within " + format_number(100.0 * timing.spread.half_width(), 2) +
                                   " % after " + std::to_string(timing.rounds) + " measurements"
                             : "too few spans for an interval");
}

/// A measurement, and the reasons that slowed a sustained one.
using Watched = std::pair<Measurement, std::uint64_t>;

/// Runs one calibration, whose only state is the journal.
class Calibrator {
 public:
  Calibrator(std::shared_ptr<Prober> prober,
             std::shared_ptr<const DeviceMonitor> monitor,
             const Device* datasheet,
             const ProbePlan& plan,
             const CalibrationRules& rules,
             SampleJournal& journal)
      : prober_{std::move(prober)},
        monitor_{std::move(monitor)},
        datasheet_{datasheet},
        plan_{&plan},
        rules_{&rules},
        journal_{&journal},
        state_{calibration_of(plan, journal.entries(), rules)} {}

  Calibration run(const ShowProgress& show, const std::function<bool()>& stopped) {
    std::string ended;
    while (const std::optional<std::size_t> next = choose()) {
      if (stopped && stopped()) {
        ended = "it was interrupted";
        break;
      }
      if (over(state_.probes[*next].probe)) {
        ended = "the budget of " + format(rules_->budget.value_or(Seconds{})) + " is spent";
        break;
      }
      if (show) {
        show(progress(*next));
      }
      measure(*next);
      check_growth();
    }
    state_ = calibration_of(*plan_, journal_->entries(), *rules_);
    state_.ended = std::move(ended);
    return std::move(state_);
  }

 private:
  /// Whether a probe may not be measured again; throttled measurements may exceed the limit, up to twice.
  [[nodiscard]] bool worn_out(const ProbeTiming& timing) const {
    return timing.rounds - timing.throttled >= rules_->most_rounds || timing.rounds >= 2 * rules_->most_rounds;
  }
  /// Order: fewest rounds first, so that a hot phase costs every probe one measurement, then the widest interval.
  static bool before(const ProbeTiming& a, const ProbeTiming& b) {
    return a.rounds != b.rounds ? a.rounds < b.rounds : a.spread.half_width() > b.spread.half_width();
  }

  /// Index of the next probe: first pass in the plan's order, then imprecise probes, then sustained runs.
  [[nodiscard]] std::optional<std::size_t> choose() const {
    std::optional<std::size_t> widest, sustained;
    for (std::size_t i = 0; i < state_.probes.size(); ++i) {
      const ProbeTiming& timing = state_.probes[i];
      if (is_met(timing, *rules_) || worn_out(timing)) {
        continue;
      }
      if (is_sustained(timing.probe)) {
        sustained = sustained ? sustained : i;
      } else if (timing.rounds == 0) {
        return i;
      } else if (!widest || before(timing, state_.probes[*widest])) {
        widest = i;
      }
    }
    if (widest && room_for_more()) {
      return widest;
    }
    return sustained ? sustained : widest;
  }

  /// Time reserved for the sustained runs that are left.
  [[nodiscard]] Seconds set_aside() const {
    Seconds sum{};
    for (const ProbeTiming& timing : state_.probes) {
      sum += timing.rounds == 0 ? sustained_of(timing.probe) : Seconds{};
    }
    return sum;
  }
  [[nodiscard]] bool room_for_more() const { return !rules_->budget || state_.spent + set_aside() < *rules_->budget; }
  [[nodiscard]] bool over(const Probe& next) const {
    return rules_->budget && state_.spent + sustained_of(next) >= *rules_->budget;
  }

  [[nodiscard]] CalibrationProgress progress(std::size_t next) const {
    CalibrationProgress p;
    p.all = state_.probes.size();
    p.next = state_.probes[next].key;
    p.spent = state_.spent;
    std::int64_t rounds = 0;
    double first = 0.0;
    double again = 0.0;
    for (const ProbeTiming& timing : state_.probes) {
      rounds += timing.rounds;
      p.done += is_met(timing, *rules_) ? 1 : 0;
      if (timing.rounds == 0) {
        first += is_sustained(timing.probe) ? 0.0 : 1.0;
      } else if (!is_met(timing, *rules_) && timing.spread.told) {
        // The interval narrows with the square root of the number of spans.
        const double wide = timing.spread.half_width() / rules_->precision;
        again += std::min(static_cast<double>(rules_->most_rounds), wide * wide * static_cast<double>(timing.rounds)) -
                 static_cast<double>(timing.rounds);
      }
    }
    const Seconds each = rounds > 0 ? state_.spent / static_cast<double>(rounds) : Seconds{};
    p.left = (first + std::max(again, 0.0)) * each + set_aside();
    if (rules_->budget) {
      p.left = std::min(p.left, std::max(Seconds{}, *rules_->budget - state_.spent));
    }
    return p;
  }

  /// Measures on a separate thread, because a driver call that never returns can only be abandoned.
  Watched wait_for(const Probe& probe, std::int64_t round) {
    ProbeEffort effort = plan_->effort;
    effort.round = round;
    std::packaged_task<Watched()> task{[prober = prober_, monitor = monitor_, probe, effort] {
      std::uint64_t throttle = 0;
      Measurement measurement = measure_watched(*prober, monitor.get(), probe, effort, throttle);
      return Watched{std::move(measurement), throttle};
    }};
    std::future<Watched> answer = task.get_future();
    std::thread{std::move(task)}.detach();
    const Seconds longest = rules_->patience + 2.0 * sustained_of(probe);
    if (answer.wait_for(std::chrono::duration<double>{longest.raw()}) != std::future_status::ready) {
      throw DeviceError{"hangs: no answer within " + format(longest)};
    }
    return answer.get();
  }

  void measure(std::size_t index) {
    const ProbeTiming& timing = state_.probes[index];
    JournalEntry entry;
    entry.key = timing.key;
    entry.round = timing.rounds;
    const Seconds begun = prober_->clock();
    const auto reasons = [&] { return monitor_ == nullptr ? 0 : slowing(monitor_->read().throttle.value_or(0)); };
    entry.throttle = reasons();
    std::optional<DeviceError> lost;
    try {
      const auto& [measurement, throttle] = wait_for(timing.probe, entry.round);
      entry.throttle |= throttle;
      if (const auto* sample = std::get_if<Sample>(&measurement)) {
        entry.sample = *sample;
        entry.sample.probe = timing.probe;
        entry.refused = datasheet_ == nullptr ? "" : too_fast(entry.sample, *datasheet_).value_or("");
      } else {
        entry.refused = std::get<Skipped>(measurement).why;
      }
    } catch (const DeviceError& error) {
      if (std::string_view{error.what()}.starts_with("hangs")) {
        entry.refused = error.what();  // so that a resumption does not repeat it
      }
      lost = DeviceError{"the device failed at " + timing.key + ": " + error.what()};
    }
    if (lost && entry.refused.empty()) {
      throw DeviceError{*lost};
    }
    if (!lost) {
      entry.throttle |= reasons();
    }
    entry.took = prober_->clock() - begun;
    journal_->append(entry);
    if (lost) {
      throw DeviceError{*lost};
    }
    refresh(index);
  }

  void refresh(std::size_t index) {
    std::vector<const JournalEntry*> entries;
    state_.spent = Seconds{};
    for (const JournalEntry& e : journal_->entries()) {
      state_.spent += e.took;
      if (e.key == state_.probes[index].key) {
        entries.push_back(&e);
      }
    }
    const Probe probe = state_.probes[index].probe;
    state_.probes[index] = timing_of(entries);
    state_.probes[index].probe = state_.probes[index].sample.probe = probe;
  }

  void check_growth() const {
    if (const std::optional<std::string> why = does_not_grow(state_.samples())) {
      throw DeviceError{*why + "; none of these samples can be used: begin anew in another folder",
                        DeviceError::Samples::useless};
    }
    const auto untrue = std::count_if(state_.probes.begin(), state_.probes.end(), [](const ProbeTiming& t) {
      return t.refused.find("the timer did not wait") != std::string::npos;
    });
    constexpr std::ptrdiff_t chance = 3;
    if (untrue >= chance) {
      const auto first = std::find_if(state_.probes.begin(), state_.probes.end(), [](const ProbeTiming& t) {
        return t.refused.find("the timer did not wait") != std::string::npos;
      });
      throw DeviceError{std::to_string(untrue) + " timings are faster than the datasheet allows; " + first->key + " " +
                            first->refused +
                            "; is this the SKU that --gpu names? none of these samples can be used: begin anew in "
                            "another folder",
                        DeviceError::Samples::useless};
    }
  }

  std::shared_ptr<Prober> prober_;
  std::shared_ptr<const DeviceMonitor> monitor_;
  const Device* datasheet_;
  const ProbePlan* plan_;
  const CalibrationRules* rules_;
  SampleJournal* journal_;
  Calibration state_;
};

}  // namespace

std::vector<ProbeTiming> timings_of(std::span<const JournalEntry> entries) {
  std::vector<std::vector<const JournalEntry*>> groups;
  std::map<std::string_view, std::size_t> at;
  for (const JournalEntry& e : entries) {
    const auto [place, added] = at.try_emplace(e.key, groups.size());
    if (added) {
      groups.emplace_back();
    }
    groups[place->second].push_back(&e);
  }
  std::vector<ProbeTiming> timings;
  timings.reserve(groups.size());
  for (const auto& group : groups) {
    timings.push_back(timing_of(group));
  }
  return timings;
}

std::vector<Sample> Calibration::samples() const {
  std::vector<Sample> all;
  for (const ProbeTiming& timing : probes) {
    if (timing.counted > 0) {
      all.push_back(timing.sample);
    }
  }
  return all;
}

Calibration calibration_of(const ProbePlan& plan,
                           std::span<const JournalEntry> entries,
                           const CalibrationRules& rules) {
  Calibration result;
  result.skipped = plan.skipped;
  std::map<std::string, ProbeTiming> known;
  for (ProbeTiming& timing : timings_of(entries)) {
    known.emplace(timing.key, std::move(timing));
  }
  for (const JournalEntry& e : entries) {
    result.spent += e.took;
  }
  const std::vector<std::string> keys = keys_of(plan);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const auto found = known.find(keys[i]);
    ProbeTiming timing = found == known.end() ? ProbeTiming{} : found->second;
    timing.key = keys[i];
    timing.probe = timing.sample.probe = plan.probes[i];
    if (!timing.refused.empty()) {
      result.skipped.push_back({timing.key, timing.refused});
    }
    if (!is_met(timing, rules)) {
      result.unmet.push_back(unmet_text(timing));
    }
    result.probes.push_back(std::move(timing));
  }
  return result;
}

Calibration calibrate(const std::shared_ptr<Prober>& prober,
                      const std::shared_ptr<const DeviceMonitor>& monitor,
                      const Device* datasheet,
                      const ProbePlan& plan,
                      const CalibrationRules& rules,
                      SampleJournal& journal,
                      const ShowProgress& show,
                      const std::function<bool()>& stopped) {
  return Calibrator{prober, monitor, datasheet, plan, rules, journal}.run(show, stopped);
}

}  // namespace headroom
