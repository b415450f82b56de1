// SPDX-License-Identifier: Apache-2.0
// Cost of the graph and all group tables of a 16,384-GPU cluster, and of one lookup.
#include <headroom/hardware/catalog/node_wiring.hpp>
#include <headroom/hardware/fabric/fabric.hpp>

#include <benchmark/benchmark.h>

namespace headroom {
namespace {

constexpr std::int64_t hosts = 2048;

NodeWiring host() {
  const Catalog catalog = Catalog::standard();
  const Node& node = catalog.node("dgx-h100");
  return wire(node, catalog.device(node.gpu));
}

NetworkTiers three_tiers() {
  return {{{"leaf", 32, 1.0, std::nullopt}, {"spine", 256, 1.0, std::nullopt}, {"core", hosts, 2.0, std::nullopt}},
          true};
}

void graph_and_tables(benchmark::State& state) {
  const NodeWiring wiring = host();
  for (auto _ : state) {
    const FabricGraph graph{wiring, hosts, three_tiers()};
    const GroupTable table{Fabric{graph, graph.gpus()}};
    benchmark::DoNotOptimize(table.size());
  }
}
BENCHMARK(graph_and_tables)->Unit(benchmark::kMillisecond);

void look_up(benchmark::State& state) {
  const FabricGraph graph{host(), 64, three_tiers()};
  const GroupTable table{Fabric{graph, graph.gpus()}};
  std::int64_t ranks = 1;
  for (auto _ : state) {
    ranks = ranks == 256 ? 1 : 2 * ranks;
    benchmark::DoNotOptimize(table.find(ranks, 2));
  }
}
BENCHMARK(look_up);

}  // namespace
}  // namespace headroom
