// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/serve/engine/scheduler.hpp>
#include <headroom/model/serve/time/random_stream.hpp>

#include <cmath>

namespace headroom {

double Speculation::tokens_per_step() const noexcept {
  return acceptance >= 1.0 ? static_cast<double>(draft + 1)
                           : (1.0 - std::pow(acceptance, static_cast<double>(draft + 1))) / (1.0 - acceptance);
}

std::int64_t Speculation::tokens(std::uint64_t id, std::int64_t generated) const noexcept {
  std::uint64_t state = scatter(seed ^ scatter(id ^ scatter(static_cast<std::uint64_t>(generated))));
  std::int64_t accepted = 0;
  while (accepted < draft && unit_interval(state) < acceptance) {
    ++accepted;
    state = scatter(state);
  }
  return accepted + 1;
}

}  // namespace headroom
