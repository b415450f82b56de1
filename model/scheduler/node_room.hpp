// SPDX-License-Identifier: Apache-2.0
// Free GPUs of a pool by node, and where a gang goes on them.
#pragma once

#include <cstdint>
#include <vector>

namespace headroom::scheduler {

/// GPUs of one node.
struct NodePart {
  std::int64_t node = 0, gpus = 0;
};

/// Counts of free GPUs by node. A gang of up to a node's GPUs lies inside one node, the fullest that has room (best
/// fit: of all that do, it leaves the least behind); a larger one takes whole nodes, and for the rest of its GPUs the
/// fullest node with room. Of equal nodes the first.
class NodeRoom {
 public:
  NodeRoom() = default;
  /// All are free. Preconditions: nodes >= 1, gpus_per_node >= 1.
  NodeRoom(std::int64_t nodes, std::int64_t gpus_per_node);

  [[nodiscard]] std::int64_t nodes() const noexcept { return static_cast<std::int64_t>(free_of_.size()); }
  [[nodiscard]] std::int64_t free() const noexcept { return free_; }
  [[nodiscard]] std::int64_t free_of(std::int64_t node) const noexcept;
  /// Whether a gang has room now, in O(GPUs of a node).
  [[nodiscard]] bool fits(std::int64_t gpus) const noexcept;
  /// No larger gang has room; smaller ones may have none.
  [[nodiscard]] std::int64_t largest() const noexcept;
  /// Appends where the gang goes. Precondition: it fits. In O(nodes).
  void place(std::int64_t gpus, std::vector<NodePart>& parts) const;
  /// The same beside another use of the nodes: of equal nodes those of which it has the least free, which leaves it the
  /// most. Precondition: pools of one shape. In O(nodes).
  void place_beside(std::int64_t gpus, const NodeRoom& other, std::vector<NodePart>& parts) const;

  void set(std::int64_t node, std::int64_t free) noexcept;
  void take(const NodePart& part) noexcept { set(part.node, free_of(part.node) - part.gpus); }
  void give(const NodePart& part) noexcept { set(part.node, free_of(part.node) + part.gpus); }
  /// By node the lesser of both. Precondition: pools of one shape.
  void set_to_lesser(const NodeRoom& a, const NodeRoom& b);

 private:
  /// The least count of free GPUs, `rest` or more, that a node has.
  [[nodiscard]] std::int64_t best_fit(std::int64_t rest) const noexcept;
  std::int64_t per_node_ = 1, free_ = 0;
  std::vector<std::int64_t> free_of_;     // by node
  std::vector<std::int64_t> nodes_with_;  // by count of free GPUs, 0 to per_node_
};

/// Which GPUs of each node are taken.
class GpuMap {
 public:
  GpuMap() = default;
  GpuMap(std::int64_t nodes, std::int64_t gpus_per_node);

  /// A run of neighbours.
  struct Run {
    std::int64_t node = 0, first = 0, gpus = 0;
  };
  /// Takes GPUs of one node as one run where a free run is long enough, the shortest such; as several else, from the
  /// node's first free GPU. Precondition: as many are free.
  void take(const NodePart& part, std::vector<Run>& runs);
  void give(const Run& run) noexcept;

 private:
  void mark(const Run& run, bool taken) noexcept;
  std::int64_t per_node_ = 1;
  std::vector<bool> taken_;
};

}  // namespace headroom::scheduler
