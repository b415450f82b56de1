// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/train/memory/memory.hpp>

#include <doctest/doctest.h>

#include "schedule_cases.hpp"
#include <cmath>
#include <map>
#include <tuple>

namespace headroom {
namespace {

double simulated(const PipelineShape& shape, std::span<const StageCosts> costs) {
  return simulate_schedule(shape, costs).total.raw();
}

/// The order of ZB-V between p and 2p - 1 micro-batches has holes, which no short list of chains describes better.
double tolerance(const PipelineShape& s) {
  const bool holes = s.schedule == Schedule::zb_v && s.micro_batches > s.stages && s.micro_batches < 2 * s.stages - 1;
  return holes ? 0.02 : 0.01;
}

constexpr double rounding = 1.0 + 1e-12;

}  // namespace

TEST_CASE("Closed forms agree with the simulation within 1 % on 10,000 equal-stage pipelines") {
  std::size_t tried = 0;
  CHECK(rc::check([&] {
    for (int i = 0; i < 100; ++i) {  // of 100 cases
      const PipelineShape shape = test::any_shape();
      const StageCosts stage = test::any_costs();
      const double exact = simulated(shape, {&stage, 1});
      const double closed = pipeline_time(shape, stage).raw();
      RC_ASSERT(std::abs(closed / exact - 1.0) <= tolerance(shape));
      if (model_of(shape.schedule).high != nullptr && shape.chunks == 1) {
        RC_ASSERT(std::abs(closed / exact - 1.0) <= 1e-9);
      }
      ++tried;
    }
  }));
  CHECK(tried >= 10000);
}

TEST_CASE("A last group of fewer micro-batches than stages: interleaving within 4 %") {
  CHECK(rc::check([] {
    for (int i = 0; i < 20; ++i) {
      PipelineShape shape = test::any_shape(Schedule::one_f_one_b);
      shape.chunks = test::any_from(2, 7);
      shape.micro_batches = test::any_from(1, 97);
      const StageCosts stage = test::any_costs();
      RC_ASSERT(std::abs(pipeline_time(shape, stage).raw() / simulated(shape, {&stage, 1}) - 1.0) <= 0.04);
    }
  }));
}

TEST_CASE("Uneven stages: the simulation lies between the bounds, whatever the sends") {
  CHECK(rc::check([] {
    for (int i = 0; i < 20; ++i) {
      PipelineShape shape = test::any_shape();
      shape.blocking_sends = *rc::gen::arbitrary<bool>();
      const std::vector<StageCosts> costs = test::any_uneven(shape);
      const double exact = simulated(shape, costs);
      const TimeBounds bounds = pipeline_bounds(shape, costs);
      RC_ASSERT(bounds.low.raw() <= exact * rounding);
      RC_ASSERT(exact <= bounds.high.raw() * rounding);
    }
  }));
}

TEST_CASE("A step is no shorter than its busiest stage's work or a micro-batch's way through") {
  CHECK(rc::check([] {
    const PipelineShape shape = test::any_shape();
    const std::vector<StageCosts> costs = test::any_uneven(shape);
    const SimulatedStep step = simulate_schedule(shape, costs);
    Seconds way;
    for (const StageCosts& c : costs) {
      way += c.forward + c.backward_input;
    }
    if (!model_of(shape.schedule).overlaps_passes) {
      RC_ASSERT(step.total.raw() * rounding >= way.raw());
    }
    for (const SimulatedStage& stage : step.stages) {
      RC_ASSERT(step.total.raw() * rounding >= stage.busy.raw());
      RC_ASSERT(std::abs((stage.busy + stage.bubble - step.total).raw()) <= 1e-12 * step.total.raw());
    }
  }));
}

TEST_CASE("No cost makes a step shorter, no micro-batch either") {
  CHECK(rc::check([] {
    PipelineShape shape = test::any_shape();
    std::vector<StageCosts> costs = test::any_uneven(shape);
    const double before = simulated(shape, costs);
    StageCosts& slower = costs[*rc::gen::inRange<std::size_t>(0, costs.size())];
    Seconds& cost = **rc::gen::element(&slower.forward, &slower.backward_input, &slower.backward_weight,
                                       &slower.send_forward, &slower.send_backward, &slower.forward_with_backward);
    cost *= 1.5;
    const double slow = simulated(shape, costs);
    RC_ASSERT(slow * rounding >= before);
    const ScheduleModel& model = model_of(shape.schedule);
    const bool groups = model.takes_chunks() && shape.chunks > 1;
    shape.micro_batches += groups ? shape.stages : model.rules.micro_batches_multiple;
    RC_ASSERT(simulated(shape, costs) >= slow);
  }));
}

TEST_CASE("Every stage runs every pass of its micro-batches once, after what it needs") {
  CHECK(rc::check([] {
    PipelineShape shape = test::any_shape();
    shape.micro_batches += shape.schedule == Schedule::one_f_one_b ? test::any_from(0, 5) : 0;
    const StageCosts stage = test::any_costs();
    const SimulatedStep step = simulate_schedule(shape, {&stage, 1});
    // Ends of forward passes, of input gradients, and how often weights' gradients were formed.
    std::map<std::pair<std::int32_t, std::int32_t>, std::tuple<double, double, int>> seen;
    for (std::size_t i = 0; i < step.stages.size(); ++i) {
      double free = 0.0;
      for (const TimedPass& timed : step.stages[i].passes) {
        const Pass& pass = timed.pass;
        RC_ASSERT(stage_of(shape, pass.position, pass.micro_batch) == static_cast<std::int32_t>(i));
        RC_ASSERT(timed.start.raw() >= free);
        free = timed.end.raw();
        auto& [forward, input, weights] = seen[{pass.position, pass.micro_batch}];
        if (pass.kind == PassKind::forward || pass.kind == PassKind::pair) {
          RC_ASSERT(forward == 0.0);
          forward = free;
        }
        if (pass.kind == PassKind::pair) {
          auto& other = seen[{shape.stages - 1 - pass.position, pass.backward_micro_batch}];
          RC_ASSERT(std::get<0>(other) > 0.0 && std::get<1>(other) == 0.0);
          std::get<1>(other) = free;
          ++std::get<2>(other);
        } else if (pass.kind == PassKind::backward || pass.kind == PassKind::backward_input) {
          RC_ASSERT(forward > 0.0 && input == 0.0);
          input = free;
        }
        if (pass.kind == PassKind::backward || pass.kind == PassKind::backward_weight) {
          RC_ASSERT(input > 0.0);
          ++weights;
        }
      }
    }
    RC_ASSERT(seen.size() ==
              static_cast<std::size_t>(shape.positions()) * static_cast<std::size_t>(shape.micro_batches));
    for (const auto& [where, times] : seen) {
      RC_ASSERT(std::get<2>(times) == 1);
      if (where.first > 0) {
        const auto& before = seen.at({where.first - 1, where.second});
        RC_ASSERT(std::get<0>(before) < std::get<0>(times));
        RC_ASSERT(std::get<1>(before) > std::get<1>(times));
      }
    }
  }));
}

TEST_CASE("Micro-batches in flight are those that the memory model counts") {
  CHECK(rc::check([] {
    const PipelineShape shape = test::any_shape();
    const StageCosts stage = test::any_costs();
    Strategy strategy;
    strategy.schedule = shape.schedule;
    strategy.pp = static_cast<std::uint16_t>(shape.stages);
    strategy.vpp = static_cast<std::uint16_t>(model_of(shape.schedule).takes_chunks() ? shape.chunks : 1);
    RC_ASSERT(chunks_of(strategy.schedule, strategy.vpp) == shape.chunks);
    const SimulatedStep step = simulate_schedule(shape, {&stage, 1});
    double fullest = 0.0;
    double counted = 0.0;
    for (std::size_t i = 0; i < step.stages.size(); ++i) {
      const double kept = micro_batches_in_flight(strategy, static_cast<double>(i), shape.micro_batches);
      RC_ASSERT(step.stages[i].in_flight <= kept * rounding);
      const bool by_stage = shape.schedule == Schedule::one_f_one_b || shape.schedule == Schedule::gpipe;
      if (by_stage) {
        RC_ASSERT(std::abs(step.stages[i].in_flight - kept) <= 1e-9);
      }
      fullest = std::max(fullest, step.stages[i].in_flight);
      counted = std::max(counted, kept);
    }
    RC_ASSERT(fullest >= counted - 1e-9);
  }));
}

}  // namespace headroom
