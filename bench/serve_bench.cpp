// SPDX-License-Identifier: Apache-2.0
// Cost of one serving iteration, one analytic point and one set of tables.
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/serve/engine/serving_stack.hpp>
#include <headroom/model/serve/tables/make_tables.hpp>
#include <headroom/model/workload/model_library.hpp>

#include <benchmark/benchmark.h>

#include "model_data.hpp"

using namespace headroom;

namespace {

const Replica& replica() {
  static const Catalog catalog = Catalog::standard();
  static const Replica made{model_data(),
                            ModelLibrary::standard().find("llama3-70b"),
                            catalog.device("h100-sxm-80gb"),
                            &catalog.node("dgx-h100"),
                            {"vllm", {Routing::power_law, 1.2}},
                            {4, 1, 1},
                            {Precision::fp8, Precision::fp8, Precision::bf16}};
  return made;
}

const IterationStack& engine() {
  static const IterationStack stack = find_serving_stack(model_data(), Engine::vllm).time;
  return stack;
}

const IterationTables& tables() {
  static const IterationTables made = make_iteration_tables(replica(), engine(), iteration_physics(model_data()));
  return made;
}

/// An iteration of 63 decodes and a prompt, from tables.
void iteration_from_tables(benchmark::State& state) {
  IterationBatch batch;
  batch.decodes = 63;
  batch.context = 63 * 1500;
  batch.add(1024, true, tables().chunk(1024, 1024));
  for (auto _ : state) {
    benchmark::DoNotOptimize(batch);
    benchmark::DoNotOptimize(tables().time(batch));
  }
}
BENCHMARK(iteration_from_tables);

/// The same iteration from the kernels' curves.
void iteration_from_kernels(benchmark::State& state) {
  IterationMix mix{63.0, 1500.0, 1.0, 1024.0, 1024.0, 1.0};
  for (auto _ : state) {
    benchmark::DoNotOptimize(mix);
    benchmark::DoNotOptimize(
        engine_terms(replica(), mix, replica().terms(mix), engine(), iteration_physics(model_data())).total());
  }
}
BENCHMARK(iteration_from_kernels);

/// TTFT, TPOT and rates at a given concurrency, from tables.
void analytic_point(benchmark::State& state) {
  const IterationCost step = [](const IterationMix& mix) { return table_seconds(tables(), mix); };
  SteadyLoad load;
  load.isl = 2048;
  load.osl = 256;
  load.batch = load.concurrency = 64;
  for (auto _ : state) {
    benchmark::DoNotOptimize(load);
    benchmark::DoNotOptimize(closed_loop(step, load, {}));
  }
}
BENCHMARK(analytic_point);

void tables_of_a_replica(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(make_iteration_tables(replica(), engine(), iteration_physics(model_data())));
  }
}
BENCHMARK(tables_of_a_replica)->Unit(benchmark::kMillisecond);

}  // namespace
