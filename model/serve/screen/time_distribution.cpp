// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/serve/screen/length_strata.hpp>
#include <headroom/model/serve/screen/time_distribution.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

namespace headroom {

double TimeDistribution::edge(std::size_t i) noexcept {
  constexpr std::uint64_t zero = std::uint64_t{1023 + least_exponent} * 32;
  const std::uint64_t bits = (zero + i) << 47U;
  double seconds = 0.0;
  std::memcpy(&seconds, &bits, sizeof seconds);
  return seconds;
}

void TimeDistribution::add(const TimeDistribution& other, double weight) noexcept {
  for (std::size_t i = 0; i < bins; ++i) {
    bins_[i] += static_cast<float>(weight) * other.bins_[i];
  }
  weight_ += weight * other.weight_;
  sum_ += weight * other.sum_;
}

void TimeDistribution::delay(double share, double seconds) noexcept {
  if (!(share > 1e-4 && seconds > 0.0)) {
    return;
  }
  const TimeDistribution before = *this;
  *this = TimeDistribution{};
  const Strata& waits = exponential_strata();
  for (std::size_t i = 0; i < bins; ++i) {
    const double weight = static_cast<double>(before.bins_[i]);
    if (weight <= 0.0) {
      continue;
    }
    bins_[i] += static_cast<float>((1.0 - share) * weight);
    for (std::size_t j = 0; j < strata_count; ++j) {
      bins_[bin(middle(i) + waits[j] * seconds)] += static_cast<float>(share * weight * stratum_weight(j));
    }
  }
  weight_ = before.weight_;
  sum_ = before.sum_ + before.weight_ * share * seconds;
}

void TimeDistribution::shift(double seconds) noexcept {
  if (!(seconds > 0.0)) {
    return;
  }
  const TimeDistribution before = *this;
  *this = TimeDistribution{};
  for (std::size_t i = 0; i < bins; ++i) {
    if (before.bins_[i] > 0.0F) {
      // In thirds, because a shifted bin may fall into two bins.
      for (const double part : {1.0 / 6.0, 0.5, 5.0 / 6.0}) {
        bins_[bin(edge(i) + part * (edge(i + 1) - edge(i)) + seconds)] += before.bins_[i] / 3.0F;
      }
    }
  }
  weight_ = before.weight_;
  sum_ = before.sum_ + before.weight_ * seconds;
}

double TimeDistribution::mean() const noexcept {
  return weight_ > 0.0 ? sum_ / weight_ : std::numeric_limits<double>::quiet_NaN();
}

double TimeDistribution::quantile(double q) const noexcept {
  double left = q * weight_;
  double last = std::numeric_limits<double>::quiet_NaN();
  for (std::size_t i = 0; i < bins; ++i) {
    const double weight = static_cast<double>(bins_[i]);
    if (weight <= 0.0) {
      continue;
    }
    if (weight >= left) {
      return edge(i) + (edge(i + 1) - edge(i)) * left / weight;
    }
    left -= weight;
    last = edge(i + 1);
  }
  return last;
}

double TimeDistribution::beyond(double seconds) const noexcept {
  if (!(weight_ > 0.0)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  double above = 0.0;
  for (std::size_t i = 0; i < bins; ++i) {
    if (bins_[i] > 0.0F) {
      const double part = (edge(i + 1) - seconds) / (edge(i + 1) - edge(i));
      above += static_cast<double>(bins_[i]) * std::clamp(part, 0.0, 1.0);
    }
  }
  return std::min(above / weight_, 1.0);
}

Strata TimeDistribution::strata() const noexcept {
  Strata medians{};
  double below = 0.0;
  std::size_t next = 0;
  for (std::size_t i = 0; i < bins && next < strata_count; ++i) {
    const double weight = static_cast<double>(bins_[i]);
    while (weight > 0.0 && next < strata_count) {
      const double left = 0.5 * (strata_bounds[next] + strata_bounds[next + 1]) * weight_ - below;
      if (left > weight) {
        break;
      }
      medians[next++] = edge(i) + (edge(i + 1) - edge(i)) * left / weight;
    }
    below += weight;
  }
  for (; next > 0 && next < strata_count; ++next) {
    medians[next] = medians[next - 1];
  }
  return medians;
}

TimeSummary TimeDistribution::summary() const noexcept {
  TimeSummary s;
  s.mean = Seconds{mean()};
  s.p50 = Seconds{quantile(0.50)};
  s.p90 = Seconds{quantile(0.90)};
  s.p95 = Seconds{quantile(0.95)};
  s.p99 = Seconds{quantile(0.99)};
  return s;
}

}  // namespace headroom
