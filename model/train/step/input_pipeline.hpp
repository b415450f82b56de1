// SPDX-License-Identifier: Apache-2.0
// What feeds a GPU: storage, host cores that decode, copies to the device, and the host that launches its work. Stages
// run side by side, so that the slowest sets the pace.
#pragma once

#include <headroom/core/quantity.hpp>

#include <array>
#include <cstdint>
#include <string_view>

namespace headroom {

enum class InputStage : std::uint8_t { storage, decode, copy, gpu, count };
inline constexpr std::size_t input_stage_count = static_cast<std::size_t>(InputStage::count);
inline constexpr std::array<std::string_view, input_stage_count> input_stage_names{"storage", "decode", "copy", "gpu"};

/// How a training run feeds its GPUs, as a scenario states it of one host. A rate or time of zero: not stated, taken
/// not to bind.
struct DataFeed {
  Bytes stored{}, fed{};      ///< of a sample: in storage, and as the device takes it
  Seconds cpu{};              ///< of one core for a sample
  double workers = 0.0;       ///< loader processes of the host that have a core of their own
  BytesPerSecond storage{};   ///< of the host
  double gpu_rate = 0.0;      ///< samples a second of the host's GPUs where they never wait, as measured
  std::int64_t prefetch = 2;  ///< batches ahead; 0: every step waits for its own
  bool pinned = true;         ///< copies run beside compute
};

/// One host and what a sample asks of it. A rate or time of zero means that the stage does not take part.
struct InputPipeline {
  Bytes stored{};               ///< a sample as it lies in storage
  Bytes fed{};                  ///< the same as the device takes it: decoded, in the width of the copy
  Seconds cpu{};                ///< of one core for a sample: decode and augment
  double cores = 0.0;           ///< loader workers that have a core of their own
  BytesPerSecond storage{};     ///< of the host
  BytesPerSecond copy{};        ///< of all its devices together, host to device
  double gpu_samples = 0.0;     ///< samples a second that its devices would take if nothing held them up
  bool overlapped_copy = true;  ///< pinned memory and a stream of its own; else the device waits for each copy
};

struct InputRate {
  std::array<double, input_stage_count> samples_per_second{};  ///< infinity where the stage does not take part
  InputStage binds = InputStage::gpu;
  double rate = 0.0;             ///< samples a second
  double gpu_utilisation = 0.0;  ///< of the rate that the devices alone would have
  double cores_needed = 0.0;     ///< that would keep up with the devices
  BytesPerSecond storage_needed{};
  BytesPerSecond copy_needed{};
};

/// What a step adds while it waits for its samples. `busy`: the step without that; `samples` of one host in a step;
/// `copy`: host to device, of all its devices. With samples loaded ahead the slowest stage sets the pace; without,
/// loading and computing take turns. Of GPUs whose own rate was measured, `samples` at that rate stand for `busy`.
struct FedStep {
  InputRate input;
  Seconds exposed{};
};
[[nodiscard]] FedStep feed_step(const DataFeed& feed, double samples, BytesPerSecond copy, Seconds busy) noexcept;

/// Throughput = the slowest stage's; where copies are not overlapped they add to the device's time instead (NVIDIA CUDA
/// C++ best practices guide, section 10.1.2).
[[nodiscard]] InputRate input_rate(const InputPipeline& pipeline) noexcept;

}  // namespace headroom
