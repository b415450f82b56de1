// SPDX-License-Identifier: Apache-2.0
// The strategies of one job, as a tree: layouts of tensor, context and expert ranks; stages and micro-batches; what a
// layer table depends on; shards; schedules and ZeRO stages. Each level's values follow from the levels above.
#pragma once

#include <headroom/scenarios/question/scenario.hpp>
#include <headroom/scenarios/search/axes.hpp>

#include <cstdint>
#include <vector>

namespace headroom {

/// The ranks of a layer: one subtree, searched by one thread.
struct LayerRanks {
  RankOrder order = RankOrder::tp_cp_dp_pp;
  std::uint16_t tp = 1, cp = 1, ep = 1, etp = 1;
};

/// What a layer table depends on beside the layout and the micro-batch.
struct LayerSettings {
  bool sequence_parallel = false;
  Recompute recompute = Recompute::none;
  RecomputeParts parts{};            ///< of selective recomputation; empty: as the job says
  std::uint8_t recompute_block = 1;  ///< of memory's stages alone: not of the table
  CpForm cp_form = CpForm::unstated;
  bool overlap_experts = false;
  bool cuda_graphs = false;
};

struct ScheduleForm {
  Schedule schedule = usual_schedule;
  std::uint16_t vpp = 1;
};

/// A layout's subtree once its stages are chosen.
struct Stages {
  std::uint16_t pp = 1;
  std::uint32_t dp = 1;
  std::vector<std::uint16_t> micro_batches;
  std::vector<LayerSettings> forms;
  std::vector<std::uint16_t> shard_ranks;
  std::vector<ScheduleForm> schedules;
  std::vector<std::uint8_t> zeros;
  /// Strategies of one micro-batch and one form.
  [[nodiscard]] std::uint64_t under_form() const noexcept;
  [[nodiscard]] std::uint64_t strategies() const noexcept;
};

class StrategySpace {
 public:
  /// What is neither stated nor freed follows as it does in a plan.
  StrategySpace(const TrainScenario& train, const StrategyAxes& axes);

  [[nodiscard]] const std::vector<LayerRanks>& layouts() const noexcept { return layouts_; }
  [[nodiscard]] std::vector<Stages> stages(const LayerRanks& layout) const;
  /// What all strategies share.
  [[nodiscard]] const Strategy& base() const noexcept { return base_; }
  /// Strategies of the whole space: the leaves of the tree.
  [[nodiscard]] std::uint64_t strategies() const;

  /// A strategy of the space.
  [[nodiscard]] Strategy strategy(const LayerRanks& layout,
                                  const Stages& stages,
                                  std::uint16_t micro_batch,
                                  const LayerSettings& form,
                                  std::uint16_t shard_ranks,
                                  const ScheduleForm& schedule,
                                  std::uint8_t zero) const noexcept;

 private:
  /// What a plan of so many ranks takes where no axis says.
  [[nodiscard]] Strategy own(std::int64_t tp, std::int64_t cp, std::int64_t ep, std::int64_t pp) const noexcept;
  void list_layouts();
  void list_layouts(RankOrder order);
  [[nodiscard]] std::vector<RankOrder> orders() const;
  [[nodiscard]] bool order_repeats(const LayerRanks& layout, std::int64_t pp, std::int64_t dp) const;
  [[nodiscard]] std::vector<std::int32_t> tensor_ranks() const;
  [[nodiscard]] std::vector<std::int32_t> context_ranks(std::int64_t tp) const;
  [[nodiscard]] std::vector<std::int32_t> expert_ranks(std::int64_t tp, std::int64_t cp) const;
  [[nodiscard]] std::vector<std::int32_t> expert_tensor_ranks(std::int64_t tp, std::int64_t cp, std::int64_t ep) const;
  [[nodiscard]] std::vector<std::int32_t> pipeline_stages(std::int64_t ranks) const;
  [[nodiscard]] std::vector<std::uint16_t> micro_batches(std::int64_t dp) const;
  [[nodiscard]] std::vector<RecomputeParts> parts_again() const;
  [[nodiscard]] std::vector<LayerSettings> forms(const LayerRanks& layout, std::int64_t pp) const;
  [[nodiscard]] std::vector<std::uint16_t> shards(const LayerRanks& layout, std::int64_t dp) const;
  [[nodiscard]] std::vector<ScheduleForm> schedules(std::int64_t pp) const;
  void add_overlapped(Stages& stages, std::vector<Stages>& all) const;
  [[nodiscard]] std::vector<std::uint8_t> zeros(std::int64_t pp) const;

  const TrainScenario* train_;
  StrategyAxes axes_;
  Strategy base_;
  bool micro_batch_blank_ = false;
  std::vector<LayerRanks> layouts_;
};

/// Kinds of parallelism beyond replicas and sharded states: tensor, pipeline, context, expert.
[[nodiscard]] int kinds_of_parallelism(const Strategy& strategy) noexcept;

}  // namespace headroom
