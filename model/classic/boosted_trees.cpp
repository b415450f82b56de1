// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/classic/boosted_trees.hpp>

#include <algorithm>
#include <cmath>

namespace headroom::classic {
namespace {

/// Bins of a node that the parameter `node` was fitted with: 8 features of 256.
constexpr double bins_of_node = 8.0 * 256.0;
constexpr double pair_bytes = 16.0;  // a sum of gradients and one of hessians, 64 bit each

double trees_of(const TreeTask& task) noexcept {
  return task.rounds * task.outputs;
}

double pace_of(const Card& card, Pace pace) noexcept {
  return pace == Pace::warps ? card.by_warps() : pace == Pace::units ? card.by_units() : card.by_bandwidth();
}

}  // namespace

double tree_updates(const TreeTask& task) noexcept {
  return task.rows * task.entries * task.depth * trees_of(task);
}

double tree_nodes(const TreeTask& task, double rows_per_split) noexcept {
  return std::min(std::exp2(std::min(task.depth, 40.0)), std::max(1.0, task.rows / rows_per_split));
}

Bytes tree_bytes(const TreeTask& task) noexcept {
  constexpr double index = 2.0, per_row = 12.0;
  return Bytes{task.rows * (task.entries * index + per_row) * task.depth * trees_of(task)};
}

Bytes tree_exchange(const TreeTask& task, double rows_per_split) noexcept {
  return Bytes{tree_nodes(task, rows_per_split) * task.features * task.bins * pair_bytes};
}

TreeTime tree_time(const TreeTask& task,
                   const Card& card,
                   double cards,
                   const Cores& host,
                   const GpuTrees& library,
                   double rows_per_split) noexcept {
  const double pace = pace_of(card, library.pace);
  const double trees = trees_of(task);
  TreeTime time;
  time.levels = trees * task.depth / (library.level_on_host ? host.held : 1.0) * library.level;
  time.host = task.rows * task.entries / host.held * library.quantise +
              tree_updates(task) / host.held * library.host_serial +
              tree_updates(task) * library.host_bytes / (host.cores * host.bandwidth_part);
  const double wide = std::max(1.0, task.entries * task.bins / bins_of_node);
  time.nodes = trees * tree_nodes(task, rows_per_split) * wide / pace * library.node;
  time.updates = tree_updates(task) / (pace * cards) * library.update;
  if (cards > 1.0) {
    const BytesPerSecond link = card.link > BytesPerSecond{} ? card.link : card.host;
    time.exchange = trees * 2.0 * (cards - 1.0) / cards * (tree_exchange(task, rows_per_split) / link);
  }
  return time;
}

TreeTime tree_time(const TreeTask& task, const Cores& cores, const CpuTrees& library) noexcept {
  const double levels = trees_of(task) * task.depth;
  TreeTime time;
  time.updates =
      tree_updates(task) / cores.speed * (library.serial + (1.0 - library.serial) / cores.cores) * library.update;
  const Bytes rows = task.rows * (task.entries * library.index + library.row);
  const double cached = std::min(1.0, cores.cores * cores.cache_part / rows);
  time.memory = task.rows * levels * (1.0 - cached) * library.far;
  const double pairs = cores.sockets > 1.0 ? cores.cores * cores.cores : 0.0;
  time.levels = levels * (1.0 / cores.speed * library.level + cores.cores * library.barrier + pairs * library.across);
  return time;
}

Bytes tree_memory(const TreeTask& task, double parts, double bytes_per_entry, double bytes_per_row) noexcept {
  const double histograms = std::exp2(std::min(task.depth, 40.0) - 1.0) * task.entries * task.bins * pair_bytes;
  return Bytes{task.rows / parts * (task.entries * bytes_per_entry + bytes_per_row * task.outputs) + histograms};
}

}  // namespace headroom::classic
