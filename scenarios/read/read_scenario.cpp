// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/printable.hpp>
#include <headroom/hardware/catalog/partition.hpp>
#include <headroom/model/workload/hf_config.hpp>
#include <headroom/model/workload/model_name.hpp>
#include <headroom/scenarios/keys/keyed_table.hpp>
#include <headroom/scenarios/keys/root_keys.hpp>
#include <headroom/scenarios/keys/short_numbers.hpp>
#include <headroom/scenarios/read/beside_reader.hpp>
#include <headroom/scenarios/read/change_text.hpp>
#include <headroom/scenarios/read/hardware_reader.hpp>
#include <headroom/scenarios/read/kv_offload_reader.hpp>
#include <headroom/scenarios/read/look_up.hpp>
#include <headroom/scenarios/read/money_reader.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>
#include <headroom/scenarios/read/serve_reader.hpp>
#include <headroom/scenarios/read/train_reader.hpp>
#include <headroom/scenarios/traffic/beside.hpp>

#include <algorithm>
#include <filesystem>

namespace headroom {
namespace {

/// Reads one document; assumptions are collected beside the problems.
class ScenarioReader {
 public:
  ScenarioReader(const ConfigValue& root, std::string file, const Sources& sources)
      : root_{root, "", diagnostics_}, sources_{sources} {
    scenario_.file = std::move(file);
    scenario_.assumptions = short_lengths(root);
  }

  Scenario run() {
    require_schema(root_);
    refuse_base(root_);
    const std::optional<std::size_t> kind = root_.maybe_choice("kind", scenario_kind_names);
    scenario_.name = root_.maybe_text("name").value_or(shown(scenario_.file));
    if (!kind) {
      if (!root_.has("kind")) {
        root_.missing("kind", ", one of train, serve");
      }
      diagnostics_.throw_if_any();  // without a kind the rest of the keys cannot be judged
    }
    if (*kind > 1) {
      root_.problem("kind",
                    "kind " + quoted(kind_words[*kind].word) + " has no plan: 'headroom plan' alone answers it");
      diagnostics_.throw_if_any();
    }
    if (kind == 0U) {
      read_train();
    } else {
      read_serve();
    }
    scenario_.money = read_money(root_, sources_.catalog, priced_);
    scenario_.energy = read_energy(root_, scenario_.money);
    tell_idle_money(root_, idle_money(), scenario_.assumptions);
    root_.finish();
    diagnostics_.throw_if_any();
    return std::move(scenario_);
  }

 private:
  void assume(const std::string& text) { scenario_.assumptions.push_back(text); }

  IdleMoney idle_money() const {
    IdleMoney why;
    if (const auto* train = std::get_if<TrainScenario>(&scenario_.question)) {
      why.bytes = train->tokens > 0.0 ? "" : "no run is priced without training.tokens or [target]";
    } else {
      why.bytes = "serving has no end that bytes are billed at; its dollars are those of GPUs";
      why.variants = "it asks for variants of a training plan";
    }
    return why;
  }

  Architecture read_model() {
    const ConfigValue* model = root_.value("model");
    if (model == nullptr) {
      root_.missing("model", ", the id of a preset or a [model] table (see 'headroom catalog list models')");
      return {};
    }
    if (model->kind == ConfigValue::Kind::table) {
      return read_inline_model(*model);
    }
    const std::string id = root_.text("model");
    if (id.empty()) {
      return {};
    }
    return find_model(root_, "model", id).value_or(Architecture{});
  }

