// SPDX-License-Identifier: Apache-2.0
// Stages of strategies that differ in ZeRO stage and shards alone: what they hold alike is worked out once.
#pragma once

#include <headroom/model/train/memory/held_layers.hpp>
#include <headroom/model/train/memory/memory.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace headroom {

/// What a stage holds whatever the ZeRO stage and the ranks that share its states.
struct StageHolding {
  StageParameters parameters;  ///< `updated` is open
  double layers = 0.0;         ///< as StageMemory has them
  double in_flight = 1.0;
  Bytes activations{};                 ///< that stay on the device
  HostMemory host;                     ///< of the activations
  Bytes dummies{};                     ///< stand-in weight gradients
  double workspace = 0.0, loss = 0.0;  ///< bytes of a layer's backward pass and of the loss, without what is gathered
  Bytes outside{};                     ///< context, communicators and what else lies outside the allocator
  bool last = false;                   ///< holds the head
};
[[nodiscard]] StageHolding stage_holding(const CompiledMemory& compiled,
                                         const MemoryTable& table,
                                         const Strategy& strategy,
                                         double micro_batches,
                                         std::int64_t stage) noexcept;
/// stage_memory() of a stage that holds so much.
[[nodiscard]] StageMemory stage_memory(const CompiledMemory& compiled,
                                       const MemoryTable& table,
                                       const Strategy& strategy,
                                       double micro_batches,
                                       const StageHolding& holding) noexcept;

/// The stages of a pipeline of which one is the fullest, from the first to the last. The number in flight never rises
/// along a pipeline of one stage after another: of stages between the ends with the same layers the first holds the
/// largest.
class StageWalk {
 public:
  /// Refers to `compiled`.
  StageWalk(const CompiledMemory& compiled, const Strategy& strategy) noexcept;
  [[nodiscard]] bool done() const noexcept { return stage_ >= strategy_.pp; }
  [[nodiscard]] std::int64_t stage() const noexcept { return stage_; }
  [[nodiscard]] const Strategy& strategy() const noexcept { return strategy_; }
  void next() noexcept;

 private:
  const CompiledMemory* compiled_;
  Strategy strategy_;
  bool falling_;
  std::int64_t stage_ = 0;
  HeldLayers looked_;
};

/// The stages of such strategies, each looked at once. Not safe to call from several threads.
class HeldStages {
 public:
  /// All refer to strategies like this one from here on; `compiled` and `table` must outlive that.
  void begin(const CompiledMemory& compiled,
             const MemoryTable& table,
             const Strategy& strategy,
             double micro_batches) noexcept;
  /// fullest_stage() of a strategy like that of begin().
  [[nodiscard]] FullestStage fullest(const Strategy& strategy, Bytes room);

 private:
  struct Held {
    std::int64_t stage = 0;
    StageHolding holding;
  };
  /// The i-th of the walk; nullptr behind the last.
  [[nodiscard]] const Held* at(std::size_t i);

  const CompiledMemory* compiled_ = nullptr;
  const MemoryTable* table_ = nullptr;
  double micro_batches_ = 1.0;
  std::optional<StageWalk> walk_;
  std::vector<Held> held_;
};

}  // namespace headroom
