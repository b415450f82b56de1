// SPDX-License-Identifier: Apache-2.0
// Small pipelines worked out by hand from the papers' figures and formulas.
#include <headroom/model/train/schedules/schedule_simulation.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include <array>

using namespace headroom;

namespace {

StageCosts costs(double forward, double backward_input, double backward_weight, double send = 0.0, double pair = 0.0) {
  return {Seconds{forward}, Seconds{backward_input}, Seconds{backward_weight},
          Seconds{send},    Seconds{send},           Seconds{pair}};
}

double simulated(const PipelineShape& shape, const StageCosts& stage) {
  return simulate_schedule(shape, {&stage, 1}).total.raw();
}

double closed(const PipelineShape& shape, const StageCosts& stage) {
  return pipeline_time(shape, stage).raw();
}

/// Both ways to the same number.
void check_both(const PipelineShape& shape, const StageCosts& stage, double expected) {
  CHECK(simulated(shape, stage) == test::near(expected));
  CHECK(closed(shape, stage) == test::near(expected));
}

}  // namespace

TEST_CASE("1F1B of 4 stages and 8 micro-batches takes 11 forward and backward passes") {
  const PipelineShape shape{Schedule::one_f_one_b, 4, 1, 8};
  check_both(shape, costs(1.0, 1.0, 1.0), 33.0);
  const StageCosts stage = costs(1.0, 1.0, 1.0);
  const SimulatedStep step = simulate_schedule(shape, {&stage, 1});
  for (const SimulatedStage& s : step.stages) {
    CHECK(s.busy.raw() == test::near(24.0));
    CHECK(s.bubble.raw() == test::near(9.0));  // (p - 1)(F + B)
  }
  // The last stage starts after three forward passes and never waits after that.
  const std::vector<TimedPass>& last = step.stages[3].passes;
  CHECK(last.front().start.raw() == test::near(3.0));
  CHECK(last.back().end.raw() == test::near(27.0));
  CHECK(last[1].pass.kind == PassKind::backward);
  // The first has run four forward passes before its first backward pass.
  CHECK(step.stages[0].passes[3].pass.kind == PassKind::forward);
  CHECK(step.stages[0].passes[4].pass.kind == PassKind::backward);
  CHECK(step.stages[0].passes[4].start.raw() == test::near(10.0));  // 4 F down, 3 B up
}

TEST_CASE("GPipe takes as long as 1F1B where sends are free, and less where they are not") {
  const PipelineShape gpipe{Schedule::gpipe, 4, 1, 8};
  const PipelineShape one{Schedule::one_f_one_b, 4, 1, 8};
  check_both(gpipe, costs(1.0, 1.0, 1.0), 33.0);
  const StageCosts stage = costs(1.0, 1.0, 1.0, 0.25);
  check_both(gpipe, stage, 33.0 + 6 * 0.25);
  // 7 more micro-batches in two returns over 4 and 3 stages: 3 + 2 more sends there and back.
  check_both(one, stage, 33.0 + 6 * 0.25 + 10 * 0.25);
}

TEST_CASE("A send that keeps its stage busy slows the steady rate too") {
  const PipelineShape shape{Schedule::gpipe, 2, 1, 3, true};
  // Stage 0: (F + c) three times, then stage 1's last F; back: stage 1's (B + c) three times, then stage 0's last B.
  check_both(shape, costs(1.0, 1.0, 1.0, 0.5), 3 * 1.5 + 1.0 + 3 * 2.5 + 2.0);
}

TEST_CASE("bubbles of 4 stages are 27.3 % of 8 micro-batches, 8.6 % of 32, 4.5 % of 32 in two chunks") {
  const auto bubble = [](std::int32_t chunks, std::int32_t micro_batches) {
    const PipelineShape shape{Schedule::one_f_one_b, 4, chunks, micro_batches};
    const StageCosts stage = costs(1.0 / chunks, 1.0 / chunks, 1.0 / chunks);
    const SimulatedStep step = simulate_schedule(shape, {&stage, 1});
    CHECK(closed(shape, stage) == test::near(step.total.raw()));
    return 1.0 - step.stages[0].busy / step.total;
  };
  CHECK(bubble(1, 8) == doctest::Approx(0.273).epsilon(0.002));
  CHECK(bubble(1, 32) == doctest::Approx(0.086).epsilon(0.005));
  CHECK(bubble(2, 32) == doctest::Approx(0.045).epsilon(0.01));
}