  /// A preset's id or the path of a config.json; else a name that means a preset. ConfigError where there is none.
  Architecture find_model(const ConfigValue& named) {
    if (is_path(named.text)) {
      const std::string& beside = named.file ? *named.file : scenario_.file;
      const std::string path = is_request(beside) ? std::string{} : path_beside(beside, named.text);
      std::error_code status;
      if (!path.empty() && std::filesystem::exists(path, status)) {
        return load_model(path);
      }
      if (std::optional<Architecture> meant = find_meant(named.text)) {
        return *std::move(meant);
      }
      if (!named.text.ends_with(".json") && !named.text.ends_with(".toml") && !why_no_preset(named.text).empty()) {
        throw ConfigError{sources_.models.unknown(named.text)};
      }
      const std::string& text = named.text;
      const bool file = text.ends_with(".json") || text.ends_with(".toml");
      const bool published = !file && text.find('/') == text.rfind('/') && !text.starts_with('.') &&
                             !text.starts_with('/') && !text.starts_with('~');
      if (const std::string unknown = sources_.models.unknown(text);
          published && unknown.find("is a family") != std::string::npos) {
        throw ConfigError{unknown};
      }
      if (published) {
        throw ConfigError{"no preset has the network of " + quoted(text) + ", and no such file is here" +
                          sources_.models.suggested(text.substr(text.find('/') + 1)) +
                          "; 'model' is the id of a preset ('headroom catalog list models') or the path of the "
                          "model's config.json"};
      }
      const std::string suggested = sources_.models.suggested(text);
      if (path.empty()) {
        throw ConfigError{no_files_text(text) +
                          "; 'model' is the id of a preset ('headroom catalog list models') or a table that describes "
                          "the model, such as the import of its config.json gives" +
                          suggested};
      }
      throw ConfigError{
          "no such file " + quoted(path) +
          (suggested.empty() ? "; 'model' is the id of a preset or the path of a config.json" : suggested)};
    }
    if (!sources_.models.knows(named.text)) {
      if (std::optional<Architecture> meant = find_meant(named.text)) {
        return *std::move(meant);
      }
    }
    return sources_.models.find(named.text);
  }

  /// The preset that a publisher's name means, with the weights that it says; told under the key's assumptions.
  std::optional<Architecture> find_meant(const std::string& name) {
    const std::optional<MeantModel> meant = name.ends_with(".json") ? std::nullopt : sources_.models.meant(name);
    if (!meant) {
      return std::nullopt;
    }
    Architecture architecture = sources_.models.find(meant->id);
    if (meant->weights && own_weights(architecture) != meant->weights) {
      WeightFormat stated;
      stated.format = meant->weights;
      stated.source = "the name " + quoted(name);
      architecture.weights = std::move(stated);
    }
    if (std::string told = quoted(name) + " has the network of the preset " + meant->id;
        std::find(scenario_.assumptions.begin(), scenario_.assumptions.end(), told) == scenario_.assumptions.end()) {
      scenario_.assumptions.push_back(std::move(told));
    }
    return architecture;
  }

  /// The same, `key` of `table` being where it is named; problems go to its diagnostics.
  std::optional<Architecture> find_model(ConfigTable& table, std::string_view key, const std::string& id) {
    const ConfigValue* named = table.value(key);
    return look_up(table, key, id, [&](const std::string& s) {
      return named != nullptr ? find_model(*named) : sources_.models.find(s);
    });
  }

  /// A file instead of a preset's id: config.json of Hugging Face.
  static bool is_path(std::string_view text) {
    return text.find('/') != std::string_view::npos || text.ends_with(".json");
  }

