// SPDX-License-Identifier: Apache-2.0
// k-means by Lloyd's iterations, selection of the largest, and grouping with partial sums.
#pragma once

#include <headroom/model/classic/classic_numbers.hpp>

namespace headroom::classic {

struct KMeansTask {
  double points = 1.0, dims = 1.0, clusters = 1.0, iterations = 1.0;
  bool half = false;  ///< products in 16 bit
};
/// 2 n d k of each iteration (Lloyd 1982; each distance as a product, Johnson et al. 2019, eq. 2).
[[nodiscard]] Flops kmeans_flops(const KMeansTask& task) noexcept;

struct KMeansTime {
  Seconds products{}, distances{};  ///< on the cards, points shared
  Seconds host{};                   ///< points over the bus each iteration, centroids by the host, and its calls
  [[nodiscard]] Seconds total() const noexcept { return products + distances + host; }
};
/// cards >= 1. `resident`: the points stay on the cards, as cuML keeps them; faiss sends them each iteration.
[[nodiscard]] KMeansTime kmeans_time(
    const KMeansTask& task, const Card& card, double cards, bool resident, const Numbers::KMeans& law) noexcept;
[[nodiscard]] KMeansTime kmeans_time(const KMeansTask& task, const Cores& cores, const Numbers::KMeans& law) noexcept;
/// Points of one part, centroids, and a block of distances.
[[nodiscard]] Bytes kmeans_memory(const KMeansTask& task, double parts) noexcept;
/// Sums and counts of centroids that an all-reduce of each iteration carries: k (d + 1) 4 B.
[[nodiscard]] Bytes kmeans_exchange(const KMeansTask& task) noexcept;

struct TopKTask {
  double items = 1.0, k = 1.0, item_bytes = 4.0, parts = 1.0;
};
struct TopKTime {
  Seconds scan{};   ///< every item read once by its part
  Seconds heap{};   ///< items that enter a heap: k (1 + ln(n / k)) of random order (Knuth, TAOCP 3, 5.2.3)
  Seconds merge{};  ///< parts x k candidates brought together
  Bytes merged{};   ///< value and 64-bit index of each: parts x k x (item + 8)
  [[nodiscard]] Seconds total() const noexcept { return scan + heap + merge; }
};
[[nodiscard]] TopKTime top_k_time(const TopKTask& task, const Card& card, const Numbers& law) noexcept;
/// One thread: n comparisons at four a clock of a vector unit's bandwidth, and log2(k) steps of each entry.
[[nodiscard]] TopKTime top_k_time(const TopKTask& task, const Cores& cores) noexcept;

struct GroupTask {
  double rows = 1.0, keys = 1.0, workers = 1.0, row_bytes = 16.0;
  bool partial = true;  ///< each worker sums its rows by key before it sends
};
struct GroupTime {
  double sent_rows = 0.0;  ///< over the network: all, or at most keys of each worker
  Bytes sent{};
  Seconds scan{}, table{}, shuffle{};
  [[nodiscard]] Seconds total() const noexcept { return scan + table + shuffle; }
};
/// Distinct keys that `rows` draws of `keys` equally likely ones touch: K (1 - (1 - 1/K)^n) (Feller 1968, II.5).
[[nodiscard]] double distinct_keys(double rows, double keys) noexcept;
/// On a card an atomic of a sector of 32 B where the table lies beyond the second cache; `network`: of one worker.
[[nodiscard]] GroupTime group_time(const GroupTask& task, const Card& card, BytesPerSecond network) noexcept;
/// On cores a cache line of 64 B each where the table lies beyond the last cache.
[[nodiscard]] GroupTime group_time(const GroupTask& task, const Cores& cores, BytesPerSecond network) noexcept;

}  // namespace headroom::classic
