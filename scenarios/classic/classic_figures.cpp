// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>
#include <headroom/scenarios/classic/classic_times.hpp>
#include <headroom/scenarios/classic/media_times.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace headroom::classic {
namespace {

/// Time of a query when `change` is made.
template <class Change>
double query_ratio(const Plan& plan, const VectorsAsked& asked, const Numbers& law, double cards, Change change) {
  const Question& q = plan.question;
  VectorsAsked other = asked;
  change(other);
  const Times before = gpu_times(q, asked, q.cards, law), after = gpu_times(q, other, cards, law);
  return (total(after.parts) / after.items) / (total(before.parts) / before.items);
}

void add_search(Plan& plan, const VectorsAsked& asked, const Numbers& law) {
  const Question& q = plan.question;
  const SearchTask& task = asked.task;
  const Layout layout = layout_of(q, asked, q.cards, law);
  SearchFigures figures;
  figures.shards = layout.shards;
  figures.replicas = layout.replicas;
  const bool graph = task.index == IndexKind::graph;
  figures.probes = graph ? task.width : task.index == IndexKind::flat ? 0.0 : task.probes;
  figures.scanned = search_time(task, q.card, layout.shards, layout.replicas, law).scanned;
  figures.build = build_time(task, q.card, layout.shards, law);
  figures.recall = task.index == IndexKind::flat ? std::optional{1.0} : asked.recall;
  plan.search = figures;
  const auto cure = [&](std::string what, std::string why, double ratio) {
    if (ratio < 0.98) {
      plan.cures.push_back({std::move(what), std::move(why), ratio});
    }
  };
  cure("search batches of " + format_number(100.0 * task.batch),
       "launches, waits and the merge of shards are paid once a batch",
       query_ratio(plan, asked, law, q.cards, [](VectorsAsked& other) { other.task.batch *= 100.0; }));
  if (layout.shards > 1.0) {
    cure("hold the index whole on each GPU, " + format(search_memory(task).total()) + " of its memory",
         "a query of shards goes to all of them and waits for the last",
         query_ratio(plan, asked, law, q.cards, [](VectorsAsked& other) { other.shards = 1.0; }));
  }
  if (task.index == IndexKind::ivf_flat || task.index == IndexKind::flat) {
    cure("keep codes of " + format_count(std::ceil(task.dims / 2.0)) + " B (ivf-pq) and rank the best again",
         "a scan reads whole vectors from memory", query_ratio(plan, asked, law, q.cards, [](VectorsAsked& other) {
           other.task.code = std::ceil(other.task.dims / 2.0);
           if (other.task.index == IndexKind::flat) {
             other.task.lists = std::ceil(4.0 * std::sqrt(other.task.vectors));
             other.task.probes = std::min(32.0, other.task.lists);
           }
           other.task.index = IndexKind::ivf_pq;
         }));
  }
  if (figures.probes >= 2.0) {
    cure(graph ? "halve the width" : "halve the probes", "recall falls with them: measure it",
         query_ratio(plan, asked, law, q.cards, [](VectorsAsked& other) {
           other.task.probes = std::max(1.0, other.task.probes / 2.0);
           other.task.width = std::max(1.0, other.task.width / 2.0);
         }));
  }
  cure("add a replica of the index", "queries are shared by replicas",
       query_ratio(plan, asked, law, q.cards + layout.shards, [](VectorsAsked&) {}));
  if (task.passing < 1.0) {
    cure("partition the vectors by the filter", "what a filter rejects is scanned all the same",
         query_ratio(plan, asked, law, q.cards, [](VectorsAsked& other) { other.task.passing = 1.0; }));
  }
}

void add_recommender(Plan& plan, const RecommenderAsked& asked, const Numbers& law) {
  const Question& q = plan.question;
  RecommenderFigures figures;
  figures.tables = table_bytes(asked, law.recommender);
  figures.tiers = tiers_of(q, asked, q.cards, law);
  figures.hits = figures.tiers.card;
  figures.exchange = plan.gpu.exchange;
  if (asked.serves) {
    figures.p99 = law.recommender.serve_tail * plan.gpu.time.mid;
  }
  plan.recommender = figures;
}

void add_grouping(Plan& plan, const GroupingAsked& asked, const Numbers& /*law*/) {
  const GroupTime time = group_time(asked.task, plan.question.host, plan.question.network);
  plan.grouping = GroupingFigures{asked.task.rows, time.sent_rows, time.sent};
  GroupTask other = asked.task;
  other.partial = !other.partial;
  const double ratio = group_time(other, plan.question.host, plan.question.network).total() / time.total();
  if (ratio < 0.98) {
    plan.cures.push_back({other.partial ? "sum by key before sending" : "send rows as they are",
                          other.partial ? "of each key a worker sends one sum" : "keys hardly repeat on a worker",
                          ratio});
  }
}

}  // namespace

