// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/workload/hf_config.hpp>
#include <headroom/scenarios/scenario.hpp>
#include <headroom/scenarios/sequence_length.hpp>
#include <headroom/scenarios/serve_reader.hpp>

#include <algorithm>
#include <filesystem>

namespace headroom {
namespace {

constexpr std::array<std::string_view, 3> kinds{"train", "serve", "batch"};

/// Reads one document; assumptions are collected beside the problems.
class ScenarioReader {
 public:
  ScenarioReader(const ConfigValue& root, std::string file, const Sources& sources)
      : root_{root, "", diagnostics_}, sources_{sources} {
    scenario_.file = std::move(file);
  }

  Scenario run() {
    require_schema(root_);
    static_cast<void>(root_.value("base"));
    const std::optional<std::size_t> kind = root_.maybe_choice("kind", kinds);
    scenario_.name = root_.maybe_text("name").value_or(scenario_.file);
    if (!kind) {
      if (!root_.has("kind")) {
        root_.problem("kind", "missing key 'kind', one of train, serve");
      }
      diagnostics_.throw_if_any();  // without a kind the rest of the keys cannot be judged
    }
    if (kind == 2U) {
      root_.problem("kind", "kind 'batch' is not answered by this version; 'train' and 'serve' are");
      diagnostics_.throw_if_any();
    }
    if (kind == 0U) {
      read_train();
    } else {
      read_serve();
    }
    read_money(gpu_id_);
    root_.finish();
    diagnostics_.throw_if_any();
    return std::move(scenario_);
  }

 private:
  void assume(const std::string& text) { scenario_.assumptions.push_back(text); }

  template <class Look>
  auto look_up(ConfigTable& table, std::string_view key, const std::string& spelling, Look look)
      -> std::optional<std::decay_t<decltype(look(spelling))>> {
    try {
      return look(spelling);
    } catch (const ConfigError& error) {
      for (const Diagnostic& diagnostic : error.diagnostics()) {
        if (diagnostic.file.empty()) {
          table.problem(key, diagnostic.message);
        } else {
          diagnostics_.add(diagnostic.file, diagnostic.at, diagnostic.message);
        }
      }
      return std::nullopt;
    }
  }

  Architecture read_model() {
    const ConfigValue* model = root_.value("model");
    if (model == nullptr) {
      root_.problem("model",
                    "missing key 'model', the id of a preset or a [model] table (see 'headroom catalog list models')");
      return {};
    }
    if (model->kind == ConfigValue::Kind::table) {
      return read_inline_model(*model);
    }
    const std::string id = root_.text("model");
    if (id.empty()) {
      return {};
    }
    if (is_path(id)) {
      const std::string path = beside(model->file ? *model->file : scenario_.file, id);
      return look_up(root_, "model", path, [&](const std::string& s) { return load_model(s); })
          .value_or(Architecture{});
    }
    return look_up(root_, "model", id, [&](const std::string& s) { return sources_.models.find(s); })
        .value_or(Architecture{});
  }

  /// A file instead of a preset's id: config.json of Hugging Face.
  static bool is_path(std::string_view text) {
    return text.find('/') != std::string_view::npos || text.ends_with(".json");
  }

  /// Relative to the file that names it; on the command line to the current folder.
  static std::string beside(const std::string& file, const std::string& path) {
    if (file.starts_with("--") || file == "command line") {
      return path;
    }
    return (std::filesystem::path{file}.parent_path() / path).lexically_normal().string();
  }

  Architecture load_model(const std::string& path) {
    std::error_code status;
    if (!std::filesystem::exists(path, status)) {
      const std::string name = path.substr(path.find_last_of('/') + 1);
      throw ConfigError{"no such file " + quoted(path) +
                        (sources_.models.knows(name) ? "; the preset is called '" + sources_.models.entry(name).id + "'"
                                                     : "; 'model' is the id of a preset or the path of a config.json")};
    }
    return load_hf_config(path);
  }

