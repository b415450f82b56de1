// SPDX-License-Identifier: Apache-2.0
// Recommenders of embedding tables and dense layers, DLRM and DCN v2: work, bytes, memory by tier, a step and a
// request.
#pragma once

#include <headroom/model/classic/classic_numbers.hpp>

#include <cstdint>
#include <vector>

namespace headroom::classic {

enum class Crossing : std::uint8_t { dot, cross };  ///< DLRM's pairwise products, DCN v2's low-rank crosses
inline constexpr std::array<std::string_view, 2> crossing_names{"dlrm", "dcn-v2"};

/// Defaults are those of NVIDIA's and MLPerf's models on Criteo (Naumov et al. 2019; Wang et al. 2021).
struct RecommenderTask {
  Crossing crossing = Crossing::dot;
  double tables = 26.0, dims = 128.0, row_bytes = 4.0;  ///< bytes of an element of a row
  double lookups = 26.0;                                ///< rows a sample, all tables
  double parameters = 0.0;                              ///< of all tables
  std::vector<double> bottom{13.0, 512.0, 256.0, 128.0};
  std::vector<double> top{1024.0, 1024.0, 512.0, 256.0, 1.0};
  double cross_layers = 3.0, cross_rank = 512.0;
  bool half = false;
};

/// Multiplications of one sample's products in the forward pass; three times as many a step of training.
[[nodiscard]] double dense_multiplications(const RecommenderTask& task) noexcept;
[[nodiscard]] Bytes dense_bytes(const RecommenderTask& task) noexcept;
/// Rows that a sample reads: lookups x dims x bytes.
[[nodiscard]] Bytes rows_bytes(const RecommenderTask& task) noexcept;

struct StepTime {
  Seconds dense{}, rows{}, exchange{}, software{}, far{};
  [[nodiscard]] Seconds total() const noexcept { return dense + rows + exchange + software + far; }
};
/// Where rows lie, shares of all lookups. They add up to 1.
struct RowTiers {
  double card = 1.0, host = 0.0, nvme = 0.0;
};
/// The layers' products of a forward pass. Each multiprocessor makes a tile of 64 x 64 of a product, so that one of
/// fewer tiles than multiprocessors takes as long as one of as many.
[[nodiscard]] Seconds dense_time(const RecommenderTask& task,
                                 const Card& card,
                                 double batch,
                                 double efficiency) noexcept;
/// Tables of the fullest card over the mean one, whole tables shared out.
[[nodiscard]] double fullest_card(double tables, double cards) noexcept;
/// A step on `cards` with `batch` samples on each: three forward passes, the rows gathered and their gradients added at
/// the pace of resident warps, table passes over their bytes, two all-to-alls of batch x lookups x dims x bytes x
/// (n - 1) / n (Mudigere et al. 2022, 4.2) that wait for the fullest card, and the software's part of collectives,
/// which grows with the doublings of cards.
[[nodiscard]] StepTime recommender_step(const RecommenderTask& task,
                                        const Card& card,
                                        double cards,
                                        double batch,
                                        const RowTiers& tiers,
                                        const Numbers::Recommender& law) noexcept;
/// A request of `batch` samples to a server: mean time. Its keys are looked up in a hash table on the card, at the pace
/// of resident warps as every chain of dependent gathers.
[[nodiscard]] Seconds recommender_request(const RecommenderTask& task,
                                          const Card& card,
                                          double batch,
                                          const RowTiers& tiers,
                                          const Numbers::Recommender& law) noexcept;
[[nodiscard]] Seconds recommender_request(const RecommenderTask& task,
                                          const Cores& cores,
                                          double batch,
                                          const Numbers::Recommender& law) noexcept;

/// All-to-all of one direction that a card sends a step.
[[nodiscard]] Bytes exchange_bytes(const RecommenderTask& task, double cards, double batch, bool wide) noexcept;

/// Share of lookups that the most asked `cached` of `rows` answer, popularity by Zipf's law of exponent s (Breslau et
/// al. 1999): (cached^(1-s) - 1) / (rows^(1-s) - 1), of s = 1 ln(cached) / ln(rows).
[[nodiscard]] double cache_hits(double cached, double rows, double exponent) noexcept;

}  // namespace headroom::classic
