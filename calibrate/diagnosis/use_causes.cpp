// SPDX-License-Identifier: Apache-2.0
// Use of GPUs over time, and what it says of a run.
#include <headroom/calibrate/diagnosis/period.hpp>
#include <headroom/calibrate/diagnosis/signal_causes.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/laboratory/profiled_kernel.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace headroom {
namespace {

/// Of the tensor pipe: below it products do not run there.
constexpr double no_tensor = 0.05;
/// Of the SMs: below it a resident kernel leaves most of them empty.
constexpr double few_units = 0.3;
/// Of the warps that fit: products need no more where they keep the tensor pipe busy, others do.
constexpr double few_warps = 0.15;
constexpr double low_tensor = 0.3;
/// Of the host link: above it copies fill much of a step.
constexpr double busy_link = 0.5;

/// The mean of what is told over the GPUs that the run uses, or over all where it uses none.
std::optional<double> mean_use(std::span<const GpuSummary> gpus, std::optional<double> (*of)(const GpuSummary&)) {
  const bool any = std::any_of(gpus.begin(), gpus.end(), [](const GpuSummary& gpu) { return gpu.used(); });
  double sum = 0.0;
  std::int64_t count = 0;
  for (const GpuSummary& gpu : gpus) {
    if (const std::optional<double> value = of(gpu); value && (gpu.used() || !any)) {
      sum += *value;
      ++count;
    }
  }
  return count > 0 ? std::optional{sum / real(count)} : std::nullopt;
}

FindingCell share_cell(std::optional<double> share) {
  return share ? FindingCell{*share} : FindingCell{};
}

void add_use_table(std::span<const GpuSummary> gpus, RunReading& reading) {
  FindingTable table{"gpus",
                     "Use by GPU (shares of the time while the run works)",
                     {{"gpu", "<GPU"},
                      {"busy", "kernel resident"},
                      {"sm_active", "SMs with a warp"},
                      {"occupancy", "warps resident"},
                      {"tensor_active", "tensor pipe"},
                      {"memory_active", "memory moves"},
                      {"memory_bytes", "memory held"},
                      {"process", "<process"}},
                     {}};
  for (const GpuSummary& gpu : gpus) {
    const std::optional<double> memory = gpu.peak(Signal::memory_used);
    table.rows.push_back({gpu.gpu, share_cell(gpu.busy()), share_cell(gpu.get(Signal::sm_active)),
                          share_cell(gpu.get(Signal::occupancy)), share_cell(gpu.get(Signal::tensor_active)),
                          share_cell(gpu.get(Signal::memory_active)),
                          memory ? FindingCell{Bytes{*memory}} : FindingCell{},
                          gpu.holds ? FindingCell{std::string{*gpu.holds ? "yes" : "none"}} : FindingCell{}});
  }
  keep_table(std::move(table), reading);
}

std::vector<std::string> use_evidence(std::span<const GpuSummary> gpus) {
  std::vector<std::string> lines;
  constexpr std::size_t most_lines = 8;
  for (const GpuSummary& gpu : gpus) {
    if (!gpu.used() || lines.size() == most_lines) {
      continue;
    }
    std::string line = gpu.place + ": GPU " + gpu.gpu + ", " + counted(gpu.samples, "sample");
    const auto tell = [&](std::string_view what, std::optional<double> share) {
      line += share ? ", " + std::string{what} + " " + percent(*share) : std::string{};
    };
    tell("kernel resident", gpu.busy());
    tell("SMs active", gpu.get(Signal::sm_active));
    tell("tensor pipe", gpu.get(Signal::tensor_active));
    tell("memory active", gpu.get(Signal::memory_active));
    lines.push_back(std::move(line));
  }
  return lines;
}

/// Stretches in which a GPU that works otherwise has nothing to do: when each began, and their share of the time.
struct Dips {
  std::vector<Seconds> begins;
  std::int64_t samples = 0, all = 0;
};

Dips dips_of(const GpuSignals& series) {
  Dips dips;
  constexpr double idle = 0.1;
  constexpr double at_work = 0.5;
  bool worked = false;
  bool within = false;
  for (const GpuSample& sample : series.samples) {
    const std::optional<double> busy =
        sample.get(Signal::busy) ? sample.get(Signal::busy) : sample.get(Signal::engine_active);
    if (!busy || !sample.time) {
      continue;
    }
    ++dips.all;
    if (*busy >= at_work) {
      worked = true;
      within = false;
    } else if (*busy < idle && worked) {
      if (!within) {
        dips.begins.push_back(*sample.time);
      }
      within = true;
    }
    dips.samples += within ? 1 : 0;
  }
  return dips;
}

/// Whether stops of a fixed period explain most of the idle time: their cause is added.
bool add_periodic_stops(const Signals& signals, RunReading& reading) {
  for (const GpuSignals& series : signals.gpus) {
    const Dips dips = dips_of(series);
    const std::optional<Period> period = period_of(dips.begins);
    const double lost = dips.all > 0 ? real(dips.samples) / real(dips.all) : 0.0;
    if (!period || lost < least_signal_share) {
      continue;
    }
    reading.causes.push_back(
        {CauseKind::checkpointing,
         lost,
         1.0 - lost,
         "Every " + format(period->period) + " GPU " + series.gpu + " has nothing to do, for " + percent(lost) +
             " of the time in all: a checkpoint or an evaluation stops the steps.",
         "Write checkpoints beside the steps (asynchronously, from a copy in the host's memory), or less often.",
         {series.file + ": " + counted(static_cast<std::int64_t>(dips.begins.size()), "stop") + ", concentration " +
          format_number(period->concentration) + " at the period"}});
    return true;
  }
  return false;
}

void add_starved(std::span<const GpuSummary> gpus, double busy, RunReading& reading) {
  double spread = 0.0;
  for (const GpuSummary& gpu : gpus) {
    spread = std::max(spread, gpu.used() ? gpu.spread : 0.0);
  }
  constexpr double some = 0.1;
  const bool spiky = spread >= some;
  reading.causes.push_back(
      {CauseKind::starved, 1.0 - busy, busy >= least_signal_share ? std::optional{busy} : std::nullopt,
       "GPUs hold the program's memory and have a kernel for " + percent(busy) + " of the time" +
           (spiky ? ", in spikes: " + percent(spread) + " of the samples lie below 30 %" : std::string{}) +
           "; for the rest they wait for their host.",
       "Look first at the loader (more workers, samples prepared before), then at waits of the host (.item(), .cpu() "
       "each step), then at the batch; a trace or the times of the phases tells which.",
       use_evidence(gpus)});
}

/// What holds a GPU up whose kernels follow each other.
void add_busy_causes(std::span<const GpuSummary> gpus, double busy, RunReading& reading) {
  const Utilisation& use = reading.use;
  const double memory = use.memory_active.value_or(0.0);
  const double tensor = use.tensor_active.value_or(0.0);
  if (memory >= busy_unit) {
    // With half the bytes the memory needs half its time; the tensor pipe, busy at the same time, stays.
    const double ratio = std::clamp(std::max(0.5, tensor / memory), 0.0, 1.0);
    reading.causes.push_back(
        {CauseKind::memory_bound, memory, ratio,
         "The memory's interface moves data in " + percent(memory) + " of the cycles" +
             (use.tensor_active ? ", the tensor cores work in " + percent(tensor) : std::string{}) +
             ": kernels run at the bandwidth of the memory.",
         "Move fewer bytes: fuse neighbouring kernels, take a narrower format, raise the work a byte (batch); the time "
         "stated is that with half the bytes.",
         use_evidence(gpus)});
    return;
  }
  if (use.sm_active && *use.sm_active < few_units) {
    reading.causes.push_back(
        {CauseKind::small_batch, busy - *use.sm_active, std::clamp(*use.sm_active / busy, 0.0, 1.0),
         "A kernel is resident for " + percent(busy) + " of the time, on " + percent(*use.sm_active) +
             " of the multiprocessors: too little work for the units.",
         "Give each kernel more blocks: a larger batch, requests or streams side by side, fused small ops; the time "
         "stated is that with all units filled.",
         use_evidence(gpus)});
    return;
  }
  const std::optional<double> occupancy =
      mean_use(gpus, [](const GpuSummary& gpu) { return gpu.get(Signal::occupancy); });
  if (occupancy && *occupancy < few_warps && use.tensor_active && tensor >= no_tensor && tensor < low_tensor &&
      use.memory_active) {
    reading.causes.push_back({CauseKind::small_batch, std::max(0.0, busy - std::max(tensor, memory)), std::nullopt,
                              "Only " + percent(*occupancy) +
                                  " of the warps that fit are resident and no unit is near its peak (tensor pipe " +
                                  percent(tensor) + ", memory " + percent(memory) +
                                  "): the warps wait for what they have sent for.",
                              "Give each kernel more work (a larger batch), or fuse small ones; Nsight Compute's "
                              "counters name what warps wait "
                              "for.",
                              use_evidence(gpus)});
    return;
  }
  if (use.tensor_active && tensor < no_tensor && use.sm_active) {
    std::optional<double> ratio;
    std::string gain;
    if (const Device* const device = device_of_name(reading.gpu)) {
      const auto& vector = device->peak[static_cast<std::size_t>(Rate::fp32_vector)];
      const auto rate = device->peak[static_cast<std::size_t>(Rate::bf16)] ? Rate::bf16 : Rate::fp16;
      if (const auto& pipe = device->peak[static_cast<std::size_t>(rate)]; vector && pipe) {
        ratio = std::clamp(std::max(vector->value / pipe->value, memory), 0.0, 1.0);
        gain = " (" + device->name + ": " + format(pipe->value) + " in " + std::string{name_of(rate)} + ", " +
               format(vector->value) + " on the ordinary units)";
      }
    }
    reading.causes.push_back(
        {CauseKind::no_tensor_cores, *use.sm_active, ratio,
         "The multiprocessors work for " + percent(*use.sm_active) + " of the time and the tensor cores for " +
             percent(tensor) + ": products run on the ordinary units.",
         "Compute in BF16 or FP16 (autocast), allow TF32, and keep sizes multiples of 8; not all work is products" +
             gain + ".",
         use_evidence(gpus)});
  }
}

/// Copies over the host link, where they come near its rate.
void add_link(std::span<const GpuSummary> gpus, RunReading& reading) {
  const Device* const device = device_of_name(reading.gpu);
  const std::optional<double> received =
      mean_use(gpus, [](const GpuSummary& gpu) { return gpu.get(Signal::pcie_received); });
  if (device == nullptr || !device->pcie.rate || !received) {
    return;
  }
  const double share = *received / device->pcie.rate->value.raw();
  if (share >= busy_link) {
    reading.notes.push_back("The host link brings " + format(BytesPerSecond{*received}) + " to each GPU, " +
                            percent(share) +
                            " of its rate: copies fill much of the time; keep on the GPU what is used "
                            "again, and copy in the narrower format.");
  }
}

}  // namespace