  Architecture read_inline_model(const ConfigValue& model) {
    ConfigTable table{model, "model", diagnostics_};
    inline_model_ = model;
    if (const std::optional<std::string> base = table.maybe_text("base")) {
      const auto below = look_up(table, "base", *base, [&](const std::string& s) { return sources_.models.tree(s); });
      if (!below) {
        return {};
      }
      ConfigValue merged = *below;
      overlay(merged, model);
      merged.at = model.at;
      merged.file = model.file;
      // The base's published count and names speak of another network.
      std::erase_if(merged.entries, [&](const auto& entry) {
        return (entry.key == "parameters" || entry.key == "aliases") && model.find(entry.key) == nullptr;
      });
      inline_model_ = std::move(merged);
    } else {
      add_default("schema", 1);
      add_default("id", "custom");
      add_default("source", "scenario");
    }
    return read_architecture(ConfigTable{inline_model_, "model", diagnostics_});
  }

  void add_default(const std::string& key, std::int64_t value) {
    if (inline_model_.find(key) == nullptr) {
      ConfigValue entry;
      entry.kind = ConfigValue::Kind::integer;
      entry.integer = value;
      inline_model_.entries.emplace_back(key, entry);
    }
  }
  void add_default(const std::string& key, const char* value) {
    if (inline_model_.find(key) == nullptr) {
      ConfigValue entry;
      entry.kind = ConfigValue::Kind::text;
      entry.text = value;
      inline_model_.entries.emplace_back(key, entry);
    }
  }

  struct Hardware {
    Device device;
    std::int64_t gpus = 1;
    std::int64_t domain = 1;
    std::optional<BytesPerSecond> scale_out;
    std::string node;
    std::optional<Node> host;
    std::optional<Cluster> cluster;
    std::int64_t gpus_per_node = 1;
    std::optional<Bytes> host_memory;
  };

  Hardware read_hardware() {
    Hardware result;
    ConfigTable table = root_.table("hardware");
    const std::string gpu = table.text("gpu");
    result.gpus = table.integer("gpus", {1, 10'000'000});
    if (!gpu.empty()) {
      if (auto device =
              look_up(table, "gpu", gpu, [&](const std::string& s) -> Device { return sources_.catalog.device(s); })) {
        result.device = *device;
        gpu_id_ = device->id;
      }
    }
    std::optional<Node> node;
    std::optional<std::string> id = table.maybe_text("node");
    if (const std::optional<std::string> name = table.maybe_text("cluster")) {
      result.cluster = look_up(table, "cluster", *name,
                               [&](const std::string& s) -> Cluster { return sources_.catalog.cluster(s); });
      if (result.cluster && id && *id != result.cluster->node) {
        table.problem("node",
                      "cluster '" + result.cluster->id + "' is of " + result.cluster->node + ", not " + quoted(*id));
      }
      id = result.cluster ? result.cluster->node : id;
    }
    if (id) {
      node = look_up(table, "node", *id, [&](const std::string& s) -> Node { return sources_.catalog.node(s); });
      if (node && !gpu_id_.empty() && node->gpu != gpu_id_ &&
          std::find(node->also.begin(), node->also.end(), gpu_id_) == node->also.end()) {
        table.problem("node", "node '" + node->id + "' holds " + node->gpu + ", not " + gpu_id_);
      }
    } else if (!gpu_id_.empty()) {
      if (const Node* reference = sources_.catalog.reference_node(result.device)) {
        node = *reference;
        assume("hardware.node = " + node->id + " (the reference node of " + gpu_id_ + ")");
      }
    }
    result.host_memory = table.maybe_quantity<Bytes>("host_memory");
    table.finish();
    result.domain = std::max<std::int64_t>(1, result.device.scale_up.domain);
    if (node) {
      result.gpus_per_node = node->gpus;
      if (!result.host_memory && node->host_memory) {
        result.host_memory = node->host_memory->value;
      }
      result.node = node->id;
      result.scale_out = node->scale_out_per_gpu();
      result.domain = std::max(result.domain, node->gpus);
      result.host = node;
    }
    return result;
  }

