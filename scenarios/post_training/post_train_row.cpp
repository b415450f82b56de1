// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/printable.hpp>
#include <headroom/core/real.hpp>
#include <headroom/core/real_text.hpp>
#include <headroom/model/workload/parameters.hpp>
#include <headroom/scenarios/post_training/post_train_row.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <string_view>
#include <utility>

namespace headroom {
namespace {

constexpr std::array<std::string_view, 22> configuration{"model",
                                                         "params_b",
                                                         "algorithm",
                                                         "software",
                                                         "software_version",
                                                         "gpu",
                                                         "gpus",
                                                         "colocated",
                                                         "async_staleness",
                                                         "prompts_per_step",
                                                         "samples_per_prompt",
                                                         "prompt_tokens_mean",
                                                         "response_tokens_mean",
                                                         "response_tokens_max",
                                                         "train_tp",
                                                         "train_pp",
                                                         "train_cp",
                                                         "train_ep",
                                                         "train_precision",
                                                         "rollout_engine",
                                                         "rollout_tp",
                                                         "options"};

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// Cells of one row by the names of their columns.
class PostTrainCells {
 public:
  PostTrainCells(const RunFile& file, const RunRow& row) : file_{file}, row_{row} { options_ = lower(text("options")); }
  [[nodiscard]] std::string text(std::string_view column) const { return cell(file_, row_, column).value_or(""); }
  [[nodiscard]] std::optional<double> number(std::string_view column) const { return whole_real(text(column)); }
  [[nodiscard]] std::int64_t count(std::string_view column) const {
    return std::llround(std::clamp(number(column).value_or(0.0), 0.0, 1e9));
  }
  /// Whether the options hold these words.
  [[nodiscard]] bool has(std::string_view words) const { return options_.find(words) != std::string::npos; }
  /// The number behind words of the options.
  [[nodiscard]] std::optional<double> behind(std::string_view words) const {
    const std::size_t at = options_.find(words);
    if (at == std::string::npos) {
      return std::nullopt;
    }
    std::size_t begin = at + words.size();
    while (begin < options_.size() && (options_[begin] == ' ' || options_[begin] == '=')) {
      ++begin;
    }
    std::size_t end = begin;
    while (end < options_.size() &&
           (std::isdigit(static_cast<unsigned char>(options_[end])) != 0 || options_[end] == '.')) {
      ++end;
    }
    return whole_real(options_.substr(begin, end - begin));
  }

  /// The number in front of words of the options.
  [[nodiscard]] std::optional<double> before(std::string_view words) const {
    const std::size_t at = options_.find(words);
    if (at == std::string::npos) {
      return std::nullopt;
    }
    std::size_t begin = at;
    while (begin > 0 && std::isdigit(static_cast<unsigned char>(options_[begin - 1])) != 0) {
      --begin;
    }
    return whole_real(options_.substr(begin, at - begin));
  }

