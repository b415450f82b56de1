// SPDX-License-Identifier: Apache-2.0
// What a remedy, a search, a number of GPUs, a cure or a fleet changes of a question, as plain values.
#pragma once

#include <headroom/model/train/strategy/strategy.hpp>

#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace headroom {

/// What can be changed. All but the last are keys of a scenario.
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
  hidden_dp_traffic,  ///< of the data-parallel traffic, what the software hides: which no key states
  count
};

/// A key of [strategy].
[[nodiscard]] constexpr bool of_strategy(Knob knob) noexcept {
  return knob >= Knob::order && knob <= Knob::cuda_graphs;
}

enum class Offload : std::uint8_t { optimizer, activations, parameters };

/// A flag; a count, or a word by its number in the list of the knob's words; a share; an id of the catalog or a
/// quantity as its author wrote it; what is kept in host memory.
using ChangeValue = std::variant<bool, std::int64_t, double, std::string, std::vector<Offload>>;

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

/// The changes that make a strategy of any other, but for the data ranks, which follow: those that say more than what
/// blank keys mean.
[[nodiscard]] Changes changes_to(const Strategy& strategy);

}  // namespace headroom
