// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/post_training/weight_sync.hpp>

#include <algorithm>

namespace headroom {

Seconds weight_sync_time(WeightSync way, const WeightSend& send, const SyncPath& path) noexcept {
  const bool cut = way == WeightSync::sharded || way == WeightSync::delta;
  const bool own_rate = way == WeightSync::gloo || way == WeightSync::storage;
  constexpr double gigabyte = 1e9;
  const double link = own_rate ? gigabyte : (send.hosts ? send.outside : send.inside).raw();
  const double bytes = send.weights.raw() / (cut ? std::max(1.0, send.engine_ranks) : 1.0);
  return path.start + Seconds{link > 0.0 ? bytes / (path.share * link) : 0.0};
}

}  // namespace headroom
