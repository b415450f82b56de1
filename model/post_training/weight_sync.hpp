// SPDX-License-Identifier: Apache-2.0
// New weights from the trainer to the engines.
#pragma once

#include <headroom/core/quantity.hpp>

#include <array>
#include <cstdint>
#include <string_view>

namespace headroom {

/// How weights reach the engines: the engine takes them on the GPUs that hold the trainer's shards (`local`); whole
/// tensors are gathered and broadcast over NCCL (`broadcast`), or over sockets (`gloo`); each rank gets the parts of
/// its shards straight from who has them (`sharded`), or of those the changed elements alone (`delta`); engines load
/// from copies in their hosts' memory that are broadcast in buckets (`host`); a store in between holds a file
/// (`storage`).
enum class WeightSync : std::uint8_t { local, broadcast, sharded, delta, host, gloo, storage };
inline constexpr std::array<std::string_view, 7> weight_sync_names{"local", "broadcast", "sharded", "delta",
                                                                   "host",  "gloo",      "storage"};

/// Who sends what to whom.
struct WeightSend {
  Bytes weights{};            ///< of the whole model in the format that is sent
  double engine_ranks = 1.0;  ///< ranks that one engine's weights are cut over
  bool hosts = false;         ///< whether it leaves a host, or a domain of NVLink
  BytesPerSecond inside{};    ///< of one GPU to others of its host
  BytesPerSecond outside{};   ///< of one GPU's NIC
};

/// Measured of a way of sending (model/stacks/step/post-training.toml).
struct SyncPath {
  double share = 1.0;  ///< of the link's rate that whole sends reach
  Seconds start{};     ///< whatever is sent
};

/// local, broadcast, host: start + W / (share B); every rank sees each whole tensor pass, W bytes at the rate B of one
/// link. sharded, delta: start + W / r / (share B); an engine's rank gets its part of W alone, r ranks. gloo and
/// storage: B is share itself, in GB/s, whatever the links are.
[[nodiscard]] Seconds weight_sync_time(WeightSync way, const WeightSend& send, const SyncPath& path) noexcept;

}  // namespace headroom
