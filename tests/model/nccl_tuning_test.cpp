// SPDX-License-Identifier: Apache-2.0
// NCCL's cost table against vectors computed from its equations by an independent script (shared study of
// interconnects, section 6): three communicators, every cell, every choice.
#include <headroom/model/collectives/nccl_tuning.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <string>

using namespace headroom;
using namespace headroom::nccl;

namespace {

Communicator communicator(Generation generation, Cpu cpu, std::int64_t ranks, std::int64_t nodes, int channels) {
  Communicator c;
  c.ranks = ranks;
  c.nodes = nodes;
  c.generation = generation;
  c.cpu = cpu;
  c.ring = Graph{channels, BytesPerSecond{20e9}, BytesPerSecond{20e9}, Seconds{}, true};
  c.tree = c.nvls = c.collnet = c.ring;
  c.nvls_supported = true;
  return c;
}

const std::array vectors{communicator(Generation::hopper, Cpu::intel, 8, 1, 16),
                         communicator(Generation::hopper, Cpu::intel, 32, 4, 16),
                         communicator(Generation::ampere, Cpu::amd, 16, 2, 8)};

struct CellRow {
  Algorithm algorithm;
  Protocol protocol;
  std::array<double, 3> latency;    ///< us; below zero: not available
  std::array<double, 3> bandwidth;  ///< GB/s
};
constexpr std::array cells{
    CellRow{Algorithm::tree, Protocol::ll, {15.20, 35.20, 25.20}, {38.74, 10.20, 11.25}},
    CellRow{Algorithm::tree, Protocol::ll128, {31.50, 65.50, 48.50}, {114.49, 138.00, 69.00}},
    CellRow{Algorithm::tree, Protocol::simple, {64.40, 120.40, 92.40}, {147.20, 147.20, 73.60}},
    CellRow{Algorithm::ring, Protocol::ll, {15.00, 78.80, 68.00}, {80.57, 10.53, 12.00}},
    CellRow{Algorithm::ring, Protocol::ll128, {40.60, 144.40, 78.00}, {168.23, 151.95, 78.51}},
    CellRow{Algorithm::ring, Protocol::simple, {56.00, 282.80, 204.40}, {182.86, 165.16, 85.33}},
    CellRow{Algorithm::nvls, Protocol::simple, {25.00, -1.0, -1.0}, {182.86, 0.0, 0.0}},
    CellRow{Algorithm::nvls_tree, Protocol::simple, {-1.0, 108.60, 66.80}, {0.0, 165.16, 0.0}},
};

struct ChoiceRow {
  double bytes;
  std::array<Algorithm, 3> algorithm;
  std::array<Protocol, 3> protocol;
  std::array<double, 3> time;  ///< us
};
constexpr auto tree = Algorithm::tree;
constexpr auto ring = Algorithm::ring;
constexpr auto nvls = Algorithm::nvls;
constexpr auto nvls_tree = Algorithm::nvls_tree;
constexpr auto ll = Protocol::ll;
constexpr auto ll128 = Protocol::ll128;
constexpr auto simple = Protocol::simple;
constexpr std::array choices{
    ChoiceRow{4096.0, {ring, tree, tree}, {ll, ll, ll}, {15.05, 35.77, 25.72}},
    ChoiceRow{65536.0, {ring, tree, tree}, {ll, ll, ll}, {15.81, 45.91, 34.91}},
    ChoiceRow{1048576.0, {ring, tree, tree}, {ll, ll128, ll128}, {28.01, 78.16, 73.83}},
    ChoiceRow{4194304.0, {nvls, tree, tree}, {simple, ll128, ll128}, {47.94, 103.49, 124.48}},
    ChoiceRow{67108864.0, {nvls, nvls_tree, ring}, {simple, simple, ll128}, {392.00, 514.92, 932.82}},
    ChoiceRow{1073741824.0, {nvls, nvls_tree, ring}, {simple, simple, simple}, {5897.03, 6609.77, 12869.07}},
};

}  // namespace

TEST_CASE("every cell of NCCL's table is that of the three vectors") {
  for (std::size_t v = 0; v < vectors.size(); ++v) {
    const Table table = tune(vectors[v], Collective::all_reduce);
    for (const CellRow& row : cells) {
      CAPTURE(v);
      CAPTURE(std::string{algorithm_names[static_cast<std::size_t>(row.algorithm)]});
      CAPTURE(std::string{protocol_names[static_cast<std::size_t>(row.protocol)]});
      const Cell& cell = table.at(row.algorithm, row.protocol);
      CHECK(std::abs(cell.bandwidth.raw() / 1e9 - row.bandwidth[v]) < 0.0051);
      if (row.latency[v] >= 0.0 && row.bandwidth[v] > 0.0) {
        CHECK(std::abs(cell.latency.raw() * 1e6 - row.latency[v]) < 0.0051);
      }
    }
  }
}

TEST_CASE("every choice of NCCL is that of the three vectors") {
  for (std::size_t v = 0; v < vectors.size(); ++v) {
    const Table table = tune(vectors[v], Collective::all_reduce);
    for (const ChoiceRow& row : choices) {
      CAPTURE(v);
      CAPTURE(row.bytes);
      const Choice choice = choose(table, vectors[v], Collective::all_reduce, Bytes{row.bytes});
      CHECK(choice.algorithm == row.algorithm[v]);
      CHECK(choice.protocol == row.protocol[v]);
      CHECK(std::abs(choice.time.raw() * 1e6 - row.time[v]) < 0.0051);
    }
  }
}

TEST_CASE("small buffers take few channels and large ones all") {
  const Table table = tune(vectors[0], Collective::all_reduce);
  const auto channels = [&](double bytes) {
    return choose(table, vectors[0], Collective::all_reduce, Bytes{bytes}).channels;
  };
  CHECK(channels(4096.0) == 1);
  // Ring LL keeps a channel for every 512 threads x 8 bytes x 8 ranks.
  CHECK(channels(65536.0) == 2);
  CHECK(channels(1048576.0) == 16);
  const Choice small = choose(table, vectors[0], Collective::all_reduce, Bytes{64.0});
  CHECK(small.threads == 96);  // no less than three warps
}

TEST_CASE("what a collective cannot use is not in its table") {
  const Table gather = tune(vectors[0], Collective::all_gather);
  CHECK(gather.at(tree, simple).bandwidth.raw() == 0.0);
  CHECK(gather.at(ring, ll).bandwidth.raw() > 0.0);
  const Table broadcast = tune(vectors[1], Collective::broadcast);
  CHECK(broadcast.at(nvls_tree, simple).bandwidth.raw() == 0.0);
  CHECK(broadcast.at(ring, simple).bandwidth.raw() > 0.0);
  // PAT: one rank a node and an algorithm of gathers and scatters alone.
  Communicator flat = communicator(Generation::hopper, Cpu::intel, 16, 16, 4);
  CHECK(tune(flat, Collective::all_gather).at(Algorithm::pat, simple).bandwidth.raw() > 0.0);
  CHECK(tune(flat, Collective::all_reduce).at(Algorithm::pat, simple).bandwidth.raw() == 0.0);
  CHECK(tune(vectors[1], Collective::all_gather).at(Algorithm::pat, simple).bandwidth.raw() == 0.0);
  Communicator far = vectors[0];
  far.ll128 = false;
  CHECK(tune(far, Collective::all_reduce).at(ring, ll128).bandwidth.raw() == 0.0);
  CHECK(tune(vectors[0], Collective::send_recv).at(ring, simple).bandwidth.raw() == 0.0);
}
