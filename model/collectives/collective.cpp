// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/collectives/collective.hpp>

namespace headroom {

double traffic_factor(Collective collective, std::int64_t ranks) noexcept {
  if (ranks <= 1) {
    return 0.0;
  }
  const auto n = static_cast<double>(ranks);
  switch (collective) {
    case Collective::all_reduce: return 2.0 * (n - 1.0) / n;
    case Collective::reduce_scatter:
    case Collective::all_gather:
    case Collective::all_to_all:
    case Collective::dispatch:
    case Collective::combine: return (n - 1.0) / n;
    case Collective::broadcast:
    case Collective::reduce:
    case Collective::send_recv: return 1.0;
    case Collective::count: break;
  }
  return 0.0;
}

Bytes bytes_per_rank(Collective collective, Bytes buffer, std::int64_t ranks) noexcept {
  return traffic_factor(collective, ranks) * buffer;
}

}  // namespace headroom
