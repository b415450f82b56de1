// SPDX-License-Identifier: Apache-2.0
// A histogram of times in bins of 1.6 % to 3.1 % width, for token gaps, which are too many to keep.
#pragma once

#include <headroom/model/serve/tables/iteration_tables.hpp>

#include <cstdint>
#include <vector>

namespace headroom {

/// Negative times count as 0. Bins are whole numbers of picoseconds, 32 per power of two, so that counts do not depend
/// on the order of the times.
class TimeHistogram {
 public:
  TimeHistogram();
  void add(Picoseconds time, std::int64_t count) noexcept { counts_[bin(time)] += count; }
  /// Adds the times first, first + increment, ... (`steps` of them), each `count` times.
  void add_line(Picoseconds first, Picoseconds increment, std::int64_t steps, std::int64_t count) noexcept;
  void add(const TimeHistogram& other) noexcept;
  [[nodiscard]] std::int64_t total() const noexcept;
  /// Middle of the bin at which the share q (0 to 1) of all times is reached; 0 if empty.
  [[nodiscard]] Picoseconds quantile(double q) const noexcept;
  [[nodiscard]] bool operator==(const TimeHistogram&) const = default;

 private:
  [[nodiscard]] static std::size_t bin(Picoseconds time) noexcept;
  std::vector<std::int64_t> counts_;
};

}  // namespace headroom
