// SPDX-License-Identifier: Apache-2.0
// Nearest vectors: flat, inverted files of whole vectors and of product codes, graphs; time of a batch, memory, recall.
#pragma once

#include <headroom/model/classic/classic_numbers.hpp>

#include <array>
#include <cstdint>
#include <string_view>

namespace headroom::classic {

enum class IndexKind : std::uint8_t { flat, ivf_flat, ivf_pq, graph };
inline constexpr std::array<std::string_view, 4> index_names{"flat", "ivf-flat", "ivf-pq", "graph"};
[[nodiscard]] constexpr std::string_view name_of(IndexKind kind) noexcept {
  return index_names[static_cast<std::size_t>(kind)];
}

struct SearchTask {
  IndexKind index = IndexKind::flat;
  double vectors = 1.0, dims = 1.0, element_bytes = 4.0;
  double batch = 1.0, k = 10.0;
  double lists = 1.0, probes = 1.0;    ///< of an inverted file
  double code = 0.0;                   ///< bytes of a product code, of ivf_pq
  double projected = 0.0;              ///< dimensions behind a rotation that reduces them; 0: `dims`
  double degree = 64.0, width = 64.0;  ///< of a graph: neighbours of a node, candidates kept (itopk, efSearch)
  double passing = 1.0;                ///< share of vectors that a filter lets through
  bool ids = true;                     ///< 64-bit ids lie beside the vectors
};

struct SearchTime {
  Seconds launch{};  ///< kernels of a batch and the wait for it
  Seconds coarse{};  ///< centroids compared
  Seconds scan{};    ///< lists, vectors or neighbours read, or codes looked up
  Seconds select{};  ///< the nearest kept
  Seconds merge{};   ///< of shards
  Bytes scanned{};   ///< by the batch on one shard
  [[nodiscard]] Seconds total() const noexcept { return launch + coarse + scan + select + merge; }
};

/// A batch on cards that each hold 1 / shards of the vectors; `replicas` groups take a part of the batch each. Flat: a
/// product and a selection (Johnson et al. 2019, 3 and 5). Inverted files: batch x probes x vectors / lists codes, at
/// the lookups of shared memory or at the memory's bandwidth. Graph: width steps of degree neighbours (Ootomo et al.
/// 2024).
[[nodiscard]] SearchTime search_time(
    const SearchTask& task, const Card& card, double shards, double replicas, const Numbers& law) noexcept;
/// On cores, queries side by side.
[[nodiscard]] SearchTime search_time(const SearchTask& task, const Cores& cores, const Numbers& law) noexcept;

struct SearchMemory {
  Bytes vectors{};  ///< or codes
  Bytes ids{};
  Bytes index{};  ///< centroids and tables, or edges of the graph
  [[nodiscard]] Bytes total() const noexcept { return vectors + ids + index; }
};
/// Of all shards together.
[[nodiscard]] SearchMemory search_memory(const SearchTask& task) noexcept;
/// Time to build: k-means of the lists over a sample of 256 points each, then an assignment of all; of a graph 2 x
/// degree neighbours compared for each vector.
[[nodiscard]] Seconds build_time(const SearchTask& task, const Card& card, double cards, const Numbers& law) noexcept;

/// Recall of an index at another rate or depth. One anchor is measured; along the knob the misses fall as a power:
/// 1 - recall' = (1 - recall) (knob / knob')^power. 0 < recall < 1, both knobs > 0.
[[nodiscard]] double recall_at(double recall, double knob, double other, double power) noexcept;
/// The knob that reaches `wanted`, by the same.
[[nodiscard]] double knob_for(double recall, double knob, double wanted, double power) noexcept;

}  // namespace headroom::classic
