// SPDX-License-Identifier: Apache-2.0
#include <headroom/scenarios/question/network_scenario.hpp>

namespace headroom {

double default_gradient_bytes(Precision precision, int zero) noexcept {
  constexpr double accumulated = 4.0;
  return zero < 3 ? accumulated : adam_states(precision).gradients;
}

}  // namespace headroom
