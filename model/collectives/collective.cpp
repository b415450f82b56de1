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

Bytes tensor_parallel_bytes_per_layer(std::int64_t micro_batch,
                                      std::int64_t seq_len,
                                      std::int64_t hidden,
                                      double bytes_per_element,
                                      std::int64_t tp) noexcept {
  constexpr double all_reduces = 4.0;  // two forward, two backward
  const Bytes buffer{bytes_per_element * static_cast<double>(micro_batch) * static_cast<double>(seq_len) *
                     static_cast<double>(hidden)};
  return all_reduces * bytes_per_rank(Collective::all_reduce, buffer, tp);
}

}  // namespace headroom
