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

/// Parts of a layer that selective recomputation runs again where they are stated, in Megatron-Core's words
/// (--recompute-modules): the attention between its projections, norms, up-projections of latents with their rotary
/// embedding, the activation inside experts.
enum class RecomputePart : std::uint8_t { core_attn, layernorm, mla_up_proj, moe_act };
inline constexpr std::array<std::string_view, 4> recompute_part_names{"core_attn", "layernorm", "mla_up_proj",
                                                                      "moe_act"};
/// A set of them; empty: what the software's selective recomputation is.
class RecomputeParts {
 public:
  constexpr void add(RecomputePart part) noexcept { bits_ = static_cast<std::uint8_t>(bits_ | bit(part)); }
  [[nodiscard]] constexpr bool has(RecomputePart part) const noexcept { return (bits_ & bit(part)) != 0; }
  [[nodiscard]] constexpr bool any() const noexcept { return bits_ != 0; }

 private:
  [[nodiscard]] static constexpr std::uint8_t bit(RecomputePart part) noexcept {
    return static_cast<std::uint8_t>(1U << static_cast<unsigned>(part));
  }
  std::uint8_t bits_ = 0;
};

/// How the ranks of a context-parallel group meet each other's keys and values. `unstated`: the software's own, where
/// nobody says which.
enum class CpForm : std::uint8_t { ring, all_gather, ulysses, unstated };
inline constexpr std::array<std::string_view, 3> cp_form_names{"ring", "all-gather", "ulysses"};

/// One point of the search space. Kept small because searches copy millions of them.
struct Strategy {
  std::uint16_t tp = 1, pp = 1, vpp = 1, cp = 1;
  std::uint16_t ep = 1, etp = 1;
  std::uint32_t dp = 1;
  std::uint16_t micro_batch = 1;
  std::uint16_t shard_ranks = 0;  ///< data ranks that share the sharded states (HSDP); 0: all
  std::uint8_t zero = 0;          ///< ZeRO stage 0-3; 3 = fully sharded (FSDP)
  Recompute recompute = Recompute::none;
  std::uint8_t recompute_block = 1;  ///< layers between kept inputs under full recomputation
  Schedule schedule = usual_schedule;
  CpForm cp_form = CpForm::unstated;
  std::uint8_t first_stage_layers = 0;  ///< layers of the first and last pipeline stage; 0: as the software splits
  std::uint8_t last_stage_layers = 0;
  bool sequence_parallel = false;
  bool cuda_graphs = false;                  ///< layers are launched as graphs
  bool overlap_experts = false;              ///< exchanges of one micro-batch overlap with compute of another
  bool etp_open = false;                     ///< etp was not stated and follows tp and ep as in the software
  RankOrder order = RankOrder::tp_cp_dp_pp;  ///< order in which ranks fill hosts
  friend constexpr bool operator==(const Strategy&, const Strategy&) = default;
};
static_assert(sizeof(Strategy) <= 32);

[[nodiscard]] constexpr bool states_stages(const Strategy& s) noexcept {
  return s.first_stage_layers > 0 || s.last_stage_layers > 0;
}

[[nodiscard]] constexpr Degrees degrees_of(const Strategy& s) noexcept {
  return {s.tp, s.cp, s.dp, s.pp, s.ep, s.etp};
}

/// The numbers of a job that legality depends on.
struct TrainingShape {
  std::int64_t gpus = 1;
  std::int64_t seq_len = 1;
  std::int64_t global_batch = 1;  ///< global batch in sequences
};

/// Feasible, or the first broken rule with its two numbers in `broke` and `limit`.
struct Legality {
  Verdict verdict = Verdict::feasible;
  double broke = 0.0;
  double limit = 0.0;
};
[[nodiscard]] Legality check(const Architecture& architecture,
                             const TrainingShape& shape,
                             const Strategy& strategy) noexcept;

/// Every rule that the strategy breaks, without rules that only follow from another.
[[nodiscard]] std::vector<Legality> broken_rules(const Architecture& architecture,
                                                 const TrainingShape& shape,
                                                 const Strategy& strategy);

}  // namespace headroom
