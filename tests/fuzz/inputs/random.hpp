// SPDX-License-Identifier: Apache-2.0
// Numbers that follow from a seed alone, on every machine and with every standard library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace headroom::fuzz {

/// SplitMix64 (Steele, Lea and Flood 2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) noexcept : state_{seed} {}
  /// The stream of the part `index` of what `seed` stands for.
  Random(std::uint64_t seed, std::uint64_t index) noexcept : state_{Random{seed}.next() ^ Random{~index}.next()} {}

  std::uint64_t next() noexcept {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }
  /// From 0 to `count` - 1; 0 of nothing.
  std::size_t below(std::size_t count) noexcept { return count == 0 ? 0 : static_cast<std::size_t>(next() % count); }
  bool chance(std::size_t percent) noexcept { return below(100) < percent; }
  template <class T>
  const T& pick(const std::vector<T>& from) noexcept {
    return from[below(from.size())];
  }

 private:
  std::uint64_t state_;
};

}  // namespace headroom::fuzz
