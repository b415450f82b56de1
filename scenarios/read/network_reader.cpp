// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/printable.hpp>
#include <headroom/hardware/catalog/partition.hpp>
#include <headroom/scenarios/keys/keyed_table.hpp>
#include <headroom/scenarios/keys/root_keys.hpp>
#include <headroom/scenarios/keys/strategy_keys.hpp>
#include <headroom/scenarios/keys/training_keys.hpp>
#include <headroom/scenarios/read/data_reader.hpp>
#include <headroom/scenarios/read/hardware_reader.hpp>
#include <headroom/scenarios/read/look_up.hpp>
#include <headroom/scenarios/read/money_reader.hpp>
#include <headroom/scenarios/read/network_model.hpp>
#include <headroom/scenarios/read/network_reader.hpp>
#include <headroom/scenarios/training/data_feed.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>

namespace headroom {
namespace {

using NetworkTrainingKeys = KeyedTable<keys::training, Kinds::network>;
using NetworkStrategyKeys = KeyedTable<keys::strategy, Kinds::network>;

bool holds_ops(const ConfigValue& model) {
  return model.kind == ConfigValue::Kind::table && (model.find("op") != nullptr || model.find("stage") != nullptr);
}

class NetworkScenarioReader {
 public:
  NetworkScenarioReader(const ConfigValue& root,
                        const std::string& file,
                        const Sources& sources,
                        const NetworkLibrary& networks)
      : root_{root, "", diagnostics_}, sources_{sources}, networks_{networks} {
    scenario_.data = &sources.data;
    scenario_.file = file;
  }

  NetworkScenario run() {
    require_schema(root_);
    refuse_base(root_);
    scenario_.name = root_.maybe_text("name").value_or(shown(scenario_.file));
    if (root_.choice("kind", scenario_kind_names) != 0) {
      root_.problem("kind",
                    "serving of networks of ops is not answered, their training is (kind = \"train\"); of what makes a "
                    "question one of serving ([serving], [traffic], --isl, --osl, --concurrency, --rate) leave all "
                    "out; kind = \"batch\" answers calls of it");
    }
    scenario_.network = read_network_model(root_, scenario_.file, networks_);
    if (!root_.has("name")) {
      scenario_.name = scenario_.network.name;
    }
    take_hardware();
    read_training();
    read_strategy();
    read_feed();
    scenario_.money = read_money(root_, sources_.catalog, priced_);
    scenario_.energy = read_energy(root_, scenario_.money);
    tell_idle_money(root_,
                    {"", scenario_.samples > 0.0 ? "" : "no run is priced without training.samples",
                     "variants are those of a language model's training plan"},
                    scenario_.assumptions);
    root_.finish();
    diagnostics_.throw_if_any();
    return std::move(scenario_);
  }

 private:
  void take_hardware() {
    HardwareChoice hardware = read_hardware(root_, sources_, scenario_.assumptions);
    ConfigTable table = root_.table("hardware");
    if (table.has("host_memory")) {
      table.problem_at_key("host_memory", "nothing of a network of ops is offloaded; leave 'host_memory' out");
    }
    if (const std::string why = why_no_group(hardware.device); !why.empty() && hardware.gpus > 1) {
      table.problem("gpus", "'gpus' is " + std::to_string(hardware.gpus) + ", whose steps exchange gradients: " + why +
                                "; train on one slice, or on whole cards, gpu = \"" + hardware.device.slice->card +
                                "\"");
    }
    priced_ = hardware.priced(power_form(sources_.data), false);
    scenario_.power_cap = hardware.power_cap;
    scenario_.clock = hardware.clock;
    scenario_.gpus = hardware.gpus;
    scenario_.gpus_per_node = hardware.gpus_per_node;
    scenario_.device = std::move(hardware.device);
    scenario_.host = std::move(hardware.host);
    scenario_.cluster = std::move(hardware.cluster);
  }

