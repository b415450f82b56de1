// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/train/evaluate/stage_balance.hpp>
#include <headroom/model/train/schedules/schedule_model.hpp>
#include <headroom/model/train/step/step_time.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {
namespace {

/// Of the slowest stage, which another split must gain: as much as a search's plan may lose for being simpler.
constexpr double least_gain = 0.05;
/// What a key of end stages holds.
constexpr std::int64_t most_layers = 255;

double slowest(double first, double middle, double last) noexcept {
  return std::max({first, middle, last});
}

/// Whether every chunk of an interleaved pipeline has as many layers as the others, with embedding and head as a layer
/// each or without: the software's own split, which end stages of other numbers of layers would give up.
bool chunks_are_even(std::int64_t layers, const Strategy& s) noexcept {
  const std::int64_t chunks = std::int64_t{s.pp} * s.vpp;
  return layers % chunks == 0 || (layers + 2) % chunks == 0;
}

}  // namespace

std::optional<EndStages> balanced_ends(std::int64_t layers, std::int64_t stages, double beside) noexcept {
  const std::int64_t between = stages - 2;
  std::optional<EndStages> best;
  double shortest = 1e300;
  // Stages of fewer layers leave the ends more than the mean by a layer each, and more.
  const double mean = (real(layers) + beside) / real(stages);
  const auto from = std::max<std::int64_t>(1, static_cast<std::int64_t>(mean) - 2);
  for (std::int64_t each = from; between >= 0 && real(each) < shortest; ++each) {
    const std::int64_t ends = layers - between * each;
    if (ends < 2) {
      break;
    }
    // Beside the head as many as let it keep pace, or half of what there is for both ends.
    const double share = 0.5 * (real(ends) - beside);
    for (const double wanted : {std::floor(real(each) - beside), std::floor(share), std::ceil(share)}) {
      const auto last = static_cast<std::int64_t>(std::clamp(wanted, 1.0, real(ends - 1)));
      const double takes = slowest(real(ends - last), between > 0 ? real(each) : 0.0, real(last) + beside);
      if (takes < shortest) {
        shortest = takes;
        best = EndStages{ends - last, last};
      }
    }
    if (between == 0) {
      break;
    }
  }
  return best;
}

Strategy with_balanced_stages(const CompiledTraining& c, const LayerTable& t, const Strategy& s) noexcept {
  const bool in_line =
      model_of(s.schedule).waits_for_stages && placement_of(s.schedule, s.pp) == StagePlacement::looped;
  if (!c.balances_stages || !c.step || s.pp < 2 || states_stages(s) || !in_line) {
    return s;
  }
  const LayerTimes& l = t.step.layer;
  const Seconds layer = l.total() - l.pair_gain(false) + l.accumulation;
  if (layer <= Seconds{}) {
    return s;
  }
  const auto layers = static_cast<std::int64_t>(c.layers);
  if (s.vpp > 1 && chunks_are_even(layers, s)) {
    return s;
  }
  const StageLayers even = c.step->stages(s);
  const double head = t.step.head.total() / layer;
  const double modules = c.step->layers() - c.layers;
  const std::optional<EndStages> ends = balanced_ends(layers, s.pp, head + modules);
  if (!ends || ends->first > most_layers || ends->last > most_layers) {
    return s;
  }
  Strategy balanced = s;
  balanced.first_stage_layers = static_cast<std::uint8_t>(ends->first);
  balanced.last_stage_layers = static_cast<std::uint8_t>(ends->last);
  balanced.stages_open = true;
  const StageLayers split = c.step->stages(balanced);
  const double now = slowest(even.first, even.middle, even.last + head);
  const double then = slowest(split.first, split.middle, split.last + head);
  return then <= (1.0 - least_gain) * now ? balanced : s;
}

Estimate settle_stages(const CompiledTraining& c, const LayerTable& t, Bytes room, Strategy& s, Bytes known) noexcept {
  const Strategy balanced = with_balanced_stages(c, t, s);
  if (!(balanced == s)) {
    const Estimate e = evaluate_memory(c, t, balanced, room);
    if (e.micro_batches > 0 && e.device.high <= room) {
      s = balanced;
      return e;
    }
  }
  return evaluate_memory(c, t, s, known);
}

}  // namespace headroom
