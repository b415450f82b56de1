// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/train/evaluate/stage_balance.hpp>
#include <headroom/model/train/schedules/schedule_model.hpp>
#include <headroom/model/train/step/step_time.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {
namespace {

/// How much longer than as the software splits the slowest stage may be: what the rest of a step, which exchanges and
/// updates by stage, may well make up for.
constexpr double most_longer = 1.05;
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

EndSplits short_splits(std::int64_t layers, std::int64_t stages, double beside, double below) noexcept {
  EndSplits found;
  const auto add = [&](const EndStages& ends, double takes) {
    // Of splits alike the one that leaves the stages between the ends, which are more, the least.
    const auto later = [&](const EndStages& of, double its) {
      return its > takes || (its == takes && of.first + of.last < ends.first + ends.last);
    };
    std::size_t at = std::min(found.count, found.ends.size() - 1);
    if (found.count == found.ends.size() && !later(found.ends[at], found.slowest[at])) {
      return;
    }
    for (; at > 0 && later(found.ends[at - 1], found.slowest[at - 1]); --at) {
      found.ends[at] = found.ends[at - 1];
      found.slowest[at] = found.slowest[at - 1];
    }
    found.ends[at] = ends;
    found.slowest[at] = takes;
    found.count = std::min(found.count + 1, found.ends.size());
  };
  const std::int64_t between = stages - 2;
  // Stages of fewer layers leave the ends more than the mean by a layer each, and more.
  const double mean = (real(layers) + beside) / real(stages);
  const auto from = std::max<std::int64_t>(1, static_cast<std::int64_t>(mean) - 2);
  for (std::int64_t each = from; between >= 0 && real(each) < below; ++each) {
    const std::int64_t ends = layers - between * each;
    if (ends < 2) {
      break;
    }
    for (std::int64_t last = 1; last < ends && real(last) + beside < below; ++last) {
      const double takes = slowest(real(ends - last), between > 0 ? real(each) : 0.0, real(last) + beside);
      if (takes < below) {
        add({ends - last, last}, takes);
      }
    }
    if (between == 0) {
      break;
    }
  }
  return found;
}

OpenSplits open_splits(const CompiledTraining& c, const LayerTable& t, const Strategy& s) noexcept {
  OpenSplits splits;
  const bool in_line =
      model_of(s.schedule).waits_for_stages && placement_of(s.schedule, s.pp) == StagePlacement::looped;
  if (!c.balances_stages || !c.step || s.pp < 2 || states_stages(s) || !in_line) {
    return splits;
  }
  const LayerTimes& l = t.step.layer;
  const Seconds layer = l.total() - l.pair_gain(false) + l.accumulation;
  if (layer <= Seconds{}) {
    return splits;
  }
  const auto layers = static_cast<std::int64_t>(c.layers);
  if (s.vpp > 1 && chunks_are_even(layers, s)) {
    return splits;
  }
  const StageLayers even = c.step->stages(s);
  const double head = t.step.head.total() / layer;
  const double modules = c.step->layers() - c.layers;
  const double now = slowest(even.first, even.middle, even.last + head);
  const EndSplits found = short_splits(layers, s.pp, head + modules, most_longer * now);
  for (std::size_t i = 0; i < found.count; ++i) {
    const EndStages& ends = found.ends[i];
    Strategy other = s;
    other.first_stage_layers = static_cast<std::uint8_t>(std::min(ends.first, most_layers));
    other.last_stage_layers = static_cast<std::uint8_t>(std::min(ends.last, most_layers));
    other.stages_open = true;
    const StageLayers split = c.step->stages(other);
    const bool same = split.first == even.first && split.middle == even.middle && split.last == even.last;
    if (!same && std::max(ends.first, ends.last) <= most_layers) {
      splits.strategies[splits.count++] = other;
    }
  }
  return splits;
}

void SharedSplits::begin(const CompiledTraining& c, const LayerTable& t, const Strategy& s) {
  compiled_ = &c;
  table_ = &t;
  alike_ = s;
  alike_.shard_ranks = 0;
  others_.count = 0;
  opened_ = false;
  rules_[0] = check(c.architecture, c.work.shape, alike_);
  const MemoryOptions& o = c.memory.options;
  uses_host_ = o.offload_optimizer || o.offload_parameters || o.offload_activations || o.offload_checkpoints ||
               o.average == WeightAverage::host || c.memory.paged_share > 0.0;
  beyond_ = -1;
  // What a rank updates and what it holds of sharded states fall with the ranks that share them, and nothing else hangs
  // on these. The upper end grows with what the fullest stage wants but where frozen weights, or what a software
  // prints, part it, or where the only micro-batch's gradients decide which moment is the peak.
  shards_only_add_ = !uses_host_ && o.method == Method::full && c.memory.stack.measured != MemoryKind::live &&
                     !(c.memory.stack.gradients_are_late && micro_batches_of(c, s) <= 1.0);
}

void SharedSplits::open() {
  const CompiledTraining& c = *compiled_;
  const double m = micro_batches_of(c, alike_);
  opened_ = true;
  others_ = open_splits(c, *table_, alike_);
  held_[0].begin(c.memory, table_->memory, alike_, m);
  for (std::size_t i = 1; i < count(); ++i) {
    const Strategy& other = others_.strategies[i - 1];
    rules_[i] = check(c.architecture, c.work.shape, other);
    held_[i].begin(c.memory, table_->memory, other, m);
  }
}

Strategy SharedSplits::strategy_of(std::size_t i) const noexcept {
  if (i == 0) {
    return own_.strategy;
  }
  Strategy other = others_.strategies[i - 1];
  other.zero = own_.strategy.zero;
  other.shard_ranks = own_.strategy.shard_ranks;
  return other;
}

StageSplit SharedSplits::split(std::size_t i, Bytes known) {
  const Strategy s = strategy_of(i);
  return {s, evaluate_memory(*compiled_, rules_[i], held_[i], s, known)};
}

bool SharedSplits::fits(const Strategy& s, Bytes room, Bytes known) {
  const CompiledTraining& c = *compiled_;
  own_.strategy = s;
  first_at_ = count();
  const Legality rule = s.shard_ranks > 0 ? check(c.architecture, c.work.shape, s) : rules_[0];
  if (rule.verdict != Verdict::feasible) {  // however the layers are split
    own_.estimate = evaluate_memory(c, rule, held_[0], s, known);
    return false;
  }
  if (!opened_) {
    open();
  }
  constexpr double near = 1.0 + 1e-9;  // sums in another order
  if (known < any_room && s.shard_ranks > 0 && s.zero == beyond_ && least_beyond_ > near * room) {
    own_.estimate = {};
    own_.estimate.micro_batches = static_cast<std::int32_t>(micro_batches_of(c, s));
    own_.estimate.device.high = least_beyond_;
    return false;
  }
  own_ = split(0, known);
  if (own_.estimate.device.high <= room) {
    first_at_ = 0;
    return true;
  }
  Bytes least = own_.estimate.device.high;
  for (first_at_ = 1; first_at_ < count(); ++first_at_) {
    if (legal(first_at_)) {
      later_ = split(first_at_, room);
      if (later_.estimate.device.high <= room) {
        return true;
      }
      least = std::min(least, later_.estimate.device.high);
    }
  }
  if (shards_only_add_ && s.shard_ranks == 0) {
    beyond_ = s.zero;
    least_beyond_ = least;
  }
  return false;
}

bool SharedSplits::fits_alone(Bytes room) {
  if (first_at_ > 0) {
    return false;
  }
  for (std::size_t i = 1; i < count(); ++i) {
    if (legal(i) && split(i, room).estimate.device.high <= room) {
      return false;
    }
  }
  return true;
}

StageSplit SharedSplits::shortest(const LayerTable& table, Bytes room, const StepTraffic& traffic) {
  const CompiledTraining& c = *compiled_;
  StageSplit best = first();
  evaluate_time(c, table, best.strategy, traffic, best.estimate);
  for (std::size_t i = first_at_ + 1; i < count(); ++i) {
    if (!legal(i)) {
      continue;
    }
    // The time of a split is less work than its memory.
    StageSplit other{strategy_of(i), {}};
    if (!uses_host_) {
      other.estimate.micro_batches = best.estimate.micro_batches;
      evaluate_time(c, table, other.strategy, traffic, other.estimate);
      if (other.estimate.step >= best.estimate.step) {
        continue;
      }
    }
    other = split(i, room);
    if (other.estimate.device.high <= room) {
      evaluate_time(c, table, other.strategy, traffic, other.estimate);
      best = other.estimate.step < best.estimate.step ? other : best;
    }
  }
  return best;
}

StageSplit shortest(const CompiledTraining& c, const LayerTable& t, const Strategy& s, Bytes room) {
  SharedSplits splits;
  splits.begin(c, t, s);
  if (splits.fits(s, room)) {
    return splits.shortest(t, room, traffic_of(c, t, s));
  }
  StageSplit own = splits.own();
  evaluate_time(c, t, own.strategy, own.estimate);
  return own;
}

}  // namespace headroom
