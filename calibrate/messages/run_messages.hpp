// SPDX-License-Identifier: Apache-2.0
// What logs say of faults and of the ways that collectives take: NCCL's lines, PyTorch's watchdog, CUDA's errors, the
// driver's Xids, memory that was not there.
#pragma once

#include <headroom/core/quantity.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// Whose fault a message tells.
enum class FaultSource : std::uint8_t {
  program,  ///< the program's own error; the GPU is well
  device,   ///< the GPU, its memory or its driver
  network,  ///< a link, an adapter or the way between hosts
  memory,   ///< no memory on the GPU
  host,     ///< the host: its memory, its limits
  follows   ///< of another fault, told elsewhere
};

/// Messages of one kind in one file.
struct FaultMessage {
  FaultSource source = FaultSource::program;
  std::string what;       ///< "Xid 79, the GPU fell off the bus"
  std::string cure;       ///< a sentence
  std::string first;      ///< the first such line, cut at 200 characters
  std::int64_t line = 0;  ///< its number, from 1
  std::int64_t count = 1;
  bool stops = true;  ///< work on the GPU; else it goes on
};

/// A collective that a rank's watchdog gave up.
struct TimedOut {
  std::int64_t rank = -1;    ///< -1: the line does not say
  std::int64_t number = -1;  ///< of the collective
  std::string op;            ///< "ALLREDUCE"
  std::int64_t inputs = -1;  ///< elements; -1: not stated
  std::optional<Seconds> timeout;
  std::int64_t line = 0;
};

/// A request that found no memory, as PyTorch tells it. Unset: the line does not say.
struct RefusedAllocation {
  Bytes asked{};
  std::optional<Bytes> capacity, free, allocated, unallocated;  ///< the last: reserved by PyTorch and not handed out
  std::int64_t line = 0;
};

/// Ways of NCCL's connections, as "via" tells them.
enum class ConnectionWay : std::uint8_t { p2p, shared_memory, rdma_direct, rdma, socket, other, count };
inline constexpr std::size_t connection_way_count = static_cast<std::size_t>(ConnectionWay::count);
inline constexpr std::array<std::string_view, connection_way_count> connection_way_names{
    "P2P", "shared memory", "RDMA from the GPU", "RDMA through the host", "sockets", "other networks"};

struct RunMessages {
  std::string file;
  std::string nccl_version;
  std::set<std::string> hosts, networks;  ///< networks as NCCL names them: "IB", "Socket"
  std::int64_t ranks = 0;                 ///< of the largest communicator; 0: not stated
  std::int64_t channels = 0, nvls_channels = 0;
  std::array<std::int64_t, connection_way_count> connections{};
  std::array<std::string, connection_way_count> examples;  ///< "FILE line 12: Channel 00/0 : ..."
  bool no_adapter = false;                                 ///< NCCL looked for InfiniBand or RoCE and found none
  bool no_direct_rdma = false;
  std::map<std::string, std::string> settings;  ///< NCCL_* that the environment set
  std::vector<FaultMessage> faults;
  std::vector<TimedOut> timeouts;
  std::vector<RefusedAllocation> refused;
  std::optional<FaultMessage> mismatch;  ///< of TORCH_DISTRIBUTED_DEBUG=DETAIL

  [[nodiscard]] bool empty() const noexcept {
    return nccl_version.empty() && hosts.empty() && faults.empty() && timeouts.empty() && refused.empty() && !mismatch;
  }
};

/// Whether a text holds a word of those that are read.
[[nodiscard]] bool has_run_messages(std::string_view text) noexcept;

/// Reads a log line by line, whole or gzip; lines that tell nothing of this are passed over, so that any log may be
/// given. Lines longer than 64 KiB are cut.
[[nodiscard]] RunMessages read_run_messages(const std::string& file);

/// The same of a text, for tests and for those who read a log for other matters too.
void read_run_message(std::string_view line, std::int64_t number, RunMessages& messages);

}  // namespace headroom
