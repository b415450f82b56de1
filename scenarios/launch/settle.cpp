// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/printable.hpp>
#include <headroom/model/workload/hf_config.hpp>
#include <headroom/scenarios/launch/network_details.hpp>
#include <headroom/scenarios/launch/settle.hpp>
#include <headroom/scenarios/plan/plan.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>
#include <headroom/scenarios/words/verdict_text.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <utility>

namespace headroom::launch {
namespace {

using Kind = ConfigValue::Kind;

class Settling {
 public:
  Settling(LaunchReading& reading, const Sources& sources) : r_{reading}, plan_{reading.plan}, sources_{sources} {}

  void run(std::span<const std::string> assignments) {
    take(assignments);
    settle_gpus();
    settle_network();
    settle_chunks();
    settle_batch();
    settle_flushes();
    settle_shards();
    settle_tokens();
  }

 private:
  /// Applies assignments, which override the file, except for GPUs, which the file's launch line counts.
  void take(std::span<const std::string> assignments) {
    ConfigValue forced;
    for (const std::string& assignment : assignments) {
      apply_override(forced, assignment, r_.diagnostics);
    }
    const LaunchItems leaves = items_of_document(forced);
    for (const LaunchItem& leaf : leaves.all()) {
      const std::int64_t all = launched();
      if (leaf.name == "hardware.gpus" && leaf.value.kind == Kind::integer && all > 0 && leaf.value.integer != all) {
        r_.problem(*plan_.find("launch.nodes"),
                   std::to_string(all / plan_.count("launch.gpus_per_node", 1)) + " nodes of " +
                       std::to_string(plan_.count("launch.gpus_per_node", 1)) + " GPUs are " + std::to_string(all) +
                       ", not " + std::to_string(leaf.value.integer) + " as stated");
      }
      if (leaf.name == "training.offload" && leaf.value.kind == Kind::array) {
        for (const ConfigValue& what : leaf.value.items) {
          plan_.set("training.offload." + what.text, flag_value(true));
        }
        continue;
      }
      r_.failed.erase(leaf.name);
      plan_.set(leaf.name, leaf.value);
    }
  }

  [[nodiscard]] std::int64_t launched() const {
    return product(plan_.count("launch.nodes", 0), plan_.count("launch.gpus_per_node", 0));
  }
  [[nodiscard]] std::int64_t model_ranks() const {
    return product(product(std::max<std::int64_t>(1, plan_.count("strategy.tp", 1)),
                           std::max<std::int64_t>(1, plan_.count("strategy.pp", 1))),
                   std::max<std::int64_t>(1, plan_.count("strategy.cp", 1)));
  }
  /// Data-parallel ranks from the GPUs and the other axes; 0 when unknown or not whole.
  [[nodiscard]] std::int64_t data_ranks() const {
    const std::int64_t stated = plan_.count("strategy.dp", 0);
    const std::int64_t gpus = plan_.count("hardware.gpus", 0);
    return stated > 0 ? stated : gpus % model_ranks() == 0 ? gpus / model_ranks() : 0;
  }

  void set_like(std::string_view key, std::int64_t count, std::string_view from) {
    ConfigValue value = count_value(count);
    if (const ConfigValue* at = plan_.find(from)) {
      value.file = at->file;
      value.at = value.key_at = at->at;
    }
    plan_.set(key, std::move(value));
  }

  void settle_gpus() {
    if (const std::int64_t ranks = plan_.count("launch.data_ranks", 0); ranks > 0 && !plan_.has("strategy.dp")) {
      set_like("strategy.dp", ranks, "launch.data_ranks");
    }
    const std::int64_t all = launched();
    if (all > 0 && !plan_.has("hardware.gpus")) {
      set_like("hardware.gpus", all, "launch.nodes");
    } else if (all > 0 && all != plan_.count("hardware.gpus", all) && r_.diagnostics.empty()) {
      r_.problem(*plan_.find("hardware.gpus"), std::to_string(plan_.count("hardware.gpus", 0)) + " GPUs in all, but " +
                                                   std::to_string(plan_.count("launch.nodes", 0)) + " nodes of " +
                                                   std::to_string(plan_.count("launch.gpus_per_node", 0)));
    }
    const std::int64_t pass = product(plan_.count("strategy.micro_batch", 0), plan_.count("launch.accumulation", 0));
    if (const std::int64_t batch = plan_.count("training.global_batch", 0); pass > 0 && batch > 0) {
      if (batch % pass != 0) {
        r_.problem(*plan_.find("training.global_batch"),
                   "a batch of " + std::to_string(batch) + " does not divide by micro-batch times accumulation, " +
                       std::to_string(plan_.count("strategy.micro_batch", 0)) + " x " +
                       std::to_string(plan_.count("launch.accumulation", 0)));
      } else if (!plan_.has("strategy.dp")) {
        set_like("strategy.dp", batch / pass, "training.global_batch");
      }
    }
    if (plan_.count("strategy.dp", 0) > 0 && !plan_.has("hardware.gpus")) {
      set_like("hardware.gpus", product(plan_.count("strategy.dp", 0), model_ranks()), "strategy.dp");
    }
  }

