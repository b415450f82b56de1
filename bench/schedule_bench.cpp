// SPDX-License-Identifier: Apache-2.0
// A schedule's closed form, bounds of uneven stages, and passes a second of the event simulation.
#include <headroom/model/train/schedules/schedule_model.hpp>
#include <headroom/model/train/schedules/schedule_simulation.hpp>

#include <benchmark/benchmark.h>

#include <array>

namespace headroom {
namespace {

constexpr StageCosts layer_stage{Seconds{1e-3}, Seconds{1.1e-3}, Seconds{0.9e-3},
                                 Seconds{5e-5}, Seconds{5e-5},   Seconds{2.5e-3}};

PipelineShape shape_of(const benchmark::State& state) {
  const auto schedule = static_cast<Schedule>(state.range(0));
  return {schedule, 16, chunks_of(schedule, static_cast<std::int32_t>(state.range(1))), 128};
}

void every_schedule(benchmark::internal::Benchmark* bench) {
  for (std::size_t schedule = 0; schedule < schedule_names.size(); ++schedule) {
    bench->Args({static_cast<std::int64_t>(schedule), 1});
  }
  bench->Args({0, 4});  // interleaved
}

void schedule_closed_form(benchmark::State& state) {
  const PipelineShape shape = shape_of(state);
  StageCosts stage = layer_stage;
  for (auto _ : state) {
    benchmark::DoNotOptimize(stage);
    benchmark::DoNotOptimize(pipeline_time(shape, stage));
  }
}
BENCHMARK(schedule_closed_form)->Apply(every_schedule);

void schedule_bounds(benchmark::State& state) {
  const std::array<StageCosts, 16> costs = [] {
    std::array<StageCosts, 16> all;
    all.fill(layer_stage);
    return all;
  }();
  for (auto _ : state) {
    benchmark::DoNotOptimize(pipeline_bounds({Schedule::one_f_one_b, 16, 1, 128}, costs));
  }
}
BENCHMARK(schedule_bounds);

void schedule_simulation(benchmark::State& state) {
  const PipelineShape shape = shape_of(state);
  std::size_t passes = 0;
  for (auto _ : state) {
    const SimulatedStep step = simulate_schedule(shape, {&layer_stage, 1});
    for (const SimulatedStage& stage : step.stages) {
      passes += stage.passes.size();
    }
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(passes));
}
BENCHMARK(schedule_simulation)->Apply(every_schedule)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace headroom
