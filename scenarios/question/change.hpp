// SPDX-License-Identifier: Apache-2.0
// Changes of a question, as plain values: what remedies, searches, scaling, cures and fleets try.
#pragma once

#include <headroom/model/train/strategy/strategy.hpp>

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace headroom {

/// What a change sets. All but the last two are keys of a scenario, in the order of its tables.
enum class Knob : std::uint8_t {
  model,
  gpu,
  node,
  cluster,
  gpus,
  power_cap,
  prices,
  market,
  region,
  software,
  precision,
  seq_len,
  global_batch,
  method,
  fused_loss,
  optimizer,
  offload,
  overlap,
  async_tp,
  compile,
  dispatcher,
  order,
  tp,
  pp,
  vpp,
  dp,
  cp,
  ep,
  etp,
  micro_batch,
  recompute,
  recompute_parts,
  recompute_block,
  zero,
  shard_ranks,
  sequence_parallel,
  cp_form,
  schedule,
  overlap_experts,
  cuda_graphs,
  engine,
  weights,
  kv_cache,
  memory_fraction,
  max_num_seqs,
  max_num_tokens,
  chunked_prefill,
  concurrency,
  priced,             ///< whether [money] is asked at all: a flag
  hidden_dp_traffic,  ///< share of the data-parallel traffic that the software hides behind compute, 0 to 1
  count
};

/// Whether a key of a scenario states it.
[[nodiscard]] constexpr bool is_key(Knob knob) noexcept {
  return knob < Knob::priced;
}

/// Whether it is a key of [strategy].
[[nodiscard]] constexpr bool of_strategy(Knob knob) noexcept {
  return knob >= Knob::order && knob <= Knob::cuda_graphs;
}

enum class Offload : std::uint8_t { optimizer, activations, parameters };

/// By knob: a flag; a whole number, or the place of a word in words_of(knob), from 0; a share between 0 and 1; an id of
/// the catalog, or a quantity with its unit; the list of what is offloaded to host memory, of what runs again.
using ChangeValue = std::variant<bool, std::int64_t, double, std::string, std::vector<Offload>, RecomputeParts>;

struct Change {
  Knob knob = Knob::count;
  ChangeValue value;

  Change() = default;
  template <class T>
  Change(Knob which, T to) : knob{which} {
    if constexpr (std::is_enum_v<T> || (std::is_integral_v<T> && !std::is_same_v<T, bool>)) {
      value = static_cast<std::int64_t>(to);
    } else {
      value = std::move(to);
    }
  }
  friend bool operator==(const Change&, const Change&) = default;
};
using Changes = std::vector<Change>;

/// The shortest list of changes that makes any training question run `strategy`. `dp` is not among them: it is what the
/// other ranks leave of the GPUs.
[[nodiscard]] Changes changes_to(const Strategy& strategy);

}  // namespace headroom
