// SPDX-License-Identifier: Apache-2.0
// Measures a plan until every timing is precise enough or the budget is spent, one journal line per measurement, so
// that it can stop and resume at any point.
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
  double precision = 0.01;        ///< target for half of the median's 95 % interval over the median
  std::int64_t most_rounds = 24;  ///< most measurements of a probe, each of ProbeEffort::repeats spans
  std::optional<Seconds> budget;  ///< total time of all measurements, also before a resumption; absent: unlimited
  Seconds patience{60.0};         ///< longest wait for a measurement, beyond a sustained run's length
};

/// All measurements of one probe.
struct ProbeTiming {
  std::string key;
  Probe probe;
  Sample sample;              ///< latency: median of all counted spans; for sustained runs, median of the runs' medians
  Spread spread;              ///< statistics of `spans`
  std::vector<double> spans;  ///< counted spans in seconds, in order; for sustained runs one value per run
  std::int64_t rounds = 0;    ///< measurements, also those that do not count
  std::int64_t counted = 0;   ///< measurements that count
  std::int64_t throttled = 0;   ///< measurements while heat or a brake slowed the device; ignored while others exist
  bool only_throttled = false;  ///< whether all measurements were so slowed
  std::string refused;          ///< reason why there is no timing; empty: there is one, or it was not tried
};

/// The journal grouped by probe, in order of first mention; `probe` is left empty.
[[nodiscard]] std::vector<ProbeTiming> timings_of(std::span<const JournalEntry> entries);

struct Calibration {
  std::vector<ProbeTiming> probes;  ///< timings of the plan's probes, in its order
  std::vector<Skipped> skipped;     ///< probes that were skipped by the plan or refused
  std::vector<std::string> unmet;   ///< probes that are not precise enough or were not reached
  std::string ended;                ///< reason for stopping early; empty: all done as far as most_rounds allows
  Seconds spent{};                  ///< time of all measurements in the journal

  /// The timings as samples.
  [[nodiscard]] std::vector<Sample> samples() const;
};

struct CalibrationProgress {
  std::size_t done = 0;  ///< probes that reached the precision
  std::size_t all = 0;
  std::string next;
  Seconds spent{};
  Seconds left{};  ///< estimated time left
};
using ShowProgress = std::function<void(const CalibrationProgress&)>;

/// State of a calibration from its plan and journal, without a device.
[[nodiscard]] Calibration calibration_of(const ProbePlan& plan,
                                         std::span<const JournalEntry> entries,
                                         const CalibrationRules& rules);

/// Measures each probe once, then repeats those with the widest intervals, then does the sustained runs; plan, journal
/// and rules alone determine the order. `stopped` is polled between measurements. `prober` and `monitor` (which may be
/// null) are shared, because a measurement that never returns keeps them alive. Throws DeviceError when the device is
/// lost or hangs, or when its timings are impossible (timing_check.hpp); the journal then holds everything measured
/// before.
[[nodiscard]] Calibration calibrate(const std::shared_ptr<Prober>& prober,
                                    const std::shared_ptr<const DeviceMonitor>& monitor,
                                    const Device* datasheet,
                                    const ProbePlan& plan,
                                    const CalibrationRules& rules,
                                    SampleJournal& journal,
                                    const ShowProgress& show,
                                    const std::function<bool()>& stopped);

}  // namespace headroom
