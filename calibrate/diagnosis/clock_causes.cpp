// SPDX-License-Identifier: Apache-2.0
// Clocks held down while a GPU works, and what that costs.
#include <headroom/calibrate/diagnosis/signal_causes.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/laboratory/profiled_kernel.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace headroom {
namespace {

struct ReasonWords {
  unsigned bits;
  std::string_view says, cure;
};
constexpr unsigned bit(ClockReason reason) {
  return static_cast<unsigned>(reason);
}
constexpr std::array reason_groups{
    ReasonWords{bit(ClockReason::heat) | bit(ClockReason::heat_hard), "heat",
                "Cool it: look at fans, air flow, inlet temperature and dust; move the job from the hot slot."},
    ReasonWords{bit(ClockReason::power_cap) | bit(ClockReason::power_brake), "the power limit",
                "Raise the power limit ('nvidia-smi -pl'), or have the supply of the node looked at; where the cap is "
                "meant, plan with the lower clock."},
    ReasonWords{bit(ClockReason::setting) | bit(ClockReason::display_limit), "a clock that was set",
                "Reset application and locked clocks: 'nvidia-smi -rac', 'nvidia-smi -rgc'."},
    ReasonWords{bit(ClockReason::sync_boost), "another GPU of its group",
                "Find the GPU of the sync-boost group that is held down."},
    ReasonWords{bit(ClockReason::slowdown), "the hardware (heat or power)",
                "Look at the temperature, the power cables and the supply of the node."},
};

/// A GPU's clock over the samples in which it works.
struct Clock {
  double sum = 0.0, power = 0.0, busy = 0.0;
  std::int64_t samples = 0, power_samples = 0, busy_samples = 0, told = 0;
  std::array<std::int64_t, reason_groups.size()> reasons{};
  std::optional<double> most, hottest;
  std::string place;
  std::optional<Seconds> begin, end;

  [[nodiscard]] double mean() const { return sum / real(std::max<std::int64_t>(1, samples)); }

