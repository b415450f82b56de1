// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/classic/recommender.hpp>
#include <headroom/model/workload/model_data.hpp>
#include <headroom/scenarios/measured/words/classic_row.hpp>
#include <headroom/scenarios/measured/words/classic_tables.hpp>
#include <headroom/scenarios/measured/words/config_words.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace headroom {
namespace {

using classic::Numbers;
using classic::RecommenderTask;

/// Samples of Criteo's 23 training days, by which an epoch is counted (NVIDIA's DLRM README).
constexpr double criteo_samples = 4'195'197'692.0;

bool names(std::string_view text, std::string_view word) {
  return text.find(word) != std::string_view::npos;
}

RecommenderTask criteo_task(const std::string& config) {
  RecommenderTask task;
  task.crossing = names(config, "DCN") ? classic::Crossing::cross : classic::Crossing::dot;
  task.half = names(config, "AMP") || names(config, "FP16");
  return task;
}

RowPrediction recommender_memory(const Numbers::Recommender& law, const std::string& config) {
  // Tables of that threshold hold 113 billion parameters of 32 bit, as the row beside it says.
  const double copies = names(config, "Adam") ? law.adam : names(config, "Adagrad") ? law.adagrad : law.sgd;
  return answered(113e9 * 4.0 * copies / (1024.0 * 1024.0 * 1024.0), 0.05);
}

RowPrediction trained_recommender(const ClassicLaws& laws,
                                  const RunRow& row,
                                  const std::string& config,
                                  const std::string& hardware) {
  const Numbers::Recommender& law = laws.numbers.recommender;
  if (row.metric == "gpu_memory_required_gib") {
    return recommender_memory(law, config);
  }
  std::string why;
  const std::optional<ClassicCards> found = classic_cards(laws.catalog, laws.data, hardware, why);
  if (!found) {
    return unsupported(why);
  }
  const std::vector<std::string> parts = parts_of(config);
  double cards = number_in(parts, "", " GPU").value_or(1.0);
  cards = names(config, "8 GPU hybrid") ? 8.0 : cards;
  // A k of those tables is 1024 samples; where none is stated, NVIDIA's global batch of 64k.
  const std::optional<double> stated = number_behind(config, "batch/GPU=");
  const double batch = stated ? *stated * 1.024 : 65536.0 / cards;
  const RecommenderTask task = criteo_task(config);
  const Seconds step = recommender_step(task, found->card, cards, batch, {}, law).total();
  const double rate = cards * batch / step.raw();
  if (row.metric == "time_to_train_s") {
    return answered(criteo_samples / rate, law.width);
  }
  if (row.metric != "samples_per_s") {
    return unsupported("metric " + row.metric + " of a recommender's training is not answered");
  }
  return answered(rate, law.width);
}

}  // namespace

RowPrediction predict_recommender(const ClassicLaws& laws, const RunFile& file, const RunRow& row) {
  const std::string config = cell(file, row, "config").value_or("");
  const std::string hardware = cell(file, row, "hardware").value_or("");
  if (cell(file, row, "workload") == "dlrm_train") {
    return trained_recommender(laws, row, config, hardware);
  }
  const Numbers::Recommender& law = laws.numbers.recommender;
  const std::optional<double> batch =
      names(config, "client batch=") ? number_behind(config, "client batch=") : number_behind(config, "batch=");
  if (!batch) {
    return unsupported("the row states no batch");
  }
  std::string why;
  double mean = 0.0, tail = law.serve_tail;
  if (names(hardware, "Xeon")) {
    const std::optional<classic::Cores> cores = classic_cores(laws.catalog, laws.data, hardware, "", why);
    if (!cores) {
      return unsupported(why);
    }
    mean = recommender_request(criteo_task(config), *cores, *batch, law).raw();
    tail = law.cpu_tail;
  } else {
    const std::optional<ClassicCards> found = classic_cards(laws.catalog, laws.data, hardware, why);
    if (!found) {
      return unsupported(why);
    }
    mean = recommender_request(criteo_task(config), found->card, *batch, {}, law).raw();
  }
  if (row.metric == "samples_per_s") {
    return answered(*batch / mean, law.serve_width);
  }
  if (row.metric == "latency_us_p99" || row.metric == "latency_ms_p99") {
    return answered(mean * tail * (row.metric == "latency_us_p99" ? 1e6 : 1e3), law.serve_width);
  }
  return unsupported("metric " + row.metric + " of a recommender's server is not answered");
}

}  // namespace headroom
