// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/classic/vector_search.hpp>
#include <headroom/model/workload/model_data.hpp>
#include <headroom/scenarios/measured/words/classic_row.hpp>
#include <headroom/scenarios/measured/words/classic_tables.hpp>
#include <headroom/scenarios/measured/words/config_words.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom {
namespace {

using classic::IndexKind;
using classic::Numbers;
using classic::SearchTask;

constexpr double four_years_h = 4.0 * 365.0 * 24.0;
constexpr double asked_rate = 100e3;  // queries a second that the benchmark prices
constexpr double kwh_usd = 0.10;      // its price of electricity

bool speaks_of(std::string_view text, std::string_view word) {
  return text.find(word) != std::string_view::npos;
}

/// A rate and its recall of a published system on the set that a row names.
struct Operating {
  const SearchSystem* system = nullptr;
  double rate = 0.0;
};
std::optional<Operating> operating_in(const ClassicTables& tables, std::string_view config) {
  const SearchSystem* const system = named_in(tables.systems, config);
  if (system == nullptr) {
    return std::nullopt;
  }
  for (const auto& [set, rate] : system->rates) {
    if (speaks_of(config, set)) {
      return Operating{system, rate};
    }
  }
  return std::nullopt;
}

/// Money and energy of a system that answers 100,000 queries a second for four years.
RowPrediction priced_system(const Numbers& numbers, const Operating& at, const RunRow& row, std::string_view config) {
  const double units = std::ceil(asked_rate / at.rate);
  const double joules = at.system->watts.raw() / at.rate;
  const double kwh = joules * asked_rate * four_years_h / 1e3;
  const double capex = units * at.system->price.raw();
  constexpr double own = 0.02, energy = 0.35;
  const std::string& metric = row.metric;
  if (metric == "units_at_100kqps") {
    return answered(units, own);
  }
  if (metric == "unit_cost_usd" || metric == "capex_usd") {
    return answered(metric == "capex_usd" ? capex : at.system->price.raw(), own);
  }
  if (metric == "energy_per_query_ws") {
    return answered(joules, energy, "the system's mean watts");
  }
  if (metric == "energy_4y_kwh" || metric == "opex_4y_usd") {
    return answered(kwh * (metric == "opex_4y_usd" ? kwh_usd : 1.0), energy, "the system's mean watts");
  }
  if (metric == "tco_4y_100kqps_usd") {
    return answered(capex + kwh * kwh_usd, 0.05, "the system's mean watts");
  }
  if (metric == "recall_at_10") {
    if (speaks_of(config, "text2image")) {
      return unsupported("the rate and the recall that were published of that set belong to other thresholds");
    }
    // What one query may take is one over the rate.
    const double recall = classic::recall_at(0.9, 1.0 / at.rate, 1.0 / 2000.0, 1.0 / numbers.cpu_search.miss_power);
    return answered(recall, 0.05);
  }
  return unsupported("the rate of a published system is an input of its money and energy");
}

struct ParsedIndex {
  SearchTask task;
  double shards = 1.0, replicas = 1.0;
};

/// "IVF4096,PQ64", "OPQ20_80,IVF262144,PQ20", "IVF16384,Flat" over a set, as faiss writes them.
std::optional<ParsedIndex> faiss_index(const ClassicTables& tables, const std::string& config) {
  const VectorData* const set = named_in(tables.vectors, config);
  const bool neighbours = speaks_of(config, "kNN graph of 1B");  // Deep1B searched for each of its own vectors
  const VectorData* const used = neighbours ? named_in(tables.vectors, "Deep1B") : set;
  if (used == nullptr) {
    return std::nullopt;
  }
  ParsedIndex index;
  index.task.vectors = used->vectors;
  index.task.dims = used->dims;
  index.task.batch = neighbours ? used->vectors : number_behind(config, "SIFT1M d=128 ").value_or(10e3);
  index.task.k = number_behind(config, " k=").value_or(10.0);
  if (speaks_of(config, "GpuFlat")) {
    return index;
  }
  const std::string text = neighbours ? "OPQ20_80,IVF262144,PQ20" : config;
  const std::size_t inverted = text.find("IVF");
  if (inverted == std::string::npos) {
    return std::nullopt;
  }
  const std::string behind = text.substr(inverted);
  index.task.lists = number_behind(behind, "IVF").value_or(1.0);
  index.task.code = number_behind(behind, "PQ").value_or(0.0);
  index.task.index = index.task.code > 0.0 ? IndexKind::ivf_pq : IndexKind::ivf_flat;
  index.task.probes = number_behind(config, "nprobe=").value_or(1.0);
  // A rotation to fewer dimensions, "OPQ8_32": the number behind its line.
  index.task.projected = speaks_of(text, "OPQ") ? number_behind(text.substr(text.find("OPQ")), "_").value_or(0.0) : 0.0;
  return index;
}

RowPrediction faiss_batch(const ClassicLaws& laws, const std::string& config, const std::string& hardware) {
  std::optional<ParsedIndex> index = faiss_index(classic_tables(laws.data), config);
  std::string why = "no index and set by that name are known";
  std::optional<ClassicCards> cards = index ? classic_cards(laws.catalog, laws.data, hardware, why) : std::nullopt;
  if (!cards) {
    return unsupported(why);
  }
  if (cards->cards > 1.0) {
    // As faiss's run of Deep1B: two shards, and a replica of both for each further pair.
    index->shards = 2.0;
    index->replicas = cards->cards / 2.0;
  }
  const Numbers& numbers = laws.numbers;
  return answered(classic::search_time(index->task, cards->card, index->shards, index->replicas, numbers).total().raw(),
                  numbers.search.width);
}

RowPrediction processor_rate(const Numbers& numbers, const std::string& config) {
  const Numbers::CpuSearch& law = numbers.cpu_search;
  if (speaks_of(config, "Puck(")) {
    // Puck(k, clusters, points, neighbours): the third is what a query ranks.
    const std::string inside = config.substr(config.find("Puck(") + 5);
    const std::size_t second = inside.find(',', inside.find(',') + 1);
    const double points = number_behind(inside.substr(second), ",").value_or(0.0);
    return answered(1.0 / (law.query + points * law.candidate).raw(), 0.15);
  }
  if (speaks_of(config, "FaissIVFPQ(")) {
    constexpr double codes_of_list = 1e9 / 1048576.0;  // IVF1048576, the index of its submission
    const double probes = number_behind(config, "nprobe=").value_or(1.0);
    const double wide = number_behind(config, "efSearch=").value_or(16.0);
    return answered(1.0 / (probes * codes_of_list * law.code + wide * law.list).raw(), 0.25);
  }
  if (speaks_of(config, "DiskANN") || speaks_of(config, "BBANN")) {
    const double recall = number_behind(config, "(recall ").value_or(0.9);
    return answered(law.reads_per_s / (law.reads * std::pow(1.0 - recall, -law.recall_power)), 0.2);
  }
  return unsupported("no index of a processor by that name is known");
}

RowPrediction graph_rate(const ClassicLaws& laws, const std::string& config, const std::string& hardware) {
  const Numbers& numbers = laws.numbers;
  const Numbers::CpuSearch& law = numbers.cpu_search;
  const double wide = number_behind(config, "efSearch=").value_or(64.0);
  if (speaks_of(hardware, "1 thread")) {
    return answered(1.0 / (law.graph_query + wide * law.graph_step).raw(), 0.2);
  }
  std::string why;
  const std::optional<ClassicCards> cards = classic_cards(laws.catalog, laws.data, hardware, why);
  if (!cards) {
    return unsupported(why);
  }
  if (speaks_of(config, "HNSW")) {
    return answered(1.0 / (law.gpu_graph_query + wide * (law.gpu_graph_step / cards->card.bandwidth)).raw(),
                    numbers.search.width_gpu_graph);
  }
  SearchTask task;
  task.index = IndexKind::graph;
  task.vectors = 1e6;
  task.dims = 768.0;
  task.batch = 1e6;
  return answered(task.batch / classic::search_time(task, cards->card, 1.0, 1.0, numbers).total().raw(),
                  numbers.search.width_gpu_graph, "a million vectors of 768 dimensions, cuVS's usual graph and width");
}

}  // namespace

RowPrediction predict_vectors(const ClassicLaws& laws, const RunFile& file, const RunRow& row) {
  const std::string config = cell(file, row, "config").value_or("");
  const std::string hardware = cell(file, row, "hardware").value_or("");
  const Numbers& numbers = laws.numbers;
  const ClassicTables& tables = classic_tables(laws.data);
  if (named_in(tables.systems, config) != nullptr) {
    const std::optional<Operating> at = operating_in(tables, config);
    return at ? priced_system(numbers, *at, row, config) : unsupported("no rate of that system on that set is known");
  }
  if (speaks_of(hardware, "not in excerpt") || speaks_of(hardware, "not stated")) {
    return unsupported("the GPU is not stated");
  }
  if (row.metric == "batch_time_s" || row.metric == "time_s") {
    return faiss_batch(laws, config, hardware);
  }
  if (row.metric != "qps") {
    return unsupported("metric " + row.metric + " of a vector search is not answered");
  }
  return hardware.starts_with("Azure") ? processor_rate(numbers, config) : graph_rate(laws, config, hardware);
}

}  // namespace headroom
