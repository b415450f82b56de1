// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/train/memory/held_layers.hpp>

#include <algorithm>

namespace headroom {
namespace {

void add_layers(const CompiledMemory& c, std::int64_t from, std::int64_t to, HeldLayers& result) noexcept {
  from = std::clamp<std::int64_t>(from, 0, c.layers);
  to = std::clamp<std::int64_t>(to, from, c.layers);
  result.layers += real(to - from);
  for (std::size_t k = 0; k < c.kinds.size(); ++k) {
    const std::size_t row = k * static_cast<std::size_t>(c.layers + 1);
    result.of_kind[k] += c.before[row + static_cast<std::size_t>(to)] - c.before[row + static_cast<std::size_t>(from)];
  }
}

/// Adds one of `parts` consecutive parts of the network; what cannot be even gives early parts one layer more.
void add_part(const CompiledMemory& c, std::int64_t parts, std::int64_t part, HeldLayers& result) noexcept {
  if (parts_are_alike(c, parts)) {
    const std::int64_t shift = c.layers % parts == 0 ? 0 : 1;
    const std::int64_t size = (c.layers + 2 * shift) / parts;
    add_layers(c, part * size - shift, (part + 1) * size - shift, result);
    return;
  }
  const std::int64_t least = c.layers / parts;
  const std::int64_t more = c.layers % parts;
  const std::int64_t from = part * least + std::min(part, more);
  add_layers(c, from, from + least + (part < more ? 1 : 0), result);
}

/// One stage of a split that the strategy states: the others share what the stated ones leave.
void add_stated_stage(const CompiledMemory& c, const Strategy& s, std::int64_t stage, HeldLayers& result) noexcept {
  const std::int64_t left = c.layers - s.first_stage_layers - s.last_stage_layers;
  const std::int64_t others = s.pp - (s.first_stage_layers > 0 ? 1 : 0) - (s.last_stage_layers > 0 ? 1 : 0);
  const std::int64_t each = others > 0 ? left / others : 0;
  const std::int64_t first = s.first_stage_layers > 0 ? s.first_stage_layers : each;
  const std::int64_t from = stage == 0 ? 0 : first + (stage - 1) * each;
  const bool rest = stage == s.pp - 1;
  add_layers(c, from, rest ? c.layers : stage == 0 ? first : from + each, result);
}

}  // namespace

HeldLayers layers_of_stage(const CompiledMemory& c, const Strategy& s, std::int64_t stage) noexcept {
  HeldLayers result{c};
  const std::int64_t stages = s.pp;
  if (is_folded(s)) {
    const std::int64_t chunks = chunks_of(s.schedule, s.vpp);
    for (std::int64_t i = 0; i < chunks; ++i) {  // down the ranks and up again
      add_part(c, chunks * stages, i % 2 == 0 ? i * stages + stage : (i + 1) * stages - 1 - stage, result);
    }
  } else if (is_two_way(s)) {
    for (const std::int64_t held : {stage, stages - 1 - stage}) {
      if (states_stages(s)) {
        add_stated_stage(c, s, held, result);
      } else {
        add_part(c, stages, held, result);
      }
    }
  } else if (states_stages(s)) {
    add_stated_stage(c, s, stage, result);
  } else if (parts_are_alike(c, stages * s.vpp)) {
    for (std::int64_t i = 0; i < s.vpp; ++i) {
      add_part(c, stages * s.vpp, i * stages + stage, result);
    }
  } else {
    add_part(c, stages, stage, result);
  }
  return result;
}

}  // namespace headroom
