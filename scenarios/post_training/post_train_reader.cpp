// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/config_reader.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>
#include <headroom/model/workload/model_data.hpp>
#include <headroom/model/workload/parameters.hpp>
#include <headroom/scenarios/keys/keyed_table.hpp>
#include <headroom/scenarios/keys/post_train_keys.hpp>
#include <headroom/scenarios/money/offer.hpp>
#include <headroom/scenarios/post_training/post_train_question.hpp>
#include <headroom/scenarios/read/hardware_reader.hpp>
#include <headroom/scenarios/read/look_up.hpp>
#include <headroom/scenarios/read/money_reader.hpp>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

namespace headroom {
namespace {

using StepKeys = KeyedTable<keys::post_train, Kinds::post_train>;
using PoolKeys = KeyedTable<keys::pools, Kinds::post_train>;
using StageKeys = KeyedTable<keys::stage, Kinds::post_train>;

class PostTrainReader {
 public:
  PostTrainReader(const ConfigValue& root, std::string file, const Sources& sources) : root_{root, "", diagnostics_} {
    q_.sources = &sources;
    q_.file = std::move(file);
  }

  PostTrainQuestion run() {
    require_schema(root_);
    refuse_base(root_);
    q_.name = root_.maybe_text("name").value_or(shown_name());
    static_cast<void>(root_.maybe_choice("kind", scenario_kind_names));
    read_stages();
    read_gpus();
    if (q_.stages.empty()) {
      read_model();
      StepKeys step{root_.table("post_train")};
      read_software(step);
      read_batch(step);
      read_passes(step);
      step.finish();
      read_pools();
      q_.eager = !q_.model.empty() && recipe_is_eager(q_);
      q_.padded = !q_.model.empty() && recipe_pads(q_);
      if (q_.eager) {
        q_.assumptions.push_back("engines launch their decodes without CUDA graphs, as recipes of " + q_.software.name +
                                 " do");
      }
    } else if (std::optional<StepKeys> step = StepKeys::maybe(root_)) {
      q_.stage_demand = step->stated<"demand">().value_or(0.0);
      step->finish();
    }
    root_.finish();
    diagnostics_.throw_if_any();
    return std::move(q_);
  }

 private:
  [[nodiscard]] std::string shown_name() const { return q_.file.empty() ? "post-training" : q_.file; }

  void read_stages() {
    for (ConfigTable& each : root_.tables("stage")) {
      StageKeys table{std::move(each)};
      BalancedStage stage;
      stage.name = table.get<"name">();
      stage.rate = table.get<"rate">();
      stage.units = table.get<"units">();
      stage.demand = table.get<"demand">();
      stage.gpus = table.stated<"gpus">().value_or(0);
      table.finish();
      q_.stages.push_back(std::move(stage));
    }
  }

  void read_gpus() {
    const bool open = !q_.stages.empty();
    HardwareChoice hardware = read_hardware(root_, *q_.sources, q_.assumptions, open);
    const PowerForm& power = power_form(q_.sources->data);
    q_.money = read_money(root_, q_.sources->catalog, hardware.priced(power, false));
    tell_idle_money(root_,
                    {"answers of kind post_train hold no offers against each other",
                     "answers of kind post_train pay for GPUs alone", "it asks for variants of a training plan"},
                    q_.assumptions);
    q_.energy = read_energy(root_, q_.money);
    q_.gpus = hardware.gpus;
    q_.node = hardware.node;
    q_.cluster = hardware.cluster ? hardware.cluster->id : std::string{};
    q_.power_cap = hardware.power_cap;
    q_.per_node = std::max(hardware.gpus_per_node, hardware.domain);
    q_.outside = hardware.scale_out;
    q_.device = std::move(hardware.device);
    if (open && q_.gpus > 0 && q_.gpus < static_cast<std::int64_t>(q_.stages.size())) {
      root_.problem("stage", counted(static_cast<std::int64_t>(q_.stages.size()), "stage") + " on " +
                                 counted(q_.gpus, "GPU") + ": each needs one; state more GPUs or join stages");
    }
  }

  void read_model() {
    const std::string model = root_.text("model");
    if (const auto found =
            look_up(root_, "model", model, [&](const std::string& id) { return q_.sources->models.find(id); })) {
      q_.model = found->id;
      q_.parameters = count_parameters(*found).total;
      q_.tensors = weight_tensors(*found);
      context_ = found->max_seq_len;
    }
  }

  void read_software(StepKeys& table) {
    const std::string named = table.get<"software">();
    const PostTrainSoftware* found = find_post_train_software(q_.sources->data, named);
    if (found == nullptr) {
      std::vector<std::string_view> ids;
      for (const PostTrainSoftware& each : post_train_software(q_.sources->data)) {
        ids.emplace_back(each.id);
      }
      table.problem("software", "no post-training software " + quoted(named) + "; known are " + listed(ids));
      found = find_post_train_software(q_.sources->data, "any");
    }
    q_.software = *found;
    q_.backend = table.stated<"backend">().value_or("");
    const auto is_word = [&](const auto& backend) { return backend.first == q_.backend; };
    if (!q_.backend.empty() && std::none_of(q_.software.backends.begin(), q_.software.backends.end(), is_word)) {
      std::vector<std::string_view> words;
      for (const auto& [word, stack] : q_.software.backends) {
        words.emplace_back(word);
      }
      table.problem("backend", q_.software.name + " has no trainer " + quoted(q_.backend) + "; state " + listed(words));
    }
    q_.engine = table.stated<"engine">().value_or("");
  }

