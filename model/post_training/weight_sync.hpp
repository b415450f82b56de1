// SPDX-License-Identifier: Apache-2.0
// New weights from the trainer to the engines.
#pragma once

#include <headroom/core/quantity.hpp>

#include <array>
#include <cstdint>
#include <string_view>

namespace headroom {

/// How weights reach the engines: the engine takes them on the GPUs that hold the trainer's shards, of one host
/// (`local`) or of several, over whose NICs whole tensors are gathered first (`gathered`); whole tensors are gathered
/// and broadcast over NCCL (`broadcast`), or over sockets (`gloo`); each rank gets the parts of its shards straight
/// from who has them (`sharded`), or of those the changed elements alone (`delta`); engines load from copies in their
/// hosts' memory that are broadcast in buckets (`host`); a store in between holds a file (`storage`).
enum class WeightSync : std::uint8_t { local, broadcast, sharded, delta, host, gloo, storage, gathered };
inline constexpr std::array<std::string_view, 8> weight_sync_names{"local", "broadcast", "sharded", "delta",
                                                                   "host",  "gloo",      "storage", "gathered"};

/// The way that is taken where another is meant: within a host `gathered` and `broadcast` are `local`, and `local`
/// over several hosts is `gathered`.
[[nodiscard]] WeightSync way_between(WeightSync way, bool hosts) noexcept;

/// Whether a way's rate is a number of its own, in GB/s, and no link's.
[[nodiscard]] constexpr bool is_own_rate(WeightSync way) noexcept {
  return way == WeightSync::gloo || way == WeightSync::storage || way == WeightSync::delta;
}

/// Who sends what to whom.
struct WeightSend {
  Bytes weights{};             ///< of the whole model in the format that is sent
  double engine_ranks = 1.0;   ///< ranks that one engine's weights are cut over
  bool hosts = false;          ///< whether it leaves a host, or a domain of NVLink
  BytesPerSecond inside{};     ///< of one GPU to others of its host
  BytesPerSecond outside{};    ///< of one GPU's NIC
  BytesPerSecond to_host{};    ///< of one GPU and its host's memory
  double domain = 1.0;         ///< GPUs that NVLink joins: of a host, or of a rack
  double tensors = 0.0;        ///< of the whole model, each expert's for itself; 0: unknown
  double trainer_ranks = 1.0;  ///< over which the trainer's weights are cut
  double gathers = 1.0;        ///< bytes that a trainer's ranks gather for each byte that is sent: 2 of fp32 parameters
};

/// Measured of a way of sending (model/stacks/post/any.toml).
struct SyncPath {
  double share = 1.0;  ///< of the link's rate that whole sends reach
  Seconds start{};     ///< whatever is sent
  Seconds each{};      ///< of one tensor, where tensors are gathered and sent one after the other
};

/// local, gathered: start + n each + W / (share B); every rank sees each of n whole tensors pass, W bytes at the rate B
/// of one link. broadcast: start + n each + (1 + g) W / (share B); the trainer's ranks gather g W bytes of what they
/// hold before W bytes are sent (PyTorch FSDP gathers fp32 parameters, Zhao et al. 2023, section 3.2). host:
/// start + W / (share H); buckets pass the link H of one GPU to its host's memory, one root after the other, while the
/// others receive. sharded: start + W / r / (share B); an engine's rank gets its part of W alone, r ranks. Where a
/// domain of d GPUs holds several engines, weights come into it once, W / d over each NIC, and W / r inside it. delta:
/// start + 2 W / s / share, each of the trainer's s ranks copies its shard to its host and compares it with what it
/// was. storage: start + 2 W / share, a file is written, then read. gloo, storage and delta: B is share itself, in
/// GB/s, whatever the links are.
[[nodiscard]] Seconds weight_sync_time(WeightSync way, const WeightSend& send, const SyncPath& path) noexcept;

}  // namespace headroom
