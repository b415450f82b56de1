// SPDX-License-Identifier: Apache-2.0
// Measures a plan until every timing is known well enough or the time is over, one journal line a measurement, so that
// it can end anywhere and go on later.
#pragma once

#include <headroom/calibrate/probe/nvml.hpp>
#include <headroom/calibrate/samples/probe_plan.hpp>
#include <headroom/calibrate/samples/sample_journal.hpp>
#include <headroom/calibrate/samples/spread.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace headroom {

struct CalibrationRules {
  double precision = 0.01;        ///< half of the median's 95 % interval over the median
  std::int64_t most_rounds = 24;  ///< measurements of one probe, each of ProbeEffort::repeats spans
  std::optional<Seconds> budget;  ///< of all measurements, resumed ones included; nullopt: none
  Seconds patience{60.0};         ///< for one measurement, beyond what a sustained run lasts; then the device hangs
};

/// All that was measured of one probe.
struct ProbeTiming {
  std::string key;
  Probe probe;
  Sample sample;                ///< median of all spans that count; of sustained runs of the runs' medians
  Spread spread;                ///< of those spans
  std::vector<double> spans;    ///< seconds, in order; of sustained runs one a run
  std::int64_t rounds = 0;      ///< measurements, those that do not count included
  std::int64_t counted = 0;     ///< measurements that count
  std::int64_t throttled = 0;   ///< measurements under a slow-down by heat or brake; left out while others remain
  bool only_throttled = false;  ///< no others remain
  std::string refused;          ///< why it has no timing; empty: it has one, or was never tried
};

/// The journal by probe, in order of first mention; `probe` is not set.
[[nodiscard]] std::vector<ProbeTiming> timings_of(std::span<const JournalEntry> entries);

struct Calibration {
  std::vector<ProbeTiming> probes;  ///< of the plan, in its order
  std::vector<Skipped> skipped;     ///< those of the plan, and those refused
  std::vector<std::string> unmet;   ///< probes whose interval is wider than the rule, or that were not reached
  std::string ended;                ///< why before the rules were met; empty: they are met as far as rounds allow
  Seconds spent{};                  ///< of all measurements in the journal

  /// Timings as samples.
  [[nodiscard]] std::vector<Sample> samples() const;
};

struct CalibrationProgress {
  std::size_t done = 0;  ///< probes whose rule is met
  std::size_t all = 0;
  std::string next;
  Seconds spent{};
  Seconds left{};  ///< estimate
};
using ShowProgress = std::function<void(const CalibrationProgress&)>;

/// What a plan and a journal amount to, without a device.
[[nodiscard]] Calibration calibration_of(const ProbePlan& plan,
                                         std::span<const JournalEntry> entries,
                                         const CalibrationRules& rules);

/// Measures each probe once, then those whose interval is too wide again and again, then the sustained runs; which
/// comes next follows from plan, journal and rules alone. `stopped` is asked between measurements. Prober and monitor
/// (which may be nullptr) are shared, for a measurement that never returns keeps them. Throws DeviceError: the device
/// is lost or hangs, or its timings are not of the work (timing_check.hpp). The journal holds everything measured until
/// then.
[[nodiscard]] Calibration calibrate(const std::shared_ptr<Prober>& prober,
                                    const std::shared_ptr<const DeviceMonitor>& monitor,
                                    const Device* datasheet,
                                    const ProbePlan& plan,
                                    const CalibrationRules& rules,
                                    SampleJournal& journal,
                                    const ShowProgress& show,
                                    const std::function<bool()>& stopped);

}  // namespace headroom
