// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/serve/engine/scheduler.hpp>

#include <cmath>

namespace headroom {

double Speculation::tokens_per_step() const noexcept {
  return acceptance >= 1.0 ? static_cast<double>(draft + 1)
                           : (1.0 - std::pow(acceptance, static_cast<double>(draft + 1))) / (1.0 - acceptance);
}

}  // namespace headroom
