// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/config_reader.hpp>
#include <headroom/model/train/memory/load_peak.hpp>
#include <headroom/model/workload/architecture_text.hpp>
#include <headroom/scenarios/keys/all_keys.hpp>
#include <headroom/scenarios/launch/launch_plan.hpp>
#include <headroom/scenarios/question/scenario.hpp>
#include <headroom/scenarios/words/strategy_text.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <type_traits>

namespace headroom::launch {
namespace {

using Kind = ConfigValue::Kind;

/// Keys of a preset that describe the file, not the network.
constexpr std::array<std::string_view, 8> labels{"schema", "id",     "name",  "aliases",
                                                 "family", "source", "notes", "parameters"};
/// Format of the stored checkpoint, which matters to engines and not to training launches.
constexpr std::array<std::string_view, 2> checkpoint{"weights", "fp8_blocks"};

void flatten(const ConfigValue& table, const std::string& prefix, LaunchPlan& plan) {
  for (const ConfigEntry& entry : table.entries) {
    if (entry.value.kind == Kind::table) {
      flatten(entry.value, prefix + entry.key + ".", plan);
    } else {
      ConfigValue value = entry.value;
      value.at = value.key_at = {};
      value.file.reset();
      plan.set(prefix + entry.key, std::move(value));
    }
  }
}

template <class Field>
ConfigValue value_of(const Field& field, const Strategy& s) {
  const auto value = field.of(s);
  if constexpr (std::is_same_v<decltype(value), const bool>) {
    return flag_value(value);
  } else {
    return field.words.empty() ? count_value(static_cast<std::int64_t>(value)) : word_value(field_text(field, s));
  }
}

void set_strategy(const TrainScenario& t, const Strategy& s, LaunchPlan& plan) {
  plan.set("strategy.tp", count_value(s.tp));
  plan.set("strategy.pp", count_value(s.pp));
  plan.set("strategy.vpp", count_value(s.vpp));
  plan.set("strategy.cp", count_value(s.cp));
  plan.set("strategy.dp", count_value(s.dp));
  if (t.architecture.moe) {
    plan.set("strategy.ep", count_value(s.ep));
    plan.set("strategy.etp", count_value(s.etp));
    plan.set("strategy.overlap_experts", flag_value(s.overlap_experts));
  }
  plan.set("strategy.zero", count_value(s.zero));
  if (s.shard_ranks > 0 && s.shard_ranks != s.dp * s.cp) {  // sharding over all of them is the meaning of the blank key
    plan.set("strategy.shard_ranks", count_value(s.shard_ranks));
  }
  plan.set("strategy.micro_batch", count_value(s.micro_batch));
  plan.set("strategy.recompute", word_value(recompute_names[static_cast<std::size_t>(s.recompute)]));
  if (s.recompute == Recompute::full) {
    plan.set("strategy.recompute_block", count_value(s.recompute_block));
  }
  if (s.tp > 1) {
    plan.set("strategy.sequence_parallel", flag_value(s.sequence_parallel));
    plan.set("training.async_tp", flag_value(t.work.options.async_tp));
  }
  plan.set("strategy.order", word_value(name_of(s.order)));
  plan.set("strategy.schedule", word_value(name_of(s.schedule)));
  if (s.first_stage_layers > 0) {
    plan.set("strategy.first_stage_layers", count_value(s.first_stage_layers));
  }
  if (s.last_stage_layers > 0) {
    plan.set("strategy.last_stage_layers", count_value(s.last_stage_layers));
  }
  if (s.cp > 1 && s.cp_form != CpForm::unstated) {
    plan.set("strategy.cp_form", word_value(cp_form_names[static_cast<std::size_t>(s.cp_form)]));
  }
  plan.set("strategy.cuda_graphs", flag_value(s.cuda_graphs));
  for_each_told_field(
      s, [&](const auto& field) { plan.set("strategy." + std::string{field.name.view()}, value_of(field, s)); });
}

/// The place of a key in a scenario that people expect; others follow.
std::size_t rank_of(const ConfigEntry& entry) {
  const std::span<const Key> keys = all_keys();
  const auto at = std::find_if(keys.begin(), keys.end(), [&](const Key& key) { return key.path == entry.key; });
  return static_cast<std::size_t>(at - keys.begin());
}

/// Whether the gradient key has an effect: in fp32 and tf32 every gradient has 4 bytes anyway.
bool has_gradient_key(const TrainScenario& t) {
  return t.work.precision != Precision::fp32 && t.work.precision != Precision::tf32;
}

void set_training(const TrainScenario& t, LaunchPlan& plan) {
  const MemoryOptions& options = t.work.options;
  plan.set("training.seq_len", count_value(t.work.shape.seq_len));
  plan.set("training.global_batch", count_value(t.work.shape.global_batch));
  plan.set("training.precision", word_value(name_of(t.work.precision)));
  plan.set("training.software", word_value(t.software.id));
  if (has_gradient_key(t)) {
    plan.set("training.gradients", word_value(t.work.states.gradients >= 4.0 ? "fp32" : "bf16"));
  }
  if (t.checkpoint_form) {
    plan.set("training.checkpoint_form",
             word_value(checkpoint_form_names[static_cast<std::size_t>(*t.checkpoint_form)]));
  }
  plan.set("training.optimizer",
           word_value(optimizer_names[static_cast<std::size_t>(t.stated.optimizer.value_or(Optimizer::adamw))]));
  plan.set("training.method", word_value(method_names[static_cast<std::size_t>(options.method)]));
  if (options.method != Method::full) {
    plan.set("training.lora_rank", count_value(options.lora_rank));
  }
  if (options.method == Method::qlora) {
    plan.set("training.double_quant", flag_value(doubly_quantised(t.software, options)));
  }
  if (t.architecture.moe) {  // as priced, stated or not
    const ExpertHabits habits = expert_habits_of(t);
    plan.set("training.dispatcher", word_value(expert_dispatcher_names[static_cast<std::size_t>(habits.dispatcher)]));
    plan.set("training.expert_launch", word_value(expert_launch_names[static_cast<std::size_t>(habits.launch)]));
  }
  plan.set("training.flash_attention", flag_value(options.flash_attention));
  plan.set("training.dropout", flag_value(options.dropout.value_or(dropout_by_habit(t.software, t.architecture))));
  plan.set("training.fused_loss", flag_value(is_fused(t.software, options)));
  plan.set("training.compile", flag_value(options.compiled));
  plan.set("training.overlap", flag_value(options.overlapped));
  plan.set("training.vocab_multiple", count_value(options.vocab_multiple));
  plan.set("training.offload.optimizer", flag_value(options.offload_optimizer));
  plan.set("training.offload.activations", flag_value(options.offload_activations));
  if (options.offload_parameters) {
    plan.set("training.offload.parameters", flag_value(true));
  }
  if (options.offload_optimizer || options.offload_activations || options.offload_parameters) {
    plan.set("training.offload_to", word_value(t.offload_to_nvme ? "nvme" : "host"));
  }
  for (const StatedKey& stated : stated_recipe(options)) {
    if (!stated.value.empty()) {
      plan.set(stated.path, word_value(stated.value));
    }
  }
  if (options.bucket > Bytes{}) {  // to the byte, not as people read it
    plan.set("training.bucket_bytes", word_value(std::to_string(std::llround(options.bucket.raw())) + " B"));
  }
  if (t.tokens > 0.0) {
    plan.set("training.tokens", number_value(t.tokens));
  }
}

ConfigValue& child(ConfigValue& table, std::string_view key) {
  if (ConfigValue* found = table.find(key)) {
    return *found;
  }
  ConfigValue fresh;
  fresh.file = table.file;
  fresh.at = table.at;
  table.entries.emplace_back(std::string{key}, std::move(fresh));
  return table.entries.back().value;
}

void place(ConfigValue& root, std::string_view path, const ConfigValue& value) {
  ConfigValue* table = &root;
  std::size_t dot = path.find('.');
  for (; dot != std::string_view::npos; dot = path.find('.')) {
    table = &child(*table, path.substr(0, dot));
    path.remove_prefix(dot + 1);
  }
  ConfigValue copy = value;
  if (!copy.file) {
    copy.file = root.file;
    copy.at = root.at;
  }
  copy.key_at = copy.at;
  table->entries.emplace_back(std::string{path}, std::move(copy));
}

}  // namespace

ConfigValue nothing() {
  ConfigValue value;
  value.kind = Kind::null;
  return value;
}

bool same_value(const ConfigValue& a, const ConfigValue& b) {
  const auto is_number = [](const ConfigValue& v) { return v.kind == Kind::integer || v.kind == Kind::number; };
  const auto number = [](const ConfigValue& v) {
    return v.kind == Kind::integer ? static_cast<double>(v.integer) : v.number;
  };
  if (is_number(a) && is_number(b)) {
    return number(a) == number(b);
  }
  return a.kind == b.kind && value_text(a) == value_text(b);
}

const ConfigValue* LaunchPlan::find(std::string_view key) const noexcept {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const auto& e) { return e.key == key; });
  return found == entries_.end() ? nullptr : &found->value;
}

