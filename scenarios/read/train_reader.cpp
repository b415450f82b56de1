// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/train/step/job_groups.hpp>
#include <headroom/scenarios/question/sequence_length.hpp>
#include <headroom/scenarios/read/advice_reader.hpp>
#include <headroom/scenarios/read/data_reader.hpp>
#include <headroom/scenarios/read/goodput_reader.hpp>
#include <headroom/scenarios/read/train_reader.hpp>
#include <headroom/scenarios/training/data_feed.hpp>
#include <headroom/scenarios/training/run_outlook.hpp>
#include <headroom/scenarios/words/schedule_words.hpp>

#include <algorithm>
#include <array>

namespace headroom {
namespace {

class TrainingReader {
 public:
  TrainingReader(ConfigTable& root, TrainScenario& train, std::vector<std::string>& assumptions)
      : root_{root}, train_{train}, diagnostics_{root.diagnostics()}, assumptions_{assumptions} {}

  void run() {
    read_training_table(train_);
    read_strategy(train_);
    train_.work.feed = read_data_feed(root_);
    read_software(train_);
    read_long_run(train_);
    settle_sequence(train_);  // padding depends on sequence parallelism, which the software may settle
  }

 private:
  void assume(const std::string& text) { assumptions_.push_back(text); }

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
    read_way_to_loss(train);
    train.asked.batch = read_batch_change(table);
    train.asked.elastic = read_elastic(table);
    train.asked.sweep = read_sweep(root_, train.tokens);
    table.finish();
  }

  /// Tokens that follow from a target loss.
  void read_way_to_loss(TrainScenario& train) {
    const TrainingShape& shape = train.work.shape;
    train.target = goodput::read_target(root_,
                                        {&train.architecture, train.work.options.method == Method::full,
                                         real(shape.global_batch) * real(shape.seq_len), train.tokens},
                                        assumptions_);
    if (train.target && diagnostics_.empty()) {
      train.tokens = train.target->way.tokens;
    }
  }

  /// What may stop the run, which hangs on the states that the software keeps.
  void read_long_run(TrainScenario& train) {
    if (!root_.has("goodput")) {
      return;
    }
    const CheckpointStates states = diagnostics_.empty() ? checkpoint_states(train) : CheckpointStates{};
    train.long_run = goodput::read_goodput(
        root_,
        {train.work.shape.gpus, train.gpus_per_node, train.tokens > 0.0, states.total, states.of_parameter,
         host_link_of(train.device, train.host ? &*train.host : nullptr), train.device.id},
        assumptions_);
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
    options.overlapped = table.maybe_boolean("overlap").value_or(true);
    options.async_tp = table.maybe_boolean("async_tp").value_or(false);
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
    const std::string id = software_.value_or(std::string{default_software(zero_.value_or(0))});
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
             " (prediction modules beside the head, in memory and step)");
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
    s.cp_form = cp_form_ ? static_cast<CpForm>(*cp_form_) : defaults.cp_form;
    if (!cp_form_ && s.cp > 1) {
      assume(s.cp_form == CpForm::unstated
                 ? "strategy.cp_form: not stated; the bytes of a gather with the published share hidden"
                 : "strategy.cp_form = " + std::string{cp_form_names[static_cast<std::size_t>(s.cp_form)]} + by);
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

  /// The order in which ranks fill hosts, with or without ep's place in it.
  static void read_order(ConfigTable& table, Strategy& s) {
    const std::optional<std::string> text = table.maybe_text("order");
    const std::optional<RankOrder> order = text ? find_rank_order(*text) : s.order;
    if (order) {
      s.order = *order;
      return;
    }
    std::string known;
    for (const std::string_view name : rank_order_names) {
      known += (known.empty() ? "" : ", ") + std::string{name};
    }
    table.problem("order",
                  "'order' is " + quoted(*text) + "; it must be one of " + known + suggestion(*text, rank_order_names));
  }

  static void read_schedule(ConfigTable& table, Strategy& s) {
    const auto schedule = table.maybe_choice("schedule", schedule_names);
    if (!schedule) {
      return;
    }
    s.schedule = static_cast<Schedule>(*schedule);
    if (s.vpp > 1 && !model_of(s.schedule).takes_chunks()) {
      table.problem("schedule", "schedule " + quoted(name_of(s.schedule)) +
                                    " has no vpp; drop vpp = " + std::to_string(s.vpp) + " or use " +
                                    either_where([](const ScheduleModel& m) { return m.takes_chunks(); }));
    }
  }

  /// Layers of the end stages (Megatron-LM, --decoder-first-pipeline-num-layers, --decoder-last-pipeline-num-layers).
  static void read_stage_layers(ConfigTable& table, Strategy& s) {
    constexpr Range<std::int64_t> layers{1, 255};
    s.first_stage_layers = static_cast<std::uint8_t>(table.maybe_integer("first_stage_layers", layers).value_or(0));
    s.last_stage_layers = static_cast<std::uint8_t>(table.maybe_integer("last_stage_layers", layers).value_or(0));
    for (const std::string_view key : {"first_stage_layers", "last_stage_layers"}) {
      if (table.has(key) && !model_of(s.schedule).waits_for_stages) {
        table.problem(key, quoted(key) + " means something with schedule " +
                               either_where([](const ScheduleModel& m) { return m.waits_for_stages; }) + " only");
      }
    }
  }

  /// What runs beside what: the form of context parallelism, graphs, exchanges of experts.
  void read_forms(ConfigTable& table, TrainScenario& train) {
    Strategy& s = train.strategy;
    cp_form_ = table.maybe_choice("cp_form", cp_form_names);
    s.cuda_graphs = table.maybe_boolean("cuda_graphs").value_or(false);
    if (s.cuda_graphs) {
      assume(
          "strategy.cuda_graphs: every layer counts as captured; the static buffers of the graphs are not known and "
          "not in the memory");
    }
    const std::optional<bool> overlap = table.maybe_boolean("overlap_experts");
    s.overlap_experts = overlap.value_or(model_of(s.schedule).overlaps_passes && s.ep > 1);
    if (overlap && *overlap && !train.architecture.moe) {
      table.problem("overlap_experts", "'overlap_experts' means something with a model of experts only");
    } else if (!overlap && s.overlap_experts) {
      assume("strategy.overlap_experts = true (what " + std::string{name_of(s.schedule)} + " is for)");
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
    read_order(table, s);
    read_schedule(table, s);
    read_stage_layers(table, s);
    read_forms(table, train);
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
    if (const auto wrong = settle_image_tokens(train.architecture, train.strategy, seq_len, assumptions_)) {
      root_.table("training").problem("seq_len", *wrong);
    }
    if (const auto beyond = beyond_positions(train.architecture, seq_len)) {
      assume(*beyond);
    }
  }

  ConfigTable& root_;
  TrainScenario& train_;
  Diagnostics& diagnostics_;
  std::vector<std::string>& assumptions_;
  std::optional<std::size_t> gradients_, optimizer_, cp_form_;  ///< as chosen
  std::optional<std::int64_t> zero_, etp_;  ///< as stated, like the next three: the software fills blanks
  std::optional<bool> sequence_parallel_, flash_attention_;
  bool offload_stated_ = false;
  std::optional<std::string> software_;
  std::pair<std::string, Position> software_place_;
};

}  // namespace

std::string_view default_software(std::int64_t zero) noexcept {
  return zero >= 3 ? "torchtitan" : "megatron-core-te";
}

void read_training(ConfigTable& root, TrainScenario& train, std::vector<std::string>& assumptions) {
  TrainingReader{root, train, assumptions}.run();
}

}  // namespace headroom
