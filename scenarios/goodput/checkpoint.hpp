// SPDX-License-Identifier: Apache-2.0
// Size of a checkpoint, the time to write it, and the time that training waits for it.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/model/train/software/memory_stack.hpp>

#include <cstdint>

namespace headroom::goodput {

/// Bytes of weights and optimizer states, the master copy among them; gradients are recomputed, not saved. Mixed
/// precision with Adam: 2 + 12 bytes per parameter (Rajbhandari et al. 2020, section 3.1).
struct CheckpointBytes {
  Bytes weights{}, optimizer{};
  [[nodiscard]] constexpr Bytes total() const noexcept { return weights + optimizer; }
};
/// `states`: bytes per parameter as in the memory model. An optimizer that treats some tensors differently adds a few
/// bytes, which are left out.
[[nodiscard]] CheckpointBytes checkpoint_bytes(double parameters, const StateBytes& states) noexcept;

/// Synchronous: training waits until the whole checkpoint is written. Asynchronous: training waits for the copy to host
/// memory only; the write overlaps with training, one write at a time.
enum class SaveMode : std::uint8_t { synchronous, asynchronous };

/// Storage of a checkpoint and its rates. A rate of zero means "not stated" and is assumed not to limit the save,
/// except where the mode needs the rate.
struct CheckpointStore {
  SaveMode mode = SaveMode::synchronous;
  std::int64_t ranks = 1;       ///< ranks that each hold and copy a share at the same time, >= 1
  std::int64_t writers = 1;     ///< ranks or hosts that each write a share at the same time, >= 1; 1: one file
  BytesPerSecond per_writer{};  ///< rate from one writer to storage
  BytesPerSecond storage{};     ///< rate of the file system for all writers together
  BytesPerSecond copy{};        ///< device-to-host rate of one rank; required for asynchronous saves
};

struct CheckpointTime {
  SaveMode mode = SaveMode::synchronous;
  Bytes total{}, of_writer{};
  Seconds copy{};   ///< device-to-host time
  Seconds write{};  ///< host-to-storage time
  /// Extra time between a restart and the first complete save, beyond one interval: the write that overlaps with
  /// training. Zero for synchronous saves; at most `interval`, because writes do not overlap each other.
  [[nodiscard]] constexpr Seconds lag(Seconds interval) const noexcept {
    return mode == SaveMode::synchronous ? Seconds{} : write < interval ? write : interval;
  }
  /// Time that training stops for a save that comes `interval` of training after the previous one.
  [[nodiscard]] constexpr Seconds stall(Seconds interval) const noexcept {
    if (mode == SaveMode::synchronous) {
      return copy + write;
    }
    return write > interval ? copy + (write - interval) : copy;  // the previous write is still under way
  }
};

/// write = max(total / (writers x per_writer), total / storage); copy = total / (ranks x copy). Throws ConfigError with
/// every problem: no bytes, no ranks or writers, negative rates, neither `per_writer` nor `storage`, an asynchronous
/// save without `copy`.
[[nodiscard]] CheckpointTime checkpoint_time(Bytes total, const CheckpointStore& store);

}  // namespace headroom::goodput
