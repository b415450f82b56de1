// SPDX-License-Identifier: Apache-2.0
// How a training run is spread over GPUs, and which spreads are legal.
#pragma once

#include <headroom/core/literal.hpp>
#include <headroom/model/estimate/estimate.hpp>
#include <headroom/model/train/schedules/schedule_list.hpp>
#include <headroom/model/train/strategy/rank_order.hpp>
#include <headroom/model/workload/architecture.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
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
  /// The set as a number, and back.
  [[nodiscard]] constexpr std::uint8_t bits() const noexcept { return bits_; }
  [[nodiscard]] static constexpr RecomputeParts of_bits(std::uint8_t bits) noexcept {
    RecomputeParts parts;
    parts.bits_ = bits;
    return parts;
  }
  friend constexpr bool operator==(const RecomputeParts&, const RecomputeParts&) = default;

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

/// Fields that are decided, each at its usual value first, and fields that may be left blank, each blank first.
struct Decided {
  template <class T>
  using Field = T;
  template <class T>
  [[nodiscard]] static constexpr T usually(T value) noexcept {
    return value;
  }
};
struct OrBlank {
  template <class T>
  using Field = std::optional<T>;
  template <class T>
  [[nodiscard]] static constexpr std::optional<T> usually(T /*value*/) noexcept {
    return std::nullopt;
  }
};

/// The keys of [strategy].
template <class State>
struct StrategyOf {
  template <class T>
  using Field = typename State::template Field<T>;
  using Number = Field<std::uint16_t>;
  using Small = Field<std::uint8_t>;
  using Flag = Field<bool>;
  static constexpr Number one = State::usually(std::uint16_t{1});
  static constexpr Small none = State::usually(std::uint8_t{0});
  static constexpr Flag off = State::usually(false);

  Number tp = one, pp = one, vpp = one, cp = one;
  Number ep = one, etp = one;
  Field<std::uint32_t> dp = State::usually(std::uint32_t{1});
  Number micro_batch = one;
  /// Sequences of a replica that its pipeline works off before it flushes; 0: all of a step. One stage needs none.
  Number local_batch = State::usually(std::uint16_t{0});
  Number shard_ranks = State::usually(std::uint16_t{0});  ///< data ranks that share the sharded states (HSDP); 0: all
  Small zero = none;                                      ///< ZeRO stage 0-3; 3 = fully sharded (FSDP)
  Field<Recompute> recompute = State::usually(Recompute::none);
  Small recompute_block = State::usually(std::uint8_t{1});  ///< layers between kept inputs under full recomputation
  Field<Schedule> schedule = State::usually(usual_schedule);
  Field<CpForm> cp_form = State::usually(CpForm::unstated);
  Small first_stage_layers = none;  ///< layers of the first and last pipeline stage; 0: as the software splits
  Small last_stage_layers = none;
  Flag sequence_parallel = off;
  Flag cuda_graphs = off;      ///< layers are launched as graphs
  Flag overlap_experts = off;  ///< exchanges of one micro-batch overlap with compute of another
  Field<RankOrder> order = State::usually(RankOrder::tp_cp_dp_pp);  ///< order in which ranks fill hosts
  friend constexpr bool operator==(const StrategyOf&, const StrategyOf&) = default;
};

/// What an author states.
using StatedStrategy = StrategyOf<OrBlank>;

/// One point of the search space. Kept small because searches copy millions of them.
struct Strategy : StrategyOf<Decided> {
  bool etp_open = false;     ///< etp was not stated and follows tp and ep as in the software
  bool stages_open = false;  ///< layers of the end stages were not stated and balance the stages
  RecomputeParts parts{};    ///< of selective recomputation, where a search takes them; empty: as the job says
  friend constexpr bool operator==(const Strategy&, const Strategy&) = default;
};
static_assert(sizeof(Strategy) <= 36);

/// A key of [strategy] and its field of a strategy, decided or stated.
template <Literal key, class Of>
struct StrategyField {
  static constexpr Literal name = key;
  Of of;
  std::span<const std::string_view> words = {};  ///< what its numbers stand for; empty: themselves
  std::string_view told = {};  ///< in a line where it is not as usual: before its number, or as true; empty: otherwise

  [[nodiscard]] constexpr StrategyField in(std::span<const std::string_view> its_words) const noexcept {
    return {of, its_words, told};
  }
  [[nodiscard]] constexpr StrategyField as(std::string_view line) const noexcept { return {of, words, line}; }
};
template <Literal key, class Of>
[[nodiscard]] constexpr StrategyField<key, Of> strategy_field(Of of) noexcept {
  return {of};
}

/// In the order in which they are shown. A new one stands last, and is told.
inline constexpr std::tuple strategy_fields{
    strategy_field<"tp">([](auto& s) -> auto& { return s.tp; }),
    strategy_field<"pp">([](auto& s) -> auto& { return s.pp; }),
    strategy_field<"vpp">([](auto& s) -> auto& { return s.vpp; }),
    strategy_field<"dp">([](auto& s) -> auto& { return s.dp; }),
    strategy_field<"cp">([](auto& s) -> auto& { return s.cp; }),
    strategy_field<"ep">([](auto& s) -> auto& { return s.ep; }),
    strategy_field<"etp">([](auto& s) -> auto& { return s.etp; }),
    strategy_field<"zero">([](auto& s) -> auto& { return s.zero; }),
    strategy_field<"shard_ranks">([](auto& s) -> auto& { return s.shard_ranks; }),
    strategy_field<"micro_batch">([](auto& s) -> auto& { return s.micro_batch; }),
    strategy_field<"recompute">([](auto& s) -> auto& { return s.recompute; }).in(recompute_names),
    strategy_field<"recompute_block">([](auto& s) -> auto& { return s.recompute_block; }),
    strategy_field<"schedule">([](auto& s) -> auto& { return s.schedule; }).in(schedule_names),
    strategy_field<"sequence_parallel">([](auto& s) -> auto& { return s.sequence_parallel; }),
    strategy_field<"cp_form">([](auto& s) -> auto& { return s.cp_form; }).in(cp_form_names),
    strategy_field<"first_stage_layers">([](auto& s) -> auto& { return s.first_stage_layers; }),
    strategy_field<"last_stage_layers">([](auto& s) -> auto& { return s.last_stage_layers; }),
    strategy_field<"order">([](auto& s) -> auto& { return s.order; }).in(rank_order_names),
    strategy_field<"cuda_graphs">([](auto& s) -> auto& { return s.cuda_graphs; }).as("CUDA graphs"),
    strategy_field<"overlap_experts">([](auto& s) -> auto& { return s.overlap_experts; }),
    strategy_field<"local_batch">([](auto& s) -> auto& { return s.local_batch; }).as("local batch"),
};
template <class See>
constexpr void for_each_strategy_field(See see) {
  std::apply([&](const auto&... field) { (see(field), ...); }, strategy_fields);
}

[[nodiscard]] constexpr bool states_stages(const Strategy& s) noexcept {
  return s.first_stage_layers > 0 || s.last_stage_layers > 0;
}

/// Micro-batches between two flushes of the pipeline, of the `micro_batches` of a step. A legal local batch holds whole
/// ones and divides the step's.
[[nodiscard]] constexpr double micro_batches_a_flush(const Strategy& s, double micro_batches) noexcept {
  const double stated = static_cast<double>(s.local_batch) / s.micro_batch;
  return s.pp > 1 && s.local_batch > 0 && stated < micro_batches ? stated : micro_batches;
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
