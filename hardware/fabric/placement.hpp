// SPDX-License-Identifier: Apache-2.0
// Which ranks form a group: the order of a job's parallel axes gives each axis a stride.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace headroom {

/// Axes of the dense layers (tp, cp, dp, pp) and of the experts (etp, ep, edp), which divide the same ranks in another
/// way; dp_cp is the group over which gradients are reduced.
enum class Axis : std::uint8_t { tp, cp, dp, pp, etp, ep, edp, dp_cp, count };
inline constexpr std::size_t axis_count = static_cast<std::size_t>(Axis::count);
inline constexpr std::array<std::string_view, axis_count> axis_names{"tp",  "cp", "dp",  "pp",
                                                                     "etp", "ep", "edp", "dp-cp"};
[[nodiscard]] constexpr std::string_view name_of(Axis axis) {
  return axis_names[static_cast<std::size_t>(axis)];
}

/// Number of parts into which each axis splits the job. ranks = tp cp dp pp; etp ep divides tp cp dp.
struct Degrees {
  std::int64_t tp = 1, cp = 1, dp = 1, pp = 1, ep = 1, etp = 1;
  [[nodiscard]] constexpr std::int64_t ranks() const noexcept { return tp * cp * dp * pp; }
};

/// Axes in order of stride, the axis of adjacent ranks first.
struct AxisOrder {
  std::array<Axis, 5> axes{Axis::tp, Axis::cp, Axis::ep, Axis::dp, Axis::pp};
};
/// Parses "tp-cp-ep-dp-pp" (Megatron-LM's default): each of the five once, in any order. ConfigError names axes that
/// are missing, repeated or unknown.
[[nodiscard]] AxisOrder parse_axis_order(std::string_view text);
[[nodiscard]] std::string to_text(const AxisOrder& order);

/// `ranks` members, `stride` ranks apart.
struct AxisGroup {
  std::int64_t ranks = 1;
  std::int64_t stride = 1;
};
using Placement = std::array<AxisGroup, axis_count>;

/// A group in `runs` runs that start `apart` ranks apart; each run has `ranks` members, `stride` apart. `apart` is
/// unused with one run.
struct GroupForm {
  std::int64_t ranks = 1;
  std::int64_t stride = 1;
  std::int64_t runs = 1;
  std::int64_t apart = 0;
  [[nodiscard]] constexpr std::int64_t size() const noexcept { return ranks * runs; }
  /// Number of adjacent ranks that a whole number of such groups fills.
  [[nodiscard]] constexpr std::int64_t span() const noexcept { return runs > 1 ? runs * apart : ranks * stride; }
  friend constexpr bool operator==(const GroupForm&, const GroupForm&) = default;
};
/// The product of two groups of one run each, `inner` with the smaller stride; one run where they meet without a gap.
[[nodiscard]] GroupForm joined(const GroupForm& inner, const GroupForm& outer) noexcept;

/// The groups of all axes, and the stride of pipeline stages in the experts' grid (in the dense grid it is that of pp).
struct Layout {
  Placement placement;
  std::int64_t expert_stages = 1;
};
/// The arithmetic of place() without its checks: the degrees must be valid.
[[nodiscard]] Layout lay_out(const AxisOrder& order, const Degrees& degrees) noexcept;

/// The group of each axis. Dense layers ignore ep in the order; for experts tp means etp, dp means edp = tp cp dp /
/// (etp ep), and cp is part of edp (Megatron-LM's RankGenerator makes two rank grids from one order). dp_cp is the
/// product of both if they are adjacent in the order; otherwise its number of ranks is right and its stride is the
/// smaller one. ConfigError for a degree below 1, etp ep that does not divide tp cp dp, or a pipeline inside the
/// experts' ranks, where the two grids would disagree on stages.
[[nodiscard]] Placement place(const AxisOrder& order, const Degrees& degrees);

}  // namespace headroom