  // ---- the network

  [[nodiscard]] std::optional<Architecture> network(const std::string& id) {
    if (id.find('/') != std::string::npos || id.ends_with(".json")) {
      std::error_code status;
      if (!std::filesystem::exists(id, status)) {
        return std::nullopt;
      }
      Diagnostics blank;
      Architecture architecture = load_hf_config(id, blank);
      for (const Diagnostic& remark : blank.sorted()) {
        r_.remarks.push_back(remark.warning());
      }
      return architecture;
    }
    return sources_.models.knows(id) ? std::optional{sources_.models.find(id)} : std::nullopt;
  }

  void settle_network() {
    const ConfigValue* model = plan_.find("model");
    const bool titan = model == nullptr && plan_.has("launch.model");
    const std::string id = titan ? plan_.word("launch.model") : plan_.word("model");
    if (id.empty()) {
      if (plan_.has("model.layers")) {
        recognise();
      }
      return;
    }
    const ConfigValue value = titan ? *plan_.find("launch.model") : *model;
    if (const std::optional<Architecture> known = network(id)) {
      LaunchPlan theirs;
      set_network(*known, theirs);
      compare(theirs, id);
      layers_ = known->layers;
      if (sources_.models.knows(id)) {
        return take_preset(id, theirs, value, r_);
      }
      for (const std::string& key : different_details(plan_, theirs)) {
        if (plan_.find(key)->file) {
          r_.remark(*plan_.find(key), "ignored: " + key + " = " + value_text(*plan_.find(key)) + ", otherwise in " +
                                          quoted(id) + ", which is taken");
        }
      }
    }
    drop_network(plan_);
    plan_.set("model", value);
  }

  /// Whether a value is the default that the other side may leave out.
  static bool is_default(const ConfigValue& value) {
    return (value.kind == Kind::integer && value.integer == 0) || (value.kind == Kind::boolean && !value.boolean);
  }

  /// The longest sequence is a choice of the run as much as of the network, and runs may state a longer one.
  static constexpr std::string_view longest_sequence = "model.max_seq_len";

  static bool is_size(std::string_view key) {
    return key.starts_with("model.") && key != longest_sequence && !is_detail(key);
  }

  void compare(const LaunchPlan& theirs, const std::string& id) {
    for (const ConfigEntry& entry : plan_.entries()) {
      if (!is_size(entry.key) || !entry.value.file) {
        continue;
      }
      const ConfigValue* other = theirs.find(entry.key);
      const bool equal = other == nullptr ? is_default(entry.value) || entry.key == "model.moe.every"
                                          : same_value(*other, entry.value);
      if (!equal) {
        r_.problem(entry.value, entry.key + " = " + value_text(entry.value) + " here, " +
                                    (other == nullptr ? "nothing" : value_text(*other)) + " in " + quoted(id));
      }
    }
  }

  /// Names the preset that has all stated sizes. Among several, prefers the fewest different details, then the launch's
  /// longest sequence, then the first. Without a match the scenario keeps the numbers.
  void recognise() {
    layers_ = plan_.count("model.layers", 0);
    std::string best;
    LaunchPlan preset;
    std::pair<std::size_t, bool> nearest;
    sources_.models.each([&](const std::string& id) {
      LaunchPlan theirs;
      set_network(sources_.models.find(id), theirs);
      if (!same_network(theirs)) {
        return;
      }
      const std::pair distance{different_details(plan_, theirs).size(), other_length(theirs)};
      if (best.empty() || distance < nearest) {
        best = id;
        preset = std::move(theirs);
        nearest = distance;
      }
    });
    if (best.empty()) {
      drop_usual_details(plan_);
      plan_.set("model.source", word_value(shown(r_.file)));
      return;
    }
    const ConfigValue at = *plan_.find("model.layers");
    r_.remark(at, "the network is " + best);
    take_preset(best, preset, at, r_);
  }