Work work_of(const Algorithm& algorithm) {
  Work work;
  if (const auto* const trees = std::get_if<TreesAsked>(&algorithm)) {
    work = {"boosted trees",
            "rows",
            trees->task.rows,
            Flops{2.0 * tree_updates(trees->task)},
            tree_bytes(trees->task),
            {},
            {"Chen and Guestrin 2016, XGBoost, algorithm 3", "Mitchell et al. 2018, scalable GPU accelerated learning",
             "fitted to szilard/GBM-perf (docs/classic.md)"}};
    work.notes.emplace_back("rows are distributed over GPUs, whose histograms are summed each level");
  } else if (const auto* const kmeans = std::get_if<KMeansAsked>(&algorithm)) {
    const KMeansTask& task = kmeans->task;
    work = {"k-means",
            "points",
            task.points,
            kmeans_flops(task),
            Bytes{task.iterations * (task.points * task.dims * 4.0 + 2.0 * task.points * task.clusters * 4.0)},
            {},
            {"Lloyd 1982, least squares quantization in PCM", "Johnson et al. 2019, billion-scale similarity search, 3",
             "fitted to faiss's wiki, low-level benchmarks"}};
  } else if (const auto* const vectors = std::get_if<VectorsAsked>(&algorithm)) {
    const SearchTask& task = vectors->task;
    const bool graph = task.index == IndexKind::graph, flat = task.index == IndexKind::flat;
    const double compared = flat    ? task.vectors
                            : graph ? task.width * task.degree
                                    : task.lists + task.probes * task.vectors / task.lists;
    const double each = task.index == IndexKind::ivf_pq ? task.code : task.dims * task.element_bytes;
    work = {"vector search, " + std::string{name_of(task.index)},
            graph ? "queries" : "vectors",
            graph ? task.batch : task.vectors,
            Flops{2.0 * task.batch * compared * task.dims},
            Bytes{(flat ? 1.0 : task.batch) * compared * each},
            {},
            {"Johnson et al. 2019, billion-scale similarity search with GPUs, 3 to 5",
             "Jegou et al. 2011, product quantization for nearest neighbor search", "Ootomo et al. 2024, CAGRA",
             "fitted to faiss's benchs and big-ann-benchmarks"}};
  } else if (const auto* const top = std::get_if<SelectionAsked>(&algorithm)) {
    work = {"streaming top-K",
            "items",
            top->task.items,
            Flops{top->task.items},
            Bytes{top->task.items * top->task.item_bytes},
            {},
            {"Knuth, The Art of Computer Programming 3, 5.2.3: heaps, and the mean number of records",
             "Johnson et al. 2019, 4: k-selection"}};
  } else if (const auto* const group = std::get_if<GroupingAsked>(&algorithm)) {
    work = {"group-by with partial sums",
            "rows",
            group->task.rows,
            Flops{group->task.rows},
            Bytes{group->task.rows * group->task.row_bytes},
            {},
            {"Feller 1968, II.5: distinct keys of random draws", "Dean and Ghemawat 2004, MapReduce, 4.3: combiners"}};
    work.notes.emplace_back("keys are equally likely; of skewed ones a worker sends fewer sums");
  } else if (!has_cores(algorithm)) {
    work = media_work(algorithm);
  } else {
    const auto& recommender = std::get<RecommenderAsked>(algorithm);
    const double passes = recommender.serves ? 2.0 : 6.0;
    work = {recommender.serves ? "recommender, requests" : "recommender, training",
            "samples",
            recommender.batch,
            Flops{passes * recommender.batch * dense_multiplications(recommender.task)},
            recommender.batch * rows_bytes(recommender.task),
            {},
            {"Naumov et al. 2019, DLRM", "Wang et al. 2021, DCN V2", "Mudigere et al. 2022, 4.2: the all-to-alls",
             "Breslau et al. 1999: Zipf's law of requests", "fitted to NVIDIA/DeepLearningExamples"}};
  }
  return work;
}

