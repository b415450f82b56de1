// SPDX-License-Identifier: Apache-2.0
// The order in which a training job's ranks fill hosts, and the groups that result for each axis.
#pragma once

#include <headroom/hardware/fabric/placement.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace headroom {

/// Axes in order of stride, that of adjacent GPUs first. The first order is Megatron-LM's default, the second its
/// --use-tp-pp-dp-mapping.
enum class RankOrder : std::uint8_t {
  tp_cp_dp_pp,
  tp_cp_pp_dp,
  tp_dp_cp_pp,
  tp_pp_cp_dp,
  cp_tp_dp_pp,
  pp_tp_cp_dp,
  dp_tp_cp_pp,
  dp_cp_tp_pp
};
inline constexpr std::array<std::string_view, 8> rank_order_names{"tp-cp-dp-pp", "tp-cp-pp-dp", "tp-dp-cp-pp",
                                                                  "tp-pp-cp-dp", "cp-tp-dp-pp", "pp-tp-cp-dp",
                                                                  "dp-tp-cp-pp", "dp-cp-tp-pp"};
[[nodiscard]] constexpr std::string_view name_of(RankOrder order) noexcept {
  return rank_order_names[static_cast<std::size_t>(order)];
}
/// By RankOrder. ep stands in front of dp, but in the second where Megatron-LM has it.
inline constexpr std::array<AxisOrder, rank_order_names.size()> rank_orders{
    AxisOrder{{Axis::tp, Axis::cp, Axis::ep, Axis::dp, Axis::pp}},
    AxisOrder{{Axis::tp, Axis::cp, Axis::ep, Axis::pp, Axis::dp}},
    AxisOrder{{Axis::tp, Axis::ep, Axis::dp, Axis::cp, Axis::pp}},
    AxisOrder{{Axis::tp, Axis::pp, Axis::cp, Axis::ep, Axis::dp}},
    AxisOrder{{Axis::cp, Axis::tp, Axis::ep, Axis::dp, Axis::pp}},
    AxisOrder{{Axis::pp, Axis::tp, Axis::cp, Axis::ep, Axis::dp}},
    AxisOrder{{Axis::ep, Axis::dp, Axis::tp, Axis::cp, Axis::pp}},
    AxisOrder{{Axis::ep, Axis::dp, Axis::cp, Axis::tp, Axis::pp}},
};
/// With the place of ep, as `fabric show --strategy` has it: "tp-cp-ep-dp-pp".
[[nodiscard]] constexpr const AxisOrder& axes_of(RankOrder order) noexcept {
  return rank_orders[static_cast<std::size_t>(order)];
}
/// "tp-cp-pp-dp" or "tp-cp-ep-pp-dp"; nullopt for a word that is neither.
[[nodiscard]] std::optional<RankOrder> find_rank_order(std::string_view text) noexcept;

/// Whether pp is the outermost axis, so that no other axis depends on the number of stages.
[[nodiscard]] constexpr bool pipeline_outermost(RankOrder order) noexcept {
  return axes_of(order).axes.back() == Axis::pp;
}

/// The groups of one job. Data ranks (dp cp) are one run if the order has dp and cp adjacent, else runs of the inner
/// axis, an outer stride apart.
struct RankGroups {
  GroupForm tensor, context, data, stages, experts, expert_data;
};
[[nodiscard]] RankGroups groups_of(RankOrder order, const Degrees& degrees) noexcept;

/// HSDP groups: the first `ranks` of the data ranks share states, and the remaining factor are replicas. nullopt if the
/// runs of the data ranks cannot be split so.
struct ShardGroups {
  GroupForm shard, replicas;
};
[[nodiscard]] std::optional<ShardGroups> shard_groups(const GroupForm& data, std::int64_t ranks) noexcept;

/// Ranks within a stage in the dense grid and in the experts' grid. If they differ, a rank would belong to two stages
/// (Megatron-LM asserts that both grids have the same pipeline groups).
struct InsideStages {
  std::int64_t dense = 1, experts = 1;
};
[[nodiscard]] InsideStages inside_stages(RankOrder order, const Degrees& degrees) noexcept;

}  // namespace headroom
