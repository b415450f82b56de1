// SPDX-License-Identifier: Apache-2.0
// Gradient boosted trees over histograms: work, time on cards and cores, memory, and what several cards exchange.
#pragma once

#include <headroom/model/classic/classic_numbers.hpp>

namespace headroom::classic {

/// A training. Counts, all at least 1.
struct TreeTask {
  double rows = 1.0;
  double features = 1.0;
  double entries = 1.0;  ///< of a row that are no zero: features where all are dense
  double bins = 256.0;   ///< of one feature
  double rounds = 100.0;
  double depth = 6.0;
  double outputs = 1.0;  ///< trees a round, one a class
};

/// rows x entries x depth x trees: additions of a gradient pair to a bin (Chen and Guestrin 2016, algorithm 3).
[[nodiscard]] double tree_updates(const TreeTask& task) noexcept;
/// Nodes of a tree that split: 2^depth, or as many as have `rows_per_split` rows.
[[nodiscard]] double tree_nodes(const TreeTask& task, double rows_per_split) noexcept;
/// Bytes that the updates read: a bin's index of each entry, and a gradient pair and a row's index of each row and
/// level.
[[nodiscard]] Bytes tree_bytes(const TreeTask& task) noexcept;

struct TreeTime {
  Seconds levels{};    ///< launches and waits of each level of each tree
  Seconds nodes{};     ///< histograms cleared and scanned for the best split
  Seconds updates{};   ///< rows added to histograms
  Seconds memory{};    ///< more for rows that the caches of the cores do not hold
  Seconds host{};      ///< what the host does meanwhile that the card waits for
  Seconds exchange{};  ///< histograms summed over cards
  [[nodiscard]] Seconds total() const noexcept { return levels + nodes + updates + memory + host + exchange; }
};

/// On cards beside a host, whose cores quantise rows and share the work of libraries that leave some to them, at their
/// base clock, since others share the socket, and with their part of its memory's bandwidth. Rows
/// shared by `cards`, whose histograms are summed by a ring: nodes x features x bins x 16 B a level, twice
/// (n - 1) / n of it over a link (Mitchell et al. 2018, XGBoost: scalable GPU accelerated learning). cards >= 1.
[[nodiscard]] TreeTime tree_time(const TreeTask& task,
                                 const Card& card,
                                 double cards,
                                 const Cores& host,
                                 const GpuTrees& library,
                                 double rows_per_split) noexcept;
/// Bytes of histograms that one tree's levels sum over cards: (2^depth - 1) x features x bins x 16 B at most.
[[nodiscard]] Bytes tree_exchange(const TreeTask& task, double rows_per_split) noexcept;

/// On cores: the universal law of scalability (Gunther 1993) over the updates of a level, a barrier for each core and,
/// over two sockets, its term of coherence for each pair of cores. Rows that the cores' part of the last cache does not
/// hold wait `far` more a level, however many cores there are: it is the walk of one thread through the rows' indices.
[[nodiscard]] TreeTime tree_time(const TreeTask& task, const Cores& cores, const CpuTrees& library) noexcept;

/// The quantised rows, gradients, predictions and indices of one card's part, and the histograms of a level.
[[nodiscard]] Bytes tree_memory(const TreeTask& task,
                                double parts,
                                double bytes_per_entry,
                                double bytes_per_row) noexcept;

}  // namespace headroom::classic