  void read_training_table(TrainScenario& train) {
    ConfigTable table = root_.table("training");
    constexpr Range<std::int64_t> lengths{1, 100'000'000};
    train.work.shape.seq_len = train.architecture.patches ? table.maybe_integer("seq_len", lengths).value_or(0)
                                                          : table.integer("seq_len", lengths);
    train.work.shape.global_batch = table.integer("global_batch", {1, 1'000'000'000});
    const std::size_t precision = table.choice("precision", training_precision_names);
    train.work.precision = static_cast<Precision>(precision);
    gradients_ = table.maybe_choice("gradients", std::array<std::string_view, 2>{"fp32", "bf16"});
    optimizer_ = table.maybe_choice("optimizer", optimizer_names);
    if (optimizer_) {
      train.optimizer = static_cast<Optimizer>(*optimizer_);
    }
    software_ = table.maybe_text("software");
    if (const ConfigValue* written = table.value("software")) {
      software_place_ = {written->file ? *written->file : table.file(), written->at};
    }
    read_memory_options(table, train.work.options);
    read_offload_target(table, train);
    // Token counts are written as 15e12 or as an integer.
    train.tokens = table.maybe_number("tokens", {1.0, 1e18}).value_or(0.0);
    table.finish();
  }

  /// Where offloaded bytes go: into the host's memory, which must have room, or through it to NVMe.
  static void read_offload_target(ConfigTable& table, TrainScenario& train) {
    const auto target = table.maybe_choice("offload_to", std::array<std::string_view, 2>{"host", "nvme"});
    train.offload_to_nvme = target == 1U;
    if (target && !train.work.options.offload_optimizer && !train.work.options.offload_activations) {
      table.problem("offload_to", "'offload_to' means something with 'offload' only");
    }
  }

  void read_memory_options(ConfigTable& table, MemoryOptions& options) {
    options.method = static_cast<Method>(table.maybe_choice("method", method_names).value_or(0));
    options.lora_rank = table.maybe_integer("lora_rank", {1, 65536}).value_or(options.lora_rank);
    if (table.has("lora_rank") && options.method == Method::full) {
      table.problem("lora_rank", "'lora_rank' means something with method \"lora\" or \"qlora\" only");
    }
    flash_attention_ = table.maybe_boolean("flash_attention");
    options.dropout = table.maybe_boolean("dropout");
    options.fused_loss = table.maybe_boolean("fused_loss");
    options.compiled = table.maybe_boolean("compile").value_or(false);
    options.vocab_multiple = table.maybe_integer("vocab_multiple", {1, 65536}).value_or(1);
    offload_stated_ = table.has("offload");
    for (const std::string& what : table.texts("offload")) {
      if (what == "optimizer") {
        options.offload_optimizer = true;
      } else if (what == "activations") {
        options.offload_activations = true;
      } else {
        table.problem("offload", "'offload' holds " + quoted(what) + ", which is none of optimizer, activations");
      }
    }
  }

  /// The software that keeps the states, and what it keeps with this recipe and optimizer.
  void read_software(TrainScenario& train) {
    const MemoryStacks stacks = MemoryStacks::standard();
    const std::string id = software_.value_or(zero_.value_or(0) >= 3 ? "torchtitan" : "megatron-core-te");
    try {
      train.software = stacks.find(id);
    } catch (const ConfigError& error) {
      diagnostics_.add(software_place_.first, software_place_.second, error.diagnostics().front().message);
      return;
    }
    if (!software_) {
      assume("training.software = " + id + " (" + train.software.name + ": its bytes per parameter, loss and buffers)");
    }
    read_defaults(train);
    StateBytes states = adam_states(train.work.precision);
    if (states.weights < 4.0) {
      states = train.software.states_of(train.work.precision, train.device.generation);
    }
    if (gradients_) {
      states.gradients = *gradients_ == 0 ? 4.0 : 2.0;
    }
    if (optimizer_) {
      const double adam = moment_bytes(Optimizer::adamw);
      const double master = std::max(0.0, states.optimizer - adam);
      states.optimizer = moment_bytes(static_cast<Optimizer>(*optimizer_)) + master;
      states.apart = moments_apart(static_cast<Optimizer>(*optimizer_));
    }
    train.work.states = states;
    if (train.work.options.method == Method::full) {
      tell_states(train);
    }
  }

  void tell_states(const TrainScenario& train) {
    const StateBytes& states = train.work.states;
    std::string text = "states: " + format_number(states.weights) + " bytes a parameter of weights, " +
                       format_number(states.gradients) + " of gradients, " + format_number(states.optimizer) +
                       " of optimizer";
    if (states.apart.embedding > 0.0) {
      text += " (" + format_number(states.optimizer + states.apart.embedding) +
              (states.apart.head > 0.0 ? " of embedding, head and norms)" : " of the embedding)");
    }
    if (states.buckets > 0.0) {
      text += ", " + format_number(states.buckets) + " of gradient buckets where dp cp > 1";
    }
    assume(text);
    if (train.architecture.mtp_layers > 0) {
      assume("model.mtp_layers = " + std::to_string(train.architecture.mtp_layers) +
             " (prediction modules beside the head: in the memory, not in the step)");
    }
  }

  /// Blank keys mean what the software does; where that is no more than usual no line says so.
  void read_defaults(TrainScenario& train) {
    const StackDefaults& defaults = train.software.defaults;
    const std::string by = " (default of " + train.software.id + ")";
    Strategy& s = train.strategy;
    s.zero = static_cast<std::uint8_t>(zero_.value_or(defaults.zero));
    if (!zero_) {
      constexpr std::array<std::string_view, 4> meaning{"nothing sharded", "optimizer states sharded",
                                                        "gradients and optimizer states sharded",
                                                        "weights, gradients and optimizer states sharded"};
      assume("strategy.zero = " + std::to_string(s.zero) + " (" + std::string{meaning[s.zero]} +
             (software_ ? ", default of " + train.software.id : std::string{}) + ")");
    }
    s.sequence_parallel = s.tp > 1 && sequence_parallel_.value_or(defaults.sequence_parallel);
    if (!sequence_parallel_ && s.tp > 1) {
      assume(s.sequence_parallel ? "strategy.sequence_parallel = true (on whenever tp > 1)"
                                 : "strategy.sequence_parallel = false" + by);
    }
    s.etp_open = !etp_;
    const std::uint16_t etp = train.architecture.moe ? defaults.expert_tensor_ranks(s.tp, s.ep) : std::uint16_t{1};
    s.etp = static_cast<std::uint16_t>(etp_.value_or(etp));
    if (!etp_ && train.architecture.moe && s.tp > 1) {
      assume("strategy.etp = " + std::to_string(s.etp) + " (" +
             (s.etp > 1 ? "experts are split as tp is" : "experts are not split") + ", default of " +
             train.software.id + ")");
    }
    MemoryOptions& options = train.work.options;
    options.flash_attention = flash_attention_.value_or(defaults.flash_attention);
    if (!options.flash_attention && !flash_attention_) {
      assume("training.flash_attention = false" + by);
    }
    if (!options.dropout && dropout_by_habit(train.software, train.architecture)) {
      assume("training.dropout = true" + by);
    }
    if (!options.fused_loss && defaults.fused_loss) {
      assume("training.fused_loss = true" + by);
    }
    options.offload_checkpoints = !offload_stated_ && defaults.offload_checkpoints;
    if (options.offload_checkpoints) {
      assume("training.offload: what full recomputation keeps" + by);
    }
  }

  template <class Integer>
  Integer axis(ConfigTable& table, std::string_view key, std::int64_t high) {
    if (const auto value = table.maybe_integer(key, {1, high})) {
      return static_cast<Integer>(*value);
    }
    if (!table.has(key) && (key == "tp" || key == "pp")) {
      assume("strategy." + std::string{key} + " = 1 (not stated)");
    }
    return 1;
  }

  void read_ranks(ConfigTable& table, std::int64_t gpus, Strategy& s) {
    s.tp = axis<std::uint16_t>(table, "tp", 4096);
    s.pp = axis<std::uint16_t>(table, "pp", 4096);
    s.vpp = axis<std::uint16_t>(table, "vpp", 1024);
    s.cp = axis<std::uint16_t>(table, "cp", 4096);
    s.ep = axis<std::uint16_t>(table, "ep", 4096);
    etp_ = table.maybe_integer("etp", {1, 4096});
    const std::int64_t model_ranks = std::int64_t{s.tp} * s.pp * s.cp;
    if (const auto dp = table.maybe_integer("dp", {1, 10'000'000})) {
      s.dp = static_cast<std::uint32_t>(*dp);
    } else {
      s.dp = static_cast<std::uint32_t>(std::max<std::int64_t>(1, gpus / model_ranks));
      assume("strategy.dp = " + std::to_string(s.dp) + " (gpus / (tp pp cp))");
    }
  }

  void read_schedule(ConfigTable& table, Strategy& s) {
    const auto schedule = table.maybe_choice("schedule", schedule_names);
    if (!schedule) {
      return;
    }
    s.schedule = static_cast<Schedule>(*schedule);
    const std::string name{schedule_names[*schedule]};
    if (s.schedule != Schedule::one_f_one_b && s.vpp > 1) {
      table.problem("schedule",
                    "schedule '" + name + "' has no vpp; drop vpp = " + std::to_string(s.vpp) + " or use \"1f1b\"");
    } else if (s.schedule != Schedule::one_f_one_b) {
      assume("the time of schedule " + name + " is priced as 1f1b; its memory is its own");
    }
  }

  void read_strategy(TrainScenario& train) {
    static const ConfigValue nothing;
    ConfigTable table = root_.maybe_table("strategy").value_or(ConfigTable{nothing, "strategy", diagnostics_});
    Strategy& s = train.strategy;
    read_ranks(table, train.work.shape.gpus, s);
    if (const auto micro_batch = table.maybe_integer("micro_batch", {1, 60'000})) {
      s.micro_batch = static_cast<std::uint16_t>(*micro_batch);
    } else {
      train.micro_batch_open = !table.has("micro_batch");
    }
    if (const auto recompute = table.maybe_choice("recompute", recompute_names)) {
      s.recompute = static_cast<Recompute>(*recompute);
    } else {
      train.recompute_open = !table.has("recompute");
    }
    zero_ = table.maybe_integer("zero", {0, 3});
    sequence_parallel_ = table.maybe_boolean("sequence_parallel");
    if (const auto block = table.maybe_integer("recompute_block", {1, 255})) {
      s.recompute_block = static_cast<std::uint8_t>(*block);
      if (*block > 1 && s.recompute != Recompute::full) {
        table.problem("recompute_block", "'recompute_block' means something with recompute = \"full\" only");
      }
    }
    read_schedule(table, s);
    if (const auto shard_ranks = table.maybe_integer("shard_ranks", {1, 65535})) {
      s.shard_ranks = static_cast<std::uint16_t>(*shard_ranks);
    }
    table.finish();
  }

  void settle_sequence(TrainScenario& train) {
    if (!diagnostics_.empty()) {
      return;  // patches or ranks of a broken document are not known
    }
    std::int64_t& seq_len = train.work.shape.seq_len;
    if (const auto wrong = settle_image_tokens(train.architecture, train.strategy, seq_len, scenario_.assumptions)) {
      root_.table("training").problem("seq_len", *wrong);
    }
    if (const auto beyond = beyond_positions(train.architecture, seq_len)) {
      assume(*beyond);
    }
  }

  void read_train() {
    TrainScenario train;
    train.architecture = read_model();
    const Hardware hardware = read_hardware();
    train.device = hardware.device;
    train.domain = hardware.domain;
    train.scale_out = hardware.scale_out;
    train.node = hardware.node;
    train.host = hardware.host;
    train.cluster = hardware.cluster;
    train.work.shape.gpus = hardware.gpus;
    train.host_memory = hardware.host_memory;
    train.gpus_per_node = hardware.gpus_per_node;
    read_training_table(train);
    read_strategy(train);
    read_software(train);
    settle_sequence(train);  // padding depends on sequence parallelism, which the software may settle
    scenario_.question = std::move(train);
  }

  void read_serve() {
    ServeScenario serve;
    serve.architecture = read_model();
    const Hardware hardware = read_hardware();
    serve.device = hardware.device;
    serve.work.gpus = hardware.gpus;
    read_serving(root_, serve, scenario_.assumptions);
    scenario_.question = std::move(serve);
  }

  void read_money(const std::string& gpu) {
    std::optional<ConfigTable> table = root_.maybe_table("money");
    if (!table) {
      return;
    }
    const std::optional<DollarsPerSecond> price = table->maybe_quantity<DollarsPerSecond>("price");
    const std::optional<std::string> list = table->maybe_text("prices");
    const std::size_t market = table->maybe_choice("market", market_names).value_or(0);
    if (price && list) {
      table->problem("prices", "state 'price' or 'prices', not both");
    } else if (price) {
      scenario_.money = {price, "scenario"};
    } else if (list) {
      read_price_list(*table, *list, static_cast<Market>(market), gpu);
    } else if (!table->has("price")) {
      table->problem("price", "[money] needs 'price', e.g. \"2.99 $/h\", or 'prices', the id of a price list");
    }
    table->finish();
  }

  void read_price_list(ConfigTable& table, const std::string& id, Market market, const std::string& gpu) {
    const auto list =
        look_up(table, "prices", id, [&](const std::string& s) -> PriceList { return sources_.catalog.prices(s); });
    if (!list || gpu.empty()) {
      return;
    }
    for (const PriceOffer& offer : list->offers) {
      if (offer.market == market && sources_.catalog.device(offer.gpu).id == gpu) {
        scenario_.money = {
            offer.price.value,
            list->name + ", " + std::string{market_names[static_cast<std::size_t>(market)]} + ", " + list->date};
        return;
      }
    }
    table.problem("prices", "price list '" + list->id + "' has no " +
                                std::string{market_names[static_cast<std::size_t>(market)]} + " offer for " + gpu);
  }

  Diagnostics diagnostics_;
  ConfigTable root_;
  const Sources& sources_;
  Scenario scenario_;
  std::string gpu_id_;
  std::optional<std::size_t> gradients_, optimizer_;  ///< as chosen
  std::optional<std::int64_t> zero_, etp_;            ///< as stated, like the next three: the software fills blanks
  std::optional<bool> sequence_parallel_, flash_attention_;
  bool offload_stated_ = false;
  std::optional<std::string> software_;
  std::pair<std::string, Position> software_place_;
  ConfigValue inline_model_;
};

}  // namespace

Sources Sources::standard() {
  return {Catalog::standard(), ModelLibrary::standard()};
}

Scenario read_scenario(const ConfigValue& root, const std::string& file, const Sources& sources) {
  Scenario scenario = ScenarioReader{root, file, sources}.run();
  scenario.document = std::make_shared<const ConfigValue>(root);
  scenario.sources = &sources;
  return scenario;
}

Scenario changed(const Scenario& scenario, std::span<const std::string> assignments) {
  ConfigValue root = *scenario.document;
  Diagnostics diagnostics;
  for (std::string assignment : assignments) {
    // "key = value", as remedies are printed, for "key=value".
    if (const std::size_t spaced = assignment.find(" = "); spaced != std::string::npos) {
      assignment.replace(spaced, 3, "=");
    }
    apply_override(root, assignment, diagnostics);
  }
  diagnostics.throw_if_any();
  return read_scenario(root, scenario.file, *scenario.sources);
}

bool states(const Scenario& scenario, std::string_view table, std::string_view key) noexcept {
  const ConfigValue* found = scenario.document ? scenario.document->find(table) : nullptr;
  return found != nullptr && found->find(key) != nullptr;
}

ConfigValue scenario_tree(const std::string& path, std::span<const std::string> overrides) {
  const BaseResolver resolve = [](std::string_view id, const std::string& file) -> std::optional<ConfigSource> {
    const std::filesystem::path base = std::filesystem::path{file}.parent_path() / std::filesystem::path{id};
    if (!std::filesystem::is_regular_file(base)) {
      return std::nullopt;
    }
    return read_file(base.lexically_normal().string());
  };
  ConfigValue root = load_with_bases(read_file(path), resolve);
  Diagnostics diagnostics;
  for (const std::string& assignment : overrides) {
    apply_override(root, assignment, diagnostics);
  }
  diagnostics.throw_if_any();
  return root;
}

ConfigValue scenario_tree(std::span<const std::string> overrides) {
  ConfigValue root = parse_toml("schema = 1\n", "command line");
  root.at = {};
  Diagnostics diagnostics;
  for (const std::string& assignment : overrides) {
    apply_override(root, assignment, diagnostics);
  }
  diagnostics.throw_if_any();
  return root;
}

Scenario load_scenario(const std::string& path, std::span<const std::string> overrides, const Sources& sources) {
  return read_scenario(scenario_tree(path, overrides), path, sources);
}

Scenario scenario_from_overrides(std::span<const std::string> overrides, const Sources& sources) {
  return read_scenario(scenario_tree(overrides), "command line", sources);
}

}  // namespace headroom
