// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/hardware/fabric/placement.hpp>

#include <algorithm>

namespace headroom {
namespace {

constexpr std::array<std::string_view, 5> ordered_names{"tp", "cp", "ep", "dp", "pp"};
constexpr std::array<Axis, 5> ordered_axes{Axis::tp, Axis::cp, Axis::ep, Axis::dp, Axis::pp};

AxisGroup& group(Placement& placement, Axis axis) {
  return placement[static_cast<std::size_t>(axis)];
}

void check(const Degrees& d) {
  Diagnostics problems;
  const std::array<std::pair<std::string_view, std::int64_t>, 6> degrees{
      {{"tp", d.tp}, {"cp", d.cp}, {"dp", d.dp}, {"pp", d.pp}, {"ep", d.ep}, {"etp", d.etp}}};
  for (const auto& [name, value] : degrees) {
    if (value < 1) {
      problems.add("", {}, std::string{name} + " is " + std::to_string(value) + "; it must be at least 1");
    }
  }
  problems.throw_if_any();
  if (d.tp * d.cp * d.dp % (d.etp * d.ep) != 0) {
    throw ConfigError("etp x ep = " + std::to_string(d.etp * d.ep) + " does not divide tp x cp x dp = " +
                      std::to_string(d.tp * d.cp * d.dp) + ", the ranks of a stage");
  }
}

}  // namespace

AxisOrder parse_axis_order(std::string_view text) {
  Diagnostics problems;
  AxisOrder order;
  std::array<int, 5> seen{};
  std::size_t count = 0;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('-', at), text.size());
    const std::string_view word = text.substr(at, end - at);
    const auto found = std::find(ordered_names.begin(), ordered_names.end(), word);
    if (found == ordered_names.end()) {
      problems.add("", {},
                   "unknown axis " + quoted(word) + " in order " + quoted(text) + suggestion(word, ordered_names));
    } else if (seen[static_cast<std::size_t>(found - ordered_names.begin())]++ > 0) {
      problems.add("", {}, "axis " + quoted(word) + " stands twice in order " + quoted(text));
    } else if (count < order.axes.size()) {
      order.axes[count++] = ordered_axes[static_cast<std::size_t>(found - ordered_names.begin())];
    }
    at = end + 1;
  }
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (seen[i] == 0) {
      problems.add("", {},
                   "axis '" + std::string{ordered_names[i]} + "' is missing from order " + quoted(text) +
                       "; Megatron-LM's is \"tp-cp-ep-dp-pp\"");
    }
  }
  problems.throw_if_any();
  return order;
}

std::string to_text(const AxisOrder& order) {
  const std::string text = joined(
      order.axes, [&](const Axis axis) { return name_of(axis); }, "-");
  return text;
}

GroupForm joined(const GroupForm& inner, const GroupForm& outer) noexcept {
  if (outer.ranks == 1 || inner.ranks == 1) {
    return outer.ranks == 1 ? inner : outer;
  }
  if (outer.stride == inner.ranks * inner.stride) {
    return {inner.ranks * outer.ranks, inner.stride};
  }
  return {inner.ranks, inner.stride, outer.ranks, outer.stride};
}

Layout lay_out(const AxisOrder& order, const Degrees& d) noexcept {
  Layout layout;
  Placement& placement = layout.placement;
  std::int64_t dense = 1, expert = 1;
  for (const Axis axis : order.axes) {
    switch (axis) {
      case Axis::tp:
        group(placement, Axis::tp) = {d.tp, dense};
        group(placement, Axis::etp) = {d.etp, expert};
        dense *= d.tp;
        expert *= d.etp;
        break;
      case Axis::cp:
        group(placement, Axis::cp) = {d.cp, dense};
        dense *= d.cp;
        break;
      case Axis::ep:
        group(placement, Axis::ep) = {d.ep, expert};
        expert *= d.ep;
        break;
      case Axis::dp: {
        const std::int64_t edp = d.tp * d.cp * d.dp / (d.etp * d.ep);
        group(placement, Axis::dp) = {d.dp, dense};
        group(placement, Axis::edp) = {edp, expert};
        dense *= d.dp;
        expert *= edp;
        break;
      }
      case Axis::pp:
        group(placement, Axis::pp) = {d.pp, dense};
        layout.expert_stages = expert;
        dense *= d.pp;
        expert *= d.pp;
        break;
      case Axis::etp:
      case Axis::edp:
      case Axis::dp_cp:
      case Axis::count: break;  // derived from the other axes
    }
  }
  const AxisGroup dp = group(placement, Axis::dp), cp = group(placement, Axis::cp);
  group(placement, Axis::dp_cp) = {d.dp * d.cp, d.cp == 1   ? dp.stride
                                                : d.dp == 1 ? cp.stride
                                                            : std::min(dp.stride, cp.stride)};
  return layout;
}

Placement place(const AxisOrder& order, const Degrees& d) {
  check(d);
  const Layout layout = lay_out(order, d);
  const std::int64_t dense = layout.placement[static_cast<std::size_t>(Axis::pp)].stride;
  if (d.pp > 1 && d.ep * d.etp > 1 && dense != layout.expert_stages) {
    throw ConfigError("order " + quoted(to_text(order)) + " puts pp at stride " + std::to_string(dense) +
                      " in dense layers and " + std::to_string(layout.expert_stages) +
                      " in experts: a rank would stand in two stages; put pp last, or take etp x ep with tp x cp");
  }
  return layout.placement;
}

}  // namespace headroom