void LaunchPlan::set(std::string_view key, ConfigValue value) {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const auto& e) { return e.key == key; });
  if (found == entries_.end()) {
    entries_.emplace_back(std::string{key}, std::move(value));
  } else {
    found->value = std::move(value);
  }
}

void LaunchPlan::erase(std::string_view key) {
  std::erase_if(entries_, [&](const ConfigEntry& e) { return e.key == key; });
}

std::int64_t LaunchPlan::count(std::string_view key, std::int64_t fallback) const {
  const ConfigValue* value = find(key);
  return value != nullptr && value->kind == Kind::integer ? value->integer : fallback;
}

double LaunchPlan::number(std::string_view key, double fallback) const {
  const ConfigValue* value = find(key);
  return value == nullptr               ? fallback
         : value->kind == Kind::number  ? value->number
         : value->kind == Kind::integer ? static_cast<double>(value->integer)
                                        : fallback;
}

std::string LaunchPlan::word(std::string_view key, std::string_view fallback) const {
  const ConfigValue* value = find(key);
  return value != nullptr && value->kind == Kind::text ? value->text : std::string{fallback};
}

bool LaunchPlan::flag(std::string_view key, bool fallback) const {
  const ConfigValue* value = find(key);
  return value != nullptr && value->kind == Kind::boolean ? value->boolean : fallback;
}

