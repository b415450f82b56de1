// SPDX-License-Identifier: Apache-2.0
// Bounds of uneven stages. Orders are fixed, so that a step's time is the longest of fixed chains and grows with every
// cost: the closed form at the largest of each cost is an upper bound, as far as that form is exact.
#include <headroom/model/train/schedules/schedule_model.hpp>
#include <headroom/model/train/schedules/schedule_simulation.hpp>

#include <algorithm>

namespace headroom {
namespace {

/// What the closed forms were seen to miss at most within the ratios below, partial interleaved groups included.
constexpr double closed_form_slack = 0.03;

/// The same costs or larger, in the ratios in which the closed forms were tested: no chain gets shorter.
StageCosts within_tested_ratios(StageCosts c) noexcept {
  c.forward = std::max({c.forward, 0.5 * c.backward_input, c.backward_weight / 1.2});
  c.backward_input = std::max(c.backward_input, 0.6 * c.forward);
  c.backward_weight = std::max(c.backward_weight, 0.5 * c.forward);
  c.forward_with_backward = std::max({c.forward_with_backward, c.forward, c.backward()});
  return c;
}

struct Sum {
  double forward = 0.0, backward = 0.0, weight = 0.0;
  [[nodiscard]] double all() const noexcept { return forward + backward + weight; }
};

StageCosts largest_of(std::span<const StageCosts> costs) noexcept {
  StageCosts most;
  for (const StageCosts& c : costs) {
    most.forward = std::max(most.forward, c.forward);
    most.backward_input = std::max(most.backward_input, c.backward_input);
    most.backward_weight = std::max(most.backward_weight, c.backward_weight);
    most.send_forward = std::max(most.send_forward, c.send_forward);
    most.send_backward = std::max(most.send_backward, c.send_backward);
    most.forward_with_backward = std::max(most.forward_with_backward, c.forward_with_backward);
  }
  return most;
}

/// A send as part of the pass before it: no chain gets shorter.
StageCosts with_sends_inside(StageCosts c) noexcept {
  c.forward_with_backward += c.send_forward + c.send_backward;
  c.forward += c.send_forward;
  c.backward_input += c.send_backward;
  c.send_forward = c.send_backward = Seconds{};
  return c;
}

/// Work of one micro-batch at a virtual stage and before it: the way there and the way back.
struct Way {
  double there = 0.0, back = 0.0;
};

/// The least that a stage with this way to it and this work takes.
double least_of_stage(bool split, double m, const Way& way, const Sum& work) noexcept {
  const double until_last_backward = m * (work.forward + work.backward + (split ? 0.0 : work.weight)) + way.back;
  return way.there + std::max(m * work.all(), until_last_backward);
}

/// Each forward pass with the backward of the GPU's mirrored virtual stage, in turn or, where passes overlap, as one,
/// whichever is shorter. `met`: share of the micro-batches that meet each of the two.
Sum mirrored_work(const StageCosts& here, const StageCosts& mirrored, double met, bool overlaps) noexcept {
  const Seconds in_turn = here.compute() + mirrored.compute();
  const Seconds shorter = overlaps ? std::min(here.forward + mirrored.backward(), here.forward_with_backward) +
                                         std::min(mirrored.forward + here.backward(), mirrored.forward_with_backward)
                                   : in_turn;
  const double share = in_turn > Seconds{} ? met * (shorter / in_turn) : 0.0;
  return {share * (here.forward + mirrored.forward).raw(),
          share * (here.backward_input + mirrored.backward_input).raw(),
          share * (here.backward_weight + mirrored.backward_weight).raw()};
}

/// Work of all chunks of the stage that holds `position`, its nearest, for one micro-batch.
Sum work_of_stage(const PipelineShape& s, std::span<const StageCosts> costs, std::int32_t position) noexcept {
  const auto at = [&](std::int32_t i) -> const StageCosts& { return costs[static_cast<std::size_t>(i)]; };
  const ScheduleModel& model = model_of(s.schedule);
  const bool two_way = model.placement == StagePlacement::two_way;
  if (two_way || model.overlaps_passes) {
    const double met = two_way ? 0.5 : 1.0;  // half of the micro-batches each way
    return mirrored_work(at(position), at(s.mirrored(position)), met, model.overlaps_passes);
  }
  Sum work;
  for (std::int32_t chunk = 0; chunk < s.chunks; ++chunk) {
    const bool upward = model.placement == StagePlacement::folded && chunk % 2 == 1;
    const StageCosts& c = at(upward ? (chunk + 1) * s.stages - 1 - position : chunk * s.stages + position);
    work.forward += c.forward.raw();
    work.backward += c.backward_input.raw();
    work.weight += c.backward_weight.raw();
  }
  return work;
}

double low(const PipelineShape& s, std::span<const StageCosts> costs) noexcept {
  const ScheduleModel& model = model_of(s.schedule);
  const bool split = model.splits_backward;
  Way way;
  double least = 0.0;
  // A stage's first virtual stage is its nearest: its work waits for the way there.
  for (std::int32_t i = 0; i < s.positions(); ++i) {
    const StageCosts& c = costs[static_cast<std::size_t>(i)];
    if (i < s.stages) {
      // Two ways reach a stage from its nearer end.
      const bool nearest = model.placement != StagePlacement::two_way || 2 * i < s.stages;
      least =
          std::max(least, least_of_stage(split, s.micro_batches, nearest ? way : Way{}, work_of_stage(s, costs, i)));
    }
    const bool crosses = i + 1 < s.positions() && stage_of(s, i, 0) != stage_of(s, i + 1, 0);
    way.there += c.forward.raw() + (crosses ? c.send_forward.raw() : 0.0);
    way.back += (split ? c.backward_input : c.backward()).raw();
    way.back += crosses ? costs[static_cast<std::size_t>(i) + 1].send_backward.raw() : 0.0;
  }
  // One micro-batch's way through, unless a pair shortens it.
  return model.overlaps_passes ? least : std::max(least, way.there + way.back);
}

double high(const PipelineShape& s, std::span<const StageCosts> costs) noexcept {
  const ScheduleModel& model = model_of(s.schedule);
  const StageCosts most = largest_of(costs);
  const bool exact = s.chunks == 1 && model.high != nullptr;
  const Seconds longest_send = std::max(most.send_forward, most.send_backward);
  const bool short_sends = 10.0 * longest_send <= std::min(most.forward, most.backward_input) && !s.blocking_sends;
  const StageCosts even = short_sends ? most : with_sends_inside(most);
  PipelineShape beside = s;
  beside.blocking_sends = false;
  if (!exact) {
    return (1.0 + closed_form_slack) * pipeline_time(beside, within_tested_ratios(even)).raw();
  }
  const double bound = pipeline_time(beside, even).raw();
  return s.blocking_sends ? bound : std::min(bound, model.high(costs, s, most));
}

}  // namespace

TimeBounds pipeline_bounds(const PipelineShape& s, std::span<const StageCosts> costs) noexcept {
  return {Seconds{low(s, costs)}, Seconds{high(s, costs)}};
}

}  // namespace headroom
