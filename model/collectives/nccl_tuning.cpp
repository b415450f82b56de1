// SPDX-License-Identifier: Apache-2.0
// NCCL 2.30.7 (NVIDIA/nccl @ 5067397), src/graph/tuning.cc. Numbers inside are in microseconds and GB/s as in NCCL;
// typed quantities appear only in the interface.
#include <headroom/model/collectives/nccl_tuning.hpp>

#include <algorithm>
#include <bit>
#include <limits>

namespace headroom::nccl {
namespace {

constexpr double micro = 1e-6;
constexpr double giga = 1e9;
constexpr double unreachable = std::numeric_limits<double>::infinity();

template <class Enum>
constexpr std::size_t at(Enum value) noexcept {
  return static_cast<std::size_t>(value);
}

/// One value each for one, two, and more nodes.
using ByNodes = std::array<double, 3>;
using ByGeneration = std::array<ByNodes, 4>;

// clang-format off
constexpr ByGeneration ll_most{{{39.0, 39.0, 20.4}, {87.7, 22.5, 19.0}, {141.0, 45.0, 35.0}, {282.0, 90.0, 70.0}}};
constexpr ByGeneration ring_ll128_per_channel{{{20.0, 20.0, 20.0}, {20.0, 20.0, 20.0}, {36.7, 36.7, 36.7}, {40.0, 40.0, 40.0}}};
constexpr ByGeneration tree_ll128_per_channel{{{20.0, 20.0, 20.0}, {20.0, 20.0, 20.0}, {36.7, 36.7, 29.0}, {55.6, 31.67, 20.0}}};
constexpr ByGeneration tree_per_channel{{{26.5, 18.5, 10.0}, {24.0, 23.6, 17.8}, {38.7, 41.4, 36.0}, {70.0, 42.8, 24.0}}};
constexpr ByGeneration nvls_tree_per_channel{{{26.5, 18.5, 10.0}, {24.0, 23.6, 17.8}, {0.0, 57.7, 45.5}, {0.0, 96.0, 80.0}}};
constexpr std::array nvls_efficiency{0.0, 0.0, 0.85, 0.74};

/// Base latencies in microseconds, by protocol.
constexpr std::array<double, 3> tree_base{6.8, 14.0, 8.4};
constexpr std::array<double, 3> ring_base{6.6, 14.0, 8.4};
constexpr std::array<double, 3> pat_base{8.0, 8.0, 8.0};

/// Latencies of one step in microseconds: of tree and ring by medium (NVLink, PCI, network) and protocol.
enum class Medium : std::uint8_t { nvlink, pci, network };
constexpr std::array<std::array<double, 3>, 3> tree_step{{{0.6, 1.25, 4.0}, {1.0, 1.9, 4.0}, {5.0, 8.5, 14.0}}};
constexpr std::array<std::array<double, 3>, 3> ring_step{{{0.6, 1.9, 3.4}, {1.0, 2.5, 5.7}, {2.7, 4.0, 14.0}}};
constexpr std::array collnet_direct_step{3.7, 3.7, 31.0};
constexpr std::array collnet_chain_step{2.8, 2.8, 30.0};
constexpr std::array nvls_step{25.0, 0.0, 18.0};
constexpr std::array nvls_tree_step{25.0, 0.0, 20.9};
constexpr std::array pat_step{4.0, 4.0, 14.0};

/// Share of a tree's bandwidth for sizes of 64 B, 128 B, ... 256 MiB, by protocol.
constexpr std::array<std::array<double, 23>, 3> tree_correction{{
    {1.0, 1.0, 1.0, 1.0, 0.9, 0.8, 0.7, 0.7, 0.7, 0.7, 0.6, 0.5, 0.4, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.0, 1.0, 1.0},
    {1.0, 1.0, 1.0, 1.0, 1.0, 0.9, 0.8, 0.8, 0.8, 0.7, 0.6, 0.6, 0.6, 0.6, 0.6, 0.6, 0.8, 0.9, 0.9, 0.9, 0.9, 1.0, 1.0},
    {0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.8, 0.7, 0.6, 0.6, 0.5, 0.5, 0.5, 0.5, 0.6, 0.7, 0.8, 0.7, 0.7, 0.8, 0.9, 0.9},
}};
// clang-format on

/// The inputs of NCCL's equations in its units: n ranks, k nodes, ppn ranks per node.
struct Terms {
  double n = 1.0, k = 1.0, ppn = 1.0;
  std::size_t by_nodes = 0;
  std::size_t generation = 0;
  std::size_t medium = 0;  ///< medium inside a node
  double steps = 0.0;
  double log_nodes = 0.0;
  bool reduces_all = false;
};

Terms terms_of(const Communicator& c, Collective collective) noexcept {
  Terms t;
  t.n = static_cast<double>(c.ranks);
  t.k = static_cast<double>(c.nodes);
  t.ppn = t.n / t.k;
  t.by_nodes = c.nodes <= 1 ? 0 : c.nodes == 2 ? 1 : 2;
  t.generation = at(c.generation);
  t.medium = at(c.inside == Inside::nvlink ? Medium::nvlink : Medium::pci);
  t.reduces_all = collective == Collective::all_reduce;
  const bool scatters = collective == Collective::reduce_scatter || collective == Collective::all_gather;
  t.steps = t.reduces_all ? 2.0 * (t.n - 1.0) : scatters ? t.n - 1.0 : t.n;
  t.log_nodes = static_cast<double>(std::bit_width(static_cast<std::uint64_t>(c.nodes)) - 1);
  return t;
}

double per_channel_inside(const Graph& g) noexcept {
  return g.intra.raw() / giga;
}
double per_channel_outside(const Graph& g) noexcept {
  return g.inter.raw() / giga;
}
/// Bandwidth of one channel of a ring or tree.
double per_channel(const Graph& g, const Terms& t) noexcept {
  return t.k <= 2.0 ? per_channel_inside(g) : per_channel_outside(g);
}

/// Upper bound on LL's bandwidth: by generation on one node, by processor on several.
double ll_limit(const Communicator& c, const Terms& t) noexcept {
  const std::size_t row =
      t.by_nodes == 0 ? t.generation : at(c.cpu == Cpu::amd ? Generation::ampere : Generation::volta);
  return ll_most[row][t.by_nodes];
}

/// Which algorithms a collective has: all-reduce all but PAT; all-gather and reduce-scatter ring, PAT, NVLS and CollNet
/// direct; broadcast and reduce only ring.
bool legal(Collective collective, Algorithm a) noexcept {
  switch (collective) {
    case Collective::all_reduce: return a != Algorithm::pat;
    case Collective::all_gather:
    case Collective::reduce_scatter:
      return a == Algorithm::ring || a == Algorithm::pat || a == Algorithm::nvls || a == Algorithm::collnet_direct;
    case Collective::broadcast:
    case Collective::reduce: return a == Algorithm::ring;
    case Collective::all_to_all:
    case Collective::send_recv:
    case Collective::dispatch:
    case Collective::combine:
    case Collective::count: break;  // built from sends and receives
  }
  return false;
}

bool available(const Communicator& c, Collective collective, Algorithm a, Protocol p) noexcept {
  if (!legal(collective, a)) {
    return false;
  }
  if (a != Algorithm::ring && a != Algorithm::tree && p != Protocol::simple) {
    return false;
  }
  if (p == Protocol::ll128 && !c.ll128) {
    return false;
  }
  switch (a) {
    case Algorithm::nvls:
      // Across nodes NVLS relies on reductions in the network (CollNet).
      return c.nvls_supported && (c.nodes == 1 || (c.collnet_enabled && collective == Collective::all_reduce));
    case Algorithm::nvls_tree: return c.nvls_supported && c.nodes > 1;
    case Algorithm::collnet_direct: return c.collnet_enabled && c.nvswitch;
    case Algorithm::collnet_chain: return c.collnet_enabled;
    case Algorithm::pat: return c.ranks == c.nodes && c.nodes > 1 && c.host_network;
    case Algorithm::tree:
    case Algorithm::ring:
    case Algorithm::count: break;
  }
  return true;
}

double ring_bus(const Communicator& c, const Terms& t, Protocol p) noexcept {
  const double channels = c.ring.channels;
  const double bus = channels * per_channel(c.ring, t);
  switch (p) {
    case Protocol::ll: return std::min(ll_limit(c, t), 0.5 * bus);
    case Protocol::ll128: return std::min(0.92 * bus, channels * ring_ll128_per_channel[t.generation][t.by_nodes]);
    case Protocol::simple:
    case Protocol::count: break;
  }
  return bus;
}

double tree_bus(const Communicator& c, const Terms& t, Protocol p) noexcept {
  const double channels = c.tree.channels;
  double bus =
      std::min(0.92 * channels * per_channel(c.tree, t), channels * tree_per_channel[t.generation][t.by_nodes]);
  if (p == Protocol::ll) {
    bus = std::min(bus / 3.8, ll_limit(c, t));
  } else if (p == Protocol::ll128) {
    bus = std::min(bus * (t.by_nodes == 0 ? 7.0 / 9.0 : 120.0 / 128.0),
                   channels * tree_ll128_per_channel[t.generation][t.by_nodes]);
  }
  return c.plain_tree ? 0.85 * bus : bus;
}

double nvls_bus(const Communicator& c, const Terms& t, Algorithm a) noexcept {
  const Graph& g = c.nvls;
  const double channels = g.channels;
  if (g.channels < 2) {
    return 0.0;
  }
  const double inside = per_channel_inside(g) * nvls_efficiency[t.generation] * (channels - 1.0) / channels *
                        (t.reduces_all ? 2.0 : (t.ppn - 1.0) / t.ppn);
  const bool tree = a == Algorithm::nvls_tree;
  double each = std::min(inside, per_channel_outside(g) * (tree && t.k <= 2.0 ? 2.0 : 1.0));
  if (tree) {
    each = std::min(each, nvls_tree_per_channel[t.generation][t.by_nodes]);
  }
  return channels * each;
}

double collnet_bus(const Communicator& c, const Terms& t, Algorithm a) noexcept {
  const Graph& g = c.collnet;
  const double channels = g.channels;
  const double inside = per_channel_inside(g);
  double bus = channels * inside;
  if (a == Algorithm::collnet_direct) {
    if (!t.reduces_all) {
      bus = t.ppn * std::min(inside, 0.9 * per_channel_outside(g));
    } else {
      const double factor = t.ppn / channels;
      bus /= factor - (factor - 1.0) / 2.0;
    }
    if (c.generation >= Generation::hopper) {
      bus *= 0.85;
    }
  }
  return bus;
}

/// Converts bus bandwidth to bytes of the buffer per time, GB/s.
double bandwidth(const Communicator& c, const Terms& t, Algorithm a, Protocol p) noexcept {
  const double circular = t.n / t.steps;
  const double halved = t.reduces_all ? 0.5 : 1.0;
  switch (a) {
    case Algorithm::ring: return ring_bus(c, t, p) * circular;
    case Algorithm::tree: return tree_bus(c, t, p) * halved;
    case Algorithm::pat: return 0.75 * c.ring.channels * per_channel(c.ring, t);
    case Algorithm::nvls:
    case Algorithm::nvls_tree: return nvls_bus(c, t, a) * (t.reduces_all ? circular : 1.0);
    case Algorithm::collnet_direct:
    case Algorithm::collnet_chain:
    case Algorithm::count: break;
  }
  return collnet_bus(c, t, a) * halved;
}

double ring_latency(const Communicator& c, const Terms& t, Collective collective, Protocol p) noexcept {
  const double inside = ring_step[t.medium][at(p)];
  const double flush = p == Protocol::simple ? 2.0 : 1.0;
  const double plugin = flush * c.ring.inter_latency.raw() / micro;
  const double network = (t.ppn == 1.0 ? tree_step : ring_step)[at(Medium::network)][at(p)] + plugin;
  if (collective == Collective::broadcast || collective == Collective::reduce) {
    const double step = p == Protocol::simple
                            ? (t.k > 1.0 ? tree_step[at(Medium::network)] : tree_step[t.medium])[at(p)]
                            : (t.k > 1.0 ? network : inside);
    return ring_base[at(p)] + (c.ring.equal_channels ? 1.0 : t.steps) * step;
  }
  const double between = t.k == 1.0 ? 0.0 : (t.reduces_all ? 2.0 : 1.0) * (t.k - 1.0);
  const double post = t.k == 1.0 ? 0.0 : (c.cpu == Cpu::amd ? 2.0 : 1.0) * (p == Protocol::simple ? 3.0 : 1.0);
  return ring_base[at(p)] + (t.steps - between) * std::max(inside, post) + between * network;
}

double latency(const Communicator& c, const Terms& t, Collective collective, Algorithm a, Protocol p) noexcept {
  constexpr std::size_t net = at(Medium::network);
  switch (a) {
    case Algorithm::ring: return ring_latency(c, t, collective, p);
    case Algorithm::tree: {
      const double plugin = (p == Protocol::simple ? 2.0 : 1.0) * c.tree.inter_latency.raw() / micro;
      return tree_base[at(p)] +
             2.0 * ((t.ppn - 1.0) * tree_step[t.medium][at(p)] + t.log_nodes * (tree_step[net][at(p)] + plugin));
    }
    case Algorithm::collnet_direct:
      return 2.0 * (std::min(1.0, t.ppn - 1.0) * collnet_direct_step[t.medium] + 0.4 * (t.ppn - 1.0)) +
             collnet_direct_step[net];
    case Algorithm::collnet_chain: return 2.0 * (t.ppn - 1.0) * collnet_chain_step[t.medium] + collnet_chain_step[net];
    case Algorithm::nvls: return nvls_step[t.medium] + (t.k > 1.0 ? nvls_step[net] : 0.0);
    case Algorithm::nvls_tree: return nvls_tree_step[t.medium] + 2.0 * t.log_nodes * nvls_tree_step[net];
    case Algorithm::pat: return pat_base[at(p)] + t.log_nodes * pat_step[net] / 3.5 + 2.8 * t.n;
    case Algorithm::count: break;
  }
  return 0.0;
}

/// Drops channels and threads while each would have too little work.
void trim(Choice& choice, const Communicator& c, Bytes bytes) noexcept {
  const bool ring = choice.algorithm == Algorithm::ring;
  const bool collnet = choice.algorithm == Algorithm::collnet_direct || choice.algorithm == Algorithm::collnet_chain;
  const bool nvls = choice.algorithm == Algorithm::nvls || choice.algorithm == Algorithm::nvls_tree;
  const Graph& graph = nvls ? c.nvls : collnet ? c.collnet : choice.algorithm == Algorithm::tree ? c.tree : c.ring;
  constexpr double slow_ring = 12.0;
  int channels = graph.channels;
  int threads = choice.protocol == Protocol::ll128 || nvls || collnet ? 640 : 512;
  if (choice.protocol == Protocol::simple && ring && channels * per_channel_inside(graph) <= slow_ring) {
    threads = 256;
  }
  double threshold = 8.0;
  if (choice.protocol == Protocol::ll) {
    threshold = ring ? 8.0 * static_cast<double>(c.ranks) : 8.0;
  } else if (choice.protocol == Protocol::simple) {
    threshold = collnet ? 512.0 : 64.0;
  }
  if (!nvls) {
    const auto short_of = [&] { return bytes.raw() < static_cast<double>(channels) * threads * threshold; };
    while (channels > 1 && short_of()) {
      --channels;
    }
    while (threads % 128 == 0 && short_of()) {
      threads /= 2;
    }
  }
  if (choice.protocol == Protocol::simple && ring) {
    threads += 32;  // one warp for synchronisation
  }
  if (choice.algorithm == Algorithm::tree || choice.algorithm == Algorithm::pat) {
    threads = 640;
  }
  choice.channels = channels;
  choice.threads = std::max(threads, 96);
}

}  // namespace

Table tune(const Communicator& communicator, Collective collective) noexcept {
  Table table;
  if (communicator.ranks <= 1) {
    return table;
  }
  const Terms t = terms_of(communicator, collective);
  for (std::size_t a = 0; a < algorithm_count; ++a) {
    for (std::size_t p = 0; p < protocol_count; ++p) {
      const auto algorithm = static_cast<Algorithm>(a);
      const auto protocol = static_cast<Protocol>(p);
      if (available(communicator, collective, algorithm, protocol)) {
        table.cells[a][p] = {Seconds{latency(communicator, t, collective, algorithm, protocol) * micro},
                             BytesPerSecond{bandwidth(communicator, t, algorithm, protocol) * giga}};
      }
    }
  }
  return table;
}

Seconds estimate(const Table& table,
                 const Communicator& communicator,
                 Collective collective,
                 Algorithm algorithm,
                 Protocol protocol,
                 Bytes bytes) noexcept {
  const Cell& cell = table.at(algorithm, protocol);
  if (cell.bandwidth <= BytesPerSecond{}) {
    return Seconds{unreachable};
  }
  double bandwidth = cell.bandwidth.raw();
  double latency = cell.latency.raw();
  const bool corrected = collective == Collective::all_reduce &&
                         (algorithm == Algorithm::tree || (algorithm == Algorithm::nvls_tree && communicator.x86 &&
                                                           communicator.generation == Generation::blackwell));
  if (corrected) {
    const auto units = static_cast<std::uint64_t>(bytes.raw() / 64.0);
    if (const int index = static_cast<int>(std::bit_width(units)) - 1;
        index >= 0 && index < static_cast<int>(tree_correction[0].size())) {
      bandwidth *= tree_correction[at(protocol)][static_cast<std::size_t>(index)];
    }
  }
  const double share =
      bytes.raw() / (static_cast<double>(communicator.ring.channels) * static_cast<double>(communicator.ranks));
  if (algorithm == Algorithm::ring && protocol == Protocol::simple && communicator.nodes > 1 &&
      collective == Collective::all_reduce && share >= 64.0) {
    latency *= communicator.generation == Generation::volta ? 1.9 : 1.4;
  }
  return Seconds{latency + bytes.raw() / bandwidth};
}

Choice choose(const Table& table, const Communicator& communicator, Collective collective, Bytes bytes) noexcept {
  Choice best;
  best.time = Seconds{unreachable};
  for (std::size_t a = 0; a < algorithm_count; ++a) {
    for (std::size_t p = 0; p < protocol_count; ++p) {
      const auto algorithm = static_cast<Algorithm>(a);
      const auto protocol = static_cast<Protocol>(p);
      const Seconds time = estimate(table, communicator, collective, algorithm, protocol, bytes);
      if (time < best.time) {
        best.algorithm = algorithm;
        best.protocol = protocol;
        best.time = time;
      }
    }
  }
  trim(best, communicator, bytes);
  return best;
}

}  // namespace headroom::nccl
