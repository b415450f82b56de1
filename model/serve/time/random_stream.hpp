// SPDX-License-Identifier: Apache-2.0
// Random numbers that are the same with every standard library: arrivals, lengths and acceptance are drawn from these.
#pragma once

#include <array>
#include <cstdint>

namespace headroom {

/// One step of SplitMix64 (Steele, Lea and Flood 2014; Vigna's constants): a bijection that scatters nearby numbers.
[[nodiscard]] constexpr std::uint64_t scatter(std::uint64_t x) noexcept {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

/// 53 random bits as a number in [0, 1).
[[nodiscard]] constexpr double unit_interval(std::uint64_t bits) noexcept {
  return static_cast<double>(bits >> 11) * 0x1.0p-53;
}

/// xoshiro256++ 1.0 (Blackman and Vigna 2021), its state filled by SplitMix64 as they advise. Streams of one seed with
/// different numbers do not follow from each other.
class RandomStream {
 public:
  explicit RandomStream(std::uint64_t seed, std::uint64_t stream = 0) noexcept;

  [[nodiscard]] std::uint64_t bits() noexcept;
  /// Uniform in [0, 1).
  [[nodiscard]] double uniform() noexcept { return unit_interval(bits()); }
  /// Uniform whole number in [0, count). Precondition: count >= 1.
  [[nodiscard]] std::int64_t below(std::int64_t count) noexcept;
  /// Mean 1, by inversion.
  [[nodiscard]] double exponential() noexcept;
  /// Mean 0, variance 1 (Marsaglia and Bray 1964, the polar method; one of its pair is thrown away).
  [[nodiscard]] double normal() noexcept;
  /// Shape k > 0 and scale 1, so mean k (Marsaglia and Tsang 2000; k < 1 by their boost k + 1).
  [[nodiscard]] double gamma(double shape) noexcept;

 private:
  std::array<std::uint64_t, 4> state_{};
};

}  // namespace headroom
