// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/train/strategy/rank_order.hpp>

#include <algorithm>

namespace headroom {
namespace {

std::string_view word_of(Axis axis) noexcept {
  return axis_names[static_cast<std::size_t>(axis)];
}

/// Whether `text` is the order's axes joined by dashes.
bool spells(std::string_view text, const AxisOrder& order) noexcept {
  for (std::size_t i = 0; i < order.axes.size(); ++i) {
    const std::string_view word = word_of(order.axes[i]);
    if (i > 0 && !text.starts_with('-')) {
      return false;
    }
    text.remove_prefix(i > 0 ? 1 : 0);
    if (!text.starts_with(word)) {
      return false;
    }
    text.remove_prefix(word.size());
  }
  return text.empty();
}

GroupForm form_of(const Placement& placement, Axis axis) noexcept {
  const AxisGroup& group = placement[static_cast<std::size_t>(axis)];
  return {group.ranks, group.stride};
}

}  // namespace

std::optional<RankOrder> find_rank_order(std::string_view text) noexcept {
  for (std::size_t i = 0; i < rank_orders.size(); ++i) {
    if (text == rank_order_names[i] || spells(text, rank_orders[i])) {
      return static_cast<RankOrder>(i);
    }
  }
  return std::nullopt;
}

RankGroups groups_of(RankOrder order, const Degrees& degrees) noexcept {
  const Placement placement = lay_out(axes_of(order), degrees).placement;
  RankGroups groups;
  groups.tensor = form_of(placement, Axis::tp);
  groups.context = form_of(placement, Axis::cp);
  groups.stages = form_of(placement, Axis::pp);
  groups.experts = form_of(placement, Axis::ep);
  groups.expert_data = form_of(placement, Axis::edp);
  const GroupForm data = form_of(placement, Axis::dp);
  const bool inner = groups.context.stride <= data.stride;
  groups.data = joined(inner ? groups.context : data, inner ? data : groups.context);
  return groups;
}

std::optional<ShardGroups> shard_groups(const GroupForm& data, std::int64_t ranks) noexcept {
  const std::int64_t run = data.ranks;
  if (ranks < 1 || run * data.runs % ranks != 0) {
    return std::nullopt;
  }
  if (run % ranks == 0) {
    const GroupForm rest{run / ranks, data.stride * ranks};
    return ShardGroups{{ranks, data.stride}, joined(rest, {data.runs, data.apart})};
  }
  if (ranks % run == 0) {
    const std::int64_t runs = ranks / run;
    return ShardGroups{joined({run, data.stride}, {runs, data.apart}), {data.runs / runs, data.apart * runs}};
  }
  return std::nullopt;
}

InsideStages inside_stages(RankOrder order, const Degrees& degrees) noexcept {
  const Layout layout = lay_out(axes_of(order), degrees);
  return {layout.placement[static_cast<std::size_t>(Axis::pp)].stride, layout.expert_stages};
}

}  // namespace headroom