  /// Value of a network's key when it is not stated.
  [[nodiscard]] std::optional<ConfigValue> implied(std::string_view key) const {
    const std::int64_t heads = plan_.count("model.heads", 0);
    if (key == "model.kv_heads" && heads > 0) {
      return count_value(heads);
    }
    if (key == "model.head_dim" && heads > 0) {
      return count_value(plan_.count("model.hidden", 0) / heads);
    }
    return std::nullopt;
  }

  [[nodiscard]] bool other_length(const LaunchPlan& theirs) const {
    const std::int64_t length = plan_.count(longest_sequence, 0);
    return length > 0 && length != theirs.count(longest_sequence, length);
  }

  [[nodiscard]] bool same_network(const LaunchPlan& theirs) const {
    for (const ConfigEntry& entry : theirs.entries()) {
      const ConfigValue* ours = plan_.find(entry.key);
      if (!is_size(entry.key) || (entry.key == "model.kind" && entry.value.text == "decoder")) {
        continue;
      }
      const std::optional<ConfigValue> usual = ours == nullptr ? implied(entry.key) : std::nullopt;
      ours = usual ? &*usual : ours;
      if (ours == nullptr ? !is_default(entry.value) : !same_value(*ours, entry.value)) {
        return false;
      }
    }
    return std::all_of(plan_.entries().begin(), plan_.entries().end(), [&](const ConfigEntry& entry) {
      return !is_size(entry.key) || theirs.has(entry.key) || is_default(entry.value) ||
             entry.key == "model.moe.every" || entry.key == "model.moe.dense_layers";
    });
  }

  // ---- what follows

  void settle_chunks() {
    const std::int64_t chunk = plan_.count("launch.chunk_layers", 0);
    const std::int64_t pp = std::max<std::int64_t>(1, plan_.count("strategy.pp", 1));
    if (chunk < 1 || layers_ < 1 || layers_ > layer_count.high) {
      return;
    }
    const std::int64_t counted = layers_ + plan_.count("launch.end_layers", 0);
    const std::int64_t chunks = (counted + chunk - 1) / chunk;
    if (chunks % pp != 0) {
      r_.problem(*plan_.find("launch.chunk_layers"), std::to_string(layers_) + " layers in chunks of " +
                                                         std::to_string(chunk) + " make " + std::to_string(chunks) +
                                                         ", which do not divide by " + std::to_string(pp) + " stages");
      return;
    }
    set_like("strategy.vpp", chunks / pp, "launch.chunk_layers");
  }

  void settle_batch() {
    if (plan_.has("training.global_batch") || data_ranks() < 1) {
      return;
    }
    if (const std::int64_t local = plan_.count("launch.batch_of_rank", 0); local > 0) {
      set_like("training.global_batch", product(local, data_ranks()), "strategy.micro_batch");
    } else if (const std::int64_t micro = plan_.count("strategy.micro_batch", 0); micro > 0) {
      const std::int64_t passes = std::max<std::int64_t>(1, plan_.count("launch.accumulation", 1));
      set_like("training.global_batch", product(product(micro, passes), data_ranks()), "strategy.micro_batch");
    }
  }

  /// A local batch that is all of a replica's part of the step flushes once, as without one.
  void settle_flushes() {
    const std::int64_t local = plan_.count("strategy.local_batch", 0);
    if (local > 0 && product(local, data_ranks()) == plan_.count("training.global_batch", 0)) {
      plan_.erase("strategy.local_batch");
    }
  }

  void settle_shards() {
    const std::int64_t replicas = plan_.count("launch.replicas", 1);
    const std::int64_t ranks = product(data_ranks(), std::max<std::int64_t>(1, plan_.count("strategy.cp", 1)));
    if (replicas <= 1 || ranks < 1 || plan_.has("strategy.shard_ranks")) {
      return;
    }
    if (ranks % replicas != 0) {
      r_.problem(*plan_.find("launch.replicas"),
                 std::to_string(ranks) + " data ranks do not divide by " + std::to_string(replicas) + " replicas");
      return;
    }
    set_like("strategy.shard_ranks", ranks / replicas, "launch.replicas");
  }

