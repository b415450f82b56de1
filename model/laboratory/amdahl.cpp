// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/laboratory/amdahl.hpp>

#include <limits>

namespace headroom {
namespace {

/// Time of what no part names. Shares in per cent add up to 1 but for roundings, which leave no time.
double unnamed_time(std::span<const SpedPart> parts) noexcept {
  constexpr double rounding = 1e-9;
  double left = 1.0;
  for (const SpedPart& part : parts) {
    left -= part.share;
  }
  return left > rounding ? left : 0.0;
}

double inverse_time(double time) noexcept {
  return time > 0.0 ? 1.0 / time : std::numeric_limits<double>::infinity();
}

}  // namespace

double time_after(std::span<const SpedPart> parts) noexcept {
  double time = unnamed_time(parts);
  for (const SpedPart& part : parts) {
    time += part.share / part.speedup;
  }
  return time;
}

double whole_speedup(std::span<const SpedPart> parts) noexcept {
  return inverse_time(time_after(parts));
}

double speedup_limit(std::span<const SpedPart> parts, std::size_t part) noexcept {
  double time = unnamed_time(parts);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    time += i == part ? 0.0 : parts[i].share / parts[i].speedup;
  }
  return inverse_time(time);
}

double speedup_limit(std::span<const SpedPart> parts) noexcept {
  return inverse_time(unnamed_time(parts));
}

double share_after(std::span<const SpedPart> parts, std::size_t part) noexcept {
  return parts[part].share / parts[part].speedup / time_after(parts);
}

double scaled_speedup(std::span<const SpedPart> parts) noexcept {
  double work = unnamed_time(parts);
  for (const SpedPart& part : parts) {
    work += part.share * part.speedup;
  }
  return work;
}

}  // namespace headroom
