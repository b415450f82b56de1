// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/classic/recommender.hpp>

#include <algorithm>
#include <cmath>

namespace headroom::classic {
namespace {

double chain(double inputs, const std::vector<double>& widths, std::size_t first) noexcept {
  double products = 0.0;
  for (std::size_t i = first; i < widths.size(); ++i) {
    products += inputs * widths[i];
    inputs = widths[i];
  }
  return products;
}

/// What enters the top layers: the pairs of the tables' rows and the dense one, with it; or all of them side by side.
double joined_width(const RecommenderTask& task) noexcept {
  const double vectors = task.tables + 1.0;
  return task.crossing == Crossing::dot ? vectors * (vectors - 1.0) / 2.0 + task.dims : vectors * task.dims;
}

double crossing_multiplications(const RecommenderTask& task) noexcept {
  return task.crossing == Crossing::dot ? (task.tables + 1.0) * task.tables / 2.0 * task.dims
                                        : task.cross_layers * 2.0 * joined_width(task) * task.cross_rank;
}

/// Rows of 512 B, as those measured, that a row takes: a narrower one waits as long, a wider one takes more accesses.
double wide_row(const RecommenderTask& task) noexcept {
  constexpr double measured = 512.0;
  return std::max(1.0, task.dims * task.row_bytes / measured);
}

/// A read of NVMe over one of host memory: four drives of 7 GB/s against the bus, at blocks of 4 KiB for a row.
constexpr double nvme_rate = 28.0e9, nvme_block = 4096.0;

Seconds far_rows(const RecommenderTask& task,
                 const Card& card,
                 double batch,
                 const RowTiers& tiers,
                 const Numbers::Recommender& law) noexcept {
  const double rows = batch * task.lookups;
  const double row = task.dims * task.row_bytes;
  return Bytes{tiers.host * rows * row} / (law.host_rows * card.host) +
         Bytes{tiers.nvme * rows * std::max(row, nvme_block)} / BytesPerSecond{nvme_rate};
}

FlopsPerSecond peak_of(const RecommenderTask& task, const Card& card) noexcept {
  return task.half ? card.fp16 : card.tf32;
}

}  // namespace

double dense_multiplications(const RecommenderTask& task) noexcept {
  const double bottom = task.bottom.empty() ? 0.0 : chain(task.bottom.front(), task.bottom, 1);
  const double width = joined_width(task);
  return bottom + crossing_multiplications(task) + chain(width, task.top, 0);
}

Bytes dense_bytes(const RecommenderTask& task) noexcept {
  return Bytes{dense_multiplications(task) * (task.half ? 2.0 : 4.0)};
}

Bytes rows_bytes(const RecommenderTask& task) noexcept {
  return Bytes{task.lookups * task.dims * task.row_bytes};
}

Bytes exchange_bytes(const RecommenderTask& task, double cards, double batch, bool wide) noexcept {
  return Bytes{batch * task.lookups * task.dims * (wide ? 4.0 : 2.0) * (cards - 1.0) / cards};
}

Seconds dense_time(const RecommenderTask& task, const Card& card, double batch, double efficiency) noexcept {
  constexpr double tile = 64.0;
  const FlopsPerSecond rate = efficiency * peak_of(task, card);
  Seconds time{};
  const auto add = [&](double inputs, double outputs) {
    const double tiles = batch / tile * (outputs / tile);
    // Full tiles of every multiprocessor, or of some of them while the others wait.
    time += Flops{2.0 * std::max(tiles, card.units) * tile * tile * inputs} / rate;
  };
  const auto add_chain = [&](double inputs, const std::vector<double>& widths, std::size_t first) {
    for (std::size_t i = first; i < widths.size(); ++i) {
      add(inputs, widths[i]);
      inputs = widths[i];
    }
  };
  const double width = joined_width(task);
  if (!task.bottom.empty()) {
    add_chain(task.bottom.front(), task.bottom, 1);
  }
  if (task.crossing == Crossing::dot) {
    time += Flops{2.0 * batch * crossing_multiplications(task)} / rate;
  } else {
    for (double layer = 0.0; layer < task.cross_layers; layer += 1.0) {
      add(width, task.cross_rank);
      add(task.cross_rank, width);
    }
  }
  add_chain(width, task.top, 0);
  return time;
}

double fullest_card(double tables, double cards) noexcept {
  return std::ceil(tables / cards) * cards / tables;
}

StepTime recommender_step(const RecommenderTask& task,
                          const Card& card,
                          double cards,
                          double batch,
                          const RowTiers& tiers,
                          const Numbers::Recommender& law) noexcept {
  constexpr double doublings = 3.0;  // that the software's part was fitted at
  const double fullest = cards > 1.0 ? fullest_card(task.tables, cards) : 1.0;
  StepTime time;
  time.dense = 3.0 * dense_time(task, card, batch, law.efficiency);
  time.rows = tiers.card * fullest * batch *
              (task.lookups * wide_row(task) / card.by_warps() * law.gather +
               law.table_passes * (rows_bytes(task) / card.bandwidth));
  time.far = 2.0 * far_rows(task, card, batch, tiers, law);
  if (cards > 1.0) {
    const BytesPerSecond link = card.link > BytesPerSecond{} ? card.link : card.host;
    time.exchange = 2.0 * fullest * (exchange_bytes(task, cards, batch, !task.half) / (law.exchange * link));
    time.software = std::log2(cards) / doublings * law.step;
  }
  return time;
}

Seconds recommender_request(const RecommenderTask& task,
                            const Card& card,
                            double batch,
                            const RowTiers& tiers,
                            const Numbers::Recommender& law) noexcept {
  return law.serve_request + dense_time(task, card, batch, law.serve_efficiency) +
         1.0 / card.by_warps() * (law.serve_card + batch * task.lookups * wide_row(task) * law.serve_key) +
         dense_bytes(task) / card.bandwidth + far_rows(task, card, batch, tiers, law);
}

Seconds recommender_request(const RecommenderTask& task,
                            const Cores& cores,
                            double batch,
                            const Numbers::Recommender& law) noexcept {
  return law.cpu_request + Flops{2.0 * batch * dense_multiplications(task)} / (law.cpu_efficiency * cores.peak) +
         Bytes{batch * task.lookups * 64.0 * std::ceil(task.dims * task.row_bytes / 64.0)} / cores.bandwidth;
}

double cache_hits(double cached, double rows, double exponent) noexcept {
  if (cached >= rows) {
    return 1.0;
  }
  if (cached <= 1.0) {
    return 0.0;
  }
  const double left = 1.0 - exponent;
  return std::abs(left) < 1e-6 ? std::log(cached) / std::log(rows)
                               : (std::pow(cached, left) - 1.0) / (std::pow(rows, left) - 1.0);
}

}  // namespace headroom::classic
