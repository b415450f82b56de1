// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/scheduler/node_room.hpp>

#include <algorithm>
#include <cstddef>

namespace headroom::scheduler {

namespace {
std::size_t index(std::int64_t number) noexcept {
  return static_cast<std::size_t>(number);
}
}  // namespace

NodeRoom::NodeRoom(std::int64_t nodes, std::int64_t gpus_per_node)
    : per_node_{gpus_per_node},
      free_{nodes * gpus_per_node},
      free_of_(index(nodes), gpus_per_node),
      nodes_with_(index(gpus_per_node + 1), 0) {
  nodes_with_.back() = nodes;
}

std::int64_t NodeRoom::free_of(std::int64_t node) const noexcept {
  return free_of_[index(node)];
}

bool NodeRoom::fits(std::int64_t gpus) const noexcept {
  if (gpus > free_) {
    return false;
  }
  const std::int64_t whole = gpus / per_node_, rest = gpus % per_node_;
  if (nodes_with_.back() < whole + (rest > 0 ? 1 : 0)) {
    if (nodes_with_.back() < whole) {
      return false;
    }
    for (std::int64_t count = rest; count < per_node_; ++count) {
      if (nodes_with_[index(count)] > 0) {
        return true;
      }
    }
    return rest == 0;
  }
  return true;
}

std::int64_t NodeRoom::largest() const noexcept {
  std::int64_t partial = per_node_ - 1;
  while (partial > 0 && nodes_with_[index(partial)] == 0) {
    --partial;
  }
  return nodes_with_.back() * per_node_ + partial;
}

void NodeRoom::place(std::int64_t gpus, std::vector<NodePart>& parts) const {
  std::int64_t whole = gpus / per_node_;
  const std::int64_t rest = gpus % per_node_;
  for (std::size_t node = 0; whole > 0; ++node) {
    if (free_of_[node] == per_node_) {
      parts.push_back({static_cast<std::int64_t>(node), per_node_});
      --whole;
    }
  }
  if (rest == 0) {
    return;
  }
  const std::int64_t count = best_fit(rest);
  std::size_t node = 0;
  if (count == per_node_ && gpus > per_node_) {  // a whole node beyond those just placed
    node = index(parts.back().node) + 1;
  }
  const auto found = std::find(free_of_.begin() + static_cast<std::ptrdiff_t>(node), free_of_.end(), count);
  parts.push_back({found - free_of_.begin(), rest});
}

std::int64_t NodeRoom::best_fit(std::int64_t rest) const noexcept {
  std::int64_t count = rest;
  while (count < per_node_ && nodes_with_[index(count)] == 0) {
    ++count;
  }
  return count;
}

void NodeRoom::place_beside(std::int64_t gpus, const NodeRoom& other, std::vector<NodePart>& parts) const {
  const std::int64_t whole = gpus / per_node_, rest = gpus % per_node_;
  const std::int64_t count = rest > 0 ? best_fit(rest) : per_node_;
  const bool rest_on_whole = rest > 0 && count == per_node_;
  // How many of the whole nodes are taken of each count that the other use has free.
  std::vector<std::int64_t> quota(index(per_node_ + 1), 0);
  for (std::size_t node = 0; node < free_of_.size(); ++node) {
    if (free_of_[node] == per_node_) {
      ++quota[index(other.free_of_[node])];
    }
  }
  std::int64_t left = whole + (rest_on_whole ? 1 : 0);
  for (std::int64_t& each : quota) {
    each = std::min(each, left);
    left -= each;
  }
  std::int64_t wholes = 0, least = per_node_ + 1, best_node = 0;
  for (std::size_t node = 0; node < free_of_.size(); ++node) {
    const std::int64_t beside = other.free_of_[node];
    if (free_of_[node] == per_node_ && quota[index(beside)] > 0) {
      --quota[index(beside)];
      parts.push_back({static_cast<std::int64_t>(node), wholes < whole ? per_node_ : rest});
      ++wholes;
    } else if (rest > 0 && !rest_on_whole && free_of_[node] == count && beside < least) {
      least = beside;
      best_node = static_cast<std::int64_t>(node);
    }
  }
  if (rest > 0 && !rest_on_whole) {
    parts.push_back({best_node, rest});
  }
}

void NodeRoom::set(std::int64_t node, std::int64_t free) noexcept {
  std::int64_t& own = free_of_[index(node)];
  --nodes_with_[index(own)];
  ++nodes_with_[index(free)];
  free_ += free - own;
  own = free;
}

void NodeRoom::set_to_lesser(const NodeRoom& a, const NodeRoom& b) {
  per_node_ = a.per_node_;
  free_ = 0;
  free_of_.resize(a.free_of_.size());
  nodes_with_.assign(a.nodes_with_.size(), 0);
  for (std::size_t node = 0; node < free_of_.size(); ++node) {
    const std::int64_t free = std::min(a.free_of_[node], b.free_of_[node]);
    free_of_[node] = free;
    free_ += free;
    ++nodes_with_[index(free)];
  }
}

GpuMap::GpuMap(std::int64_t nodes, std::int64_t gpus_per_node)
    : per_node_{gpus_per_node}, taken_(index(nodes * gpus_per_node), false) {}

void GpuMap::mark(const Run& run, bool taken) noexcept {
  const auto first = taken_.begin() + run.node * per_node_ + run.first;
  std::fill(first, first + run.gpus, taken);
}

void GpuMap::take(const NodePart& part, std::vector<Run>& runs) {
  const std::size_t before = runs.size();
  Run best{part.node, 0, 0};
  std::int64_t left = part.gpus;
  for (std::int64_t gpu = 0; gpu < per_node_;) {
    std::int64_t end = gpu;
    while (end < per_node_ && !taken_[index(part.node * per_node_ + end)]) {
      ++end;
    }
    if (end - gpu >= part.gpus && (best.gpus == 0 || end - gpu < best.gpus)) {
      best = {part.node, gpu, end - gpu};
    }
    if (end > gpu && left > 0) {
      runs.push_back({part.node, gpu, std::min(left, end - gpu)});
      left -= runs.back().gpus;
    }
    gpu = end + 1;
  }
  if (best.gpus > 0) {
    runs.resize(before);
    runs.push_back({part.node, best.first, part.gpus});
  }
  for (std::size_t i = before; i < runs.size(); ++i) {
    mark(runs[i], true);
  }
}

void GpuMap::give(const Run& run) noexcept {
  mark(run, false);
}

}  // namespace headroom::scheduler
