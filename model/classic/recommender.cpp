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
  const double crossing = task.crossing == Crossing::dot ? (task.tables + 1.0) * task.tables / 2.0 * task.dims
                                                         : task.cross_layers * 2.0 * width * task.cross_rank;
  return bottom + crossing + chain(width, task.top, 0);
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

StepTime recommender_step(const RecommenderTask& task,
                          const Card& card,
                          double cards,
                          double batch,
                          Seconds software,
                          const RowTiers& tiers,
                          const Numbers::Recommender& law) noexcept {
  StepTime time;
  time.dense =
      Flops{6.0 * batch * dense_multiplications(task)} / ((task.half ? law.fp16 : law.fp32) * peak_of(task, card));
  time.rows = law.table_passes * tiers.card * batch * (rows_bytes(task) / (law.tables * card.bandwidth));
  time.far = 2.0 * far_rows(task, card, batch, tiers, law);
  if (cards > 1.0) {
    const BytesPerSecond link = card.link > BytesPerSecond{} ? card.link : card.host;
    time.exchange = 2.0 * (exchange_bytes(task, cards, batch, !task.half) / (law.exchange * link));
    time.software = software;
  }
  return time;
}

Seconds recommender_request(const RecommenderTask& task,
                            const Card& card,
                            double batch,
                            const RowTiers& tiers,
                            const Numbers::Recommender& law) noexcept {
  const Seconds dense = Flops{2.0 * batch * dense_multiplications(task)} /
                        ((task.half ? law.serve_fp16 : law.serve_fp32) * peak_of(task, card));
  // The server's cache keeps rows in 32 bit.
  const Bytes rows{batch * task.lookups * task.dims * 4.0};
  return law.serve_request + dense + rows / (law.serve_tables * card.bandwidth) + batch * task.lookups * law.serve_key +
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
