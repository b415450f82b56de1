// SPDX-License-Identifier: Apache-2.0
// The result of every evaluation: fixed arrays indexed by enum, an interval, and a verdict. No heap, no strings.
#pragma once

#include <headroom/core/quantity.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace headroom {

/// Parts of the step's time. A term that a model does not price separately is zero; the `sustained` rate includes it.
enum class Term : std::uint8_t {
  gemm,
  attention,
  scan,  ///< states of recurrent mixers
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
  host_sync,  ///< a host that reads back how many tokens its experts get, and launches into an empty queue
  bubble,
  straggler,
  offload,
  data,
  measured_level,  ///< correction from the user's own runs; the only term that may be negative
  count
};
inline constexpr std::size_t term_count = static_cast<std::size_t>(Term::count);
inline constexpr std::array<std::string_view, term_count> term_names{
    "gemm",    "attention", "scan",    "elementwise", "recompute",     "head", "optimizer",
    "tp_comm", "cp_comm",   "ep_comm", "pp_comm",     "dp_comm",       "host", "host_sync",
    "bubble",  "straggler", "offload", "data",        "measured_level"};

/// Exposed time by term; the sum is the time of the step.
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

/// A set of terms to leave out of a price.
class TermSet {
 public:
  constexpr void add(Term term) noexcept { bits_ |= 1U << static_cast<unsigned>(term); }
  [[nodiscard]] constexpr bool has(Term term) const noexcept {
    return (bits_ >> static_cast<unsigned>(term) & 1U) != 0;
  }

 private:
  std::uint32_t bits_ = 0;
};

/// Parses names of terms such as "bubble". ConfigError with a suggestion for an unknown name.
[[nodiscard]] TermSet parse_terms(std::span<const std::string> names);

enum class MemoryTerm : std::uint8_t {
  weights,
  gradients,
  optimizer,
  activations,
  workspace,        ///< gradients inside one layer's backward pass, tensors it recomputes, library workspace
  logits,           ///< the loss: all copies of the logits, inputs and gradients of the head
  dummy_gradients,  ///< placeholders where weight gradients are accumulated in the GEMM
  gather_buffers,   ///< gathered copies of sharded weights, and gradients before their reduction
  kv_cache,
  cuda_graphs,
  fragmentation,  ///< bytes that the allocator holds beyond the live tensors
  framework,      ///< bytes outside the allocator: context, communicators
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
  /// Bytes that the allocator hands out at the peak: all terms but fragmentation and framework.
  [[nodiscard]] constexpr Bytes allocated() const noexcept {
    return total() - (*this)[MemoryTerm::fragmentation] - (*this)[MemoryTerm::framework];
  }
};

/// A central value and the interval that contains the true value with probability 0.8, judged by past errors.
template <class Q>
struct Interval {
  Q low{};
  Q mid{};
  Q high{};
};

/// Why a plan is infeasible, or feasible; a plan with `may_not_fit` is answered. The number that violated a rule is
/// Estimate::broke, its bound Estimate::limit. Each rule names the numbers that must divide or be compared.
enum class Verdict : std::uint8_t {
  feasible,
  gpus_not_divisible,              ///< gpus / (tp pp cp)
  heads_not_divisible,             ///< heads / tp
  kv_heads_not_divisible,          ///< kv_heads against tp: neither divides the other
  layers_too_few,                  ///< layers below pp vpp
  sequence_not_divisible,          ///< seq_len / cp, or / tp with sequence parallelism
  batch_not_divisible,             ///< global_batch / (dp micro_batch)
  local_batch_misfit,              ///< sequences of a replica / local_batch
  local_batch_of_parts,            ///< local_batch / micro_batch
  micro_batches_too_few,           ///< an interleaved schedule needs a multiple of pp between two flushes
  experts_not_divisible,           ///< experts / ep
  expert_groups_misfit,            ///< ep against dp cp tp
  expert_width_not_divisible,      ///< an expert's width / etp
  tensor_ranks_not_divisible,      ///< tp / etp
  shard_ranks_misfit,              ///< shard_ranks against dp cp
  shard_ranks_straddle,            ///< shard_ranks against adjacent data ranks: neither divides the other
  experts_straddle_stages,         ///< ranks within a stage: the experts' grid differs from the dense grid
  context_heads_not_divisible,     ///< heads / (tp cp), which Ulysses needs
  stage_layers_misfit,             ///< layers that stated stages leave / the other stages
  schedule_stages_odd,             ///< pp / the number that the schedule needs it to divide by
  schedule_micro_batches_odd,      ///< micro-batches / the number that the schedule needs them to divide by
  schedule_micro_batches_too_few,  ///< micro-batches against those that the schedule needs for pp stages
  schedule_has_no_chunks,          ///< vpp against 1 of schedules that choose their own chunks
  out_of_memory,                   ///< even the low end of the interval is above the capacity
  may_not_fit,                     ///< the capacity lies inside the interval
  host_memory_too_small,           ///< the device holds the plan, the host cannot hold what is offloaded
  kv_cache_too_small,              ///< the weights fit, the KV cache holds less than one sequence
  kv_cache_uncertain,              ///< the KV cache holds one sequence only without its uncertainty
  misses_target,
  count
};
[[nodiscard]] std::string_view name_of(Verdict verdict) noexcept;

/// The moment at which a training stage's memory peaks.
enum class PeakMoment : std::uint8_t { layer_backward, loss, update };
inline constexpr std::array<std::string_view, 3> peak_moment_names{"the backward pass of a layer", "the loss",
                                                                   "the optimizer's update"};

/// Memory that a training GPU uses on its host or on NVMe.
struct HostMemory {
  Bytes states{};        ///< optimizer moments and master copy; with offloaded parameters weights and gradients too
  Bytes activations{};   ///< saved layer inputs of the micro-batches in flight
  double updated = 0.0;  ///< parameters whose gradients are sent to the host, and weights returned, in a step
  Bytes per_pass{};      ///< saved layer inputs of one micro-batch
  Bytes weights{};       ///< of the states: what comes to the device for each pass of a micro-batch
  Bytes paged{};         ///< of the states: what comes to the device for the update, and goes again
  Bytes average{};       ///< a moving average of the weights, updated beside the steps
  [[nodiscard]] constexpr Bytes total() const noexcept { return states + activations + average; }
};

struct Estimate {
  Verdict verdict = Verdict::feasible;
  double broke = 0.0;  ///< number that violated a rule: a count, or bytes if memory is short
  double limit = 0.0;  ///< bound that it violated
  Seconds step{};
  Breakdown time;
  MemoryBreakdown memory;  ///< memory of the fullest stage
  std::int32_t stage = 0;  ///< index of the fullest stage
  PeakMoment moment = PeakMoment::layer_backward;
  double in_flight = 1.0;  ///< micro-batches in flight, in units of full stages' activations
  Interval<Bytes> device;  ///< memory as the device shows it; the upper end ignores the cap on fragmentation
  HostMemory host;         ///< host memory of the stage that offloads most
  std::int32_t micro_batches = 0;
  double bubble_fraction = 0.0;
};

}  // namespace headroom
