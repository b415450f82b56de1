// SPDX-License-Identifier: Apache-2.0
// Histograms of times, for simulations that have too many of them to keep.
#pragma once

#include <headroom/model/serve/time/simulated_time.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace headroom {

/// Bins are whole numbers of picoseconds, 2^Bits per power of two, so that counts do not depend on the order of the
/// times. Negative times count as 0.
template <int Bits>
class TimeBins {
 public:
  TimeBins();
  void add(Picoseconds time, std::int64_t count) noexcept { counts_[bin(time)] += count; }
  /// Adds the times first, first + increment, ... (`steps` of them), each `count` times.
  void add_line(Picoseconds first, Picoseconds increment, std::int64_t steps, std::int64_t count) noexcept;
  void add(const TimeBins& other) noexcept;
  [[nodiscard]] std::int64_t total() const noexcept;
  /// Middle of the bin at which the share q (0 to 1) of all times is reached; 0 if empty.
  [[nodiscard]] Picoseconds quantile(double q) const noexcept;
  /// Times in bins that end above `bound`.
  [[nodiscard]] std::int64_t above(Picoseconds bound) const noexcept;
  [[nodiscard]] bool operator==(const TimeBins&) const = default;

 private:
  [[nodiscard]] static std::size_t bin(Picoseconds time) noexcept;
  std::vector<std::int64_t> counts_;
};
extern template class TimeBins<5>;
extern template class TimeBins<9>;

using TimeHistogram = TimeBins<5>;      ///< bins of 1.6 % to 3.1 % width: token gaps
using FineTimeHistogram = TimeBins<9>;  ///< of 0.1 % to 0.2 %: tails of calls

}  // namespace headroom