  /// What the GPU takes of a sample are its inputs, unless the scenario says otherwise.
  void read_feed() {
    scenario_.feed = read_data_feed(root_);
    if (scenario_.feed && scenario_.feed->fed <= Bytes{} && scenario_.network.input_bytes() > Bytes{}) {
      scenario_.feed->fed = scenario_.network.input_bytes();
      assume("data.fed_bytes = " + format(scenario_.feed->fed) + " (the inputs of a sample)");
    }
  }

  void read_training() {
    NetworkTrainingKeys table = NetworkTrainingKeys::of(root_);
    scenario_.global_batch = table.get<"global_batch">();
    scenario_.precision = table.get<"precision", Precision>();
    states_ = adam_states(scenario_.precision);
    if (const auto gradients = table.stated<"gradients">()) {
      states_.gradients = *gradients == 0 ? 4.0 : 2.0;
    }
    scenario_.gradients_open = !table.has("gradients");
    read_optimizer(table);
    read_software(table);
    // Counts of samples are written as 1e9 or as an integer.
    scenario_.samples = table.stated<"samples">().value_or(0.0);
    scenario_.measured_time = table.stated<"measured_time">();
    if (scenario_.measured_time && !table.has("samples")) {
      table.problem("measured_time", "'measured_time' needs 'samples', those of the run that took it");
    }
    scenario_.target = table.stated<"target_utilisation">();
    if (const auto form = table.stated<"checkpoint_form">()) {
      scenario_.checkpoint_form = static_cast<CheckpointForm>(*form);
    }
    table.finish();
  }

  void read_software(NetworkTrainingKeys& table) {
    const std::string id = table.get<"software">();
    const auto find = [&](const std::string& text) { return memory_stacks(sources_.data).find(text); };
    scenario_.software = look_up(table, "software", id, find).value_or(MemoryStack{});
    if (!table.has("software")) {
      assume("training.software = " + id + " (" + scenario_.software.name +
             ": its host, passes and overlap in the time of a step; memory is not the software's)");
    }
  }

  /// A name stands for its moments and the master copy of 16-bit weights, as in training; bytes for themselves.
  void read_optimizer(NetworkTrainingKeys& table) {
    const double moments = moment_bytes(table.get<"optimizer", Optimizer>());
    const auto bytes = table.stated<"optimizer_bytes">();
    if (table.has("optimizer") && table.has("optimizer_bytes")) {
      table.problem("optimizer_bytes", "state 'optimizer' or 'optimizer_bytes', not both");
    }
    const double master = states_.optimizer - moment_bytes(Optimizer::adamw);
    states_.optimizer = bytes.value_or(moments + master);
    if (!table.has("optimizer_bytes")) {
      const std::string name = table.has("optimizer") ? "" : "training.optimizer = adamw (not stated); ";
      optimizer_told_ = name + "training.optimizer_bytes = " + format_number(states_.optimizer) + " (" +
                        format_number(moments) + " of moments, " + format_number(master) + " of a master copy)";
    }
  }

