// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/laboratory/chain.hpp>

#include <algorithm>

namespace headroom {
namespace {

/// Seconds of a byte, its launch apart; 0 of an op that moves nothing.
double seconds_per_byte(const ChainOp& op) noexcept {
  return op.traffic.moved() > Bytes{} ? (op.time - op.launch).raw() / op.traffic.moved().raw() : 0.0;
}

bool is_pass(const ChainOp& op) noexcept {
  return op.fusable == Fusable::pass || op.fusable == Fusable::row_pass;
}

/// Whether a pass joins the group that `first` leads and that ends before it.
bool joins(const ChainOp& first, const ChainOp& after) noexcept {
  return is_pass(after) && (is_pass(first) || (first.fusable == Fusable::product && after.fusable == Fusable::pass));
}

FusedGroup group_of(std::span<const ChainOp> all, std::size_t first, std::size_t count) {
  const std::span<const ChainOp> ops = all.subspan(first, count);
  std::vector<MemoryOp> traffic;
  double slowest = 0.0;
  for (const ChainOp& op : ops) {
    traffic.push_back(op.traffic);
    slowest = std::max(slowest, seconds_per_byte(op));
  }
  FusedGroup group{first, count, {}, fused(traffic).moved()};
  if (ops.front().fusable == Fusable::product) {
    const Bytes added = std::max(Bytes{}, group.moved - ops.front().traffic.moved());
    const double pace = count > 1 ? seconds_per_byte(ops[1]) : 0.0;
    group.time = ops.front().time + Seconds{pace * added.raw()};
  } else {
    const bool passes = is_pass(ops.front()) && count > 1;
    group.time = passes ? ops.front().launch + Seconds{slowest * group.moved.raw()} : ops.front().time;
  }
  return group;
}

}  // namespace

FusedChain fused_chain(std::span<const ChainOp> ops) {
  FusedChain chain;
  for (std::size_t first = 0; first < ops.size();) {
    std::size_t count = 1;
    while (first + count < ops.size() && joins(ops[first], ops[first + count])) {
      ++count;
    }
    chain.groups.push_back(group_of(ops, first, count));
    chain.time += chain.groups.back().time;
    chain.moved += chain.groups.back().moved;
    first += count;
  }
  for (const ChainOp& op : ops) {
    chain.apart += op.time;
    chain.moved_apart += op.traffic.moved();
  }
  return chain;
}

}  // namespace headroom
