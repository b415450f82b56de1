// SPDX-License-Identifier: Apache-2.0
#include <headroom/hardware/fabric/group_shape.hpp>

#include <algorithm>
#include <numeric>

namespace headroom {
namespace {

/// Number of steps after which a unit's edge is met in the same way again.
std::int64_t period(std::int64_t unit, std::int64_t step) {
  return unit / std::gcd(unit, step);
}

/// Units around a group that its flows touch: members send to the next domain and receive from the one before.
constexpr std::int64_t reach = 2;

/// Of `count` things `step` apart, the indices of those near either end and of one period between.
std::vector<std::int64_t> picks(std::int64_t count, std::int64_t unit, std::int64_t step) {
  const std::int64_t edge = (reach + 1) * unit / step + 2;
  const std::int64_t first = std::min(count, edge + period(unit, step));
  std::vector<std::int64_t> picked(static_cast<std::size_t>(first));
  std::iota(picked.begin(), picked.end(), std::int64_t{0});
  for (std::int64_t i = std::max(first, count - edge); i < count; ++i) {
    picked.push_back(i);
  }
  return picked;
}

/// Collects the numbers of units around a rank, as far as they exist.
class Marks {
 public:
  Marks(std::int64_t unit, std::int64_t units) : unit_{unit}, units_{units} {}

  void around(std::int64_t rank, std::int64_t width) {
    const std::int64_t middle = rank / unit_;
    for (std::int64_t i = std::max<std::int64_t>(0, middle - width); i <= std::min(units_ - 1, middle + width); ++i) {
      marked_.push_back(i);
    }
  }
  std::vector<std::int64_t> take() {
    std::sort(marked_.begin(), marked_.end());
    marked_.erase(std::unique(marked_.begin(), marked_.end()), marked_.end());
    return std::move(marked_);
  }

 private:
  std::int64_t unit_, units_;
  std::vector<std::int64_t> marked_;
};

std::vector<std::int64_t> all_of(std::int64_t count) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), std::int64_t{0});
  return all;
}

}  // namespace

std::vector<std::int64_t> typical_units(const GroupShape& shape, std::int64_t unit, std::int64_t job) {
  const std::int64_t units = (job + unit - 1) / unit;
  // Members less than a unit apart shift against the units until their pattern repeats.
  const std::int64_t width = reach + (shape.stride < unit ? shape.stride / std::gcd(shape.stride, unit) : 1);
  const std::vector<std::int64_t> spans = picks(job / shape.span, unit, shape.span);
  const std::vector<std::int64_t> runs = picks(shape.runs, unit, shape.apart);
  const std::vector<std::int64_t> beside = picks(shape.apart / shape.run, unit, shape.run);
  const double looks = static_cast<double>(spans.size()) * static_cast<double>(runs.size()) *
                       static_cast<double>(beside.size()) * 4.0 * static_cast<double>(2 * width + 1);
  if (looks >= static_cast<double>(units)) {
    return all_of(units);
  }
  Marks marks{unit, units};
  for (const std::int64_t k : spans) {
    for (const std::int64_t a : runs) {
      for (const std::int64_t b : beside) {
        const std::int64_t begin = k * shape.span + a * shape.apart + b * shape.run, end = begin + shape.run;
        marks.around(begin, width);
        marks.around(end - 1, width);
        // The flows of a run's first and last members come from and go to other runs.
        marks.around(begin + shape.stride, reach);
        marks.around(end - shape.stride, reach);
      }
    }
  }
  marks.around(job - 1, reach);
  return marks.take();
}

std::vector<std::int64_t> typical_leaders(const GroupShape& shape, std::int64_t unit, std::int64_t job) {
  std::vector<bool> met(static_cast<std::size_t>(unit), false);
  std::vector<std::int64_t> leaders;
  const std::int64_t spans = std::min(job / shape.span, period(unit, shape.span));
  const std::int64_t beside = std::min(shape.apart / shape.run, period(unit, shape.run));
  for (std::int64_t k = 0; k < spans; ++k) {
    for (std::int64_t b = 0; b < beside; ++b) {
      for (std::int64_t d = 0; d < std::min(shape.stride, unit); ++d) {
        const std::int64_t leader = k * shape.span + b * shape.run + d;
        const auto place = static_cast<std::size_t>(leader % unit);
        if (!met[place]) {
          met[place] = true;
          leaders.push_back(leader);
        }
      }
    }
  }
  return leaders;
}

}  // namespace headroom
