// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/serve/time/time_histogram.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace headroom {
namespace {

template <int Bits>
constexpr std::size_t per_octave = std::size_t{1} << Bits;

}  // namespace

/// Bins for all times up to `never`, which has 63 bits.
template <int Bits>
TimeBins<Bits>::TimeBins() : counts_((64 - Bits) * per_octave<Bits>, 0) {}

template <int Bits>
std::size_t TimeBins<Bits>::bin(Picoseconds time) noexcept {
  const auto value = static_cast<std::uint64_t>(std::max(time, Picoseconds{0}).count());
  const int shift = static_cast<int>(std::bit_width(value)) - 1 - Bits;
  if (shift <= 0) {
    return static_cast<std::size_t>(value);
  }
  return static_cast<std::size_t>(shift) * per_octave<Bits> + static_cast<std::size_t>(value >> shift);
}

template <int Bits>
void TimeBins<Bits>::add_line(Picoseconds first,
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

template <int Bits>
void TimeBins<Bits>::add(const TimeBins& other) noexcept {
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    counts_[i] += other.counts_[i];
  }
}

template <int Bits>
std::int64_t TimeBins<Bits>::total() const noexcept {
  std::int64_t sum = 0;
  for (const std::int64_t count : counts_) {
    sum += count;
  }
  return sum;
}

template <int Bits>
Picoseconds TimeBins<Bits>::quantile(double q) const noexcept {
  const auto wanted = static_cast<std::int64_t>(std::ceil(q * static_cast<double>(total())));
  std::int64_t seen = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    seen += counts_[i];
    if (counts_[i] > 0 && seen >= wanted) {
      const std::size_t shift = i < 2 * per_octave<Bits> ? 0 : i / per_octave<Bits> - 1;
      const auto low = static_cast<std::int64_t>(i - shift * per_octave<Bits>) << shift;
      return Picoseconds{low + ((std::int64_t{1} << shift) - 1) / 2};
    }
  }
  return Picoseconds{0};
}

template <int Bits>
std::int64_t TimeBins<Bits>::above(Picoseconds bound) const noexcept {
  std::int64_t sum = 0;
  for (std::size_t i = bin(bound) + 1; i < counts_.size(); ++i) {
    sum += counts_[i];
  }
  return sum;
}

template class TimeBins<5>;
template class TimeBins<9>;

}  // namespace headroom
