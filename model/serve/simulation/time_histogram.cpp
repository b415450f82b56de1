// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/serve/simulation/time_histogram.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace headroom {
namespace {

constexpr int bits_kept = 5;  // 32 bins per power of two
constexpr std::size_t per_octave = std::size_t{1} << bits_kept;

}  // namespace

/// Bins for all times up to `never`, which has 63 bits.
TimeHistogram::TimeHistogram() : counts_((64 - bits_kept) * per_octave, 0) {}

std::size_t TimeHistogram::bin(Picoseconds time) noexcept {
  const auto value = static_cast<std::uint64_t>(std::max(time, Picoseconds{0}).count());
  const int shift = static_cast<int>(std::bit_width(value)) - 1 - bits_kept;
  if (shift <= 0) {
    return static_cast<std::size_t>(value);
  }
  return static_cast<std::size_t>(shift) * per_octave + static_cast<std::size_t>(value >> shift);
}

void TimeHistogram::add_line(Picoseconds first,
                             Picoseconds increment,
                             std::int64_t steps,
                             std::int64_t count) noexcept {
  const Picoseconds last = first + increment * (steps - 1);
  if (bin(first) == bin(last)) {
    add(first, steps * count);
    return;
  }
  for (std::int64_t i = 0; i < steps; ++i) {
    add(first + increment * i, count);
  }
}

void TimeHistogram::add(const TimeHistogram& other) noexcept {
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    counts_[i] += other.counts_[i];
  }
}

std::int64_t TimeHistogram::total() const noexcept {
  std::int64_t sum = 0;
  for (const std::int64_t count : counts_) {
    sum += count;
  }
  return sum;
}

Picoseconds TimeHistogram::quantile(double q) const noexcept {
  const auto wanted = static_cast<std::int64_t>(std::ceil(q * static_cast<double>(total())));
  std::int64_t seen = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    seen += counts_[i];
    if (counts_[i] > 0 && seen >= wanted) {
      const std::size_t shift = i < 2 * per_octave ? 0 : i / per_octave - 1;
      const auto low = static_cast<std::int64_t>(i - shift * per_octave) << shift;
      return Picoseconds{low + ((std::int64_t{1} << shift) - 1) / 2};
    }
  }
  return Picoseconds{0};
}

}  // namespace headroom
