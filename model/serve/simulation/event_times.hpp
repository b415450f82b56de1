// SPDX-License-Identifier: Apache-2.0
// The next event among many engines: its time and its engine.
#pragma once

#include <headroom/model/serve/load/request.hpp>
#include <headroom/model/serve/tables/iteration_tables.hpp>

#include <bit>
#include <cstddef>
#include <vector>

namespace headroom {

/// A tournament tree: leaves are engines, each node holds the smaller time of its two children; ties go to the lower
/// index. A change costs one comparison per level.
class EventTimes {
 public:
  explicit EventTimes(std::size_t count) : leaves_{std::bit_ceil(count < 1 ? 1 : count)}, times_(2 * leaves_, never) {}

  [[nodiscard]] Picoseconds least() const noexcept { return times_[1]; }
  /// Index of the smallest time. Precondition: least() < never.
  [[nodiscard]] std::size_t first() const noexcept {
    std::size_t node = 1;
    while (node < leaves_) {
      node *= 2;
      node += times_[node] > times_[node + 1] ? 1 : 0;
    }
    return node - leaves_;
  }
  [[nodiscard]] Picoseconds of(std::size_t index) const noexcept { return times_[leaves_ + index]; }
  void set(std::size_t index, Picoseconds time) noexcept {
    std::size_t node = leaves_ + index;
    times_[node] = time;
    while (node > 1) {
      node /= 2;
      const Picoseconds left = times_[2 * node];
      const Picoseconds right = times_[2 * node + 1];
      times_[node] = right < left ? right : left;
    }
  }

 private:
  std::size_t leaves_;
  std::vector<Picoseconds> times_;
};

}  // namespace headroom