 private:
  const RunFile& file_;
  const RunRow& row_;
  std::string options_;
};

/// The preset that a row's model is or means.
std::optional<std::string> preset_id(const Sources& sources, std::string name) {
  name = name.substr(0, name.find(" ("));
  const auto known = [&](const std::string& spelling) -> std::optional<std::string> {
    if (sources.models.knows(spelling)) {
      return sources.models.find(spelling).id;
    }
    if (const std::optional<MeantModel> meant = sources.models.meant(spelling)) {
      return meant->id;
    }
    return std::nullopt;
  };
  if (const auto found = known(name)) {
    return found;
  }
  for (const std::string_view ending : {"-Instruct-2507", "-Instruct", "-Base", "-chat", "-Chat"}) {
    if (name.ends_with(ending)) {
      return known(name.substr(0, name.size() - ending.size()));
    }
  }
  return std::nullopt;
}

WeightSync way_of_options(const PostTrainCells& cells, WeightSync usual) {
  if (cells.has("delta")) {
    return WeightSync::delta;
  }
  if (cells.has("gloo")) {
    return WeightSync::gloo;
  }
  if (cells.has("pinned cpu copy") || cells.has("p2p update")) {
    return WeightSync::host;
  }
  if (cells.has("nixl") || cells.has("rdma") || cells.has("map ") || cells.has("reshard")) {
    return WeightSync::sharded;
  }
  return usual;
}

/// Lengths of the answers: as stated, else of the model's usual ones.
void set_lengths(const PostTrainCells& cells, PostTrainQuestion& q, std::string& assumed) {
  const AnswerTables& tables = answer_tables(q.sources->data);
  const UsualAnswers* usual = &tables.of.back();
  // What is not tuned to instructions yet does not think at length.
  const bool base = cells.text("model").ends_with("-Base");
  for (const UsualAnswers& each : tables.of) {
    if (!base && std::find(each.models.begin(), each.models.end(), q.model) != each.models.end()) {
      usual = &each;
      break;
    }
  }
  const double most = cells.number("response_tokens_max").value_or(0.0);
  const std::optional<double> mean = cells.number("response_tokens_mean");
  q.prompt_tokens = cells.number("prompt_tokens_mean").value_or(usual->prompt);
  q.lengths.spread = tables.spread;
  q.lengths.most = most > 0.0 ? most : q.software.recipe_most > 0 ? real(q.software.recipe_most) : 4096.0;
  q.lengths.mean = mean ? *mean : usual->mean_of(q.lengths.most, q.lengths.spread);
  q.lengths.most = std::max(q.lengths.most, q.lengths.mean);
  q.lengths.mean = std::min(q.lengths.mean, q.lengths.most);
  if (!mean) {
    // Means of one model differ by a tenth between publications, of unlike models by a third, and cuts that nobody
    // states by more.
    constexpr double of_model = 0.1, of_any = 0.35, of_cut = 0.6;
    q.length_doubt = usual != &tables.of.back() ? of_model : most > 0.0 ? of_any : of_cut;
    assumed +=
        "answers of " + std::to_string(std::llround(q.lengths.mean)) + " tokens on the mean (" + usual->source + ")";
  }
}

/// A trainer by itself: one packed sequence of a GPU a step, as its rows measure a micro-batch.
void set_trainer_alone(const PostTrainCells& cells, PostTrainQuestion& q) {
  q.algorithm = PostTrainAlgorithm::sft;
  q.reference = false;
  q.prompts = std::max<std::int64_t>(1, q.gpus);
  q.samples = 1;
  q.prompt_tokens = 0.0;
  q.lengths = {cells.behind("packed sequence").value_or(8192.0), 1e9, 0.0};
  q.lengths.most = q.lengths.mean;
  q.recompute = cells.has("activation recompute") || cells.has("activation offload") ? "full" : "none";
}

PostTrainAlgorithm algorithm_of(const std::string& text) {
  const std::string word = lower(text);
  for (std::size_t i = 0; i < post_train_algorithm_names.size(); ++i) {
    if (word.starts_with(post_train_algorithm_names[i])) {
      return static_cast<PostTrainAlgorithm>(i);
    }
  }
  return PostTrainAlgorithm::grpo;
}

/// Recipes of a software where a row states no batch.
void set_batch(const PostTrainCells& cells, PostTrainQuestion& q, std::string& assumed) {
  q.prompts = cells.count("prompts_per_step");
  q.samples = cells.count("samples_per_prompt");
  if (q.prompts == 0 && q.software.recipe_prompts > 0) {
    q.prompts = q.software.recipe_prompts;
    assumed += (assumed.empty() ? "" : "; ") + std::to_string(q.prompts) + " prompts a step (recipe of " +
               q.software.name + ")";
  }
  if (q.samples == 0 && q.software.recipe_samples > 0) {
    q.samples = q.software.recipe_samples;
    assumed += (assumed.empty() ? "" : "; ") + std::to_string(q.samples) + " answers a prompt (recipe of " +
               q.software.name + ")";
  }
  if (const auto sequences = cells.behind("train_gbs=")) {
    q.mini_batch = std::llround(*sequences);
  } else if (const auto prompts = cells.behind("mini batch")) {
    q.mini_batch = std::llround(*prompts) * q.samples;
  }
}

void set_flow(const PostTrainCells& cells, PostTrainQuestion& q) {
  q.placement = cells.text("colocated") == "0" ? PostTrainPlacement::split : PostTrainPlacement::colocated;
  q.staleness = cells.number("async_staleness").value_or(0.0);
  q.partial = cells.has("partial rollout") && !cells.has("no partial");
  const bool async =
      q.placement == PostTrainPlacement::split && (q.staleness > 0.0 || q.partial || cells.has("require_batches"));
  q.order = async ? PostTrainOrder::asynchronous : PostTrainOrder::synchronous;
  q.partial = q.partial || (async && q.software.async_partial);
  q.parts = std::max(1.0, cells.behind("sync every").value_or(1.0));
  if (q.order == PostTrainOrder::asynchronous && !q.software.async_old_logprobs) {
    q.old_logprobs = false;
  }
}

}  // namespace

std::optional<PostTrainQuestion> post_train_question_of(
    const Sources& sources, const RunFile& file, const RunRow& row, RowPrediction& refusal, std::string& assumed) {
  const PostTrainCells cells{file, row};
  PostTrainQuestion q;
  q.sources = &sources;
  const Device* const device = [&]() -> const Device* {
    try {
      // Publications of post-training write H20 for the first of its two cards, which alone was sold when they were.
      const std::string gpu = cells.text("gpu");
      if (gpu == "H20") {
        assumed += (assumed.empty() ? "" : "; ") + std::string{"H20 has 96 GB"};
      }
      return &sources.catalog.device(gpu == "H20" ? "h20-sxm-96gb" : gpu);
    } catch (const ConfigError&) {
      return nullptr;
    }
  }();
  if (device == nullptr) {
    refusal = unsupported("the catalog has no SKU " + quoted(shown(cells.text("gpu"))));
    return std::nullopt;
  }
  q.device = *device;
  q.per_node = 8;
  if (const Node* node = sources.catalog.reference_node(*device)) {
    q.per_node = node->domain ? node->domain->value : node->gpus;
    if (node->nic_rate && node->nics) {
      q.outside = real(node->nics->value) / real(node->gpus) * node->nic_rate->value;
    }
  }
  const PostTrainSoftware* software = find_post_train_software(sources.data, cells.text("software"));
  if (software == nullptr) {
    software = find_post_train_software(sources.data, "any");
    assumed = "phases of no software that is known here";
  }
  q.software = *software;
  const std::int64_t train = cells.count("train_gpus"), rollout = cells.count("rollout_gpus");
  q.gpus = std::max(cells.count("gpus"), std::max(train, rollout));
  q.parameters = 1e9 * cells.number("params_b").value_or(0.0);
  const std::optional<std::string> id = preset_id(sources, cells.text("model"));
  // An export by Megatron gathers an expert of each rank of a group at once (verl/utils/megatron_utils.py,
  // per_tensor_generator); a group is a host where nobody says otherwise.
  const double group = cells.has("megatron") ? std::max(1.0, cells.number("train_ep").value_or(8.0)) : 1.0;
  q.tensors = id ? weight_tensors(sources.models.find(*id), group) : 0.0;
  q.rollout_precision = cells.has("rollout_precision=fp8") ? "fp8" : "bf16";
  q.precision = "bf16";
  const std::string algorithm = lower(cells.text("algorithm"));
  set_flow(cells, q);
  q.sync =
      way_of_options(cells, q.placement == PostTrainPlacement::colocated ? software->sync_local : software->sync_split);
  if (cells.has("checkpoint-engine on")) {
    q.tensors = 0.0;  // gathered into buckets
  }
  for (const auto& [word, stack] : software->backends) {
    if (cells.has(word)) {
      q.backend = word;
    }
  }
  q.pause = Seconds{cells.before(" s pause grace").value_or(0.0)};
  q.rollout_gpus = rollout;
  q.rollout_tp = cells.count("rollout_tp");
  if (algorithm == "weight sync" || row.metric == "sync_time_s") {
    if (cells.text("train_precision") == "fp8" && algorithm == "weight sync") {
      q.rollout_precision = "fp8";
    }
    if (q.parameters <= 0.0) {
      refusal = unsupported("not published: params_b");
      return std::nullopt;
    }
  }
  if (algorithm == "weight sync") {
    return q;
  }
  if (!id) {
    refusal = unsupported("no preset describes the model " + quoted(shown(cells.text("model"))));
    return std::nullopt;
  }
  q.model = *id;
  q.parameters = count_parameters(sources.models.find(*id)).total;
  q.algorithm = algorithm_of(algorithm);
  q.lora = algorithm.find("lora") != std::string::npos;
  q.trainer = {cells.count("train_tp"), cells.count("train_pp"), cells.count("train_cp"), cells.count("train_ep")};
  q.eager = recipe_is_eager(q);
  q.padded = recipe_pads(q);
  q.optimizer_on_host = cells.has("adam offload");
  q.least_tp = true;
  q.most_sequences = software->recipe_slots > 0 ? software->recipe_slots : q.most_sequences;
  const bool first = backend_of(q).first == (software->backends.empty() ? "" : software->backends.front().first);
  if (q.trainer.cp == 0 && first) {
    q.trainer.cp = software->recipe_cp;
    q.shard_ranks = software->recipe_shard_ranks;
  }
  if (const auto engines = cells.before(" vllm engines"); q.rollout_tp == 0 && engines) {
    const std::int64_t pool = q.rollout_gpus > 0 ? q.rollout_gpus : q.gpus;
    q.rollout_tp = std::max<std::int64_t>(1, pool / std::max<std::int64_t>(1, std::llround(*engines)));
  }
  if (q.rollout_tp == 0) {
    q.rollout_tp = std::min(software->recipe_rollout_tp, rollout > 0 ? rollout : q.gpus);
  }
  if (cells.has("attention fa3")) {
    q.attention = "flash3";
  }
  q.micro_batch = cells.has("one sample per row") ? 1 : software->recipe_micro_batch;
  if (cells.has("activation checkpointing on") || cells.has("recompute on")) {
    q.recompute = "full";
  } else if (cells.has("activation checkpointing off") || cells.has("no recompute")) {
    q.recompute = "none";
  } else if (!software->recompute_of.empty()) {
    const auto& all = software->recompute_of;
    q.recompute = std::find(all.begin(), all.end(), q.model) != all.end() ? "full" : "none";
  }
  if (algorithm.find("trainer only") != std::string::npos) {
    set_trainer_alone(cells, q);
    q.trainer = {};
    return q;
  }
  if (cells.has("turns") && !cells.number("response_tokens_mean")) {
    refusal = unsupported("not published: tokens of answers over several turns, and what their tools take");
    return std::nullopt;
  }
  set_batch(cells, q, assumed);
  if (q.prompts == 0 || q.samples == 0) {
    refusal = unsupported("not published: prompts_per_step and samples_per_prompt");
    return std::nullopt;
  }
  set_lengths(cells, q, assumed);
  q.reference =
      cells.has("kl ref") || (form_of(q.algorithm).reference && q.software.uses_reference && !cells.has("no kl"));
  if (const auto drafted = cells.behind("mean length"); drafted && cells.has("mtp")) {
    q.step_tokens = std::max(1.0, *drafted);
  }
  return q;
}

const PostTrainCase& PostTrainRowModel::priced(const RunFile& file, const RunRow& row) {
  std::string key;
  for (const std::string_view column : configuration) {
    key += cell(file, row, column).value_or("") + '\x1f';
  }
  key += cell(file, row, "rollout_gpus").value_or("") + '\x1f' + cell(file, row, "train_gpus").value_or("");
  std::unique_ptr<PostTrainCase>& entry = kept_[key];
  if (!entry) {
    entry = std::make_unique<PostTrainCase>();
    entry->question = post_train_question_of(sources_, file, row, entry->refusal, entry->assumed);
    if (entry->question && !entry->question->model.empty()) {
      PostTrainQuestion& q = *entry->question;
      PoolPrices prices{q};
      PostTrainFlow flow;
      flow.placement = *q.placement;
      flow.order = *q.order;
      flow.staleness = q.staleness;
      flow.partial = q.partial;
      flow.parts = q.parts;
      const std::int64_t rollout = q.rollout_gpus > 0 ? q.rollout_gpus : std::max<std::int64_t>(1, q.gpus / 2);
      entry->way = price_way(q, prices, flow, rollout);
      if (entry->way->trainer.train.raw() <= 0.0 || (form_of(q.algorithm).samples && entry->way->engine_tp == 0)) {
        entry->refusal = unsupported(entry->way->why_not);
        entry->way.reset();
      }
    }
  }
  return *entry;
}

std::optional<PostTrainFigure> figure_of(std::string_view metric) noexcept {
  constexpr std::array<std::pair<std::string_view, PostTrainFigure>, 8> figures{{
      {"step_time_s", PostTrainFigure::step},
      {"tokens_per_s_per_gpu", PostTrainFigure::step},
      {"samples_per_s", PostTrainFigure::step},
      {"rollout_time_s", PostTrainFigure::rollout},
      {"train_time_s", PostTrainFigure::train},
      {"logprob_time_s", PostTrainFigure::passes},
      {"sync_time_s", PostTrainFigure::sync},
      {"idle_share", PostTrainFigure::idle},
  }};
  const auto* const found =
      std::find_if(figures.begin(), figures.end(), [&](const auto& each) { return each.first == metric; });
  return found == figures.end() ? std::nullopt : std::optional{found->second};
}

std::optional<double> post_train_value(const PostTrainCase& known,
                                       const PostTrainNumbers& numbers,
                                       std::span<const SyncPath> paths,
                                       std::string_view metric) {
  if (!known.question) {
    return std::nullopt;
  }
  const PostTrainQuestion& q = *known.question;
  if (!known.way) {
    if (metric != "sync_time_s") {
      return std::nullopt;
    }
    const bool local = *q.placement == PostTrainPlacement::colocated;
    // An engine whose ranks nobody states has as many as hold the weights in half of their memory, and a trainer as
    // many as do not sample.
    const double needed = std::ceil(2.0 * q.parameters / (0.5 * q.device.capacity().value.raw()));
    const double engine = q.rollout_tp > 0 ? real(q.rollout_tp) : needed;
    const double trainer = q.gpus > q.rollout_gpus ? real(q.gpus - q.rollout_gpus) : std::max(1.0, real(q.gpus));
    return sync_time(q, paths, *q.sync, engine, trainer, q.gpus > q.per_node || (!local && q.gpus == 0)).raw();
  }
  PostTrainWay way = *known.way;
  set_phases(q, numbers, paths, way);
  const PhaseTimes& p = way.phases;
  const double sequences = static_cast<double>(q.answers());
  const double tokens = sequences * (q.prompt_tokens + q.lengths.mean);
  const Seconds trained = p[Phase::train] + p[Phase::critic];
  const double step = form_of(q.algorithm).samples ? way.step.step.raw() : trained.raw();
  if (metric == "step_time_s") {
    return step;
  }
  if (metric == "tokens_per_s_per_gpu") {
    return tokens / step / static_cast<double>(q.gpus);
  }
  if (metric == "samples_per_s") {
    return sequences / step;
  }
  if (metric == "rollout_time_s") {
    return p[Phase::rollout].raw();
  }
  if (metric == "train_time_s") {
    return trained.raw();
  }
  if (metric == "logprob_time_s") {
    const Seconds both = p[Phase::logprob] + p[Phase::reference];
    return (q.software.logprob_column_holds_all || p[Phase::logprob].raw() <= 0.0 ? both : p[Phase::logprob]).raw();
  }
  if (metric == "sync_time_s") {
    return (p[Phase::sync] + p[Phase::swap]).raw();
  }
  // What fetches samples and puts batches together is a wait by the clocks of asynchronous trainers.
  const bool beside = q.software.sync_beside && q.order == PostTrainOrder::asynchronous;
  Seconds other = beside ? Seconds{} : p[Phase::other];
  if (q.order == PostTrainOrder::asynchronous) {
    other += way.step.waits;
  } else if (const auto& printed = q.software.prints; !printed.empty()) {
    for (std::size_t i = 0; i < phase_count; ++i) {
      const bool told = std::find(printed.begin(), printed.end(), phase_names[i]) != printed.end();
      other += told || static_cast<Phase>(i) == Phase::other ? Seconds{} : p.of[i];
    }
  }
  if (metric == "idle_share") {
    return q.order == PostTrainOrder::asynchronous ? other / way.step.step : way.step.train_idle;
  }
  if (metric == "other_time_s") {
    return other.raw();
  }
  return std::nullopt;
}

RowPrediction PostTrainRowModel::predict(const RunFile& file, const RunRow& row) {
  const PostTrainCase& known = priced(file, row);
  if (!known.question) {
    return known.refusal;
  }
  const PostTrainSoftware& software = known.question->software;
  const std::optional<double> value = post_train_value(known, software.numbers, software.paths, row.metric);
  if (!value) {
    return known.way ? unsupported("metric " + quoted(shown(row.metric)) + " of post-training is not predicted")
           : known.question->model.empty()
               ? unsupported("a row of weights that are sent has no metric " + quoted(shown(row.metric)))
               : known.refusal;
  }
  RowPrediction answer;
  answer.status = RowStatus::ok;
  answer.predicted = *value;
  answer.assumed = known.assumed;
  const PostTrainFigure figure = figure_of(row.metric).value_or(PostTrainFigure::step);
  const double width = software.width(figure);
  const bool share = figure == PostTrainFigure::idle;
  answer.low = share ? std::max(0.0, *value - width) : *value / (1.0 + width);
  answer.high = share ? std::min(1.0, *value + width) : *value * (1.0 + width);
  return answer;
}

}  // namespace headroom
