// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/classic/clusters.hpp>

#include <algorithm>
#include <cmath>

namespace headroom::classic {
namespace {

constexpr double pair_distance = 4.0;  // bytes of the distance of a point and a centroid

GroupTime shuffle_of(const GroupTask& task, BytesPerSecond network) noexcept {
  const double own = task.rows / task.workers;
  GroupTime time;
  time.sent_rows = task.partial ? task.workers * std::min(own, distinct_keys(own, task.keys)) : task.rows;
  time.sent = Bytes{time.sent_rows * task.row_bytes};
  if (task.workers > 1.0 && network > BytesPerSecond{}) {
    // Each worker keeps the part that is its own.
    time.shuffle = (task.workers - 1.0) / task.workers / task.workers * (time.sent / network);
  }
  return time;
}

/// Accesses of the workers' tables and of the merged one.
double accesses_of(const GroupTask& task, double sent_rows) noexcept {
  return (task.partial ? task.rows / task.workers : 0.0) + sent_rows / task.workers;
}

}  // namespace

Flops kmeans_flops(const KMeansTask& task) noexcept {
  return Flops{2.0 * task.points * task.dims * task.clusters * task.iterations};
}

KMeansTime kmeans_time(
    const KMeansTask& task, const Card& card, double cards, bool resident, const Numbers::KMeans& law) noexcept {
  const FlopsPerSecond peak = task.half ? card.fp16 : card.fp32;
  KMeansTime time;
  time.products = kmeans_flops(task) / ((card.early ? law.early_efficiency : law.efficiency) * cards * peak);
  time.distances =
      Bytes{law.passes * task.points * task.clusters * task.iterations * pair_distance} / (cards * card.bandwidth);
  if (resident) {
    time.host = task.iterations * law.resident_iteration;
  } else {
    time.host = Bytes{task.iterations * task.points * task.dims * 4.0} / law.host +
                task.iterations * (law.gpu_iteration + task.clusters * law.centroid);
  }
  return time;
}

KMeansTime kmeans_time(const KMeansTask& task, const Cores& cores, const Numbers::KMeans& law) noexcept {
  KMeansTime time;
  time.products = kmeans_flops(task) / (law.cpu_efficiency * cores.peak);
  time.distances = Bytes{2.0 * task.iterations * task.points * task.dims * 4.0} / cores.bandwidth;
  time.host = task.iterations * law.cpu_iteration;
  return time;
}

Bytes kmeans_memory(const KMeansTask& task, double parts) noexcept {
  constexpr double block = 65536.0;  // points whose distances are held at once
  return Bytes{4.0 * (task.points / parts * task.dims + task.clusters * task.dims +
                      std::min(task.points / parts, block) * task.clusters)};
}

Bytes kmeans_exchange(const KMeansTask& task) noexcept {
  return Bytes{4.0 * task.clusters * (task.dims + 1.0)};
}

TopKTime top_k_time(const TopKTask& task, const Card& card, const Numbers& law) noexcept {
  TopKTime time;
  const double own = task.items / task.parts;
  time.scan = Bytes{own * task.item_bytes} / card.bandwidth;
  time.heap = own * (task.k / 64.0) * (task.k / 64.0) / card.by_warps() * law.search.select;
  time.merged = Bytes{task.parts * task.k * (task.item_bytes + 8.0)};
  if (task.parts > 1.0) {
    const BytesPerSecond link = card.link > BytesPerSecond{} ? card.link : card.host;
    time.merge = law.search.merge + time.merged / link;
  }
  return time;
}

TopKTime top_k_time(const TopKTask& task, const Cores& cores) noexcept {
  constexpr double step = 1.5e-9;  // a level of a heap that lies in the first cache, some branches of 3 GHz
  TopKTime time;
  const double own = task.items / task.parts;
  const double entering = std::min(own, task.k * (1.0 + std::log(std::max(1.0, own / task.k))));
  time.scan = std::max(Bytes{own * task.item_bytes} / cores.bandwidth, Seconds{own / (cores.cores * 1e9)});
  time.heap = Seconds{cores.cores * entering * std::log2(std::max(2.0, task.k)) * step / cores.cores};
  time.merged = Bytes{task.parts * task.k * (task.item_bytes + 8.0)};
  time.merge = Seconds{(task.parts - 1.0) * task.k * std::log2(std::max(2.0, task.k)) * step};
  return time;
}

double distinct_keys(double rows, double keys) noexcept {
  return keys <= 1.0 ? 1.0 : -keys * std::expm1(rows * std::log1p(-1.0 / keys));
}

GroupTime group_time(const GroupTask& task, const Card& card, BytesPerSecond network) noexcept {
  GroupTime time = shuffle_of(task, network);
  constexpr double sector = 32.0;
  time.scan = Bytes{task.rows / task.workers * task.row_bytes} / card.bandwidth;
  // A sector is read and written for each row: an atomic of the second cache at its memory's rate.
  time.table = Bytes{2.0 * sector * accesses_of(task, time.sent_rows)} / card.bandwidth;
  return time;
}

GroupTime group_time(const GroupTask& task, const Cores& cores, BytesPerSecond network) noexcept {
  GroupTime time = shuffle_of(task, network);
  constexpr double line = 64.0, in_cache = 4e-9;
  time.scan = Bytes{task.rows / task.workers * task.row_bytes} / cores.bandwidth;
  const double table = std::min(task.keys, task.rows / task.workers) * task.row_bytes;
  const double accesses = accesses_of(task, time.sent_rows);
  const Seconds cached{accesses * in_cache / (cores.cores * cores.speed)};
  time.table = table > cores.cache.raw() ? std::max(cached, Bytes{2.0 * line * accesses} / cores.bandwidth) : cached;
  return time;
}

}  // namespace headroom::classic