void set_network(const Architecture& architecture, LaunchPlan& plan) {
  ConfigValue network = parse_toml(architecture_toml(architecture), architecture.id);
  network.entries.erase_if([](const ConfigEntry& entry) {
    return std::find(checkpoint.begin(), checkpoint.end(), entry.key) != checkpoint.end() ||
           std::find(labels.begin(), labels.end(), entry.key) != labels.end();
  });
  flatten(network, "model.", plan);
  // A specific bias key equal to the general one is redundant.
  for (const std::string_view key : {"model.attention_biases", "model.output_bias"}) {
    const ConfigValue* own = plan.find(key);
    if (own != nullptr && own->boolean == plan.flag("model.biases")) {
      plan.erase(key);
    }
  }
}

std::int64_t product(std::int64_t a, std::int64_t b) noexcept {
  constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  if (a <= 0 || b <= 0) {
    return 0;
  }
  return b > largest / a ? largest : a * b;
}

double tokens_of_step(const LaunchPlan& plan) {
  return plan.number("training.seq_len", 0.0) * plan.number("training.global_batch", 0.0);
}

LaunchPlan plan_of(const Scenario& scenario, const TrainScenario& t, const Strategy& strategy) {
  LaunchPlan plan;
  plan.set("name", word_value(scenario.name));
  plan.set("hardware.gpu", word_value(t.device.id));
  plan.set("hardware.gpus", count_value(t.work.shape.gpus));
  if (t.cluster) {
    plan.set("hardware.cluster", word_value(t.cluster->id));
  } else if (!t.node.empty()) {
    plan.set("hardware.node", word_value(t.node));
  }
  const std::int64_t per_node = std::min(std::max<std::int64_t>(1, t.gpus_per_node), t.work.shape.gpus);
  plan.set("launch.gpus_per_node", count_value(per_node));
  plan.set("launch.nodes", count_value((t.work.shape.gpus + per_node - 1) / per_node));
  plan.set("launch.model", word_value(t.architecture.id));
  const ConfigValue* model = scenario.document ? scenario.document->find("model") : nullptr;
  plan.set("launch.own_network", flag_value(model != nullptr && model->kind == Kind::table));
  set_network(t.architecture, plan);
  set_training(t, plan);
  set_strategy(t, strategy, plan);
  return plan;
}

ConfigValue document_of(const LaunchPlan& plan, const std::string& file) {
  ConfigValue root;
  root.file = std::make_shared<const std::string>(file);
  root.at = {1, 1};
  place(root, "schema", count_value(1));
  const std::string kind = plan.word("launch.kind", "train");
  place(root, "kind", word_value(kind));
  // Empty tables are added too, so that the reader reports every missing key.
  const std::string_view work = kind == "serve" ? "serving" : "training";
  for (const std::string_view table : {std::string_view{"hardware"}, work, std::string_view{"strategy"}}) {
    static_cast<void>(child(root, table));
  }
  ConfigValue offload;
  offload.kind = Kind::array;
  std::vector<ConfigEntry> entries = plan.entries();
  std::stable_sort(entries.begin(), entries.end(),
                   [](const ConfigEntry& a, const ConfigEntry& b) { return rank_of(a) < rank_of(b); });
  for (const ConfigEntry& entry : entries) {
    if (entry.key.starts_with("training.offload.")) {
      if (entry.value.boolean) {
        offload.items.push_back(word_value(entry.key.substr(entry.key.rfind('.') + 1)));
        offload.at = entry.value.at;
        offload.file = entry.value.file;
      }
    } else if (!entry.key.starts_with("launch.")) {
      place(root, entry.key, entry.value);
    }
  }
  if (!offload.items.empty()) {
    place(root, "training.offload", offload);
  }
  return root;
}

}  // namespace headroom::launch
