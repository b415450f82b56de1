// SPDX-License-Identifier: Apache-2.0
// From stages to the device: which stage is the fullest, and what the device then shows.
#include <headroom/model/train/memory/held_stages.hpp>
#include <headroom/model/train/schedules/schedule_model.hpp>

#include <algorithm>
#include <optional>

namespace headroom {
namespace {

/// How far what lies beyond the number that a software prints was seen to differ between runs.
constexpr double beyond_printed = 1.5;

/// Of pipelines whose stages follow one another, the layer that a stage begins with, of its first chunk.
std::int64_t first_layer_of(const CompiledMemory& c, const Strategy& s, std::int64_t stage) noexcept {
  if (states_stages(s)) {
    const std::int64_t others = s.pp - (s.first_stage_layers > 0 ? 1 : 0) - (s.last_stage_layers > 0 ? 1 : 0);
    const std::int64_t each = others > 0 ? (c.layers - s.first_stage_layers - s.last_stage_layers) / others : 0;
    const std::int64_t first = s.first_stage_layers > 0 ? s.first_stage_layers : each;
    return first + (stage - 1) * each;
  }
  const std::int64_t whole = std::int64_t{s.pp} * s.vpp;
  const std::int64_t parts = parts_are_alike(c, whole) ? whole : s.pp;
  if (parts_are_alike(c, parts)) {
    const std::int64_t shift = c.layers % parts == 0 ? 0 : 1;
    return stage * ((c.layers + 2 * shift) / parts) - shift;
  }
  return stage * (c.layers / parts) + std::min(stage, c.layers % parts);
}

/// Of such a pipeline, the next stage between the ends that may hold other layers than `stage`, or the last one.
std::int64_t next_unlike(const CompiledMemory& c, const Strategy& s, std::int64_t stage) noexcept {
  if (first_layer_of(c, s, stage) < c.uniform_from) {
    return stage + 1;
  }
  const std::int64_t last = s.pp - 1;
  const bool even = states_stages(s) || parts_are_alike(c, std::int64_t{s.pp} * s.vpp) || parts_are_alike(c, s.pp);
  const std::int64_t fewer = even ? last : c.layers % s.pp;  // from this one on stages have a layer less
  return std::max(stage + 1, fewer > stage ? std::min(fewer, last) : last);
}

/// What is held of a stage's memory where nothing limits it is at most that of the fullest one, whose interval widens
/// it by the software's width at least, but for frozen weights.
Bytes least_upper_end(const StageMemory& m, Bytes wanted, const MemoryStack& software) noexcept {
  constexpr double rounding = 1.0 - 1e-12;
  return rounding * (m.frozen > Bytes{} ? 1.0 : std::min(1.0 + software.interval, beyond_printed)) * wanted;
}

/// The fullest of the stages that are looked at, from the first on.
class Fullest {
 public:
  Fullest(const MemoryStack& software, Bytes room) noexcept : software_{software}, room_{room} {}

  /// Whether the stages looked at so far show that the upper end is beyond the room.
  bool look(const StageMemory& m, std::int64_t stage) noexcept {
    // Stages that the device's limit makes alike differ in what they would hold without it.
    const Bytes wanted = m.wanted();
    if (stage == 0 || wanted > wanted_) {
      best_.memory = m;
      best_.stage = static_cast<std::int32_t>(stage);
      wanted_ = wanted;
    }
    if (stage == 0 || m.host.total() > best_.host.total()) {
      best_.host = m.host;
    }
    const Bytes least = room_ < any_room ? least_upper_end(best_.memory, wanted_, software_) : Bytes{};
    best_.at_least = least > room_ ? least : Bytes{};
    return least > room_;
  }
  [[nodiscard]] const FullestStage& best() const noexcept { return best_; }

 private:
  const MemoryStack& software_;
  Bytes room_;
  FullestStage best_;
  Bytes wanted_{};  ///< of the best
};

}  // namespace

StageWalk::StageWalk(const CompiledMemory& c, const Strategy& s) noexcept
    : compiled_{&c}, strategy_{s}, falling_{placement_of(s.schedule, s.pp) == StagePlacement::looped}, looked_{c} {}

void StageWalk::next() noexcept {
  const CompiledMemory& c = *compiled_;
  const Strategy& s = strategy_;
  if (!falling_ || stage_ == 0) {
    ++stage_;
    if (falling_ && stage_ + 1 < s.pp) {
      looked_ = layers_of_stage(c, s, stage_);
    }
    return;
  }
  for (stage_ = next_unlike(c, s, stage_); stage_ + 1 < s.pp; stage_ = next_unlike(c, s, stage_)) {
    const HeldLayers own = layers_of_stage(c, s, stage_);
    if (!std::equal(own.of_kind.begin(), own.of_kind.begin() + c.kinds.size(), looked_.of_kind.begin())) {
      looked_ = own;
      return;
    }
  }
}

FullestStage fullest_stage(
    const CompiledMemory& c, const MemoryTable& t, const Strategy& s, double micro_batches, Bytes room) noexcept {
  Fullest fullest{c.stack, room};
  for (StageWalk walk{c, s}; !walk.done(); walk.next()) {
    if (fullest.look(stage_memory(c, t, s, micro_batches, walk.stage()), walk.stage())) {
      break;
    }
  }
  return fullest.best();
}

void HeldStages::begin(const CompiledMemory& c,
                       const MemoryTable& t,
                       const Strategy& s,
                       double micro_batches) noexcept {
  compiled_ = &c;
  table_ = &t;
  micro_batches_ = micro_batches;
  walk_.emplace(c, s);
  held_.clear();
}

const HeldStages::Held* HeldStages::at(std::size_t i) {
  if (i == held_.size()) {
    if (i > 0 && !walk_->done()) {
      walk_->next();
    }
    if (walk_->done()) {
      return nullptr;
    }
    held_.push_back(
        {walk_->stage(), stage_holding(*compiled_, *table_, walk_->strategy(), micro_batches_, walk_->stage())});
  }
  return &held_[i];
}

FullestStage HeldStages::fullest(const Strategy& s, Bytes room) {
  Fullest fullest{compiled_->stack, room};
  std::size_t i = 0;
  for (const Held* held = at(i); held != nullptr; held = at(++i)) {
    if (fullest.look(stage_memory(*compiled_, *table_, s, micro_batches_, held->holding), held->stage)) {
      break;
    }
  }
  return fullest.best();
}

Interval<Bytes> device_interval(const StageMemory& memory, const MemoryStack& software) noexcept {
  const Bytes live = memory.live();
  const Bytes outside = memory.bytes[MemoryTerm::framework];
  const auto printed = [&](Bytes slack) {
    return software.measured == MemoryKind::live       ? live
           : software.measured == MemoryKind::reserved ? live + slack
                                                       : live + slack + outside;
  };
  const Bytes held = printed(memory.bytes[MemoryTerm::fragmentation]);
  const Bytes wanted = printed(memory.wanted_slack);
  const double width = 1.0 + software.interval;
  return {held / width + (memory.device() - held) / beyond_printed, memory.device(),
          memory.frozen + width * (wanted - memory.frozen) + beyond_printed * (memory.wanted() - wanted)};
}

}  // namespace headroom
