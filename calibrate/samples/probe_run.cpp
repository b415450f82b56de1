// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/samples/probe_run.hpp>
#include <headroom/core/statistics.hpp>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace headroom {
namespace {

/// Reads a device ten times a second on its own thread until stopped.
class Watch {
 public:
  explicit Watch(const DeviceMonitor& nvml) : nvml_{&nvml}, thread_{[this] { watch(); }} {}
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  Watch(Watch&&) = delete;
  Watch& operator=(Watch&&) = delete;
  ~Watch() { stop(); }

  /// Stops reading and returns the readings in order.
  std::vector<DeviceReading> stop() {
    {
      const std::lock_guard lock{mutex_};
      stopped_ = true;
    }
    wake_.notify_all();
    if (thread_.joinable()) {
      thread_.join();
    }
    return std::move(readings_);
  }

 private:
  void watch() {
    constexpr std::chrono::milliseconds pause{100};
    std::unique_lock lock{mutex_};
    do {  // at least once, however short the run
      lock.unlock();
      const DeviceReading reading = nvml_->read();
      lock.lock();
      readings_.push_back(reading);
      wake_.wait_for(lock, pause, [this] { return stopped_; });
    } while (!stopped_);
  }

  const DeviceMonitor* nvml_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopped_ = false;
  std::vector<DeviceReading> readings_;
  std::thread thread_;  // declared last because it uses the members above
};

/// Median of the second half of the readings, where clocks have settled.
template <class Q>
std::optional<Q> settled(const std::vector<DeviceReading>& readings, std::optional<Q> DeviceReading::*member) {
  std::vector<double> values;
  for (std::size_t i = readings.size() / 2; i < readings.size(); ++i) {
    if (const std::optional<Q>& value = readings[i].*member) {
      values.push_back(value->raw());
    }
  }
  return values.empty() ? std::nullopt : std::optional{Q{median(values)}};
}

Measurement measure_sustained(
    Prober& prober, const DeviceMonitor& nvml, const Probe& probe, const ProbeEffort& effort, std::uint64_t& throttle) {
  Watch watch{nvml};
  Measurement measurement = prober.measure(probe, effort);
  const std::vector<DeviceReading> readings = watch.stop();
  if (auto* sample = std::get_if<Sample>(&measurement)) {
    sample->sm_clock = settled(readings, &DeviceReading::sm_clock);
    sample->power = settled(readings, &DeviceReading::power);
    for (const DeviceReading& reading : readings) {
      throttle |= slowing(reading.throttle.value_or(0));
    }
  }
  return measurement;
}

}  // namespace

Measurement measure_watched(
    Prober& prober, const DeviceMonitor* nvml, const Probe& probe, const ProbeEffort& effort, std::uint64_t& throttle) {
  const auto* gemm = std::get_if<GemmProbe>(&probe);
  if (nvml != nullptr && gemm != nullptr && gemm->sustained > Seconds{}) {
    return measure_sustained(prober, *nvml, probe, effort, throttle);
  }
  Measurement measurement = prober.measure(probe, effort);
  if (auto* sample = std::get_if<Sample>(&measurement); sample != nullptr && nvml != nullptr) {
    sample->sm_clock = nvml->read().sm_clock;
  }
  return measurement;
}

Seconds Prober::clock() const {
  return Seconds{std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count()};
}

ProbeRun run_probes(Prober& prober, const DeviceMonitor* nvml, const ProbePlan& plan, const ProbeProgress& progress) {
  const auto start = std::chrono::steady_clock::now();
  ProbeRun run;
  run.skipped = plan.skipped;
  if (nvml != nullptr) {
    run.before = nvml->read();
  }
  for (std::size_t i = 0; i < plan.probes.size(); ++i) {
    if (progress) {
      progress(i, plan.probes.size(), plan.probes[i]);
    }
    Measurement measurement = measure_watched(prober, nvml, plan.probes[i], plan.effort, run.sustained_throttle);
    if (auto* sample = std::get_if<Sample>(&measurement)) {
      run.samples.push_back(*sample);
    } else {
      run.skipped.push_back(std::get<Skipped>(std::move(measurement)));
    }
  }
  if (nvml != nullptr) {
    run.after = nvml->read();
  }
  run.lasted = Seconds{std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()};
  return run;
}

}  // namespace headroom
