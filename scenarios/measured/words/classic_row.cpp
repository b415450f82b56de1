// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/classic/boosted_trees.hpp>
#include <headroom/model/classic/clusters.hpp>
#include <headroom/model/workload/model_data.hpp>
#include <headroom/scenarios/measured/words/classic_row.hpp>
#include <headroom/scenarios/measured/words/classic_tables.hpp>
#include <headroom/scenarios/measured/words/config_words.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>

namespace headroom {
namespace {

using classic::Numbers;
using classic::TreeTask;

bool text_has(std::string_view text, std::string_view word) {
  return text.find(word) != std::string_view::npos;
}

/// "xgboost" of "xgboost; airline ...", "xgboost Sept 2020; ...": the first word, as the laws' libraries are called.
std::string library_of(std::string_view config) {
  std::string word{config.substr(0, config.find_first_of("; "))};
  return word == "h2o-xgboost" ? "h2o" : word;
}

/// The airline data of GBM-perf: eight columns, of which each row has one value, one-hot or not; 100 trees of depth 10.
TreeTask airline(double rows) {
  TreeTask task;
  task.rows = rows;
  task.features = task.entries = 8.0;
  task.rounds = 100.0;
  task.depth = 10.0;
  return task;
}

RowPrediction early_trees(const ClassicLaws& laws, const std::string& config) {
  const ClassicTables& tables = classic_tables(laws.data);
  const std::string library = config.substr(0, config.find(';'));
  const auto law = std::find_if(tables.early.begin(), tables.early.end(),
                                [&](const EarlyTrees& each) { return each.package == library; });
  const TreeData* const set = named_in(tables.trees, config);
  const std::optional<double> rounds = number_in(parts_of(config), "", " rounds");
  if (law == tables.early.end() || set == nullptr || !rounds) {
    return unsupported("no trees of 2018 by the name of '" + library + "', or no data set that is known");
  }
  const Seconds time =
      *rounds * set->outputs *
      (law->round + set->features * law->feature + set->rows * set->features * set->dense * law->update);
  return answered(time.raw(), 0.8, "the depth and the cards of those runs, which their table leaves open");
}

/// Runs of 2017, whose rounds and leaves their notebooks state for each data set.
RowPrediction leaf_trees(const ClassicLaws& laws,
                         const RunRow& row,
                         const std::string& config,
                         const std::string& hardware) {
  const ClassicTables& tables = classic_tables(laws.data);
  const std::string library = config.substr(0, config.find(';'));
  const bool cores = text_has(hardware, "CPU");
  const auto law = std::find_if(tables.leaf_trees.begin(), tables.leaf_trees.end(),
                                [&](const LeafTrees& each) { return each.package == library && each.cores == cores; });
  const LeafSet* const set = named_in(tables.leaf_sets, config);
  const std::optional<double> rows = number_behind(config, "rows="), features = number_behind(config, "features=");
  if (law == tables.leaf_trees.end() || set == nullptr || !rows || !features || row.metric != "train_time_s") {
    return unsupported("no trees of 2017 by the name of '" + library + "', or no data set whose rounds are known");
  }
  const Seconds tree =
      set->leaves * *features * law->feature + *rows * *features * std::log2(set->leaves) * law->update;
  return answered((set->trees * tree).raw(), tables.leaf_width, "leaves halve their rows as they split");
}

RowPrediction trees_of_cores(const ClassicLaws& laws,
                             const RunRow& row,
                             const std::string& config,
                             const std::string& hardware,
                             const TreeTask& task,
                             const classic::CpuTrees& law) {
  std::string why;
  const std::size_t at = config.find("cores=");
  const std::string stated = at == std::string::npos ? "" : config.substr(at + 6);
  const std::optional<classic::Cores> cores = classic_cores(laws.catalog, laws.data, hardware, stated, why);
  if (!cores) {
    return unsupported(why);
  }
  if (row.metric == "peak_memory_gb") {
    return answered(classic::tree_memory(task, 1.0, law.bytes_per_entry, laws.numbers.bytes_per_row).raw() / 1e9, 0.3);
  }
  const ClassicHost* const host = longest_name(classic_tables(laws.data).hosts, hardware).entry;
  const Seconds time = (host->early ? law.early : 1.0) * classic::tree_time(task, *cores, law).total();
  if (row.metric == "speedup_16c_vs_1c") {
    if (law.package == "h2o") {
      return unsupported("H2O's runs on all cores do not tell what of its time one core would take");
    }
    classic::Cores one = *cores;
    one.cores = one.threads = 1.0;
    return answered(classic::tree_time(task, one, law).total() / time, law.width);
  }
  if (row.metric != "train_time_s") {
    return unsupported("metric " + row.metric + " of boosted trees is not answered");
  }
  return answered(time.raw(), law.width);
}

/// What of the time that trees grow kernels run, in percent. Of a library whose host bounds it, its kernels add as many
/// pairs as XGBoost's do, and for as long.
RowPrediction busy_share(const Numbers& numbers,
                         const TreeTask& task,
                         const classic::Card& card,
                         const classic::GpuTrees& law,
                         const classic::TreeTime& time) {
  if (law.host_bound) {
    const Seconds kernels = classic::tree_updates(task) / card.by_warps() * numbers.gpu_library("xgboost")->update;
    return answered(100.0 * (kernels / time.total()), 0.5, "kernels that take as long as XGBoost's");
  }
  const Seconds grown = time.total() - time.host;
  return answered(100.0 * (1.0 - time.levels / grown), 0.25, "rows that are quantised before");
}

RowPrediction trees_of_cards(const ClassicLaws& laws,
                             const RunRow& row,
                             const std::string& hardware,
                             const TreeTask& task,
                             const classic::GpuTrees& law) {
  std::string why;
  const std::optional<ClassicCards> cards = classic_cards(laws.catalog, laws.data, hardware, why);
  if (!cards) {
    return unsupported(why);
  }
  const Numbers& numbers = laws.numbers;
  const std::optional<classic::Cores> host = classic_host(laws.catalog, laws.data, hardware, why);
  if (!host) {
    return unsupported(why);
  }
  if (row.metric == "peak_memory_gb") {
    return answered(classic::tree_memory(task, cards->cards, law.bytes_per_entry, numbers.bytes_per_row).raw() / 1e9,
                    0.3);
  }
  const classic::TreeTime time =
      classic::tree_time(task, cards->card, cards->cards, *host, law, numbers.rows_per_split);
  if (row.metric.starts_with("gpu_utilization_pct")) {
    return busy_share(numbers, task, cards->card, law, time);
  }
  if (row.metric != "train_time_s") {
    return unsupported("metric " + row.metric + " of boosted trees is not answered");
  }
  return answered(time.total().raw(), law.width);
}

RowPrediction predict_trees(const ClassicLaws& laws,
                            const RunRow& row,
                            const std::string& config,
                            const std::string& hardware) {
  if (text_has(config, "dataset=") && text_has(config, " rounds")) {
    return early_trees(laws, config);
  }
  if (text_has(config, "dataset=")) {
    return leaf_trees(laws, row, config, hardware);
  }
  if (text_has(config, "Spark") || text_has(config, "May 2019")) {
    return unsupported(text_has(config, "Spark") ? "trees of Spark on a cluster are not modelled"
                                                 : "that release lost its time between sockets, as its notes say");
  }
  const bool on_cores = text_has(hardware, "CPU");
  if (!on_cores && row.metric == "train_time_s" && !text_has(config, "airline")) {
    return unsupported("neither the trees of the run nor what its time holds are published");
  }
  const std::optional<double> rows = number_behind(config, "rows=");
  if (!rows && row.metric.find("utilization") == std::string::npos) {
    return unsupported("the row states no number of rows");
  }
  // A range of utilisation is that of one to ten million rows.
  const TreeTask task = airline(rows.value_or(row.metric == "gpu_utilization_pct_low" ? 1e6 : 1e7));
  const std::string library = library_of(config);
  const Numbers& numbers = laws.numbers;
  const classic::CpuTrees* const cpu = numbers.cpu_library(library);
  const classic::GpuTrees* const gpu = numbers.gpu_library(library);
  if (on_cores ? cpu == nullptr : gpu == nullptr) {
    return unsupported("no boosted trees by the name of '" + library + "' were measured");
  }
  return on_cores ? trees_of_cores(laws, row, config, hardware, task, *cpu)
                  : trees_of_cards(laws, row, hardware, task, *gpu);
}

RowPrediction predict_kmeans(const ClassicLaws& laws,
                             const RunRow& row,
                             const std::string& config,
                             const std::string& hardware) {
  const Numbers::KMeans& small = laws.numbers.kmeans;
  if (text_has(config, "one small image, 50 iterations") && row.metric == "time_s") {
    // What an iteration takes whose work is nothing.
    constexpr double iterations = 50.0;
    return answered((iterations * (text_has(config, "CPU") ? small.cpu_iteration : small.gpu_iteration)).raw(), 0.5);
  }
  const std::optional<double> n = number_behind(config, "n="), d = number_behind(config, "d="),
                              k = number_behind(config, "k="), iterations = number_behind(config, "niter=");
  if (row.metric != "train_time_s" || !n || !d || !k || !iterations) {
    return unsupported("points, dimensions, clusters or iterations of the run are not published");
  }
  std::string why;
  std::optional<ClassicCards> cards = classic_cards(laws.catalog, laws.data, hardware, why);
  if (!cards) {
    return unsupported(why);
  }
  const classic::KMeansTask task{*n, *d, *k, *iterations, text_has(hardware, "fp16")};
  const Numbers::KMeans& law = laws.numbers.kmeans;
  return answered(classic::kmeans_time(task, cards->card, cards->cards, false, law).total().raw(), law.width);
}

RowPrediction predict_image(const ClassicLaws& laws,
                            const RunRow& row,
                            const std::string& config,
                            const std::string& hardware) {
  const ClassicTables& tables = classic_tables(laws.data);
  std::string why;
  const std::optional<classic::Cores> cores = classic_cores(laws.catalog, laws.data, hardware, "", why);
  const ClassicHost* const host = longest_name(tables.hosts, hardware).entry;
  const std::string name = config.substr(0, config.find(';'));
  const auto network = std::find_if(tables.images.begin(), tables.images.end(),
                                    [&](const ImageNetwork& each) { return each.name == name; });
  const std::optional<double> pixels = number_in(parts_of(config), "", "px");
  if (!cores || host->efficiency <= 0.0) {
    return unsupported(cores ? "no network was measured on " + hardware : why);
  }
  if (network == tables.images.end() || !pixels || row.metric != "images_per_s" || !text_has(config, "batch=1;")) {
    return unsupported("no call of one image of '" + name + "' on a processor is known");
  }
  const double scale = *pixels / network->pixels;
  const Seconds time = network->layers * tables.image_layer +
                       Flops{2.0 * network->multiplications * scale * scale} / (host->efficiency * cores->peak);
  return answered(1.0 / time.raw(), tables.image_width);
}

}  // namespace

bool classic_row(const RunFile& file, const RunRow& row) {
  const std::string workload = cell(file, row, "workload").value_or("");
  const std::string config = cell(file, row, "config").value_or("");
  const std::string hardware = cell(file, row, "hardware").value_or("");
  return workload == "gbdt_train" || workload == "kmeans" || workload == "ann_search" || workload == "dlrm_train" ||
         workload == "video_enhance" || workload == "rl_sim" || workload == "vla_infer" || workload == "vla_train" ||
         (workload == "dlrm_infer" && (text_has(config, "HPS") || text_has(hardware, "Xeon"))) ||
         (workload == "image_cls_infer" && hardware.starts_with("CPU i"));
}

RowPrediction predict_classic(const ClassicLaws& laws, const RunFile& file, const RunRow& row) {
  const std::string workload = cell(file, row, "workload").value_or("");
  const std::string config = cell(file, row, "config").value_or("");
  const std::string hardware = cell(file, row, "hardware").value_or("");
  return workload == "gbdt_train"        ? predict_trees(laws, row, config, hardware)
         : workload == "kmeans"          ? predict_kmeans(laws, row, config, hardware)
         : workload == "ann_search"      ? predict_vectors(laws, file, row)
         : workload == "image_cls_infer" ? predict_image(laws, row, config, hardware)
         : workload.starts_with("dlrm")  ? predict_recommender(laws, file, row)
                                         : predict_media(laws, file, row);
}

RowPrediction predict_classic(const Catalog& catalog, const ModelData& data, const RunFile& file, const RunRow& row) {
  return predict_classic({catalog, data, classic::numbers(data), classic::media_numbers(data), true}, file, row);
}

std::string classic_machine(const ModelData& data, const RunFile& file, const RunRow& row) {
  const std::string hardware = cell(file, row, "hardware").value_or("");
  std::string_view text = hardware;
  static_cast<void>(leading_count(text));
  const ClassicTables& tables = classic_tables(data);
  if (const ClassicGpu* const gpu = longest_name(tables.gpus, text).entry) {
    return gpu->card;
  }
  const ClassicHost* const host = longest_name(tables.hosts, text).entry;
  return host != nullptr ? host->cpu : hardware;
}

}  // namespace headroom
