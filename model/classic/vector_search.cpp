// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/classic/vector_search.hpp>

#include <algorithm>
#include <cmath>

namespace headroom::classic {
namespace {

constexpr double id_bytes = 8.0, distance_bytes = 4.0;

/// The nearest k of as many distances, by warps: quadratic in k, as a k-selection in registers is.
Seconds selection(double distances, double k, const Card& card, const Numbers::Search& law) noexcept {
  return distances * (k / 64.0) * (k / 64.0) / card.by_warps() * law.select;
}

void add_flat(const SearchTask& task,
              const Card& card,
              double queries,
              double vectors,
              const Numbers::Search& law,
              SearchTime& time) noexcept {
  const double distances = queries * vectors;
  const Seconds products = Flops{2.0 * distances * task.dims} / (law.efficiency * card.fp32);
  // Every vector is read once for a batch, which is all that a batch of few asks.
  time.scanned = Bytes{vectors * task.dims * task.element_bytes};
  time.scan = std::max(products, time.scanned / card.bandwidth);
  time.select =
      Bytes{law.passes * distances * distance_bytes} / card.bandwidth + selection(distances, task.k, card, law);
}

void add_lists(const SearchTask& task,
               const Card& card,
               double queries,
               double shards,
               const Numbers::Search& law,
               SearchTime& time) noexcept {
  const double dims = task.projected > 0.0 ? task.projected : task.dims;
  const bool codes = task.index == IndexKind::ivf_pq;
  time.coarse = Flops{2.0 * queries * task.lists * dims} / (law.coarse_efficiency * card.fp32) +
                Bytes{queries * task.lists * 2.0 * distance_bytes} / card.bandwidth;
  const double scanned = queries * task.probes * task.vectors / task.lists / shards;
  if (codes) {
    time.scanned = Bytes{scanned * task.code};
    const double lookups = law.lookups * card.units * card.clock.raw();
    time.scan = std::max(Seconds{scanned * task.code / lookups}, time.scanned / card.bandwidth);
  } else {
    time.scanned = Bytes{scanned * task.dims * task.element_bytes};
    time.scan = time.scanned / (law.scan * card.bandwidth);
  }
  time.select = queries / card.by_warps() * (codes ? law.query_pq : law.query);
}

void add_graph(
    const SearchTask& task, const Card& card, double queries, const Numbers::Search& law, SearchTime& time) noexcept {
  time.scanned = Bytes{queries * task.width * task.degree * law.fresh * task.dims * task.element_bytes};
  time.scan = time.scanned / (law.graph * card.bandwidth);
}

}  // namespace

SearchTime search_time(
    const SearchTask& task, const Card& card, double shards, double replicas, const Numbers& numbers) noexcept {
  const Numbers::Search& law = numbers.search;
  SearchTime time;
  time.launch = law.launch;
  const double queries = std::max(1.0, task.batch / replicas);
  switch (task.index) {
    case IndexKind::flat: add_flat(task, card, queries, task.vectors / shards, law, time); break;
    case IndexKind::ivf_flat:
    case IndexKind::ivf_pq: add_lists(task, card, queries, shards, law, time); break;
    case IndexKind::graph: add_graph(task, card, queries, law, time); break;
  }
  // A filter that is looked at in the scan leaves fewer behind it, so that as many more must be scanned.
  time.scan = 1.0 / task.passing * time.scan;
  if (shards > 1.0) {
    const BytesPerSecond link = card.link > BytesPerSecond{} ? card.link : card.host;
    time.merge = law.merge + Bytes{shards * queries * task.k * (distance_bytes + id_bytes)} / link;
  }
  return time;
}

SearchTime search_time(const SearchTask& task, const Cores& cores, const Numbers& numbers) noexcept {
  const Numbers::CpuSearch& law = numbers.cpu_search;
  SearchTime time;
  // The machine of those rows: 16 cores of a Skylake at 3.4 GHz.
  constexpr double speed = 3.4 * 1.1 / (3.2 * 1.54);
  const double machine = cores.cores * cores.speed / (law.cores * speed);
  const double side_by_side = std::min(cores.cores, task.batch);
  switch (task.index) {
    case IndexKind::flat: {
      time.scanned = Bytes{task.vectors * task.dims * task.element_bytes};
      const double share = side_by_side / cores.cores;
      time.scan = std::max(
          Flops{2.0 * task.batch * task.vectors * task.dims} / (numbers.kmeans.cpu_efficiency * share * cores.peak),
          time.scanned / cores.bandwidth);
      break;
    }
    case IndexKind::ivf_flat:
    case IndexKind::ivf_pq: {
      const double scanned = task.batch * task.probes * task.vectors / task.lists;
      const double bytes = task.index == IndexKind::ivf_pq ? task.code : task.dims * task.element_bytes;
      time.coarse = task.batch * std::sqrt(task.lists) / 32.0 / machine * law.list;
      time.scanned = Bytes{scanned * bytes};
      time.scan = std::max(scanned / machine * law.code, time.scanned / cores.bandwidth);
      break;
    }
    case IndexKind::graph:
      time.scanned = Bytes{task.batch * task.width * task.degree * task.dims * task.element_bytes};
      time.scan = task.batch / (side_by_side * cores.speed / speed) * (law.graph_query + task.width * law.graph_step);
      break;
  }
  time.scan = 1.0 / task.passing * time.scan;
  return time;
}

SearchMemory search_memory(const SearchTask& task) noexcept {
  SearchMemory memory;
  const bool codes = task.index == IndexKind::ivf_pq;
  memory.vectors = Bytes{task.vectors * (codes ? task.code : task.dims * task.element_bytes)};
  memory.ids = task.ids ? Bytes{task.vectors * id_bytes} : Bytes{};
  if (task.index == IndexKind::graph) {
    memory.index = Bytes{task.vectors * task.degree * 4.0};
  } else if (task.index != IndexKind::flat) {
    memory.index = Bytes{task.lists * task.dims * 4.0 + (codes ? 256.0 * task.dims * 4.0 : 0.0)};
  }
  return memory;
}

Seconds build_time(const SearchTask& task, const Card& card, double cards, const Numbers& numbers) noexcept {
  const Numbers::Search& law = numbers.search;
  const Seconds copy = Bytes{task.vectors * task.dims * task.element_bytes} / (cards * card.host);
  if (task.index == IndexKind::flat) {
    return copy;
  }
  if (task.index == IndexKind::graph) {
    return copy + Bytes{task.vectors * 2.0 * task.degree * task.degree * law.fresh * task.dims * task.element_bytes} /
                      (law.graph * cards * card.bandwidth);
  }
  constexpr double sample = 256.0, iterations = 10.0;
  const double points = std::min(task.vectors, sample * task.lists) * iterations + task.vectors;
  return copy + Flops{2.0 * points * task.lists * task.dims} / (law.coarse_efficiency * cards * card.fp32);
}

double recall_at(double recall, double knob, double other, double power) noexcept {
  return 1.0 - std::min(1.0, (1.0 - recall) * std::pow(knob / other, power));
}

double knob_for(double recall, double knob, double wanted, double power) noexcept {
  return knob * std::pow((1.0 - recall) / (1.0 - wanted), 1.0 / power);
}

}  // namespace headroom::classic
