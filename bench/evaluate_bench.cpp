// SPDX-License-Identifier: Apache-2.0
// Cost of one evaluation, one table and one compilation.
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/train/evaluate/training.hpp>
#include <headroom/model/train/step/job_groups.hpp>
#include <headroom/model/workload/model_library.hpp>

#include <benchmark/benchmark.h>

#include "model_data.hpp"

using namespace headroom;

namespace {

TrainingWorkload workload() {
  TrainingWorkload work;
  work.shape = {512, 8192, 1024};
  work.states = adam_states(Precision::bf16);
  return work;
}

const CompiledTraining& compiled() {
  static const Catalog catalog = Catalog::standard();
  static const Device& device = catalog.device("h100-sxm-80gb");
  static const CompiledTraining c = compile(
      ModelLibrary::standard().find("llama3-70b"), device,
      std::make_shared<const JobGroups>(model_data(), device, JobHosts{catalog.node("dgx-h100"), 0, {}, {}}, 512),
      memory_stacks(model_data()).find("megatron-bridge"), workload(), step_parameters(model_data()));
  return c;
}

Strategy strategy() {
  Strategy s;
  s.tp = 8;
  s.pp = 4;
  s.dp = 16;
  s.zero = 1;
  s.sequence_parallel = true;
  return s;
}

void evaluate_one(benchmark::State& state) {
  const LayerTable table = tabulate(compiled(), key_of(strategy()));
  Strategy s = strategy();
  for (auto _ : state) {
    benchmark::DoNotOptimize(s);
    benchmark::DoNotOptimize(evaluate(compiled(), table, s));
  }
}
BENCHMARK(evaluate_one);

void tabulate_and_evaluate(benchmark::State& state) {
  Strategy s = strategy();
  for (auto _ : state) {
    benchmark::DoNotOptimize(s);
    benchmark::DoNotOptimize(evaluate(compiled(), tabulate(compiled(), key_of(s)), s));
  }
}
BENCHMARK(tabulate_and_evaluate);

/// Memory of the fullest stage from tables.
void memory_from_tables(benchmark::State& state) {
  const CompiledMemory& memory = compiled().memory;
  const MemoryTable table = tabulate_memory(memory, key_of(strategy()));
  const Strategy s = strategy();
  for (auto _ : state) {
    benchmark::DoNotOptimize(fullest_stage(memory, table, s, 64.0));
  }
}
BENCHMARK(memory_from_tables);

void catalog_first_device(benchmark::State& state) {
  for (auto _ : state) {
    const Catalog catalog = Catalog::standard();
    benchmark::DoNotOptimize(catalog.device("h100-sxm-80gb").capacity().value);
  }
}
BENCHMARK(catalog_first_device);

}  // namespace