  void take(const GpuSample& sample, const std::string& file) {
    const std::optional<double> clock = sample.get(Signal::sm_clock);
    const std::optional<double> share =
        sample.get(Signal::busy) ? sample.get(Signal::busy) : sample.get(Signal::engine_active);
    constexpr double beyond = 4294967296.0;  // no reason has such a bit
    const double told_bits = sample.get(Signal::reasons).value_or(0.0);
    const auto bits = told_bits < beyond ? static_cast<std::uint64_t>(told_bits) : std::uint64_t{0};
    constexpr double at_work = 0.5;
    if (!clock || share.value_or(1.0) < at_work || (bits & bit(ClockReason::idle)) != 0) {
      return;
    }
    sum += *clock;
    ++samples;
    place = place.empty() ? file + ":" + std::to_string(sample.line) : place;
    begin = begin ? begin : sample.time;
    end = sample.time;
    if (share) {
      busy += *share;
      ++busy_samples;
    }
    if (const std::optional<double> watts = sample.get(Signal::power)) {
      power += *watts;
      ++power_samples;
    }
    if (const std::optional<double> degrees = sample.get(Signal::temperature)) {
      hottest = std::max(hottest.value_or(*degrees), *degrees);
    }
    told += sample.get(Signal::reasons) || sample.get(Signal::power_violation) ? 1 : 0;
    for (std::size_t i = 0; i < reason_groups.size(); ++i) {
      const bool by_power = i == 1 && sample.get(Signal::power_violation).value_or(0.0) > 0.0;
      reasons[i] += (bits & reason_groups[i].bits) != 0 || by_power ? 1 : 0;
    }
  }
  /// The reason of most samples; nullptr: none is told.
  [[nodiscard]] const ReasonWords* reason() const {
    const auto most_told = std::max_element(reasons.begin(), reasons.end());
    return *most_told > 0 ? &reason_groups[static_cast<std::size_t>(most_told - reasons.begin())] : nullptr;
  }
};

/// The clock that a GPU can reach: as its driver says, as the catalog has it, else the highest that was seen.
double most_clock(const GpuSummary& gpu) {
  if (const std::optional<double> told = gpu.peak(Signal::most_sm_clock)) {
    return *told;
  }
  const Device* const device = device_of_name(gpu.name);
  return device != nullptr && device->compute.clock ? device->compute.clock->value.raw()
                                                    : gpu.peak(Signal::sm_clock).value_or(0.0);
}

std::vector<FindingCell> clock_row(const std::string& gpu, const Clock& clock, double most) {
  const ReasonWords* const reason = clock.reason();
  const auto told = [](bool known, FindingCell cell) { return known ? std::move(cell) : FindingCell{}; };
  const double ratio = most > 0.0 ? std::min(1.0, clock.mean() / most) : 1.0;
  return {gpu,
          told(clock.begin.has_value(), clock.begin.value_or(Seconds{})),
          told(clock.busy_samples > 0, clock.busy / real(std::max<std::int64_t>(1, clock.busy_samples))),
          Hertz{clock.mean()},
          Hertz{most},
          ratio,
          told(clock.hottest.has_value(), clock.hottest.value_or(0.0)),
          told(clock.power_samples > 0, Watts{clock.power / real(std::max<std::int64_t>(1, clock.power_samples))}),
          reason == nullptr ? FindingCell{} : FindingCell{std::string{reason->says}}};
}

/// Clocks over time: each GPU's samples in a few stretches of equal number.
void add_clock_table(const Signals& signals, std::span<const GpuSummary> gpus, RunReading& reading) {
  FindingTable table{"clocks",
                     "Clocks while the GPUs work",
                     {{"gpu", "<GPU"},
                      {"begin_s", "from"},
                      {"busy", "kernel resident"},
                      {"clock_hz", "clock"},
                      {"most_clock_hz", "most"},
                      {"clock_ratio", "of the most"},
                      {"temperature_c", "degrees C"},
                      {"power_w", "power"},
                      {"reason", "<held down by"}},
                     {}};
  constexpr std::size_t stretches = 6;
  constexpr std::size_t most_rows = 96;
  for (const GpuSignals& series : signals.gpus) {
    const auto gpu =
        std::find_if(gpus.begin(), gpus.end(), [&](const GpuSummary& known) { return known.gpu == series.gpu; });
    if (gpu == gpus.end()) {
      continue;
    }
    const Seconds origin =
        series.samples.empty() || !series.samples.front().time ? Seconds{} : *series.samples.front().time;
    const std::size_t parts = std::min(stretches, series.samples.size());
    for (std::size_t part = 0; part < parts && table.rows.size() < most_rows; ++part) {
      Clock clock;
      for (std::size_t i = part * series.samples.size() / parts; i < (part + 1) * series.samples.size() / parts; ++i) {
        clock.take(series.samples[i], series.file);
      }
      if (clock.samples > 0) {
        clock.begin = clock.begin ? std::optional{*clock.begin - origin} : std::nullopt;
        table.rows.push_back(clock_row(series.gpu, clock, most_clock(*gpu)));
      }
    }
  }
  keep_table(std::move(table), reading);
}

struct XidWords {
  int xid;
  std::string_view says;
};
/// NVIDIA, "XID Errors", catalog.
constexpr std::array xid_words{
    XidWords{13, "an exception of the graphics engine, mostly the program's own access out of bounds"},
    XidWords{31, "a page fault of the GPU's memory, mostly the program's own"},
    XidWords{43, "the program's channel was stopped"},
    XidWords{45, "the program was ended"},
    XidWords{48, "a double-bit error of the memory: drain the node and reset the GPU"},
    XidWords{63, "a row of the memory was remapped: reset the GPU when the job ends"},
    XidWords{64, "a row of the memory could not be remapped: replace the GPU"},
    XidWords{74, "an error of NVLink: look at bridges and switches"},
    XidWords{79, "the GPU fell off the bus: look at power, heat and the slot, and restart the node"},
    XidWords{92, "many single-bit errors of the memory"},
    XidWords{94, "a contained error of the memory: restart the program"},
    XidWords{95, "an uncontained error of the memory: reset the GPU"},
    XidWords{119, "the GPU's own processor does not answer: reset the GPU"},
};

void add_errors(const Signals& signals, RunReading& reading) {
  for (const GpuSignals& series : signals.gpus) {
    int told = 0;
    for (const GpuSample& sample : series.samples) {
      const double number = sample.get(Signal::xid).value_or(0.0);
      constexpr double most = 1e6;
      const int xid = number >= 1.0 && number < most ? static_cast<int>(number) : 0;
      if (xid == 0 || xid == told) {
        continue;
      }
      told = xid;
      const auto known =
          std::find_if(xid_words.begin(), xid_words.end(), [&](const XidWords& words) { return words.xid == xid; });
      reading.notes.push_back(series.file + ":" + std::to_string(sample.line) + ": GPU " + series.gpu +
                              " reports XID " + std::to_string(xid) +
                              (known == xid_words.end() ? std::string{"; NVIDIA's list of XID errors says what it is."}
                                                        : ": " + std::string{known->says} + "."));
    }
  }
}

}  // namespace