  void settle_tokens() {
    const double iterations = plan_.number("launch.iterations", 0.0);
    if (iterations > 0.0 && tokens_of_step(plan_) > 0.0 && !plan_.has("training.tokens")) {
      set_like("training.tokens", 0, "launch.iterations");
      ConfigValue tokens = *plan_.find("training.tokens");
      tokens.kind = Kind::number;
      tokens.number = iterations * tokens_of_step(plan_);
      plan_.set("training.tokens", std::move(tokens));
    }
  }

  LaunchReading& r_;
  LaunchPlan& plan_;
  const Sources& sources_;
  std::int64_t layers_ = 0;
};

struct MissingKey {
  std::string_view key, way;
};
constexpr std::array missing_keys{
    MissingKey{"model", "give --model"},
    MissingKey{"gpu", "give --gpu"},
    MissingKey{"gpus", "give --gpus"},
    MissingKey{"seq_len", "give --seq-len"},
    MissingKey{"global_batch", "give --global-batch"},
    MissingKey{"precision", "give --precision"},
    MissingKey{"isl", "give --isl"},
    MissingKey{"osl", "give --osl"},
    MissingKey{"concurrency", "give --concurrency"},
    MissingKey{"weights", "give --weights"},
    MissingKey{"layers", "state it, or give --model"},
    MissingKey{"hidden", "state it, or give --model"},
    MissingKey{"heads", "state it, or give --model"},
    MissingKey{"vocab", "give --model, or --set model.vocab="},
    MissingKey{"ffn_hidden", "state it, or give --model"},
    MissingKey{"gated_mlp", "state it, or give --model"},
    MissingKey{"tied_embeddings", "state it, or give --model"},
};

/// Adds a scenario's problem, with the option that solves it, unless the key's flag was present and refused.
void add_problem(Diagnostic diagnostic, LaunchReading& reading) {
  for (const MissingKey& missing : missing_keys) {
    if (diagnostic.missing != missing.key) {
      continue;
    }
    const bool refused = std::any_of(reading.failed.begin(), reading.failed.end(), [&](const std::string& key) {
      return key == missing.key || key.ends_with("." + std::string{missing.key});
    });
    if (refused) {
      return;
    }
    diagnostic.message += "; " + std::string{missing.way};
  }
  reading.diagnostics.add(std::move(diagnostic));
}

/// Compares the hosts of the launch with those of the scenario's node.
void check_hosts(const TrainScenario& train, LaunchReading& reading) {
  const ConfigValue* per_node = reading.plan.find("launch.gpus_per_node");
  const std::int64_t stated = reading.plan.count("launch.gpus_per_node", 0);
  if (per_node != nullptr && per_node->file && stated != train.gpus_per_node &&
      (stated > train.gpus_per_node || reading.plan.count("launch.nodes", 1) > 1)) {
    reading.problem(*per_node, std::to_string(stated) + " GPUs a node here, " + std::to_string(train.gpus_per_node) +
                                   " in " + (train.node.empty() ? "a lone GPU" : train.node) + "; give --node");
  }
}

}  // namespace

ConfigValue settle(LaunchReading& reading, std::span<const std::string> assignments, const Sources& sources) {
  Settling{reading, sources}.run(assignments);
  return document_of(reading.plan, reading.file);
}

Scenario read_settled(const ConfigValue& document, LaunchReading& reading, const Sources& sources) {
  std::optional<Scenario> scenario;
  try {
    scenario = read_scenario(document, reading.file, sources);
  } catch (const ConfigError& error) {
    for (const Diagnostic& diagnostic : error.diagnostics()) {
      add_problem(diagnostic, reading);
    }
    reading.diagnostics.pass_over(error.untold());
  }
  reading.diagnostics.throw_if_any();
  if (std::holds_alternative<ServeScenario>(scenario->question)) {
    return std::move(*scenario);
  }
  const auto& train = std::get<TrainScenario>(scenario->question);
  for (const Legality& rule : broken_rules(train.architecture, train.work.shape, train.strategy)) {
    const bool open = train.micro_batch_open && rule.verdict == Verdict::batch_not_divisible;
    if (!open) {
      const Problem problem = problem_of(rule, train.strategy.schedule);
      reading.problem(Position{}, problem.text + (problem.way_out.empty() ? "" : "; " + problem.way_out));
    }
  }
  check_hosts(train, reading);
  reading.diagnostics.throw_if_any();
  return std::move(*scenario);
}

}  // namespace headroom::launch