TEST_CASE("Interleaving divides the bubble by its chunks: (p - 1)/(v m) of the work, Narayanan et al. 2021") {
  for (const std::int32_t chunks : {2, 3, 5}) {
    const PipelineShape shape{Schedule::one_f_one_b, 4, chunks, 12};
    const double work = 12.0 * chunks * 3.0;
    check_both(shape, costs(1.0, 1.0, 1.0), work * (1.0 + 3.0 / (12.0 * chunks)));
  }
}

TEST_CASE("ZB-H1 leaves (p - 1)(F + B - W) of bubble and ZB-H2 (p - 1)(F + B - 2W), Qi et al. 2023, table 1") {
  const PipelineShape h1{Schedule::zb_h1, 4, 1, 12};
  const PipelineShape h2{Schedule::zb_h2, 4, 1, 12};
  // B of the input: F + B - W = 1.7, F + B - 2W = 1.
  const StageCosts stage = costs(1.0, 1.4, 0.7);
  check_both(h1, stage, 12 * 3.1 + 3 * 1.7);
  check_both(h2, stage, 12 * 3.1 + 3 * 1.0);
  // Equal passes: H2's bubble is none but the first fill.
  check_both(h1, costs(1.0, 1.0, 1.0), 36.0 + 3.0);
  check_both(h2, costs(1.0, 1.0, 1.0), 36.0 + 3.0);
}

TEST_CASE("ZB-V: every stage works without a gap once it has started, equal passes") {
  const PipelineShape shape{Schedule::zb_v, 4, 2, 12};
  const StageCosts stage = costs(1.0, 1.0, 1.0);
  const SimulatedStep step = simulate_schedule(shape, {&stage, 1});
  for (std::size_t i = 0; i < 4; ++i) {
    const std::vector<TimedPass>& passes = step.stages[i].passes;
    CHECK(passes.front().start == Seconds{static_cast<double>(i)});
    CHECK((passes.back().end - passes.front().start).raw() == test::near(72.0));
  }
  CHECK(closed(shape, stage) == test::near(72.0 + 3.0));
}

TEST_CASE("DualPipe: bubble (p/2 - 1)(FB + B - 3W) when pairs take as long as their parts, DeepSeek-V3, table 2") {
  // F = W = 1, whole B = 2, pair 3: the bubble is (4 - 1)(3 + 2 - 3) = 6 beyond the work of 20 micro-batches.
  const PipelineShape shape{Schedule::dualpipe, 8, 1, 20};
  check_both(shape, costs(1.0, 1.0, 1.0, 0.0, 3.0), 20 * 3.0 + 6.0);
  // Two ways alike: stage i and stage p - 1 - i run the same times.
  const StageCosts stage = costs(1.0, 1.3, 0.9, 0.05, 2.8);
  const SimulatedStep step = simulate_schedule(shape, {&stage, 1});
  CHECK(step.stages[2].busy.raw() == test::near(step.stages[5].busy.raw()));
}

TEST_CASE("A head that takes longer sets the rate of the pipeline") {
  const PipelineShape shape{Schedule::one_f_one_b, 4, 1, 8};
  std::array<StageCosts, 4> uneven;
  uneven.fill(costs(1.0, 1.0, 1.0));
  uneven[3] = costs(2.0, 2.0, 2.0);
  // Three forward passes, eight of the last stage, three backward passes.
  CHECK(simulate_schedule(shape, uneven).total.raw() == test::near(3.0 + 48.0 + 6.0));
  const TimeBounds bounds = pipeline_bounds(shape, uneven);
  CHECK(bounds.low.raw() == test::near(57.0));
  CHECK(bounds.high.raw() >= 57.0);
  CHECK(bounds.high.raw() < 57.0 * 1.2);
}

TEST_CASE("Every rule of a shape") {
  CHECK(broken_rule({Schedule::one_f_one_b, 4, 2, 5}) == ScheduleRule::none);
  CHECK(broken_rule({Schedule::one_f_one_b, 4, 0, 8}) == ScheduleRule::counts_positive);
  CHECK(broken_rule({Schedule::gpipe, 4, 2, 8}) == ScheduleRule::chunks_fixed);
  CHECK(broken_rule({Schedule::zb_v, 4, 1, 8}) == ScheduleRule::chunks_fixed);
  CHECK(broken_rule({Schedule::dualpipe, 5, 1, 10}) == ScheduleRule::stages_multiple);
  CHECK(broken_rule({Schedule::dualpipe, 4, 1, 9}) == ScheduleRule::micro_batches_multiple);
  CHECK(broken_rule({Schedule::dualpipe, 4, 1, 6}) == ScheduleRule::micro_batches_a_stage);
  CHECK(broken_rule({Schedule::dualpipe, 4, 1, 8}) == ScheduleRule::none);
}