  void read_strategy() {
    NetworkStrategyKeys table = NetworkStrategyKeys::or_blank(root_);
    NetworkTraining& t = scenario_.training;
    scenario_.dp = table.stated<"dp">().value_or(scenario_.gpus);
    if (!table.has("dp")) {
      assume("strategy.dp = " + std::to_string(scenario_.dp) + " (every GPU holds a replica)");
    }
    t.ranks = scenario_.dp;
    t.zero = static_cast<int>(table.get<"zero">());
    if (!table.has("zero")) {
      assume("strategy.zero = 1 (optimizer states sharded)");
    }
    t.micro_batch = table.stated<"micro_batch">().value_or(1);
    scenario_.micro_batch_open = !table.has("micro_batch");
    read_recompute(table);
    for (const std::string_view axis : {"tp", "pp", "vpp", "cp", "ep", "etp", "sequence_parallel"}) {
      if (table.has(axis)) {
        static_cast<void>(table.value(axis));
        table.problem_at_key(axis,
                             "a network of ops is spread by dp and zero alone; leave '" + std::string{axis} + "' out");
      }
    }
    table.finish();
    t.states = states_;
    if (scenario_.gradients_open) {
      t.states.gradients = default_gradient_bytes(scenario_.precision, t.zero);
      const bool narrow = t.states.gradients < default_gradient_bytes(scenario_.precision, 0);
      assume(t.zero < 3 ? "training.gradients = fp32 (accumulated in fp32)"
             : narrow   ? "training.gradients = bf16 (under ZeRO 3 as the weights: 2 bytes a parameter, below it 4)"
                        : "training.gradients = fp32 (as the weights)");
    }
    if (!optimizer_told_.empty()) {
      assume(optimizer_told_);
    }
    t.activation_bytes = row_of(scenario_.precision).compute_bytes;
  }

  void read_recompute(NetworkStrategyKeys& table) {
    SegmentRecompute& recompute = scenario_.training.recompute;
    const auto mode = table.stated<"recompute">();
    const auto every = table.stated<"recompute_every">();
    recompute.parts = table.texts("recompute_parts");
    recompute.every = every.value_or(mode == 1U || (!mode && !recompute.parts.empty()) ? 1 : 0);
    scenario_.recompute_open =
        !table.has("recompute") && !table.has("recompute_every") && !table.has("recompute_parts");
    if (mode == 0U && (every || !recompute.parts.empty())) {
      table.problem("recompute",
                    "'recompute' is 'none', but 'recompute_every' or 'recompute_parts' ask for some; "
                    "state recompute = \"full\" or leave it out");
    }
    if (!diagnostics_.empty()) {
      return;  // the parts of a broken network are not known
    }
    const std::vector<std::string> known = scenario_.network.parts();
    const std::vector<std::string_view> views{known.begin(), known.end()};
    for (const std::string& part : recompute.parts) {
      if (std::find(known.begin(), known.end(), part) == known.end()) {
        table.problem("recompute_parts", "the network has no part " + quoted(part) + suggestion(part, views));
      }
    }
  }

  void assume(std::string text) { scenario_.assumptions.push_back(std::move(text)); }

  Diagnostics diagnostics_;
  ConfigTable root_;
  const Sources& sources_;
  const NetworkLibrary& networks_;
  NetworkScenario scenario_;
  PricedHardware priced_;
  StateBytes states_;
  std::string optimizer_told_;  ///< what a name, or none, was taken as
};

}  // namespace

bool asks_for_network(const ConfigValue& root, const ModelLibrary& models, const NetworkLibrary& networks) {
  const ConfigValue* const kind = root.find("kind");
  if (kind != nullptr && kinds_of_word(kind->text) != Kinds::none && !meet(kinds_of_word(kind->text), Kinds::placed)) {
    return false;  // a kind of its own asks about it
  }
  const ConfigValue* model = root.find("model");
  return model != nullptr && names_network(*model, models, networks);
}

bool names_network(const ConfigValue& model, const ModelLibrary& models, const NetworkLibrary& networks) {
  if (holds_ops(model)) {
    return true;
  }
  if (model.kind != ConfigValue::Kind::text || models.knows(model.text)) {
    return false;
  }
  if (model.text.ends_with(".toml") || model.text.ends_with(".onnx") || networks.knows(model.text)) {
    return true;
  }
  // A slip that is near a network and near no model is a network's.
  return networks.nearest(model.text) && !models.meant(model.text) && !models.nearest(model.text);
}

NetworkScenario read_network_scenario(const ConfigValue& root,
                                      const std::string& file,
                                      const Sources& sources,
                                      const NetworkLibrary& networks) {
  return NetworkScenarioReader{root, file, sources, networks}.run();
}

}  // namespace headroom
