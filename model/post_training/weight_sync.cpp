// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/post_training/weight_sync.hpp>

#include <algorithm>

namespace headroom {

WeightSync way_between(WeightSync way, bool hosts) noexcept {
  if (!hosts) {
    return way == WeightSync::broadcast || way == WeightSync::gathered ? WeightSync::local : way;
  }
  return way == WeightSync::local ? WeightSync::gathered : way;
}

Seconds weight_sync_time(WeightSync way, const WeightSend& send, const SyncPath& path) noexcept {
  const double parts = way == WeightSync::sharded ? send.engine_ranks
                       : way == WeightSync::delta ? send.trainer_ranks
                                                  : 1.0;
  constexpr double gigabyte = 1e9;
  const double link = is_own_rate(way)          ? gigabyte
                      : way == WeightSync::host ? send.to_host.raw()
                                                : (send.hosts ? send.outside : send.inside).raw();
  const double times = way == WeightSync::delta || way == WeightSync::storage ? 2.0
                       : way == WeightSync::broadcast                         ? 1.0 + send.gathers
                                                                              : 1.0;
  const double bytes = times * send.weights.raw() / std::max(1.0, parts);
  if (way == WeightSync::sharded && send.hosts && send.domain > parts && link > 0.0 && send.inside.raw() > 0.0) {
    const double once = send.weights.raw() / send.domain / link + bytes / send.inside.raw();
    return path.start + Seconds{once / path.share};
  }
  return path.start + send.tensors * path.each + Seconds{link > 0.0 ? bytes / (path.share * link) : 0.0};
}

}  // namespace headroom
