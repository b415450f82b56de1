// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/statistics.hpp>
#include <headroom/model/estimate/spread.hpp>

#include <cmath>

namespace headroom {
namespace {

constexpr double end_of_interval = 1.2815515655446004;  ///< 90 % quantile of the standard normal distribution

bool is_log_normal(const Interval<double>& i) noexcept {
  return i.low > 0.0 && std::isfinite(i.high);
}

}  // namespace

double reach_of(double probability) noexcept {
  return normal_quantile(probability) / end_of_interval;
}

double quantile_of(const Interval<double>& i, double probability) noexcept {
  const double reach = reach_of(probability);
  const double end = reach < 0.0 ? i.low : i.high;
  if (reach == 0.0 || end == i.mid) {
    return i.mid;
  }
  return is_log_normal(i) ? i.mid * std::pow(end / i.mid, std::abs(reach)) : i.mid + (end - i.mid) * std::abs(reach);
}

double chance_of_at_most(const Interval<double>& i, double limit) noexcept {
  const double end = limit < i.mid ? i.low : i.high;
  if (limit == i.mid || end == i.mid) {
    return limit >= i.mid ? (end == i.mid ? 1.0 : 0.5) : 0.0;
  }
  if (is_log_normal(i) && !(limit > 0.0)) {
    return 0.0;
  }
  const double reach =
      is_log_normal(i) ? std::log(limit / i.mid) / std::log(end / i.mid) : (limit - i.mid) / (end - i.mid);
  return normal_share(std::copysign(reach * end_of_interval, limit - i.mid));
}

}  // namespace headroom
