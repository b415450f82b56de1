// SPDX-License-Identifier: Apache-2.0
// What counters and lists of kernels say of a run.
#include <headroom/calibrate/diagnosis/signal_causes.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/laboratory/profiled_kernel.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace headroom {
namespace {

constexpr std::string_view name_of_cure(ProfileCure cure) {
  switch (cure) {
    case ProfileCure::coalesce: return "let neighbouring threads read neighbouring addresses";
    case ProfileCure::banks: return "lay shared memory out without bank conflicts";
    case ProfileCure::converge: return "let the threads of a warp take one path";
    case ProfileCure::in_flight: return "keep two loads in flight where there is one";
    case ProfileCure::occupancy: return "keep twice the warps resident";
    case ProfileCure::barriers: return "wait at fewer barriers";
    case ProfileCure::fewer_bytes: return "move half the bytes (fused, or in a narrower format)";
    case ProfileCure::tensor: return "run products on the tensor cores";
  }
  return "";
}

/// Kernels that the same unit holds up, over their time.
struct HeldSum {
  Seconds time{}, cured{};
  std::int64_t kernels = 0;
  std::string longest, cure;
  Seconds longest_time{};
  double use = 0.0;
};

double tensor_gain_of(const Device* device) {
  if (device == nullptr) {
    return 1.0;
  }
  const auto& vector = device->peak[static_cast<std::size_t>(Rate::fp32_vector)];
  const auto& tensor = device->peak[static_cast<std::size_t>(Rate::tf32)];
  return vector && tensor ? tensor->value / vector->value : 1.0;
}

CauseKind cause_of(HeldBy held) {
  return held == HeldBy::compute   ? CauseKind::no_tensor_cores
         : held == HeldBy::latency ? CauseKind::small_batch
                                   : CauseKind::memory_bound;
}

void add_profile(const ProfiledFile& file, RunReading& reading) {
  const Device* const device = device_of_name(reading.gpu);
  const BytesPerSecond bandwidth =
      device != nullptr && device->memory.bandwidth ? device->memory.bandwidth->value : BytesPerSecond{};
  constexpr double word = 4.0;  // bytes that a thread loads
  std::array<HeldSum, held_by_names.size()> sums{};
  Seconds all{};
  double memory = 0.0;
  double tensor = 0.0;
  bool tensor_told = false;
  bool tensor_busy = false;
  for (const ProfiledKernel& kernel : file.profiles.kernels) {
    const ProfileState state = state_of(kernel, word, bandwidth);
    const std::vector<CuredProfile> cures = profile_cures(kernel, state, tensor_gain_of(device));
    HeldSum& sum = sums[static_cast<std::size_t>(state.held_by)];
    sum.time += state.time;
    ++sum.kernels;
    sum.cured += (cures.empty() ? 1.0 : cures.front().ratio) * state.time;
    sum.use += state.time.raw() * state.most_use();
    if (state.time > sum.longest_time) {
      sum.longest_time = state.time;
      sum.longest = kernel.name;
      sum.cure = cures.empty() ? "" : name_of_cure(cures.front().cure);
    }
    all += state.time;
    memory += state.time.raw() * state.use[static_cast<std::size_t>(HeldBy::memory)];
    if (const std::optional<double> pipe = kernel.get(Counter::tensor_use)) {
      tensor += state.time.raw() * *pipe;
      tensor_told = true;
      constexpr double works = 0.05;
      tensor_busy = tensor_busy || *pipe >= works;
    }
  }
  if (!(all > Seconds{})) {
    return;
  }
  reading.use.memory_active = reading.use.memory_active ? reading.use.memory_active : std::optional{memory / all.raw()};
  if (tensor_told && !reading.use.tensor_active) {
    reading.use.tensor_active = tensor / all.raw();
  }
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const HeldSum& sum = sums[i];
    const auto held = static_cast<HeldBy>(i);
    const double lost = sum.time / all;
    // Kernels held up by the tensor cores themselves are what one wants; units that are not full wait for something
    // else.
    const bool wanted = held == HeldBy::compute && (!tensor_told || tensor_busy);
    if (lost < least_signal_share || wanted) {
      continue;
    }
    const bool is_latency = held == HeldBy::latency;
    reading.causes.push_back(
        {cause_of(held),
         lost,
         sum.cure.empty() ? std::nullopt : std::optional{std::clamp(1.0 - (sum.time - sum.cured) / all, 0.0, 1.0)},
         std::string{is_latency ? "No unit is near its peak in " : "Kernels are held up by the "} +
             (is_latency ? counted(sum.kernels, "kernel") + ": warps wait" : std::string{held_by_names[i]}) + " (" +
             percent(sum.use / sum.time.raw()) + " of its peak) for " + percent(lost) +
             " of the time that was counted.",
         sum.cure.empty()
             ? "Look at 'headroom kernel profile' for the kernel, whose counters tell no cure here."
             : "For " + quoted(sum.longest) + ": " + sum.cure + " ('headroom kernel profile' has them all).",
         {file.file + ": " + counted(sum.kernels, "kernel") + ", the longest " + quoted(sum.longest) + ", " +
          format(sum.longest_time)}});
  }
}

void add_list(const KernelList& list, RunReading& reading) {
  const double busy = std::clamp(list.busy / list.window, 0.0, 1.0);
  const Seconds mean = list.busy / real(std::max<std::int64_t>(1, list.kernels));
  const double rate = real(list.kernels) / list.window.raw();
  if (!reading.use.busy) {
    reading.use.busy = busy;
  }
  reading.notes.push_back(list.file + ": " + counted(list.kernels, "kernel") + " of " + format(mean) + ", " +
                          format_number(rate) + " a second and GPU, resident for " + percent(busy) + " of the time.");
  constexpr Seconds short_kernel{20e-6};  // a launch takes the host 2 to 10 us
  if (1.0 - busy < least_signal_share || mean >= short_kernel) {
    return;
  }
  reading.causes.push_back({CauseKind::launch_bound,
                            1.0 - busy,
                            busy,
                            "The host sends " + format_number(rate) + " kernels of " + format(mean) +
                                " a second: the GPU has one for " + percent(busy) +
                                " of the time, though its driver may call it busy.",
                            "Capture the step as a CUDA graph, or compile it, so that fewer and longer kernels run.",
                            {list.file + ": " + counted(list.kernels, "kernel") + " in " + format(list.window)}});
}

}  // namespace

void add_profiles(const Signals& signals, RunReading& reading) {
  for (const ProfiledFile& file : signals.profiles) {
    add_profile(file, reading);
  }
  for (const KernelList& list : signals.lists) {
    add_list(list, reading);
  }
}

}  // namespace headroom
