// SPDX-License-Identifier: Apache-2.0
// What every evaluation returns: fixed arrays indexed by enum, an interval, and a verdict. No heap, no strings.
#pragma once

#include <headroom/core/quantity.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace headroom {

/// Where the step's time goes. Terms a form does not price stay zero; `sustained` says what its rates already hold.
enum class Term : std::uint8_t {
  gemm,
  attention,
  elementwise,
  recompute,
  head,
  optimizer,
  tp_comm,
  cp_comm,
  ep_comm,
  pp_comm,
  dp_comm,
  host,
  bubble,
  straggler,
  offload,
  data,
  measured_level,  ///< what the user's own runs add, or take away: the one term that may be negative
  count
};
inline constexpr std::size_t term_count = static_cast<std::size_t>(Term::count);
inline constexpr std::array<std::string_view, term_count> term_names{
    "gemm",    "attention", "elementwise", "recompute", "head",      "optimizer", "tp_comm", "cp_comm",       "ep_comm",
    "pp_comm", "dp_comm",   "host",        "bubble",    "straggler", "offload",   "data",    "measured_level"};

/// Exposed time by term; the sum is the step.
struct Breakdown {
  std::array<Seconds, term_count> exposed{};

  [[nodiscard]] constexpr Seconds& operator[](Term term) noexcept { return exposed[static_cast<std::size_t>(term)]; }
  [[nodiscard]] constexpr Seconds operator[](Term term) const noexcept {
    return exposed[static_cast<std::size_t>(term)];
  }
  [[nodiscard]] constexpr Seconds total() const noexcept {
    Seconds sum{};
    for (const Seconds part : exposed) {
      sum += part;
    }
    return sum;
  }
};

/// Terms that are left out of a price, as bits by Term.
class TermSet {
 public:
  constexpr void add(Term term) noexcept { bits_ |= 1U << static_cast<unsigned>(term); }
  [[nodiscard]] constexpr bool has(Term term) const noexcept {
    return (bits_ >> static_cast<unsigned>(term) & 1U) != 0;
  }

 private:
  std::uint32_t bits_ = 0;
};

/// "bubble" and so on as typed. ConfigError with a suggestion for a word that is none.
[[nodiscard]] TermSet parse_terms(std::span<const std::string> names);

/// Where a GPU's memory goes.
enum class MemoryTerm : std::uint8_t {
  weights,
  gradients,
  optimizer,
  activations,
  workspace,        ///< gradients inside one layer's backward, what it recomputes, library workspace
  logits,           ///< the loss: logits in all their copies, the head's inputs and gradients
  dummy_gradients,  ///< stand-ins where weight gradients are accumulated in the GEMM
  gather_buffers,   ///< sharded weights gathered, gradients before their reduction
  kv_cache,
  cuda_graphs,
  fragmentation,  ///< what the allocator holds beyond what is live
  framework,      ///< outside the allocator: context, communicators
  count
};
inline constexpr std::size_t memory_term_count = static_cast<std::size_t>(MemoryTerm::count);
inline constexpr std::array<std::string_view, memory_term_count> memory_term_names{
    "weights",         "gradients",      "optimizer", "activations", "workspace",     "logits",
    "dummy_gradients", "gather_buffers", "kv_cache",  "cuda_graphs", "fragmentation", "framework"};

struct MemoryBreakdown {
  std::array<Bytes, memory_term_count> bytes{};

  [[nodiscard]] constexpr Bytes& operator[](MemoryTerm term) noexcept { return bytes[static_cast<std::size_t>(term)]; }
  [[nodiscard]] constexpr Bytes operator[](MemoryTerm term) const noexcept {
    return bytes[static_cast<std::size_t>(term)];
  }
  [[nodiscard]] constexpr Bytes total() const noexcept {
    Bytes sum{};
    for (const Bytes part : bytes) {
      sum += part;
    }
    return sum;
  }
  /// What the allocator hands out at the peak: everything but its slack and what lies outside it.
  [[nodiscard]] constexpr Bytes allocated() const noexcept {
    return total() - (*this)[MemoryTerm::fragmentation] - (*this)[MemoryTerm::framework];
  }
};

