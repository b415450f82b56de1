// SPDX-License-Identifier: Apache-2.0
// What a checkpoint weighs, how long it takes to write, and how long training waits for it.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/model/train/software/memory_stack.hpp>

#include <cstdint>

namespace headroom::goodput {

/// Weights and optimizer states, the master copy among them; gradients are formed again and not written. Mixed
/// precision with Adam: 2 + 12 bytes a parameter (Rajbhandari et al. 2020, section 3.1).
struct CheckpointBytes {
  Bytes weights{}, optimizer{};
  [[nodiscard]] constexpr Bytes total() const noexcept { return weights + optimizer; }
};
/// `states` as the memory model has them. Of an optimizer that treats some tensors apart the few bytes beyond are not
/// in.
[[nodiscard]] CheckpointBytes checkpoint_bytes(double parameters, const StateBytes& states) noexcept;

/// Synchronous: training waits until all is written. Asynchronous: until the copy in host memory is whole; the write
/// goes on beside training, one at a time.
enum class SaveMode : std::uint8_t { synchronous, asynchronous };

/// Where a checkpoint goes and how fast. Rates of zero mean: not stated, taken not to bind, but for those that a mode
/// needs.
struct CheckpointStore {
  SaveMode mode = SaveMode::synchronous;
  std::int64_t ranks = 1;       ///< that hold a share each, and copy it at the same time
  std::int64_t writers = 1;     ///< ranks or hosts that write a share each at the same time; 1: one file
  BytesPerSecond per_writer{};  ///< of one writer's way to storage
  BytesPerSecond storage{};     ///< of the file system, all writers together
  BytesPerSecond copy{};        ///< device to host, of one rank; asynchronous saves need it
};

struct CheckpointTime {
  SaveMode mode = SaveMode::synchronous;
  Bytes total{}, of_writer{};
  Seconds copy{};   ///< device to host
  Seconds write{};  ///< host to storage
  /// So much longer than between two saves it takes from a restart to the next save that is whole: the write that goes
  /// on beside training. Nothing where training waits for it; where saves wait for each other the training alone.
  [[nodiscard]] constexpr Seconds lag(Seconds interval) const noexcept {
    return mode == SaveMode::synchronous ? Seconds{} : write < interval ? write : interval;
  }
  /// Training waits so long at a save that comes `interval` of training after the one before.
  [[nodiscard]] constexpr Seconds stall(Seconds interval) const noexcept {
    if (mode == SaveMode::synchronous) {
      return copy + write;
    }
    return write > interval ? copy + (write - interval) : copy;  // the write before is still under way
  }
};

/// write = max(total / (writers x per_writer), total / storage), copy = total / (ranks x copy).
/// ConfigError, every problem at once: no bytes, no ranks or writers, negative rates, neither `per_writer` nor
/// `storage`, an asynchronous save without `copy`.
[[nodiscard]] CheckpointTime checkpoint_time(Bytes total, const CheckpointStore& store);

/// Records that a failed job of `records` in equal `chunks` does again at most: a chunk.
[[nodiscard]] constexpr double rework_bound(double records, double chunks) noexcept {
  return records / chunks;
}

}  // namespace headroom::goodput