Bytes memory_of(const Question& q, const Numbers& law, std::vector<MemoryPart>& parts) {
  if (const auto* const trees = std::get_if<TreesAsked>(&q.algorithm)) {
    const GpuTrees& library = *law.gpu_library(trees->package);
    parts.push_back(
        {"rows, gradients and histograms", tree_memory(trees->task, 1.0, library.bytes_per_entry, law.bytes_per_row)});
  } else if (const auto* const kmeans = std::get_if<KMeansAsked>(&q.algorithm)) {
    parts.push_back({"points, centroids and a block of distances", kmeans_memory(kmeans->task, 1.0)});
  } else if (const auto* const vectors = std::get_if<VectorsAsked>(&q.algorithm)) {
    const SearchMemory memory = search_memory(vectors->task);
    parts = {{vectors->task.index == IndexKind::ivf_pq ? "codes" : "vectors", memory.vectors},
             {"ids", memory.ids},
             {vectors->task.index == IndexKind::graph ? "edges" : "centroids", memory.index}};
  } else if (const auto* const top = std::get_if<SelectionAsked>(&q.algorithm)) {
    parts.push_back({"items", Bytes{top->task.items * top->task.item_bytes}});
  } else if (const auto* const group = std::get_if<GroupingAsked>(&q.algorithm)) {
    parts.push_back({"rows", Bytes{group->task.rows * group->task.row_bytes}});
  } else if (!has_cores(q.algorithm)) {
    parts = media_memory(q);
  } else {
    const auto& recommender = std::get<RecommenderAsked>(q.algorithm);
    parts.push_back({"tables and the optimizer's moments", table_bytes(recommender, law.recommender)});
  }
  Bytes all{};
  for (const MemoryPart& part : parts) {
    all += part.bytes;
  }
  return all;
}

Bytes gpu_part(const Question& q, Bytes all) {
  if (!has_cores(q.algorithm)) {
    return media_part(q, all);
  }
  if (const auto* const vectors = std::get_if<VectorsAsked>(&q.algorithm)) {
    const double shards = vectors->shards.value_or(std::max(1.0, std::ceil(all / (usable_memory * q.card.memory))));
    return 1.0 / std::min(shards, vectors->shards ? shards : q.cards) * all;
  }
  const double parts = std::holds_alternative<GroupingAsked>(q.algorithm) ? std::max(q.cards, hosts_of(q)) : q.cards;
  const Bytes each = 1.0 / parts * all;
  const bool tiered = std::holds_alternative<RecommenderAsked>(q.algorithm) && (q.host_memory || q.nvme);
  return tiered ? std::min(each, usable_memory * q.card.memory) : each;
}

void open_cards(Plan& plan, const Numbers& law) {
  Question& q = plan.question;
  if (auto* const vectors = std::get_if<VectorsAsked>(&q.algorithm)) {
    if (vectors->wanted_recall && vectors->recall) {
      SearchTask& task = vectors->task;
      double& knob = task.index == IndexKind::graph ? task.width : task.probes;
      knob = std::max(1.0, std::ceil(knob_for(*vectors->recall, knob, *vectors->wanted_recall, vectors->recall_power)));
      if (task.index != IndexKind::graph && knob > task.lists) {
        knob = task.lists;
        plan.notes.emplace_back("all lists are searched, and the recall is that of the codes");
      }
      vectors->recall = vectors->wanted_recall;
    }
    if (q.cards_open) {
      const Layout layout = layout_of(q, *vectors, 1.0, law);
      q.cards = layout.shards;
      if (vectors->rate) {
        const Times times = gpu_times(q, q.algorithm, q.cards, law);
        q.cards *= std::max(1.0, std::ceil(*vectors->rate / Hertz{times.items / total(times.parts).raw()}));
      }
    }
    return;
  }
  if (!has_cores(q.algorithm)) {
    open_media_cards(q);
    return;
  }
  const bool tiered = std::holds_alternative<RecommenderAsked>(q.algorithm) && (q.host_memory || q.nvme);
  if (q.cards_open && !tiered) {
    std::vector<MemoryPart> parts;
    const Bytes all = memory_of(q, law, parts);
    const double hosts = hosts_of(q);
    q.cards = std::max(1.0, std::ceil(1.0 / hosts * all / (usable_memory * q.card.memory)));
  }
}

void add_figures(Plan& plan, const Numbers& law) {
  const Algorithm algorithm = plan.question.algorithm;
  if (const auto* const vectors = std::get_if<VectorsAsked>(&algorithm)) {
    add_search(plan, *vectors, law);
  } else if (const auto* const recommender = std::get_if<RecommenderAsked>(&algorithm)) {
    add_recommender(plan, *recommender, law);
  } else if (const auto* const grouping = std::get_if<GroupingAsked>(&algorithm)) {
    add_grouping(plan, *grouping, law);
  } else if (!has_cores(algorithm)) {
    add_media_figures(plan);
  } else if (plan.question.cards > 1.0) {
    const double alone = total(gpu_times(plan.question, algorithm, 1.0, law).parts).raw();
    const double together = plan.gpu.time.mid.raw();
    plan.notes.push_back("one GPU alone takes " + format(Seconds{alone}) + ", " + format_number(alone / together) +
                         " times as long");
  }
}

}  // namespace headroom::classic