void add_use(const Signals& signals, std::span<const GpuSummary> gpus, RunReading& reading) {
  if (gpus.empty()) {
    return;
  }
  Utilisation& use = reading.use;
  const bool traced = use.busy.has_value();
  const auto take = [&](std::optional<double>& kept, std::optional<double> (*of)(const GpuSummary&)) {
    kept = kept ? kept : mean_use(gpus, of);
  };
  take(use.busy, [](const GpuSummary& gpu) { return gpu.busy(); });
  if (const std::optional<double> counted_units =
          mean_use(gpus, [](const GpuSummary& gpu) { return gpu.get(Signal::sm_active); })) {
    use.sm_active = counted_units;  // a counter knows better than grids
  }
  take(use.tensor_active, [](const GpuSummary& gpu) { return gpu.get(Signal::tensor_active); });
  take(use.memory_active, [](const GpuSummary& gpu) { return gpu.get(Signal::memory_active); });
  if (!use.memory_active) {
    take(use.memory_active, [](const GpuSummary& gpu) { return gpu.get(Signal::memory_busy); });
    if (use.memory_active) {
      reading.notes.emplace_back(
          "The memory's use is the driver's: time in which it was read or written, an upper bound of its bandwidth's "
          "use; DCGM's DRAM_ACTIVE counts cycles.");
    }
  }
  add_use_table(gpus, reading);
  add_link(gpus, reading);
  const bool used = std::any_of(gpus.begin(), gpus.end(), [](const GpuSummary& gpu) { return gpu.used(); });
  if (!use.busy || !used) {
    return;
  }
  const double busy = *use.busy;
  const bool stops = !traced && add_periodic_stops(signals, reading);
  const bool explained = traced || !signals.phases.empty() || stops;
  if (busy < wanted_busy && !explained) {
    add_starved(gpus, busy, reading);
  }
  if (busy >= wanted_busy) {
    add_busy_causes(gpus, busy, reading);
  }
  if (!use.sm_active || !use.tensor_active) {
    reading.notes.emplace_back(
        "That a kernel is resident says nothing of how much of the GPU it uses: 'dcgmi dmon -e 1002,1003,1004,1005' "
        "tells SMs, occupancy, tensor cores and memory beside it.");
  }
}

}  // namespace headroom
