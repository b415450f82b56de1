// SPDX-License-Identifier: Apache-2.0
// Whose memory is on which GPU.
#include <headroom/calibrate/diagnosis/signal_causes.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace headroom {
namespace {

std::string names_of_gpus(std::span<const GpuSummary* const> gpus) {
  return (gpus.size() == 1 ? "GPU " : "GPUs ") + joined(gpus, [](const GpuSummary* gpu) { return gpu->gpu; });
}

void add_process_table(const Signals& signals, RunReading& reading) {
  FindingTable table{"processes",
                     "Memory by process",
                     {{"gpu", "<GPU"}, {"process", "process"}, {"name", "<name"}, {"memory_bytes", "memory"}},
                     {}};
  constexpr std::size_t most_rows = 32;
  for (const ProcessUse& use : signals.processes) {
    const auto same = [&](const std::vector<FindingCell>& row) {
      return row[0] == FindingCell{use.gpu} && use.process && row[1] == FindingCell{*use.process};
    };
    if (!use.process || table.rows.size() == most_rows || std::any_of(table.rows.begin(), table.rows.end(), same)) {
      continue;
    }
    table.rows.push_back({use.gpu, *use.process, use.name, use.memory ? FindingCell{*use.memory} : FindingCell{}});
  }
  keep_table(std::move(table), reading);
}

}  // namespace

void add_processes(const Signals& signals, std::span<const GpuSummary> gpus, RunReading& reading) {
  add_process_table(signals, reading);
  std::vector<const GpuSummary*> without;
  std::vector<const GpuSummary*> with;
  for (const GpuSummary& gpu : gpus) {
    if (gpu.holds && *gpu.holds) {
      with.push_back(&gpu);
    } else if (gpu.holds && !gpu.used()) {
      without.push_back(&gpu);
    }
  }
  if (without.empty()) {
    return;
  }
  std::vector<std::string> evidence;
  constexpr std::size_t most_lines = 8;
  for (const GpuSummary* gpu : without) {
    if (evidence.size() < most_lines) {
      const std::optional<double> memory = gpu->peak(Signal::memory_used);
      evidence.push_back(gpu->place + ": GPU " + gpu->gpu + " has no process" +
                         (memory ? ", memory used " + format(Bytes{*memory}) : std::string{}));
    }
  }
  for (const GpuSummary* gpu : with) {
    if (evidence.size() < most_lines) {
      evidence.push_back(gpu->process.empty() ? gpu->place + ": GPU " + gpu->gpu + " holds memory"
                                              : gpu->process + " on GPU " + gpu->gpu);
    }
  }
  const double share =
      real(static_cast<std::int64_t>(without.size())) / real(static_cast<std::int64_t>(without.size() + with.size()));
  reading.causes.push_back(
      {CauseKind::wrong_device, share, std::nullopt,
       names_of_gpus(without) + (without.size() == 1 ? " holds" : " hold") + " no memory of a process and " +
           (without.size() == 1 ? "has" : "have") + " no kernel; " +
           (with.empty() ? "the program computes on the host, or elsewhere."
                         : "the program is on " + names_of_gpus(with) + "."),
       with.empty() ? "Check torch.cuda.is_available(), that model and data go to the GPU, and the driver in the "
                      "container."
                    : "Look at the GPU that holds the process, or set CUDA_VISIBLE_DEVICES (and CUDA_DEVICE_ORDER="
                      "PCI_BUS_ID, by which nvidia-smi counts) to the one that is meant.",
       std::move(evidence)});
}

}  // namespace headroom
