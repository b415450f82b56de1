// SPDX-License-Identifier: Apache-2.0
// The clock of a simulation: whole picoseconds that saturate instead of wrapping around.
#pragma once

#include <headroom/core/quantity.hpp>

#include <cstdint>
#include <limits>

namespace headroom {

/// Simulated time or a span of it. Integers make a sum of steps equal to a skip over them bit for bit; 64 bits reach
/// 106 days. Sums, differences and products saturate at the last value, so that overlong spans never end early.
class Picoseconds {
 public:
  constexpr Picoseconds() noexcept = default;
  explicit constexpr Picoseconds(std::int64_t count) noexcept : count_{count} {}
  /// The last representable time.
  [[nodiscard]] static constexpr Picoseconds end() noexcept {
    return Picoseconds{std::numeric_limits<std::int64_t>::max()};
  }
  [[nodiscard]] constexpr std::int64_t count() const noexcept { return count_; }

  constexpr Picoseconds& operator+=(Picoseconds other) noexcept { return *this = *this + other; }
  constexpr Picoseconds& operator-=(Picoseconds other) noexcept { return *this = *this - other; }

  friend constexpr Picoseconds operator+(Picoseconds a, Picoseconds b) noexcept {
    std::int64_t sum = 0;
    return __builtin_add_overflow(a.count_, b.count_, &sum) ? last(a.count_ < 0) : Picoseconds{sum};
  }
  friend constexpr Picoseconds operator-(Picoseconds a, Picoseconds b) noexcept {
    std::int64_t difference = 0;
    return __builtin_sub_overflow(a.count_, b.count_, &difference) ? last(a.count_ < 0) : Picoseconds{difference};
  }
  friend constexpr Picoseconds operator*(Picoseconds a, std::int64_t times) noexcept {
    std::int64_t product = 0;
    return __builtin_mul_overflow(a.count_, times, &product) ? last((a.count_ < 0) != (times < 0))
                                                             : Picoseconds{product};
  }
  friend constexpr Picoseconds operator*(std::int64_t times, Picoseconds a) noexcept { return a * times; }
  /// Quotients, rounded towards zero. Precondition: the divisor is above 0.
  friend constexpr Picoseconds operator/(Picoseconds a, std::int64_t parts) noexcept {
    return Picoseconds{a.count_ / parts};
  }
  friend constexpr std::int64_t operator/(Picoseconds a, Picoseconds b) noexcept { return a.count_ / b.count_; }

  // Written out for the reason given in quantity.hpp.
  friend constexpr bool operator==(Picoseconds a, Picoseconds b) noexcept { return a.count_ == b.count_; }
  friend constexpr bool operator!=(Picoseconds a, Picoseconds b) noexcept { return a.count_ != b.count_; }
  friend constexpr bool operator<(Picoseconds a, Picoseconds b) noexcept { return a.count_ < b.count_; }
  friend constexpr bool operator>(Picoseconds a, Picoseconds b) noexcept { return a.count_ > b.count_; }
  friend constexpr bool operator<=(Picoseconds a, Picoseconds b) noexcept { return a.count_ <= b.count_; }
  friend constexpr bool operator>=(Picoseconds a, Picoseconds b) noexcept { return a.count_ >= b.count_; }

 private:
  [[nodiscard]] static constexpr Picoseconds last(bool negative) noexcept {
    return negative ? Picoseconds{std::numeric_limits<std::int64_t>::min()} : end();
  }
  std::int64_t count_ = 0;
};

/// A number of picoseconds, rounded towards zero; values out of range saturate, and NaN becomes end().
[[nodiscard]] constexpr Picoseconds truncated(double count) noexcept {
  constexpr double end = 0x1p63;
  if (!(count < end)) {
    return Picoseconds::end();
  }
  return Picoseconds{count > -end ? static_cast<std::int64_t>(count) : std::numeric_limits<std::int64_t>::min()};
}

/// Seconds as simulated time, to the nearest picosecond; values out of range saturate.
[[nodiscard]] constexpr Picoseconds picoseconds(double seconds) noexcept {
  return truncated(seconds * 1e12 + (seconds < 0.0 ? -0.5 : 0.5));
}
[[nodiscard]] constexpr double seconds_of(Picoseconds time) noexcept {
  return static_cast<double>(time.count()) * 1e-12;
}

/// Upper bound of any single span in a question: the latency of a link, a start, a promise. Three of them fit into
/// simulated time one after another.
inline constexpr Seconds longest_span{30.0 * 86400.0};
/// Lower bound of nonzero spans, since simulated time has whole picoseconds.
inline constexpr Seconds shortest_span{1e-9};
/// Upper bound of an engine's step: iterations last milliseconds, and an answer takes many.
inline constexpr Seconds longest_step = hour;

}  // namespace headroom
