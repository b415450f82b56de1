// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/scenarios/classic/classic_times.hpp>
#include <headroom/scenarios/classic/media_times.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

namespace headroom::classic {
namespace {

template <class... Each>
struct Either : Each... {
  using Each::operator()...;
};
template <class... Each>
Either(Each...) -> Either<Each...>;

Times times_of(const TreeTime& time, double width) {
  return {{{"levels", time.levels},
           {"nodes", time.nodes},
           {"updates", time.updates},
           {"memory", time.memory},
           {"host", time.host},
           {"exchange", time.exchange}},
          width,
          0.0,
          Bytes{},
          {}};
}

Times times_of(const KMeansTime& time, double width) {
  return {{{"products", time.products}, {"distances", time.distances}, {"host", time.host}}, width, 0.0, Bytes{}, {}};
}

Times times_of(const SearchTime& time, double width, double queries) {
  return {{{"launch", time.launch},
           {"coarse", time.coarse},
           {"scan", time.scan},
           {"select", time.select},
           {"merge", time.merge}},
          width,
          queries,
          Bytes{},
          {}};
}

Times times_of(const TopKTime& time, double items) {
  return {{{"scan", time.scan}, {"select", time.heap}, {"merge", time.merge}}, 0.3, items, time.merged, {}};
}

Times times_of(const GroupTime& time, double rows) {
  return {{{"scan", time.scan}, {"table", time.table}, {"shuffle", time.shuffle}}, 0.5, rows, time.sent, {}};
}

/// On as many of the host's cores as end soonest: barriers and a second socket can cost more than cores give.
TreeTime best_tree_time(const TreeTask& task, const Cores& host, const CpuTrees& library) {
  TreeTime best;
  double per_socket = host.cores / host.sockets;
  for (double cores = 1.0;; cores = std::min(host.cores, cores * 2.0)) {
    Cores some = host;
    some.cores = some.threads = cores;
    some.sockets = std::ceil(cores / per_socket);
    const TreeTime time = tree_time(task, some, library);
    best = cores == 1.0 || time.total() < best.total() ? time : best;
    if (cores >= host.cores) {
      return best;
    }
  }
}

}  // namespace

Seconds total(const std::vector<PartTime>& parts) noexcept {
  Seconds sum{};
  for (const PartTime& part : parts) {
    sum += part.time;
  }
  return sum;
}

Times gpu_times(const Question& q, const Algorithm& algorithm, double cards, const Numbers& law) {
  return std::visit(
      Either{[&](const TreesAsked& asked) {
               const GpuTrees& library = *law.gpu_library(asked.package);
               Times times =
                   times_of(tree_time(asked.task, q.card, cards, q.host, library, law.rows_per_split), library.width);
               times.exchange = cards > 1.0 ? 2.0 * (cards - 1.0) / cards * asked.task.rounds * asked.task.outputs *
                                                  tree_exchange(asked.task, law.rows_per_split)
                                            : Bytes{};
               return times;
             },
             [&](const KMeansAsked& asked) {
               Times times =
                   times_of(kmeans_time(asked.task, q.card, cards, asked.resident, law.kmeans), law.kmeans.width);
               if (cards > 1.0 && asked.resident) {
                 times.exchange = 2.0 * (cards - 1.0) / cards * asked.task.iterations * kmeans_exchange(asked.task);
                 const BytesPerSecond link = q.card.link > BytesPerSecond{} ? q.card.link : q.card.host;
                 times.parts.push_back({"exchange", times.exchange / link});
               }
               return times;
             },
             [&](const VectorsAsked& asked) {
               const Layout layout = layout_of(q, asked, cards, law);
               return times_of(search_time(asked.task, q.card, layout.shards, layout.replicas, law),
                               asked.task.index == IndexKind::graph ? law.search.width_gpu_graph : law.search.width,
                               asked.task.batch);
             },
             [&](const SelectionAsked& asked) {
               TopKTask task = asked.task;
               task.parts = cards;
               return times_of(top_k_time(task, q.card, law), task.items);
             },
             [&](const GroupingAsked& asked) {
               return times_of(group_time(asked.task, q.card, q.network), asked.task.rows);
             },
             [&](const RecommenderAsked& asked) {
               const RowTiers tiers = tiers_of(q, asked, cards, law);
               if (asked.serves) {
                 return Times{
                     {{"request", recommender_request(asked.task, q.card, asked.batch, tiers, law.recommender)}},
                     law.recommender.serve_width,
                     asked.batch,
                     Bytes{},
                     {}};
               }
               const double each = std::max(1.0, asked.batch / cards);
               const StepTime step = recommender_step(asked.task, q.card, cards, each, tiers, law.recommender);
               const double width = tiers.card < 1.0 ? law.recommender.width_host : law.recommender.width;
               return Times{{{"dense", step.dense},
                             {"rows", step.rows},
                             {"exchange", step.exchange},
                             {"software", step.software},
                             {"far rows", step.far}},
                            width,
                            asked.batch,
                            cards > 1.0 ? exchange_bytes(asked.task, cards, each, !asked.task.half) : Bytes{},
                            {}};
             },
             [&](const VideoAsked& asked) { return video_times(q, asked, cards); },
             [&](const SimulatorAsked& asked) { return simulator_times(q, asked, cards); },
             [&](const PolicyAsked& asked) { return policy_times(q, asked); }},
      algorithm);
}

Times cpu_times(const Question& q, const Algorithm& algorithm, const Numbers& law) {
  return std::visit(
      Either{[&](const TreesAsked& asked) {
               const CpuTrees& library = *law.cpu_library(asked.package);
               return times_of(best_tree_time(asked.task, q.host, library), library.width);
             },
             [&](const KMeansAsked& asked) { return times_of(kmeans_time(asked.task, q.host, law.kmeans), 0.5); },
             [&](const VectorsAsked& asked) {
               return times_of(search_time(asked.task, q.host, law), 0.5, asked.task.batch);
             },
             [&](const SelectionAsked& asked) {
               // One stream through the heaps of all cores.
               TopKTask task = asked.task;
               task.parts = 1.0;
               return times_of(top_k_time(task, q.host), task.items);
             },
             [&](const GroupingAsked& asked) {
               return times_of(group_time(asked.task, q.host, q.network), asked.task.rows);
             },
             [&](const RecommenderAsked& asked) {
               const Seconds request = recommender_request(asked.task, q.host, asked.batch, law.recommender);
               // Backward passes take twice a forward one.
               return Times{{{"request", (asked.serves ? 1.0 : 3.0) * request}}, 1.0, asked.batch, Bytes{}, {}};
             },
             [](const auto&) { return Times{}; }},
      algorithm);
}

Algorithm resized(const Algorithm& algorithm, double size) {
  Algorithm other = algorithm;
  std::visit(
      Either{[&](TreesAsked& asked) { asked.task.rows = size; }, [&](KMeansAsked& asked) { asked.task.points = size; },
             [&](VectorsAsked& asked) {
               (asked.task.index == IndexKind::graph ? asked.task.batch : asked.task.vectors) = size;
             },
             [&](SelectionAsked& asked) { asked.task.items = size; },
             [&](GroupingAsked& asked) { asked.task.rows = size; },
             [&](RecommenderAsked& asked) { asked.batch = size; },
             [&](SimulatorAsked& asked) { asked.task.envs = size; },
             [&](PolicyAsked& asked) { asked.task.views = size; }, [](VideoAsked&) {}},
      other);
  return other;
}

double hosts_of(const Question& q) {
  const auto* const grouping = std::get_if<GroupingAsked>(&q.algorithm);
  return grouping == nullptr ? 1.0 : grouping->task.workers;
}

Layout layout_of(const Question& q, const VectorsAsked& asked, double cards, const Numbers& /*law*/) {
  Layout layout;
  const Bytes each = usable_memory * q.card.memory;
  layout.shards = asked.shards.value_or(std::max(1.0, std::ceil(search_memory(asked.task).total() / each)));
  layout.replicas = std::max(1.0, std::floor(cards / layout.shards));
  return layout;
}

RowTiers tiers_of(const Question& q, const RecommenderAsked& asked, double cards, const Numbers& law) {
  const double tables = table_bytes(asked, law.recommender).raw();
  const double rows = std::max(1.0, asked.task.parameters / asked.task.dims);
  const double on_cards = std::min(1.0, (cards * usable_memory * q.card.memory).raw() / tables);
  const double on_host = std::min(1.0, on_cards + q.host_memory.value_or(Bytes{}).raw() / tables);
  RowTiers tiers;
  tiers.card = on_cards >= 1.0 ? 1.0 : cache_hits(on_cards * rows, rows, asked.popularity);
  const double near = on_host >= 1.0 ? 1.0 : cache_hits(on_host * rows, rows, asked.popularity);
  tiers.host = std::max(0.0, near - tiers.card);
  tiers.nvme = std::max(0.0, 1.0 - near);
  return tiers;
}

}  // namespace headroom::classic
