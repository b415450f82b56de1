// SPDX-License-Identifier: Apache-2.0
// Random numbers that do not depend on the standard library, for arrivals, lengths and acceptance.
#pragma once

#include <array>
#include <cstdint>

namespace headroom {

/// Distance of the states of SplitMix64, 2^64 over the golden ratio.
inline constexpr std::uint64_t golden_step = 0x9e3779b97f4a7c15ULL;

/// One step of SplitMix64 (Steele, Lea and Flood 2014; Vigna's constants): a bijection that scatters nearby numbers.
[[nodiscard]] constexpr std::uint64_t scatter(std::uint64_t x) noexcept {
  x += golden_step;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

/// Number `index` of the SplitMix64 sequence that starts at `state`.
[[nodiscard]] constexpr std::uint64_t scattered(std::uint64_t state, std::uint64_t index) noexcept {
  return scatter(state + index * golden_step);
}

/// 53 random bits as a number in [0, 1).
[[nodiscard]] constexpr double unit_interval(std::uint64_t bits) noexcept {
  return static_cast<double>(bits >> 11) * 0x1.0p-53;
}

/// xoshiro256++ 1.0 (Blackman and Vigna 2021), with its state filled by SplitMix64 as its authors advise. Streams with
/// one seed and different numbers are independent.
class RandomStream {
 public:
  explicit RandomStream(std::uint64_t seed, std::uint64_t stream = 0) noexcept;

  [[nodiscard]] std::uint64_t bits() noexcept;
  /// Uniform in [0, 1).
  [[nodiscard]] double uniform() noexcept { return unit_interval(bits()); }
  /// Uniform integer in [0, count). Precondition: count >= 1.
  [[nodiscard]] std::int64_t below(std::int64_t count) noexcept;
  /// Exponential with mean 1, by inversion.
  [[nodiscard]] double exponential() noexcept;
  /// Normal with mean 0 and variance 1 (Marsaglia and Bray 1964, polar method; the pair's second number is discarded).
  [[nodiscard]] double normal() noexcept;
  /// Gamma with shape k > 0 and scale 1, mean k (Marsaglia and Tsang 2000; k < 1 by their boost from k + 1).
  [[nodiscard]] double gamma(double shape) noexcept;

 private:
  std::array<std::uint64_t, 4> state_{};
};

}  // namespace headroom
