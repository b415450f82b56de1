// SPDX-License-Identifier: Apache-2.0
// Common parts of fitted kernel curves: named parameters with priors, datasheet numbers, operand residency.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/hardware/catalog/device.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>

namespace headroom {

enum class CurveUnit : std::uint8_t {
  share,    ///< a multiple of a datasheet value, or any other pure number
  seconds,  ///< stored in seconds, written as "2.5 us"
  bytes,    ///< stored in bytes, written as "512 KiB"
};

/// One positive parameter of a curve, with a log-normal prior for parameters that the data do not constrain.
struct CurveParameter {
  std::string_view name;
  CurveUnit unit = CurveUnit::share;
  double prior = 1.0;
  double width = 0.0;  ///< standard deviation of the prior in log space; 0: no prior, free between `low` and `high`
  double low = 0.0;
  double high = 0.0;
};

/// All parameters at their priors.
template <std::size_t N>
[[nodiscard]] constexpr std::array<double, N> prior_values(const std::array<CurveParameter, N>& parameters) noexcept {
  std::array<double, N> values{};
  for (std::size_t i = 0; i < N; ++i) {
    values[i] = parameters[i].prior;
  }
  return values;
}

/// The datasheet under a curve, for one arithmetic rate.
struct KernelDevice {
  FlopsPerSecond peak{};  ///< peak without sparsity
  BytesPerSecond bandwidth{};
  double units = 1.0;  ///< number of streaming multiprocessors
  Bytes l2{};
};

/// Where a kernel finds its operands. A benchmark that repeats one shape finds part of them in L2; a step of a model,
/// which reads all weights once, does not.
enum class Residency : std::uint8_t { memory, benchmark };

/// Another name of a format.
struct FormatAlias {
  std::string_view alias, name;
};
/// The format of that name or alias; nullptr: there is none.
template <class Formats, class Aliases>
[[nodiscard]] constexpr auto find_format(const Formats& formats,
                                         const Aliases& aliases,
                                         std::string_view name) noexcept {
  for (const FormatAlias& alias : aliases) {
    name = alias.alias == name ? alias.name : name;
  }
  const auto* found = formats.data();
  for (const auto* const end = found + formats.size(); found != end; ++found) {
    if (found->name == name) {
      return found;
    }
  }
  return decltype(found){nullptr};
}

/// Two powers whose norms need roots alone: (a^3 + b^3)^(1/3) and (a^4 + b^4 + c^4)^(1/4). Both lie between the
/// larger of their arguments (a perfect overlap) and the sum (none).
[[nodiscard]] inline double norm3(double a, double b) noexcept {
  return std::cbrt(a * a * a + b * b * b);
}
[[nodiscard]] inline double norm4(double a, double b, double c) noexcept {
  const double a2 = a * a;
  const double b2 = b * b;
  const double c2 = c * c;
  return std::sqrt(std::sqrt(a2 * a2 + b2 * b2 + c2 * c2));
}

/// The larger of two positive numbers, and at most a tenth more where they are equal.
[[nodiscard]] inline double norm8(double a, double b) noexcept {
  const double longer = std::max(a, b);
  const double ratio = std::min(a, b) / longer;
  const double ratio2 = ratio * ratio;
  const double ratio8 = ratio2 * ratio2 * ratio2 * ratio2;
  return longer * std::sqrt(std::sqrt(std::sqrt(1.0 + ratio8)));
}

}  // namespace headroom
