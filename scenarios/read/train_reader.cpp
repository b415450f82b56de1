// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>
#include <headroom/model/train/step/job_groups.hpp>
#include <headroom/scenarios/keys/strategy_keys.hpp>
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
#include <type_traits>
#include <utility>

namespace headroom {
namespace {

using StrategyKeys = KeyedTable<keys::strategy, Kinds::train>;

class TrainingReader {
 public:
  TrainingReader(ConfigTable& root, TrainScenario& train, std::vector<std::string>& assumptions)
      : root_{root}, train_{train}, diagnostics_{root.diagnostics()}, assumptions_{assumptions} {}

  void run() {
    read_training_table(train_);
    read_strategy(train_, train_.stated.strategy);
    train_.work.feed = read_data_feed(root_);
    resolve(train_);
    read_long_run(train_);
    settle_sequence(train_);  // padding depends on sequence parallelism, which the software may settle
  }

 private:
  void assume(const std::string& text) { assumptions_.push_back(text); }

  void read_training_table(TrainScenario& train) {
    TrainingKeys table = TrainingKeys::of(root_);
    train.work.shape.seq_len =
        train.architecture.patches ? table.stated<"seq_len">().value_or(0) : table.needed<"seq_len">();
    train.stated.seq_len = train.work.shape.seq_len;
    train.work.shape.global_batch = table.get<"global_batch">();
    train.work.precision = table.get<"precision", Precision>();
    if (const auto format = table.stated<"gradients">()) {
      train.stated.gradients = *format == 0 ? 4.0 : 2.0;
    }
    read_reductions(table, train);
    table.take<"optimizer">(train.stated.optimizer);
    train.stated.software = table.stated<"software">();
    if (const ConfigValue* written = table.value("software")) {
      software_place_ = {written->file ? *written->file : table.file(), written->at};
    }
    read_memory_options(table, train.stated, train.work.options);
    read_narrow(table, train);
    read_dispatch(table, train);
    read_offload_target(table, train);
    read_conduct(table, train);
    // Token counts are written as 15e12 or as an integer.
    train.tokens = table.stated<"tokens">().value_or(0.0);
    read_way_to_loss(train);
    train.asked.batch = read_batch_change(table);
    train.asked.elastic = read_elastic(table);
    train.asked.sweep = read_sweep(root_, train.tokens);
    table.finish();
  }

  /// How gradients go over data ranks, and in which form a checkpoint is loaded.
  static void read_reductions(TrainingKeys& table, TrainScenario& train) {
    MemoryOptions& options = train.work.options;
    if (const auto format = table.stated<"gradient_format">()) {
      options.sent_gradients = gradient_compression_of(*format);
      if (!options.sent_gradients) {
        table.problem("gradient_format", "'gradient_format' is " + quoted(*format) +
                                             "; it must be fp32, bf16, fp8, or topk:SHARE with a share of the elements "
                                             "in (0, 1], e.g. \"topk:0.01\"");
      }
    }
    options.bucket = table.stated<"bucket_bytes">().value_or(Bytes{});
    if (const auto form = table.stated<"checkpoint_form">()) {
      train.checkpoint_form = static_cast<CheckpointForm>(*form);
    }
  }

  /// A host that reads back, ranks that differ.
  void read_conduct(TrainingKeys& table, TrainScenario& train) {
    RankConduct& conduct = train.work.conduct;
    conduct.sync_every = real(table.stated<"sync_every">().value_or(0));
    conduct.dispatch = table.stated<"host_dispatch">();
    conduct.spread = table.stated<"rank_spread">();
    conduct.slow_rank = table.stated<"slow_rank">().value_or(0.0);
    if (conduct.dispatch && conduct.sync_every == 0.0) {
      table.problem("host_dispatch",
                    "'host_dispatch' means something with 'sync_every' only: a host that runs ahead hides it");
    }
    const double ranks = std::max(1.0, real(train.work.shape.gpus));
    if (conduct.spread) {
      assume("training.rank_spread = " + percent(*conduct.spread, 3) + ": the slowest of " + format_count(ranks) +
             " takes " + percent(slowest_share({0.0, {}, conduct.spread, 0.0}, 0.0, ranks), 3) +
             " more than the mean (Blom 1958), in place of the fitted stragglers");
    }
    if (conduct.slow_rank > 0.0) {
      assume("training.slow_rank = " + percent(conduct.slow_rank, 3) + ": the others wait for it in every step");
    }
  }