  Architecture load_model(const std::string& path) {
    Diagnostics blank;
    Architecture architecture = load_hf_config(path, blank);
    for (const Diagnostic& remark : blank.sorted()) {
      scenario_.assumptions.push_back(remark.warning());
    }
    return architecture;
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
      merged.entries.erase_if([&](const auto& entry) {
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

  double read_confidence() {
    static constexpr const Key& row = row_named(keys::root, Kinds::train, "confidence");
    return maybe_number_at(root_, row).value_or(*row.usual);
  }

  void read_train() {
    TrainScenario train;
    train.confidence = read_confidence();
    train.data = &sources_.data;
    train.architecture = read_model();
    const HardwareChoice hardware = read_hardware(root_, sources_, scenario_.assumptions);
    priced_ = hardware.priced(power_form(sources_.data), false);
    train.power_cap = hardware.power_cap;
    train.clock = hardware.clock;
    train.work.clock =
        std::min(hardware.clock, matrix_clock(hardware.device, hardware.power_cap, power_form(sources_.data)));
    train.device = hardware.device;
    train.domain = hardware.domain;
    train.scale_out = hardware.scale_out;
    train.node = hardware.node;
    train.host = hardware.host;
    train.cluster = hardware.cluster;
    train.work.shape.gpus = hardware.gpus;
    if (const std::string why = why_no_group(hardware.device); !why.empty() && hardware.gpus > 1) {
      root_.table("hardware")
          .problem("gpus", "'gpus' is " + std::to_string(hardware.gpus) +
                               ", whose steps exchange "
                               "gradients: " +
                               why + "; train on one slice, or on whole cards, gpu = \"" + hardware.device.slice->card +
                               "\"");
    }
    train.host_memory = hardware.host_memory;
    train.gpus_per_node = hardware.gpus_per_node;
    read_training(root_, train, scenario_.assumptions);
    scenario_.question = std::move(train);
  }

  void read_serve() {
    ServeScenario serve;
    serve.confidence = read_confidence();
    serve.data = &sources_.data;
    serve.architecture = read_model();
    const HardwareChoice hardware = read_hardware(root_, sources_, scenario_.assumptions, true);
    if (root_.has("hardware")) {
      if (ConfigTable table = root_.table("hardware"); table.has("host_link")) {
        table.problem_at_key("host_link",
                             "a server's tiers of caches state their own rates in [serving.kv_offload]; leave "
                             "'host_link' out");
      }
    }
    priced_ = hardware.priced(power_form(sources_.data), true);
    serve.device = hardware.device;
    serve.host = hardware.host;
    serve.power_cap = hardware.power_cap;
    serve.work.clock =
        std::min(hardware.clock, matrix_clock(hardware.device, hardware.power_cap, power_form(sources_.data)));
    serve.work.gpus = hardware.gpus;
    read_serving(
        root_, [&](const ConfigValue& named) { return find_model(named); }, serve, scenario_.assumptions);
    const FindModel find = [this](ConfigTable& table, std::string_view key, const std::string& spelling) {
      return find_model(table, key, spelling);
    };
    read_beside(root_, find, serve, scenario_.assumptions);
    hold_host_memory(root_, hardware, serve, scenario_.assumptions);
    scenario_.question = std::move(serve);
  }

  Diagnostics diagnostics_;
  ConfigTable root_;
  const Sources& sources_;
  Scenario scenario_;
  PricedHardware priced_;
  ConfigValue inline_model_;
};

ConfigValue with_assignments(ConfigValue root, std::span<const Assignment> assignments) {
  Diagnostics diagnostics;
  for (const Assignment& assignment : assignments) {
    apply_override(root, assignment, diagnostics);
  }
  diagnostics.throw_if_any();
  take_short_numbers(root);
  return root;
}

}  // namespace

Scenario read_scenario(ConfigValue root, const std::string& file, const Sources& sources) {
  Scenario scenario = ScenarioReader{root, file, sources}.run();
  scenario.document = std::make_shared<const ConfigValue>(std::move(root));
  scenario.sources = &sources;
  return scenario;
}

Scenario changed(const Statement& stated, std::span<const Change> changes) {
  ConfigValue root = *stated.document;
  for (const Change& change : changes) {
    if (is_key(change.knob)) {
      put(change, root);
    } else if (change == Change{Knob::priced, false}) {
      root.entries.erase_if([](const ConfigEntry& entry) { return entry.key == "money"; });
    }
  }
  Scenario scenario = read_scenario(std::move(root), stated.file, *stated.sources);
  for (const Change& change : changes) {
    if (change.knob == Knob::hidden_dp_traffic) {
      StepStacks& time = std::get<TrainScenario>(scenario.question).software.time;
      time.plain.dp_overlap = time.moe.dp_overlap = std::get<double>(change.value);
    }
  }
  return scenario;
}

ConfigValue scenario_tree(const std::string& path, std::span<const Assignment> assignments) {
  const BaseResolver resolve = [](std::string_view id, const std::string& file) -> std::optional<ConfigSource> {
    const std::filesystem::path base = std::filesystem::path{file}.parent_path() / std::filesystem::path{id};
    std::error_code status;
    if (!std::filesystem::is_regular_file(base, status)) {
      return std::nullopt;
    }
    return read_file(base.lexically_normal().string());
  };
  ConfigValue root = load_with_bases(read_file(path), resolve);
  root.entries.erase_if([](const ConfigEntry& entry) { return entry.key == "base"; });  // it is merged
  return with_assignments(std::move(root), assignments);
}

ConfigValue scenario_tree(const std::string& path, std::span<const std::string> overrides) {
  return scenario_tree(path, std::vector<Assignment>(overrides.begin(), overrides.end()));
}

ConfigValue scenario_tree(std::span<const Assignment> assignments) {
  ConfigValue root = parse_toml("schema = 1\n", "command line");
  root.at = {};
  return with_assignments(std::move(root), assignments);
}

ConfigValue scenario_tree(std::span<const std::string> overrides) {
  return scenario_tree(std::vector<Assignment>(overrides.begin(), overrides.end()));
}

Scenario load_scenario(const std::string& path, std::span<const std::string> overrides, const Sources& sources) {
  return read_scenario(scenario_tree(path, overrides), path, sources);
}

Scenario scenario_from_overrides(std::span<const std::string> overrides, const Sources& sources) {
  return read_scenario(scenario_tree(overrides), "command line", sources);
}

}  // namespace headroom
