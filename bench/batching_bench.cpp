// SPDX-License-Identifier: Apache-2.0
// Requests through a batching server, and calls of a network: items a second are requests and kernels.
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/infer/call_time.hpp>
#include <headroom/model/infer/network_calls.hpp>
#include <headroom/model/queue/batching_simulation.hpp>
#include <headroom/model/workload/network_library.hpp>

#include <benchmark/benchmark.h>

#include "model_data.hpp"
#include <vector>

using namespace headroom;

namespace {

/// A GPU of 1 ms and 0.3 ms a sample, loaded to `range(0)` % under a window of 5 ms.
void requests(benchmark::State& state) {
  std::vector<Seconds> times;
  for (int b = 1; b <= 32; ++b) {
    times.push_back(Seconds{1e-3 + 0.3e-3 * b});
  }
  const CallCurve curve{times};
  const BatchingRule rule{32, {}, Seconds{0.005}, 1};
  const QueuedClass all{static_cast<double>(state.range(0)) / 100.0 * 32.0 / curve.of(32).raw()};
  constexpr std::int64_t count = 200'000;
  for (auto _ : state) {
    benchmark::DoNotOptimize(simulate_batching(curve, rule, {&all, 1}, count, 1));
  }
  state.SetItemsProcessed(state.iterations() * count);
}
BENCHMARK(requests)->Arg(10)->Arg(50)->Arg(90)->Unit(benchmark::kMillisecond);

void calls(benchmark::State& state) {
  const ModelData& data = model_data();
  const std::vector<CallOp> ops = call_ops(NetworkLibrary{data.files()}.find("resnet-50"));
  const CallRates& rates = call_rates(data);
  const NetworkEngine& engine = find_network_engine(data, "tensorrt");
  const CallDevice device =
      call_device(Catalog::standard().device("a100-sxm-80gb"), rates, engine, CallFormat::half, false);
  double batch = 1.0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(call_time(ops, batch, device, rates.physics, engine, {}));
    batch = batch < 256.0 ? batch + 1.0 : 1.0;
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(ops.size()));
}
BENCHMARK(calls);

}  // namespace