  /// What only some ZeRO stages and methods have.
  void check_reductions(const TrainScenario& train) {
    const MemoryOptions& options = train.work.options;
    ConfigTable table = root_.table("training");
    const bool residuals = options.sent_gradients && options.sent_gradients->leaves_residuals();
    const std::string zero = std::to_string(train.strategy.zero);
    if (residuals && train.strategy.zero >= 2) {
      table.problem("gradient_format",
                    "'gradient_format' of fp8 or topk keeps on every rank what it did not send of all "
                    "its gradients, which ZeRO " +
                        zero +
                        " does not hold; take strategy.zero 0 or 1, "
                        "or bf16");
    }
    if (residuals && options.method != Method::full) {
      table.problem("gradient_format", "'gradient_format' of fp8 or topk means something with method \"full\" only");
    }
    if (options.bucket > Bytes{} && train.strategy.zero >= 2) {
      table.problem("bucket_bytes", "'bucket_bytes' means something below ZeRO 2 only: ZeRO " + zero +
                                        " reduces layer by layer as they come");
    }
    if (train.checkpoint_form && options.method != Method::full) {
      table.problem("checkpoint_form", "'checkpoint_form' means something with method \"full\" only");
    }
    if (options.bucket > Bytes{}) {
      const std::string& usual = train.software.defaults.reduce_bucket;
      assume("training.bucket_bytes = " + format(options.bucket) + " (" +
             (usual.empty() ? "what " + train.software.id + " takes by itself is not known"
                            : "by itself " + train.software.id + " takes " + usual) +
             "); the share of the traffic that overlaps is the fitted one, all of it but the last bucket");
    }
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
  static void read_offload_target(TrainingKeys& table, TrainScenario& train) {
    const auto target = table.stated<"offload_to">();
    train.offload_to_nvme = target == 1U;
    const MemoryOptions& o = train.work.options;
    if (target && !o.offload_optimizer && !o.offload_activations && !o.offload_parameters) {
      table.problem("offload_to", "'offload_to' means something with 'offload' only");
    }
  }

  static void read_memory_options(TrainingKeys& table, StatedTraining& stated, MemoryOptions& options) {
    options.method = table.get<"method", Method>();
    options.lora_rank = table.get<"lora_rank">();
    if (table.has("lora_rank") && options.method == Method::full) {
      table.problem("lora_rank", "'lora_rank' means something with method \"lora\" or \"qlora\" only");
    }
    options.double_quant = table.stated<"double_quant">();
    if (options.double_quant && options.method != Method::qlora) {
      table.problem("double_quant", "'double_quant' means something with method \"qlora\" only");
    }
    stated.flash_attention = table.stated<"flash_attention">();
    options.dropout = table.stated<"dropout">();
    options.fused_loss = table.stated<"fused_loss">();
    options.compiled = table.get<"compile">();
    options.overlapped = table.get<"overlap">();
    options.async_tp = table.get<"async_tp">();
    stated.vocab_multiple = table.stated<"vocab_multiple">();
    stated.offload = table.has("offload");
    const std::array<bool*, offload_names.size()> flags{&options.offload_optimizer, &options.offload_activations,
                                                        &options.offload_parameters};
    for (const std::string& what : table.texts("offload")) {
      const auto found = std::find(offload_names.begin(), offload_names.end(), what);
      if (found == offload_names.end()) {
        table.problem("offload", "'offload' holds " + quoted(what) + ", which is none of " + listed(offload_names));
      } else {
        *flags[static_cast<std::size_t>(found - offload_names.begin())] = true;
      }
    }
  }

  /// What lies on the host comes by shards, and is updated there.
  void check_offload(const TrainScenario& train) {
    const MemoryOptions& options = train.work.options;
    ConfigTable table = root_.table("training");
    if (options.offload_parameters && train.strategy.zero < 3) {
      table.problem("offload",
                    "'offload' of parameters needs strategy.zero = 3: it is the ZeRO stage that brings weights "
                    "layer by layer");
    }
    if ((options.offload_parameters || options.offload_optimizer) && options.optimizer == Optimizer::muon) {
      table.problem("offload",
                    "'offload' of states updates them on the host, and muon's products belong on the GPU; "
                    "drop 'offload' or take another optimizer");
    }
  }

  /// 8 bit beside the products.
  static void read_narrow(TrainingKeys& table, TrainScenario& train) {
    MemoryOptions& options = train.work.options;
    options.average = table.get<"weight_average", WeightAverage>();
    const auto saved = table.stated<"saved_activations">();
    options.narrow_saved = saved ? std::optional{*saved == 1U} : std::nullopt;
    if (options.narrow_saved == true && row_of(train.work.precision).weight_bytes >= 2.0) {
      table.problem("saved_activations", "'saved_activations' is fp8, and products of precision " +
                                             quoted(name_of(train.work.precision)) +
                                             " read their saved inputs in 16 bit; take fp8, mxfp8 or nvfp4, or leave "
                                             "saved_activations out");
    }
  }

  /// How tokens meet their experts.
  static void read_dispatch(TrainingKeys& table, TrainScenario& train) {
    ExpertTraffic& experts = train.work.options.experts;
    experts.narrow_dispatch = table.stated<"dispatch">() == 1U;
    experts.domains = table.stated<"dispatch_domains">().value_or(0);
    experts.units = table.stated<"dispatch_sms">().value_or(0);
    if (const auto dispatcher = table.stated<"dispatcher">()) {
      experts.dispatcher = static_cast<ExpertDispatcher>(*dispatcher);
    }
    if (const auto launch = table.stated<"expert_launch">()) {
      experts.launch = static_cast<ExpertLaunch>(*launch);
    }
    experts.capacity = table.stated<"expert_capacity">().value_or(0.0);
    experts.rank_capacity = table.stated<"rank_capacity">().value_or(0.0);
    for (const std::string_view key : {"dispatch", "dispatch_domains", "dispatch_sms", "dispatcher", "expert_launch",
                                       "expert_capacity", "rank_capacity"}) {
      if (table.has(key) && !train.architecture.moe) {
        table.problem(key, quoted(key) + " means something with a model of experts only");
      }
    }
    const auto& units = train.device.compute.units;
    if (experts.units > 0 && units && experts.units >= units->value) {
      table.problem("dispatch_sms", "'dispatch_sms' is " + std::to_string(experts.units) + ", and " + train.device.id +
                                        " has " + std::to_string(units->value) +
                                        " multiprocessors: none would be left to compute");
    } else if (experts.units > 0 && !units && !train.device.id.empty()) {
      table.problem("dispatch_sms",
                    "'dispatch_sms' is stated, and how many multiprocessors " + train.device.id +
                        " has is not known: state compute.units in its catalog file, or leave dispatch_sms out");
    }
  }

  /// The software that keeps the states, and what follows from it and from what is stated.
  void resolve(TrainScenario& train) {
    try {
      resolve_training(train);
    } catch (const ConfigError& error) {
      diagnostics_.add(software_place_.first, software_place_.second, error.diagnostics().front().message);
      return;
    }
    check_offload(train);
    check_reductions(train);
    tell_ranks(train);
    if (!train.stated.software) {
      assume("training.software = " + train.software.id + " (" + train.software.name +
             ": its bytes per parameter, loss and buffers)");
    }
    tell_defaults(train);
    if (train.work.options.method == Method::full) {
      tell_states(train);
    } else {
      tell_adapters(train);
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
    const auto& sent = train.work.options.sent_gradients;
    const double residuals = sent && sent->leaves_residuals() ? residual_bytes : 0.0;
    for (const auto& [bytes, what] : {std::pair{states.buckets - residuals, " of gradient buckets where dp cp > 1"},
                                      std::pair{residuals, " of gradients that were not sent where dp cp > 1"}}) {
      text += bytes > 0.0 ? ", " + format_number(bytes) + what : std::string{};
    }
    assume(text);
    if (train.architecture.mtp_layers > 0) {
      assume("model.mtp_layers = " + std::to_string(train.architecture.mtp_layers) +
             " (prediction modules beside the head, in memory and step)");
    }
  }

  void tell_adapters(const TrainScenario& train) {
    const MemoryOptions& options = train.work.options;
    const StateBytes states = states_of_adapters(train.software, train.work.precision, options.optimizer);
    assume("states of the adapters: " + format_number(states.weights) + " bytes a parameter of weights, " +
           format_number(states.gradients) + " of gradients, " + format_number(states.optimizer) + " of optimizer");
  }

  /// Blank ranks, and what hangs on no software.
  void tell_ranks(const TrainScenario& train) {
    const StatedStrategy& stated = train.stated.strategy;
    const Strategy& s = train.strategy;
    if (!stated.tp) {
      assume("strategy.tp = 1 (not stated)");
    }
    if (!stated.pp) {
      assume("strategy.pp = 1 (not stated)");
    }
    if (!stated.dp) {
      assume("strategy.dp = " + std::to_string(s.dp) + " (gpus / (tp pp cp))");
    }
    if (s.cuda_graphs) {
      assume(
          "strategy.cuda_graphs: every layer counts as captured; the static buffers of the graphs are not known and "
          "not in the memory");
    }
    if (!stated.overlap_experts && s.overlap_experts) {
      assume(model_of(s.schedule).overlaps_passes
                 ? "strategy.overlap_experts = true (what " + std::string{name_of(s.schedule)} + " is for)"
                 : "strategy.overlap_experts = true (the recipe of " + train.software.id + " for this job)");
    }
    if (train.architecture.moe) {
      tell_experts(train);
    }
  }

  /// How layers of experts run where nobody states it.
  void tell_experts(const TrainScenario& train) {
    const ExpertTraffic& stated = train.work.options.experts;
    if (stated.launch && stated.dispatcher) {
      return;
    }
    const ExpertHabits habits = expert_habits_of(train);
    std::string text;
    if (!stated.launch) {
      text += "training.expert_launch = " + std::string{expert_launch_names[static_cast<std::size_t>(habits.launch)]};
    }
    if (!stated.dispatcher) {
      text += std::string{text.empty() ? "" : ", "} + "training.dispatcher = " +
              std::string{expert_dispatcher_names[static_cast<std::size_t>(habits.dispatcher)]};
    }
    text += habits.fused_products && !stated.fused_products ? ", fused products" : "";
    assume(text + (habits.usual       ? " (what training software mostly runs on " + train.device.id + ")"
                   : habits.by_recipe ? " (the recipe of " + train.software.id + " for this job)"
                                      : " (default of " + train.software.id + ")"));
  }

  /// Blank keys mean what the software does; where that is no more than usual no line says so.
  void tell_defaults(const TrainScenario& train) {
    const StatedStrategy& stated = train.stated.strategy;
    const std::string by = " (default of " + train.software.id + ")";
    const Strategy& s = train.strategy;
    if (!stated.zero) {
      constexpr std::array<std::string_view, 4> meaning{"nothing sharded", "optimizer states sharded",
                                                        "gradients and optimizer states sharded",
                                                        "weights, gradients and optimizer states sharded"};
      assume("strategy.zero = " + std::to_string(s.zero) + " (" + std::string{meaning[s.zero]} +
             (train.stated.software ? ", default of " + train.software.id : std::string{}) + ")");
    }
    if (!stated.sequence_parallel && s.tp > 1) {
      assume(s.sequence_parallel ? "strategy.sequence_parallel = true (on whenever tp > 1)"
                                 : "strategy.sequence_parallel = false" + by);
    }
    if (!stated.cp_form && s.cp > 1) {
      assume(s.cp_form == CpForm::unstated
                 ? "strategy.cp_form: not stated; the bytes of a gather with the published share hidden"
                 : "strategy.cp_form = " + std::string{cp_form_names[static_cast<std::size_t>(s.cp_form)]} + by);
    }
    if (!stated.etp && train.architecture.moe && s.tp > 1) {
      assume("strategy.etp = " + std::to_string(s.etp) + " (" +
             (s.etp > 1 ? "experts are split as tp is" : "experts are not split") + ", default of " +
             train.software.id + ")");
    }
    const MemoryOptions& options = train.work.options;
    // Padding that changes the tables, or none where 8 does not divide a rank's rows.
    const std::int64_t whole = (options.vocab_multiple > 1 ? options.vocab_multiple : 8) * s.tp;
    if (!train.stated.vocab_multiple && train.architecture.vocab % whole != 0) {
      assume("training.vocab_multiple = " + std::to_string(options.vocab_multiple) + by);
    }
    if (!options.flash_attention && !train.stated.flash_attention) {
      assume("training.flash_attention = false" + by);
    }
    if (!options.dropout && dropout_by_habit(train.software, train.architecture)) {
      assume("training.dropout = true" + by);
    }
    if (!options.fused_loss && is_fused(train.software, options)) {
      assume("training.fused_loss = true" + by);
    }
    if (options.method == Method::qlora && !options.double_quant) {
      assume(std::string{"training.double_quant = "} + (doubly_quantised(train.software, options) ? "true" : "false") +
             by);
    }
    if (options.offload_checkpoints) {
      assume("training.offload: what full recomputation keeps" + by);
    }
  }

  /// The order in which ranks fill hosts, with or without ep's place in it.
  static void read_order(StrategyKeys& table, StatedStrategy& s) {
    const std::optional<std::string> text = table.stated<"order">();
    s.order = text ? find_rank_order(*text) : std::nullopt;
    if (!text || s.order) {
      return;
    }
    table.problem("order", "'order' is " + quoted(*text) + "; it must be one of " + listed(rank_order_names) +
                               suggestion(*text, rank_order_names));
  }

  static void read_recompute_parts(StrategyKeys& table, const StatedStrategy& s, TrainScenario& train) {
    RecomputeParts& parts = train.work.options.recompute_parts;
    const auto problem = [&](const std::string& text) { table.problem("recompute_parts", text); };
    for (const std::string& part : table.texts("recompute_parts")) {
      const auto* const found = std::find(recompute_part_names.begin(), recompute_part_names.end(), part);
      if (found == recompute_part_names.end()) {
        problem("'recompute_parts' holds " + quoted(part) + ", which is none of " + listed(recompute_part_names) +
                suggestion(part, recompute_part_names));
        continue;
      }
      const auto known = static_cast<RecomputePart>(found - recompute_part_names.begin());
      parts.add(known);
      if ((known == RecomputePart::mla_up_proj && !train.architecture.mla) ||
          (known == RecomputePart::moe_act && !train.architecture.moe)) {
        problem("'recompute_parts' holds " + quoted(part) + ", which " + quoted(train.architecture.id) + " has not");
      }
    }
    if (parts.any() && s.recompute != Recompute::selective) {
      problem("'recompute_parts' means something with recompute = \"selective\" only");
    }
  }

  static void check_schedule(StrategyKeys& table, const StatedStrategy& s) {
    if (s.schedule && s.vpp > 1 && !model_of(*s.schedule).takes_chunks()) {
      table.problem("schedule", "schedule " + quoted(name_of(*s.schedule)) +
                                    " has no vpp; drop vpp = " + std::to_string(*s.vpp) + " or use " +
                                    either_where([](const ScheduleModel& m) { return m.takes_chunks(); }));
    }
  }

  /// Layers of the end stages (Megatron-LM, --decoder-first-pipeline-num-layers, --decoder-last-pipeline-num-layers).
  static void check_stage_layers(StrategyKeys& table, const StatedStrategy& s) {
    for (const std::string_view key : {"first_stage_layers", "last_stage_layers"}) {
      if (table.has(key) && !model_of(s.schedule.value_or(usual_schedule)).takes_stated_ends()) {
        table.problem(key, quoted(key) + " means something with schedule " +
                               either_where([](const ScheduleModel& m) { return m.takes_stated_ends(); }) + " only");
      }
    }
  }

  void read_strategy(const TrainScenario& train, StatedStrategy& s) {
    StrategyKeys table = StrategyKeys::or_blank(root_);
    for_each_strategy_field([&](const auto& field) {
      constexpr Literal key = std::decay_t<decltype(field)>::name;
      if constexpr (StrategyKeys::row<key>.type != KeyType::text) {
        table.take<key>(field.of(s));
      }
    });
    if (s.recompute_block > 1 && s.recompute != Recompute::full) {
      table.problem("recompute_block", "'recompute_block' means something with recompute = \"full\" only");
    }
    read_recompute_parts(table, s, train_);
    read_order(table, s);
    check_schedule(table, s);
    check_stage_layers(table, s);
    if (s.overlap_experts == true && !train.architecture.moe) {
      table.problem("overlap_experts", "'overlap_experts' means something with a model of experts only");
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
  std::pair<std::string, Position> software_place_;
};

}  // namespace

void read_training(ConfigTable& root, TrainScenario& train, std::vector<std::string>& assumptions) {
  TrainingReader{root, train, assumptions}.run();
}

}  // namespace headroom