  void read_batch(StepKeys& table) {
    q_.algorithm = table.get<"algorithm", PostTrainAlgorithm>();
    q_.prompts = table.get<"prompts">();
    q_.samples = table.get<"samples">();
    q_.prompt_tokens = table.get<"prompt_tokens">();
    q_.oversampling = table.get<"oversampling">();
    if (const auto mini = table.stated<"mini_batch">()) {
      q_.mini_batch = *mini;
      const auto all = static_cast<std::int64_t>(static_cast<double>(q_.answers()) * form_of(q_.algorithm).sequences);
      if (*mini > all) {
        table.problem("mini_batch", std::to_string(*mini) + " sequences of an optimizer step are more than the " +
                                        std::to_string(all) +
                                        " of the whole step (prompts x samples); state at most "
                                        "these, or more prompts");
      } else if (*mini < q_.samples) {
        table.problem("mini_batch", "a group of " + std::to_string(q_.samples) +
                                        " answers is larger than a mini-batch of " + std::to_string(*mini) +
                                        " sequences; state at least " + std::to_string(q_.samples) +
                                        ", or fewer samples");
      }
    }
    read_lengths(table);
  }

  void read_lengths(StepKeys& table) {
    const AnswerTables& tables = answer_tables(q_.sources->data);
    const UsualAnswers* usual = &tables.of.back();
    for (const UsualAnswers& each : tables.of) {
      if (std::find(each.models.begin(), each.models.end(), q_.model) != each.models.end()) {
        usual = &each;
        break;
      }
    }
    const auto mean = table.stated<"answer_tokens">();
    const auto most = table.stated<"answer_most">();
    q_.lengths.spread = table.get<"answer_spread">();
    q_.lengths.most = most.value_or(std::max(4096.0, 4.0 * mean.value_or(0.0)));
    q_.lengths.mean = mean ? *mean : usual->mean_of(q_.lengths.most, q_.lengths.spread);
    if (!mean) {
      q_.assumptions.push_back("answers have " + format_count(q_.lengths.mean) +
                               " tokens on the mean: " + usual->source);
    }
    if (!most) {
      q_.assumptions.push_back("answers are cut at " + format_count(q_.lengths.most) + " tokens (not stated)");
    }
    if (q_.lengths.mean > q_.lengths.most) {
      table.problem("answer_tokens", "a mean of " + format_count(q_.lengths.mean) + " tokens lies above answer_most, " +
                                         format_count(q_.lengths.most) + "; state a larger cut or a smaller mean");
    }
    if (context_ > 0 && q_.prompt_tokens + q_.lengths.most > real(context_)) {
      table.problem_at_key(most ? "answer_most" : "prompts",
                           "a prompt of " + format_count(q_.prompt_tokens) + " and an answer of " +
                               format_count(q_.lengths.most) + " tokens are longer than the context of " +
                               format_count(real(context_)) + " tokens of " + q_.model +
                               "; state a smaller answer_most, or a model with a longer context");
    }
  }

  void read_passes(StepKeys& table) {
    q_.reference = table.stated<"reference">().value_or(form_of(q_.algorithm).reference && q_.software.uses_reference);
    q_.old_logprobs = table.get<"old_logprobs">();
    q_.lora = table.get<"lora">();
    const auto named_model = [&](std::string& field, std::optional<std::string> stated, std::string_view key) {
      if (stated) {
        const auto found =
            look_up(table, key, *stated, [&](const std::string& id) { return q_.sources->models.find(id); });
        field = found ? found->id : std::string{};
      }
    };
    named_model(q_.reward_model, table.stated<"reward_model">(), "reward_model");
    named_model(q_.critic_model, table.stated<"critic_model">(), "critic_model");
    q_.precision = table.get<"precision">();
    q_.rollout_precision = keys::rollout_precision_words[table.get<"rollout_precision">()];
    q_.recompute = table.stated<"recompute">().value_or("");
    q_.reward = table.get<"reward_time">();
    q_.turn = table.get<"turn_time">();
    q_.step_tokens = table.get<"step_tokens">();
    q_.steps = table.stated<"steps">().value_or(0.0);
    if (table.stated<"demand">()) {
      table.problem_at_key("demand", "'demand' counts units of [[stage]] tables, and there are none");
    }
  }

