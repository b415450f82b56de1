// SPDX-License-Identifier: Apache-2.0
// Which layers of a network a pipeline stage holds.
#pragma once

#include <headroom/model/train/memory/memory.hpp>
#include <headroom/model/train/schedules/schedule_model.hpp>

#include <algorithm>
#include <array>
#include <cstdint>

namespace headroom {

/// The layers of one stage: their number and how many are of each kind.
struct HeldLayers {
  double layers = 0.0;
  /// Of the network's kinds; those behind them are never set, for a search asks millions of stages.
  std::array<double, CompiledMemory::most_kinds> of_kind;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  explicit HeldLayers(const CompiledMemory& c) noexcept { std::fill_n(of_kind.begin(), c.kinds.size(), 0.0); }
};

/// Whether `parts` parts are alike: as they are, or with embedding and loss standing for a layer each.
[[nodiscard]] inline bool parts_are_alike(const CompiledMemory& c, std::int64_t parts) noexcept {
  return c.layers % parts == 0 || (c.stack.uneven == UnevenSplit::ends_count && (c.layers + 2) % parts == 0);
}

[[nodiscard]] inline bool is_folded(const Strategy& s) noexcept {
  return placement_of(s.schedule, s.pp) == StagePlacement::folded;
}
[[nodiscard]] inline bool is_two_way(const Strategy& s) noexcept {
  return placement_of(s.schedule, s.pp) == StagePlacement::two_way;
}

/// Layers that divide go round the stages chunk by chunk. Others go in one part a stage.
[[nodiscard]] HeldLayers layers_of_stage(const CompiledMemory& compiled,
                                         const Strategy& strategy,
                                         std::int64_t stage) noexcept;

}  // namespace headroom
