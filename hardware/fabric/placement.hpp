// SPDX-License-Identifier: Apache-2.0
// Which ranks form a group: the order of a job's parallel axes puts each axis at a stride.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace headroom {

/// Axes of the dense layers (tp, cp, dp, pp) and of the experts (etp, ep, edp), which divide the same ranks anew;
/// dp_cp is the group that gradients are reduced over.
enum class Axis : std::uint8_t { tp, cp, dp, pp, etp, ep, edp, dp_cp, count };
inline constexpr std::size_t axis_count = static_cast<std::size_t>(Axis::count);
inline constexpr std::array<std::string_view, axis_count> axis_names{"tp",  "cp", "dp",  "pp",
                                                                     "etp", "ep", "edp", "dp-cp"};
[[nodiscard]] constexpr std::string_view name_of(Axis axis) {
  return axis_names[static_cast<std::size_t>(axis)];
}

/// How many ways each axis splits the job. ranks = tp cp dp pp; etp ep divides tp cp dp.
struct Degrees {
  std::int64_t tp = 1, cp = 1, dp = 1, pp = 1, ep = 1, etp = 1;
  [[nodiscard]] constexpr std::int64_t ranks() const noexcept { return tp * cp * dp * pp; }
};

/// From the axis whose neighbours are adjacent ranks outward.
struct AxisOrder {
  std::array<Axis, 5> axes{Axis::tp, Axis::cp, Axis::ep, Axis::dp, Axis::pp};
};
/// "tp-cp-ep-dp-pp", the default of Megatron-LM; each of the five once, in any order. ConfigError naming what is
/// missing, twice or unknown.
[[nodiscard]] AxisOrder parse_axis_order(std::string_view text);
[[nodiscard]] std::string to_text(const AxisOrder& order);

/// `ranks` members, `stride` apart.
struct AxisGroup {
  std::int64_t ranks = 1;
  std::int64_t stride = 1;
};
using Placement = std::array<AxisGroup, axis_count>;

/// Members in `runs` runs whose first ones are `apart`; in a run `ranks` of them, `stride` apart. One run: `apart` says
/// nothing.
struct GroupForm {
  std::int64_t ranks = 1;
  std::int64_t stride = 1;
  std::int64_t runs = 1;
  std::int64_t apart = 0;
  [[nodiscard]] constexpr std::int64_t size() const noexcept { return ranks * runs; }
  /// Neighbouring ranks that a whole number of such groups fills.
  [[nodiscard]] constexpr std::int64_t span() const noexcept { return runs > 1 ? runs * apart : ranks * stride; }
  friend constexpr bool operator==(const GroupForm&, const GroupForm&) = default;
};
/// The product of two groups of one run each, the first with the smaller stride: one run where they meet without a gap.
[[nodiscard]] GroupForm joined(const GroupForm& inner, const GroupForm& outer) noexcept;

/// Where axes fall, and the stride that stages have in the experts' grid; in the dense layers' it is that of pp.
struct Layout {
  Placement placement;
  std::int64_t expert_stages = 1;
};
/// The arithmetic of place() alone: degrees are taken as sound.
[[nodiscard]] Layout lay_out(const AxisOrder& order, const Degrees& degrees) noexcept;

/// Where each axis falls. Dense layers ignore ep in the order; for experts tp means etp, dp means edp =
/// tp cp dp / (etp ep), and cp is part of it (as Megatron-LM's RankGenerator makes two rank grids of one order). dp_cp
/// is the product of both when the order has them side by side; else its ranks are right and its stride is the smaller.
/// ConfigError: a degree below 1, etp ep that does not divide tp cp dp, or a pipeline that the order puts inside the
/// experts' ranks so that the two grids disagree on stages.
[[nodiscard]] Placement place(const AxisOrder& order, const Degrees& degrees);

}  // namespace headroom