/// A central value and the interval that holds the truth with probability 0.8, as far as past errors tell.
template <class Q>
struct Interval {
  Q low{};
  Q mid{};
  Q high{};
};

/// Why a plan cannot be, or feasible; `may_not_fit` is answered, not refused. The number that broke it is in
/// Estimate::broke and Estimate::limit.
enum class Verdict : std::uint8_t {
  feasible,
  gpus_not_divisible,              ///< gpus / (tp pp cp)
  heads_not_divisible,             ///< heads / tp
  kv_heads_not_divisible,          ///< kv_heads against tp: neither divides the other
  layers_too_few,                  ///< pp vpp above layers
  sequence_not_divisible,          ///< seq_len / cp, or / tp with sequence parallelism
  batch_not_divisible,             ///< global_batch / (dp micro_batch)
  micro_batches_too_few,           ///< an interleaved schedule needs a multiple of pp
  experts_not_divisible,           ///< experts / ep
  expert_groups_misfit,            ///< ep against dp cp tp
  expert_width_not_divisible,      ///< an expert's width / etp
  tensor_ranks_not_divisible,      ///< tp / etp
  shard_ranks_misfit,              ///< shard_ranks against dp cp
  shard_ranks_straddle,            ///< shard_ranks against the data ranks side by side: neither divides the other
  experts_straddle_stages,         ///< ranks inside the stages of the experts' grid and of the dense layers'
  context_heads_not_divisible,     ///< heads / (tp cp), which Ulysses needs
  stage_layers_misfit,             ///< layers that stated stages leave / the other stages
  schedule_stages_odd,             ///< pp / the number that the schedule needs it to divide by
  schedule_micro_batches_odd,      ///< micro-batches / the number that the schedule needs them to divide by
  schedule_micro_batches_too_few,  ///< micro-batches against those that the schedule needs for pp stages
  schedule_has_no_chunks,          ///< vpp against 1 of schedules that choose their own chunks
  out_of_memory,                   ///< even the low end of the interval is above the capacity
  may_not_fit,                     ///< the capacity lies inside the interval
  host_memory_too_small,           ///< the device holds it, the host not what is offloaded
  kv_cache_too_small,              ///< weights fit, the KV cache holds less than one sequence
  kv_cache_uncertain,              ///< it holds one, but not where it is smaller by its uncertainty
  misses_target,
  count
};
inline constexpr std::size_t verdict_count = static_cast<std::size_t>(Verdict::count);
[[nodiscard]] std::string_view name_of(Verdict verdict) noexcept;

/// Where a training stage's memory peaks.
enum class PeakMoment : std::uint8_t { layer_backward, loss };
inline constexpr std::array<std::string_view, 2> peak_moment_names{"the backward pass of a layer", "the loss"};

/// What a training GPU keeps on its host or on NVMe.
struct HostMemory {
  Bytes states{};        ///< moments and master copy
  Bytes activations{};   ///< saved layer inputs of the micro-batches in flight
  double updated = 0.0;  ///< parameters whose gradients go there and whose weights come back in a step
  Bytes per_pass{};      ///< of the activations, those of one micro-batch
  [[nodiscard]] constexpr Bytes total() const noexcept { return states + activations; }
};

struct Estimate {
  Verdict verdict = Verdict::feasible;
  double broke = 0.0;  ///< the offending number: a count, or bytes where memory is short
  double limit = 0.0;  ///< what it would have to be
  Seconds step{};
  Breakdown time;
  MemoryBreakdown memory;  ///< of the fullest stage
  std::int32_t stage = 0;  ///< that stage
  PeakMoment moment = PeakMoment::layer_backward;
  double in_flight = 1.0;  ///< micro-batches whose activations it keeps, in full stages
  Interval<Bytes> device;  ///< of the memory as the device shows it, the upper end without the cap on the slack
  HostMemory host;         ///< of the stage that offloads most
  std::int32_t micro_batches = 0;
  double bubble_fraction = 0.0;
};

}  // namespace headroom
