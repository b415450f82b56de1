// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/diagnosis/period.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>

namespace headroom {
namespace {

constexpr std::size_t least_events = 6;
constexpr double least_concentration = 0.8;
constexpr double most_chance = 0.01;
constexpr double missing = 1.5;  ///< periods an event, and events a period, that are still one an event
constexpr double steps_a_frequency = 16.0;
constexpr std::size_t most_events = 512;  ///< of a longer series the first: more do not sharpen the answer

/// |sum of exp(2 pi i f t)| over the events.
double resultant(std::span<const Seconds> events, double frequency) {
  double cosines = 0.0;
  double sines = 0.0;
  for (const Seconds event : events) {
    const double turns = frequency * (event - events.front()).raw();
    const double angle = 2.0 * std::numbers::pi * (turns - std::floor(turns));
    cosines += std::cos(angle);
    sines += std::sin(angle);
  }
  return std::hypot(cosines, sines);
}

}  // namespace

std::optional<Period> period_of(std::span<const Seconds> events) {
  events = events.first(std::min(events.size(), most_events));
  if (events.size() < least_events) {
    return std::nullopt;
  }
  const double span = (events.back() - events.front()).raw();
  const auto n = static_cast<double>(events.size());
  if (!(span > 0.0) || !std::isfinite(span)) {
    return std::nullopt;
  }
  const double lowest = (n / missing - 1.0) / span;
  const double highest = (n * missing - 1.0) / span;
  const double step = 1.0 / (steps_a_frequency * span);
  double best = 0.0;
  double at = lowest;
  const auto steps = static_cast<std::size_t>(std::ceil((highest - lowest) / step));
  constexpr double clearly = 1.001;
  for (std::size_t i = 0; i <= steps; ++i) {
    const double frequency = lowest + step * static_cast<double>(i);
    if (const double length = resultant(events, frequency); length > best * clearly) {
      best = length;
      at = frequency;
    }
  }
  // The peak is 1/span wide: halving steps from the grid's best find its top.
  constexpr int halvings = 16;
  double half = step;
  for (int i = 0; i < halvings; ++i, half *= 0.5) {
    for (const double beside : {at - half, at + half}) {
      if (const double length = beside > 0.0 ? resultant(events, beside) : 0.0; length > best) {
        best = length;
        at = beside;
      }
    }
  }
  const double trials = std::max(1.0, (highest - lowest) * span);
  const double exponent = std::sqrt(1.0 + 4.0 * n + 4.0 * std::max(0.0, n * n - best * best)) - (1.0 + 2.0 * n);
  Period found{Seconds{1.0 / at}, best / n, std::min(1.0, trials * std::exp(exponent))};
  return found.concentration >= least_concentration && found.chance <= most_chance ? std::optional{found}
                                                                                   : std::nullopt;
}

}  // namespace headroom