void add_clocks(const Signals& signals, std::span<const GpuSummary> gpus, RunReading& reading) {
  add_errors(signals, reading);
  add_clock_table(signals, gpus, reading);
  // The whole run waits for its slowest GPU: the lowest clock is the price.
  const GpuSummary* slowest = nullptr;
  Clock of_slowest;
  double ratio = 1.0;
  std::vector<std::string> evidence;
  for (const GpuSummary& gpu : gpus) {
    Clock clock;
    for (const GpuSignals& series : signals.gpus) {
      if (series.gpu == gpu.gpu) {
        std::for_each(series.samples.begin(), series.samples.end(),
                      [&](const GpuSample& sample) { clock.take(sample, series.file); });
      }
    }
    const double most = most_clock(gpu);
    if (clock.samples == 0 || !(most > 0.0)) {
      continue;
    }
    const double own = std::min(1.0, clock.mean() / most);
    if (1.0 - own >= least_signal_share) {
      const ReasonWords* const reason = clock.reason();
      evidence.push_back(clock.place + ": GPU " + gpu.gpu + " at " + format(Hertz{clock.mean()}) + " of " +
                         format(Hertz{most}) + (reason ? ", held down by " + std::string{reason->says} : "") +
                         (clock.hottest ? ", up to " + format_number(*clock.hottest) + " degrees C" : ""));
    }
    if (own < ratio) {
      ratio = own;
      slowest = &gpu;
      of_slowest = clock;
    }
  }
  if (slowest == nullptr || 1.0 - ratio < least_signal_share) {
    return;
  }
  const ReasonWords* const reason = of_slowest.reason();
  const std::string what = "GPU " + slowest->gpu + " works at " + format(Hertz{of_slowest.mean()}) + " of " +
                           format(Hertz{most_clock(*slowest)}) + ", " + percent(1.0 - ratio) + " below" +
                           (reason ? ", held down by " + std::string{reason->says} : std::string{});
  const std::optional<double> memory = reading.use.memory_active;
  if (memory && *memory >= busy_unit) {
    reading.notes.push_back(what + "; work at the bandwidth of the memory (moving data in " + percent(*memory) +
                            " of the cycles) loses about 0 % by it.");
    return;
  }
  // Between the two roofs: the memory's own time does not shrink with a higher clock.
  const double cured = std::max(ratio, memory.value_or(0.0));
  reading.causes.push_back(
      {CauseKind::low_clock, 1.0 - cured, cured,
       what + ": work that computes runs " + percent(1.0 - ratio) +
           " slower, work at the memory's bandwidth about 0 %.",
       reason ? std::string{reason->cure}
              : "Ask for the reason: --query-gpu=clocks_throttle_reasons.active, or 'nvidia-smi -q -d "
                "CLOCK,PERFORMANCE'.",
       std::move(evidence)});
}

}  // namespace headroom
