// SPDX-License-Identifier: Apache-2.0
#include <headroom/hardware/fabric/host_copies.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {

Seconds copy_time(const HostCopy& copy, Bytes each, double count) noexcept {
  return count * (copy.start + each / copy.rate);
}

std::int64_t port_sharers(const NodeWiring& host, std::int64_t gpu) noexcept {
  const auto at = static_cast<std::size_t>(gpu);
  if (host.host_link != LinkKind::pcie || at >= host.gpu_switch.size() || host.gpu_switch[at] < 0) {
    return 1;
  }
  return std::count(host.gpu_switch.begin(), host.gpu_switch.end(), host.gpu_switch[at]);
}

Seconds contended_copy(
    const NodeWiring& host, std::int64_t gpu, const HostCopy& copy, Bytes each, double busy, double quantile) noexcept {
  const std::int64_t others = port_sharers(host, gpu) - 1;
  // The quantile of the number of rivals, by summing the binomial distribution.
  std::int64_t rivals = 0;
  double none = std::pow(1.0 - busy, static_cast<double>(others));
  double below = none;
  if (busy >= 1.0) {
    rivals = others;
  } else {
    while (below < quantile && rivals < others) {
      none *= busy / (1.0 - busy) * static_cast<double>(others - rivals) / static_cast<double>(rivals + 1);
      ++rivals;
      below += none;
    }
  }
  const bool known = host.gpu_pcie > BytesPerSecond{} && host.switch_pcie > BytesPerSecond{};
  const BytesPerSecond port = known ? copy.rate * (host.switch_pcie / host.gpu_pcie) : copy.rate;
  const BytesPerSecond share = std::min(copy.rate, port / static_cast<double>(1 + rivals));
  return copy_time({copy.start, share}, each);
}

}  // namespace headroom
