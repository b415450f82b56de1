// SPDX-License-Identifier: Apache-2.0
// How a training run is spread over GPUs, and which spreads are legal.
#pragma once

#include <headroom/model/estimate/estimate.hpp>
#include <headroom/model/train/schedules/schedule_list.hpp>
#include <headroom/model/train/strategy/rank_order.hpp>
#include <headroom/model/workload/architecture.hpp>

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace headroom {

enum class Recompute : std::uint8_t { none, selective, full };
inline constexpr std::array<std::string_view, 3> recompute_names{"none", "selective", "full"};

/// How the ranks of a context-parallel group meet each other's keys and values. `unstated`: the software's own, where
/// nobody says which.
enum class CpForm : std::uint8_t { ring, all_gather, ulysses, unstated };
inline constexpr std::array<std::string_view, 3> cp_form_names{"ring", "all-gather", "ulysses"};

/// One point of the search space. Small integers: it is copied by the million.
struct Strategy {
  std::uint16_t tp = 1, pp = 1, vpp = 1, cp = 1;
  std::uint16_t ep = 1, etp = 1;
  std::uint32_t dp = 1;
  std::uint16_t micro_batch = 1;
  std::uint16_t shard_ranks = 0;  ///< data ranks that share the sharded states (HSDP); 0: all of them
  std::uint8_t zero = 0;          ///< ZeRO stage 0-3; 3 = fully sharded (FSDP)
  Recompute recompute = Recompute::none;
  std::uint8_t recompute_block = 1;  ///< layers between kept inputs under full recomputation
  Schedule schedule = usual_schedule;
  CpForm cp_form = CpForm::unstated;
  std::uint8_t first_stage_layers = 0;  ///< of the first and the last pipeline stage; 0: as the software splits
  std::uint8_t last_stage_layers = 0;
  bool sequence_parallel = false;
  bool cuda_graphs = false;                  ///< layers are launched as graphs
  bool overlap_experts = false;              ///< exchanges of one micro-batch run beside the compute of another
  bool etp_open = false;                     ///< etp was not stated: it follows tp and ep as the software does
  RankOrder order = RankOrder::tp_cp_dp_pp;  ///< in which ranks fill hosts
  friend constexpr bool operator==(const Strategy&, const Strategy&) = default;
};
static_assert(sizeof(Strategy) <= 32);

[[nodiscard]] constexpr Degrees degrees_of(const Strategy& s) noexcept {
  return {s.tp, s.cp, s.dp, s.pp, s.ep, s.etp};
}

/// What the strategy must fit: the numbers legality needs and no more.
struct TrainingShape {
  std::int64_t gpus = 1;
  std::int64_t seq_len = 1;
  std::int64_t global_batch = 1;  ///< sequences
};

/// feasible, or the first rule broken with its two numbers in `broke` and `limit`.
struct Legality {
  Verdict verdict = Verdict::feasible;
  double broke = 0.0;
  double limit = 0.0;
};
[[nodiscard]] Legality check(const Architecture& architecture,
                             const TrainingShape& shape,
                             const Strategy& strategy) noexcept;

/// Every rule the strategy breaks, for the reader of an answer; no rule is reported that only follows from another.
[[nodiscard]] std::vector<Legality> broken_rules(const Architecture& architecture,
                                                 const TrainingShape& shape,
                                                 const Strategy& strategy);

/// Sequences one optimizer step takes: micro_batch x accumulation x dp.
[[nodiscard]] constexpr std::int64_t effective_batch(std::int64_t micro_batch,
                                                     std::int64_t data_ranks,
                                                     std::int64_t accumulation) noexcept {
  return micro_batch * data_ranks * accumulation;
}

}  // namespace headroom