  void read_pools() {
    auto table = PoolKeys::or_blank(root_);
    if (const std::size_t placement = table.get<"placement">(); placement > 0) {
      q_.placement = static_cast<PostTrainPlacement>(placement - 1);
    }
    if (const std::size_t order = table.get<"order">(); order > 0) {
      q_.order = static_cast<PostTrainOrder>(order - 1);
    }
    q_.staleness = table.get<"staleness">();
    q_.partial = table.get<"partial">();
    q_.parts = table.get<"parts">();
    if (const auto sync = table.stated<"sync">()) {
      q_.sync = static_cast<WeightSync>(*sync);
    }
    q_.rollout_gpus = table.stated<"rollout_gpus">().value_or(0);
    q_.rollout_tp = table.stated<"rollout_tp">().value_or(0);
    q_.trainer = {table.stated<"tp">().value_or(0), table.stated<"pp">().value_or(0), table.stated<"cp">().value_or(0),
                  table.stated<"ep">().value_or(0)};
    q_.memory_fraction = table.stated<"memory_fraction">();
    q_.most_sequences = table.stated<"max_num_seqs">().value_or(
        q_.software.recipe_slots > 0 ? q_.software.recipe_slots : table.get<"max_num_seqs">());
    const auto other = table.stated<"rollout_gpu">();
    const auto count = table.stated<"rollout_gpu_count">();
    if (other.has_value() != count.has_value()) {
      table.problem(other ? "rollout_gpu" : "rollout_gpu_count",
                    "rollout_gpu and rollout_gpu_count go together: what the SKU of the rollout pool is, and how many");
    } else if (other) {
      if (auto found = look_up(table, "rollout_gpu", *other,
                               [&](const std::string& id) { return q_.sources->catalog.device(id); })) {
        q_.rollout_device = std::move(*found);
        q_.rollout_device_gpus = *count;
      }
    }
    refuse_contradictions(table);
    table.finish();
  }

  void refuse_contradictions(PoolKeys& table) {
    const bool together = q_.placement == PostTrainPlacement::colocated;
    const bool waits = q_.placement == PostTrainPlacement::hybrid || q_.order == PostTrainOrder::synchronous ||
                       q_.order == PostTrainOrder::one_step_off;
    if ((q_.staleness > 0.0 || q_.partial) && (together || waits)) {
      table.problem_at_key(q_.staleness > 0.0 ? "staleness" : "partial",
                           std::string{q_.staleness > 0.0 ? "staleness" : "partial rollouts"} +
                               " without asynchrony: no sample outlasts new weights where " +
                               (together ? "all phases share the GPUs" : "the whole batch is waited for") +
                               "; state placement = \"split\" and order = \"asynchronous\", or leave it out");
    }
    const bool turns = together || q_.placement == PostTrainPlacement::hybrid;
    if (turns && q_.order && *q_.order != PostTrainOrder::synchronous) {
      table.problem_at_key("order",
                           "phases on the same GPUs take turns, so that their order is synchronous; state "
                           "placement = \"split\", or leave 'order' out");
    }
    if (q_.rollout_gpus > 0 && (together || q_.rollout_device)) {
      table.problem_at_key("rollout_gpus", together
                                               ? "colocated rollouts run on all GPUs; leave it out, or split the pools"
                                               : "the rollout pool is of rollout_gpu; state rollout_gpu_count alone");
    } else if (q_.rollout_gpus >= q_.gpus && q_.gpus > 0) {
      table.problem_at_key("rollout_gpus", std::to_string(q_.rollout_gpus) + " of " + counted(q_.gpus, "GPU") +
                                               " sample, and none is left to train; state fewer");
    }
  }

  Diagnostics diagnostics_;
  ConfigTable root_;
  PostTrainQuestion q_;
  std::int64_t context_ = 0;
};

/// What a GPU of the rollout pool's own SKU costs, by the list that prices the trainer's; without it no cost is told.
void price_other_pool(const ConfigValue& root, PostTrainQuestion& q) {
  const ConfigValue* const money = root.find("money");
  const ConfigValue* const list = money != nullptr ? money->find("prices") : nullptr;
  std::string why = "the stated price is of " + q.device.id + " alone; state prices, the id of a list that has both";
  if (list != nullptr) {
    const auto* const at = std::find(market_names.begin(), market_names.end(), name_of(q.money.market));
    const auto market = at == market_names.end() ? Market::on_demand : static_cast<Market>(at - market_names.begin());
    FoundOffer found = find_offer(q.sources->catalog.prices(list->text), q.sources->catalog, q.rollout_device->id,
                                  market, q.money.region);
    q.rollout_price = found.price.price;
    why = std::move(found.why);
  }
  if (q.rollout_price) {
    q.assumptions.push_back("a GPU of " + q.rollout_device->id + " costs " + format(*q.rollout_price) + " (" +
                            q.money.source + ")");
  } else {
    q.money.price.reset();
    q.assumptions.push_back("what the run costs is not told: " + why);
  }
}

}  // namespace

bool asks_for_post_training(const ConfigValue& root) noexcept {
  const ConfigValue* const kind = root.find("kind");
  return kind != nullptr && kind->kind == ConfigValue::Kind::text && kind->text == "post_train";
}

PostTrainQuestion read_post_training(const ConfigValue& root, const std::string& file, const Sources& sources) {
  PostTrainQuestion question = PostTrainReader{root, file, sources}.run();
  if (question.rollout_device && question.money.price) {
    price_other_pool(root, question);
  }
  return question;
}

}  // namespace headroom
