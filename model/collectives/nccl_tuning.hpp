// SPDX-License-Identifier: Apache-2.0
// How NCCL selects algorithm, protocol, channels and threads of a collective: its own cost table of latencies and
// bandwidths. The table only ranks; collective_time.hpp gives the times.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/model/collectives/collective.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace headroom::nccl {

enum class Algorithm : std::uint8_t { tree, ring, collnet_direct, collnet_chain, nvls, nvls_tree, pat, count };
inline constexpr std::size_t algorithm_count = static_cast<std::size_t>(Algorithm::count);
inline constexpr std::array<std::string_view, algorithm_count> algorithm_names{
    "tree", "ring", "collnet-direct", "collnet-chain", "nvls", "nvls-tree", "pat"};

/// LL: words of 4 bytes data and 4 bytes flag. LL128: 120 of 128 bytes are data. Simple: blocks with separate flags.
enum class Protocol : std::uint8_t { ll, ll128, simple, count };
inline constexpr std::size_t protocol_count = static_cast<std::size_t>(Protocol::count);
inline constexpr std::array<std::string_view, protocol_count> protocol_names{"ll", "ll128", "simple"};

/// Compute capability: below 8.0, 8.x, 9.x, 10.0 and later.
enum class Generation : std::uint8_t { volta, ampere, hopper, blackwell };
enum class Cpu : std::uint8_t { intel, amd };  ///< amd also stands for hosts of mixed processors
enum class Inside : std::uint8_t { nvlink, pci };

/// Channels that NCCL's topology search found for one algorithm, and the rate of each.
struct Graph {
  int channels = 1;
  BytesPerSecond intra{};      ///< rate per channel inside a node
  BytesPerSecond inter{};      ///< rate per channel between nodes
  Seconds inter_latency{};     ///< latency of the NIC as its plugin states it
  bool equal_channels = true;  ///< every channel passes the ranks in the same order
};

/// What NCCL knows of a communicator when it fills the table.
struct Communicator {
  std::int64_t ranks = 1;
  std::int64_t nodes = 1;
  Generation generation = Generation::hopper;
  Cpu cpu = Cpu::intel;
  bool x86 = true;
  Inside inside = Inside::nvlink;
  Graph ring, tree, nvls, collnet;
  bool plain_tree = false;      ///< the tree graph is neither split nor balanced over NICs
  bool ll128 = true;            ///< close paths and one generation (ncclTopo path classes), or allowed by NCCL_PROTO
  bool nvls_supported = false;  ///< the switches can multicast and reduce
  bool nvswitch = false;
  bool collnet_enabled = false;  ///< NCCL_COLLNET_ENABLE is set and a plugin offers CollNet
  bool host_network = true;      ///< a network device that PAT may use
};

/// One entry of the table. A bandwidth of zero means that it is not available.
struct Cell {
  Seconds latency{};
  BytesPerSecond bandwidth{};
};

struct Table {
  std::array<std::array<Cell, protocol_count>, algorithm_count> cells{};
  [[nodiscard]] const Cell& at(Algorithm algorithm, Protocol protocol) const noexcept {
    return cells[static_cast<std::size_t>(algorithm)][static_cast<std::size_t>(protocol)];
  }
};

/// The launch that NCCL would choose.
struct Choice {
  Algorithm algorithm = Algorithm::ring;
  Protocol protocol = Protocol::simple;
  Seconds time{};  ///< time by NCCL's own estimate
  int channels = 1;
  int threads = 512;
};

/// The cost table of NCCL 2.30.7 (src/graph/tuning.cc, tables and equations of ncclTopoTuneModel). Send and receive,
/// and all-to-all built from them, have no table: all cells are zero.
[[nodiscard]] Table tune(const Communicator& communicator, Collective collective) noexcept;

/// latency + bytes / bandwidth with corrections that depend on the size (ncclTopoGetAlgoTime). `bytes` is the full
/// buffer, for all-gather and reduce-scatter the gathered one. Infinite if the cell is not available.
[[nodiscard]] Seconds estimate(const Table& table,
                               const Communicator& communicator,
                               Collective collective,
                               Algorithm algorithm,
                               Protocol protocol,
                               Bytes bytes) noexcept;

/// The cheapest cell, with channels and threads as NCCL reduces them for small sizes (src/enqueue.cc, getAlgoInfo and
/// topoGetAlgoInfo). Precondition: at least one cell is available.
[[nodiscard]] Choice choose(const Table& table,
                            const Communicator& communicator,
                            Collective collective,
                            Bytes bytes) noexcept;

}  // namespace headroom::nccl
