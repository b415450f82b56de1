// SPDX-License-Identifier: Apache-2.0
// Bytes that a GPU sends in training over each group that it is in.
#pragma once

#include <headroom/core/quantity.hpp>

#include <array>
#include <cstdint>
#include <string_view>

namespace headroom {

/// The groups that a rank sends over: sp is the tensor group where sequences are split over it too.
enum class TrafficAxis : std::uint8_t { tp, sp, cp, ep, pp, dp };
inline constexpr std::array<std::string_view, 6> traffic_axis_names{"tp", "sp", "cp", "ep", "pp", "dp"};
struct AxisBytes {
  Bytes layer{};  ///< of a layer, mean over all: tp, sp, cp and ep of a micro-batch, dp of a step; pp has none
  Bytes step{};   ///< of a GPU, with the layers of its stage and the ends
};
using AxisTraffic = std::array<AxisBytes, traffic_axis_names.size()>;

}  // namespace headroom
