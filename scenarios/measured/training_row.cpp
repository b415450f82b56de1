// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>
#include <headroom/hardware/catalog/partition.hpp>
#include <headroom/model/power/power.hpp>
#include <headroom/model/train/errors/confidence.hpp>
#include <headroom/model/train/evaluate/least_step.hpp>
#include <headroom/model/train/step/step_parts.hpp>
#include <headroom/model/train/step/step_time.hpp>
#include <headroom/scenarios/facts/run_length.hpp>
#include <headroom/scenarios/measured/row_options.hpp>
#include <headroom/scenarios/measured/training_cells.hpp>
#include <headroom/scenarios/measured/training_row.hpp>
#include <headroom/scenarios/training/train_answer.hpp>
#include <headroom/scenarios/words/verdict_text.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {
namespace {

/// The stack of software that no file describes.
constexpr std::string_view population = "any";

/// Live, reserved or device memory, as options.memory_kind says, else as the software prints it.
Bytes memory_of_kind(const StageMemory& memory, std::string_view kind, MemoryKind printed) {
  if (kind == "allocated" || kind == "active" || (kind.empty() && printed == MemoryKind::live)) {
    return memory.live();
  }
  if (kind == "nvidia_smi" || (kind.empty() && printed == MemoryKind::device)) {
    return memory.device();
  }
  return memory.reserved();
}

/// Memory of the rank that logged it: the first, the last, or the fullest (options.memory_rank).
Bytes memory_of_row(const CompiledMemory& c, const RunConfiguration& run, const Strategy& s, const Estimate& e) {
  const MemoryTable table = tabulate_memory(c, key_of(s));
  const std::string_view rank = option(run, "memory_rank");
  const std::int64_t stage = rank == "0" ? 0 : rank == "last" ? s.pp - 1 : e.stage;
  return memory_of_kind(stage_memory(c, table, s, e.micro_batches, stage), option(run, "memory_kind"),
                        c.stack.measured);
}

/// Low end with a fused loss, for rows that do not say whether the loss is fused.
Bytes least_memory_of_row(const CompiledTraining& c,
                          const RunConfiguration& run,
                          const Strategy& s,
                          const Estimate& e) {
  MemoryOptions fused = c.work.options;
  fused.fused_loss = true;
  fused.compiled = fused.compiled || option(run, "compile").empty();
  return memory_of_row(compile_memory(c.architecture, c.memory.stack, c.work.states, c.work.precision, fused,
                                      c.work.shape.seq_len, c.capacity),
                       run, s, e);
}

RunClass class_of_row(const RunConfiguration& run,
                      const Device& device,
                      const Architecture& architecture,
                      const Confidence& confidence) {
  // Fine-tuning packs its sequences, which no column states, so its errors belong to the class of adapters.
  const bool adapters = !option(run, "method").empty();
  return class_of(device, architecture, adapters, confidence.measured);
}

/// What no choice of batch or recomputation makes smaller.
Bytes held_bytes(const MemoryBreakdown& memory) {
  return memory[MemoryTerm::weights] + memory[MemoryTerm::gradients] + memory[MemoryTerm::optimizer] +
         memory[MemoryTerm::gather_buffers];
}

struct Answer {
  double value = 0.0;
  double roofline = 0.0;
  double fastest = 0.0;
  bool known = false;
};

Answer in_unit(const CompiledTraining& c,
               const RunConfiguration& run,
               const Strategy& s,
               const Estimate& e,
               Seconds least,
               std::string_view metric) {
  const auto gpus = static_cast<double>(c.work.shape.gpus);
  const double tokens = static_cast<double>(c.work.shape.global_batch) * c.seq_len;
  const Flops model = tokens * c.model_flops_per_token;
  const Seconds bound = model / gpus / c.gemm_peak;
  const auto rate = [&](double amount) {
    return Answer{amount / e.step.raw(), amount / bound.raw(), amount / least.raw(), true};
  };
  if (metric == "step_time_s") {
    return {e.step.raw(), bound.raw(), least.raw(), true};
  }
  if (metric == "tokens_per_s_per_gpu") {
    return rate(tokens / gpus);
  }
  if (metric == "samples_per_s") {
    return rate(static_cast<double>(c.work.shape.global_batch));
  }
  if (metric == "model_tflops_per_gpu") {
    return rate(model.raw() / gpus / 1e12);
  }
  if (metric == "hardware_tflops_per_gpu") {
    // One forward pass more beside those of the model: of three, or of two where weights are frozen.
    const double passes = 1.0 + c.gemm_backward;
    const double again = s.recompute == Recompute::full ? (passes + 1.0) / passes : 1.0;
    return rate(again * model.raw() / gpus / 1e12);
  }
  if (metric == "time_to_train_s") {
    const auto batch = static_cast<double>(c.work.shape.global_batch);
    const std::optional<RunLength> length = run_length_of(run.options, batch);
    if (!length) {
      return {};
    }
    const double passes = 1.0 + c.gemm_backward + (s.recompute == Recompute::full ? 1.0 : 0.0);
    const double trained = length->trained / batch;
    return {length->steps(batch, passes) * e.step.raw(), trained * bound.raw(), trained * least.raw(), true};
  }
  if (metric == "mfu") {
    return rate(model / gpus / Seconds{1.0} / c.gemm_peak);
  }
  if (metric == "memory_gib_per_gpu") {
    const Bytes memory = memory_of_row(c.memory, run, s, e);
    const double ranks = static_cast<double>(s.tp) * s.pp * (s.zero >= 3 ? static_cast<double>(s.dp) * s.cp : 1.0);
    return {memory.raw() / 0x1p30, c.parameters * adam_states(c.work.precision).total() / ranks / 0x1p30, 0.0, true};
  }
  return {};
}

/// Samples to the target that a run may take more or less than the reference's mean, in logarithm: 0.03 to 0.10 over
/// twenty reference runs at each of nine batches (mlcommons/logging, rcps_llama31_8b.json and
/// rcps_llama2_70b_lora.json).
constexpr double spread_of_samples = 0.06;

/// With the interval of an error more, independent of the others and of that deviation in logarithm.
RowPrediction widened(RowPrediction answer, double deviation) {
  constexpr double eighty = 1.2816;
  if (answer.status == RowStatus::ok) {
    const double width = std::exp(std::hypot(std::log(answer.high / answer.predicted), eighty * deviation));
    answer.low = answer.predicted / width;
    answer.high = answer.predicted * width;
  }
  return answer;
}

/// The layout that is fastest of those that fit, as a planner would take it. Priced so, 78 configurations of MLPerf
/// that state theirs (up to 128 GPUs) differ from their own layout's price by 0.096 in logarithm, root mean square: 55
/// of adapters are 7 % too fast on the mean, 23 of pretraining not; 13 of GPT-OSS 20B by 0.064. Other software's
/// layouts are no better known: the interval is wider by the 0.125 that it was with stages open to all. The centre
/// stays.
RowPrediction of_fastest_layout(TrainingRowModel& model,
                                const RunConfiguration& run,
                                std::string_view metric,
                                std::string_view unit) {
  constexpr double deviation = 0.125;
  const Device* const device = model.device_of(run);
  std::optional<RunConfiguration> fastest;
  double least = 1e300;
  const std::optional<StackAdapters>& adapters = model.software_of(run).adapters;
  const bool stages = option(run, "method") != "lora" || !adapters || adapters->stages;
  for (RunConfiguration& layout : possible_layouts(run, stages)) {
    const RowPrediction step = model.predict(layout, "step_time_s", "s");
    if (step.status == RowStatus::rejected || device == nullptr) {
      return step;
    }
    if (step.status != RowStatus::ok || step.predicted >= least) {
      continue;
    }
    RunConfiguration whole = layout;
    whole.options["memory_kind"] = "nvidia_smi";
    const RowPrediction memory = model.predict(whole, "memory_gib_per_gpu", "GiB");
    if (memory.status == RowStatus::ok && memory.predicted * 0x1p30 <= device->visible_capacity().value.raw()) {
      least = step.predicted;
      fastest = std::move(layout);
    }
  }
  if (!fastest) {
    return unsupported("not published: " + listed(missing_training_cells(run)) +
                       "; and no layout in powers of two fits");
  }
  return widened(model.predict(*fastest, metric, unit), deviation);
}

/// In the format of the software's published recipes. Of 121 configurations of dense networks in MLPerf's rounds 3.1 to
/// 6.0 that state theirs 21 are in 4 bit, whose steps are a fifth shorter: 0.085 in logarithm, root mean square.
RowPrediction in_usual_format(
    TrainingRowModel& model, RunConfiguration run, Precision usual, std::string_view metric, std::string_view unit) {
  constexpr double deviation = 0.085;
  run.precision = precision_names[static_cast<std::size_t>(usual)];
  return widened(model.predict(run, metric, unit), deviation);
}

}  // namespace

double step_error(std::string_view metric, double predicted, double measured) noexcept {
  const double error = std::log(predicted / measured);
  return metric == "step_time_s" || metric == "time_to_train_s" ? error : -error;
}

TrainingRowModel::TrainingRowModel(const Sources& sources, TermSet without)
    : sources_{sources}, without_{without}, devices_{sources.catalog}, software_{memory_stacks(sources.data)} {}

TrainingRowModel::TrainingRowModel(const Sources& sources, RoughStack stack)
    : sources_{sources}, stack_{std::move(stack)}, devices_{sources.catalog}, software_{memory_stacks(sources.data)} {}

std::string TrainingRowModel::share_key(const RunConfiguration& run) {
  const RowDevices::Answer& found = devices_.find(run.gpu);
  const std::optional<Precision> precision = training_precision(run.precision);
  if (found.device == nullptr || !precision) {
    return {};
  }
  return found.device->generation + "/" + std::string{row_of(*precision).family};
}

void TrainingRowModel::set_parameters(StepParameters parameters, MemoryStacks software) {
  parameters_ = std::move(parameters);
  software_ = std::move(software);
}

const Architecture* TrainingRowModel::preset_of(const std::string& model) {
  if (model.empty()) {
    return nullptr;
  }
  auto [at, fresh] = presets_.try_emplace(model);
  if (fresh) {
    const std::string name = without_slice(without_remark(model));
    if (sources_.models.knows(name)) {
      at->second = sources_.models.find(name);
    }
  }
  const std::optional<Architecture>& preset = at->second;
  return preset ? &*preset : nullptr;
}

const Architecture* TrainingRowModel::preset_of_blank(const RunConfiguration& run) {
  const bool blank = !run.sizes_of_preset && !run.layers && !run.hidden && !run.heads;
  return blank ? preset_of(run.model) : nullptr;
}

const MemoryStack* TrainingRowModel::known_software(const RunConfiguration& run) {
  const Device* const sku = devices_.find(run.gpu).device;
  // A release that behaves differently has a stack of its own.
  return software_.of_framework(run.framework + " " + std::string{option(run, "release")},
                                sku == nullptr ? "" : std::string_view{sku->generation});
}

const Node* TrainingRowModel::node_of(const Device& sku) {
  const auto [at, fresh] = nodes_.try_emplace(&sku);
  if (fresh) {
    at->second = sources_.catalog.reference_node(sku);
  }
  return at->second;
}

double TrainingRowModel::width_of(const RunConfiguration& run, const CompiledTraining& c) {
  const Device& device = c.step->pricer().recipe().device;
  const MemoryStack& software = software_of(run);
  const Confidence& table = step_confidence(sources_.data);
  const RunClass run_class = class_of_row(run, device, c.architecture, table);
  const std::int64_t per_host = run.gpus_per_node.value_or(c.work.host_gpus);
  StepUnknown unknown;
  unknown.kind = kind_of(run_class);
  unknown.hosts = run.gpus.value_or(1) > per_host;
  unknown.stacks = lineage_of(software_, software);
  unknown.sku = device.id;
  unknown.generation = device.generation;
  unknown.stragglers = straggler_share(step_parameters(sources_.data).physics, real(filled(run.gpus)));
  unknown.blank = closed_axes(run);
  std::string key =
      software.id + '|' + device.id + '|' + std::string{run_class_names[static_cast<std::size_t>(run_class)]};
  key += (unknown.hosts ? "|hosts" : "|") + std::to_string(filled(run.gpus));
  for (const bool blank : unknown.blank) {
    key += blank ? '1' : '0';
  }
  const auto [at, fresh] = widths_.try_emplace(key);
  if (fresh) {
    const StepPosterior& posterior = step_posterior(sources_.data);
    at->second = errors_of(table, run_class, posterior, unknown).width_80;
  }
  return at->second;
}

const MemoryStack& TrainingRowModel::software_of(const RunConfiguration& run) {
  if (const MemoryStack* known = known_software(run)) {
    return *known;
  }
  return software_.find(run.zero.value_or(1) >= 3 ? "any-sharded" : population);
}

const std::vector<ExpertRule>& TrainingRowModel::expert_rules_of(const RunConfiguration& run) {
  return run.usual_experts ? software_.find(population).experts : software_of(run).experts;
}

std::optional<RowPrediction> TrainingRowModel::refusal(const RunConfiguration& run) {
  if (run.arch == "cnn" || run.arch == "dlrm") {
    return unsupported("arch " + run.arch + ": only transformers are modelled so far");
  }
  if (const std::vector<std::string_view> missing = missing_training_cells(run); !missing.empty()) {
    return unsupported("not published: " + listed(missing));
  }
  if (const std::string bad = impossible_cell(run); !bad.empty()) {
    return rejected(bad);
  }
  if (!training_precision(run.precision)) {
    return unsupported("precision " + quoted(run.precision) + " is no training recipe known here");
  }
  if (const RowDevices::Answer& found = devices_.find(run.gpu); found.device == nullptr) {
    return unsupported(found.why);
  } else if (const std::string why = why_no_group(*found.device); !why.empty() && run.gpus.value_or(1) > 1) {
    return unsupported(why);
  }
  if (const std::optional<Watts> cap = power_cap_of(run)) {
    const std::string why = why_no_cap(*devices_.find(run.gpu).device, *cap, power_form(sources_.data));
    if (!why.empty()) {
      return rejected("power_cap_w: " + why);
    }
  }
  if (!run.recompute.empty() &&
      std::find(recompute_names.begin(), recompute_names.end(), run.recompute) == recompute_names.end()) {
    return unsupported("recompute " + quoted(run.recompute) + " is none of none, selective, full");
  }
  if (const std::string_view schedule = option(run, "schedule"); !schedule.empty() && !schedule_of(run)) {
    return unsupported("schedule " + quoted(schedule) + " is none that is known here");
  }
  if (run.arch == "moe" && run.experts.value_or(0) < 2) {
    return unsupported("not published: experts");
  }
  return std::nullopt;
}

std::shared_ptr<const JobGroups> TrainingRowModel::groups_of(const RunConfiguration& run, const Device& sku) {
  const std::int64_t gpus = filled(run.gpus);
  const std::int64_t stated = run.gpus_per_node.value_or(0);
  const double nic = run.inter_gbps_per_gpu.value_or(0.0);
  // Cards without the bridge that their SKU could have.
  const bool cards = run.intra_link.starts_with("PCIe") && sku.scale_up.topology == LinkTopology::bridge;
  std::shared_ptr<const JobGroups>& groups = groups_[{sku.id, gpus, stated, nic, cards}];
  if (!groups) {
    JobHosts hosts;
    if (const Node* node = node_of(sku)) {
      hosts.node = *node;
    }
    hosts.gpus_per_node = std::clamp<std::int64_t>(stated, 0, 1024);
    if (nic > 0.0) {
      constexpr double bytes_a_gigabit = 1e9 / 8.0;
      hosts.nic_per_gpu = BytesPerSecond{nic * bytes_a_gigabit};
    }
    Device bare = sku;
    if (cards) {
      bare.scale_up = {};
      hosts.node.reset();
      hosts.gpus_per_node = stated > 0 ? hosts.gpus_per_node : 8;
    }
    groups = std::make_shared<const JobGroups>(sources_.data, bare, hosts, gpus);
  }
  return groups;
}

Architecture TrainingRowModel::architecture_of_row(const RunConfiguration& run, const MemoryStack& software) {
  const Architecture* preset = preset_of(run.model);
  const bool recurrent = preset != nullptr && preset->recurrent && run.layers == preset->layers &&
                         run.hidden == preset->hidden && run.heads == preset->heads;
  if (preset != nullptr && (run.sizes_of_preset || recurrent)) {  // no column states what is recurrent
    Architecture network = *preset;
    network.mtp_layers = prediction_modules(run, recipe_of(run), preset);
    return network;
  }
  Architecture architecture = architecture_of(run, preset == nullptr ? software.defaults.vocabulary : preset->vocab);
  if (preset != nullptr && preset->mla && preset->heads == architecture.heads) {
    architecture.mla = preset->mla;  // no column states the latent widths
  }
  architecture.mtp_layers = prediction_modules(run, recipe_of(run), preset);
  return architecture;
}

ExpertHabits TrainingRowModel::recipe_of(const RunConfiguration& run) {
  const Device* const sku = devices_.find(run.gpu).device;
  if (run.experts.value_or(0) < 2) {
    return {};
  }
  return expert_habits(expert_rules_of(run), {option(run, "release"), sku == nullptr ? "" : std::string_view{sku->id},
                                              run.model, training_precision(run.precision).value_or(Precision::bf16)});
}

BlankAxes TrainingRowModel::closed_axes(const RunConfiguration& run) {
  BlankAxes blank = blank_axes(run);
  const MemoryStack& software = software_of(run);
  // A framework that interleaves by no default, or that keeps its own micro-batch, closes nothing.
  bool& chunks = blank[static_cast<std::size_t>(BlankAxis::vpp)];
  chunks = chunks && software.defaults.interleaves;
  const ExpertTraffic stated = expert_traffic_of(run);
  blank[static_cast<std::size_t>(BlankAxis::experts)] = recipe_of(run).usual && !(stated.launch && stated.dispatcher);
  return blank;
}

std::optional<RowJob> TrainingRowModel::job_of(const RunConfiguration& run) {
  if (const Architecture* preset = preset_of_blank(run)) {
    return job_of(with_sizes_of(*preset, run));
  }
  if (refusal(run)) {
    return std::nullopt;
  }
  RowJob job;
  job.device = devices_.find(run.gpu).device;
  job.software = known_software(run);
  job.architecture = architecture_of_row(run, software_of(run));
  job.precision = training_precision(run.precision).value_or(Precision::bf16);
  job.run_class = class_of_row(run, *job.device, job.architecture, step_confidence(sources_.data));
  return job;
}

std::vector<std::string_view> TrainingRowModel::frameworks() const {
  std::vector<std::string_view> names;
  for (const MemoryStack& stack : software_.all()) {
    names.insert(names.end(), stack.frameworks.begin(), stack.frameworks.end());
  }
  return names;
}

CompiledTraining TrainingRowModel::compiled(const RunConfiguration& run, Precision precision, bool timed) {
  const Device& sku = *devices_.find(run.gpu).device;
  std::optional<MemoryStack> with_usual;
  if (run.usual_experts) {
    with_usual = software_of(run);
    with_usual->experts = expert_rules_of(run);
  }
  const MemoryStack& software = with_usual ? *with_usual : software_of(run);
  TrainingWorkload work;
  work.shape = {filled(run.gpus), filled(run.seq_len), filled(run.global_batch)};
  work.precision = precision;
  work.states = states_of(run, software, precision, sku);
  work.options = options_of(run, software.defaults);
  if (const ExpertHabits recipe = recipe_of(run); !work.options.recompute_parts.any()) {
    work.options.recompute_parts = recipe.recompute_parts;
  }
  work.release = option(run, "release");
  work.clock = matrix_clock(sku, power_cap_of(run), power_form(sources_.data));
  const Node* node = node_of(sku);
  work.host_link = host_link_of(sku, node);
  if (node != nullptr && node->host_bandwidth) {
    work.host_memory = node->host_bandwidth->value;
  }
  work.host_gpus = std::clamp<std::int64_t>(run.gpus_per_node.value_or(node != nullptr ? node->gpus : 1), 1,
                                            std::max<std::int64_t>(1, filled(run.gpus)));
  const Architecture architecture = architecture_of_row(run, software);
  const StepParameters& parameters = parameters_ ? *parameters_ : step_parameters(sources_.data);
  if (!timed) {
    return compile_for_memory(architecture, sku, software, work);
  }
  if (stack_) {
    return compile(architecture, sku, *stack_, software, work);
  }
  const std::optional<OwnKernels> own = own_kernels_of(run);
  return compile(architecture, sku, groups_of(run, sku), software, work,
                 own ? with_own_kernels(parameters, sku, *own) : parameters, without_);
}

RowPrediction TrainingRowModel::predict(const RunConfiguration& run, std::string_view metric, std::string_view unit) {
  if (const Architecture* preset = preset_of_blank(run)) {
    return predict(with_sizes_of(*preset, run), metric, unit);
  }
  if (!stack_ && !parameters_ && run.precision.empty() && metric != "memory_gib_per_gpu") {
    if (const std::optional<Precision> usual = software_of(run).defaults.precision) {
      return in_usual_format(*this, run, *usual, metric, unit);
    }
  }
  // Numbers that are being fitted see stated layouts alone.
  if (!stack_ && !parameters_ && metric != "memory_gib_per_gpu" && leaves_layout_open(run)) {
    return of_fastest_layout(*this, run, metric, unit);
  }
  if (std::optional<RowPrediction> refused = refusal(run)) {
    return std::move(*refused);
  }
  CompiledTraining c;
  try {
    c = compiled(run, training_precision(run.precision).value_or(Precision::bf16), metric != "memory_gib_per_gpu");
  } catch (const ConfigError& error) {
    return unsupported(error.diagnostics().front().message);
  }
  Strategy s = strategy_of(run, c.memory.stack.defaults);
  const ExpertHabits recipe = recipe_of(run);
  s.overlap_experts = s.overlap_experts || (s.ep > 1 && recipe.overlaps);
  if (c.architecture.mtp_layers > 0 && s.pp > 1 && c.memory.stack.defaults.interleaves && !states_stages(s)) {
    s.last_stage_layers = layers_beside_modules(c.architecture, s);
  }
  bool open = !run.micro_batch;
  const std::int64_t local_batch = c.work.shape.global_batch / std::max<std::int64_t>(1, s.dp);
  if (open && c.memory.stack.micro_batches_follow_stages && s.pp > 1 && local_batch >= s.pp) {
    s.micro_batch = static_cast<std::uint16_t>(std::min<std::int64_t>(local_batch / s.pp, 60'000));
    open = false;
  }
  const bool vpp = !run.vpp && s.pp > 1 && c.memory.stack.defaults.interleaves && option(run, "schedule").empty();
  const bool recipes = run.recompute.empty() && recipe.recompute_parts.any();
  const bool stages = run.recompute.empty() && s.pp > 1 && c.memory.stack.defaults.stages_recompute;
  s.recompute = recipes ? Recompute::selective : stages ? Recompute::full : s.recompute;
  const bool recompute = run.recompute.empty() && !recipes && !stages;
  if (open || vpp || recompute) {
    // The run did fit, so its central value decides, where a plan uses the upper end.
    s = close_open_axes(c, {s, open, recompute, vpp}, FitRule::likely);
  }
  const Estimate e = evaluate(c, table_for(c, s), s);
  // The run did fit: a memory estimate above the capacity is an error of the estimate.
  if (e.verdict != Verdict::feasible && e.verdict != Verdict::may_not_fit && e.verdict != Verdict::out_of_memory) {
    return unsupported(verdict_text(e.verdict, e.broke, e.limit, s.schedule));
  }
  const bool memory = metric == "memory_gib_per_gpu";
  if (const Bytes held = held_bytes(e.memory); !memory && held > (1.0 + c.memory.stack.interval) * c.capacity) {
    return unsupported(
        "the layout cannot be what ran: weights, gradients, optimizer and what is gathered of them take " +
        format(held) + " a GPU, which has " + format(c.capacity));
  }
  // Fitting the rough form needs neither the bound nor the SKU's bandwidth.
  const Seconds least = memory || stack_ ? Seconds{} : least_step(c, *devices_.find(run.gpu).device, s).time();
  const Answer answer = in_unit(c, run, s, e, least, metric);
  if (!answer.known && metric == "time_to_train_s") {
    return unsupported("not published: how many samples the run takes to its target");
  }
  if (!answer.known) {
    return unsupported("metric " + quoted(metric) + " in " + quoted(unit) + " is not predicted for training");
  }
  // Numbers that are being fitted have no interval.
  const double width = 1.0 + (memory        ? c.memory.stack.interval
                              : stack_      ? stack_->interval
                              : parameters_ ? 0.0
                                            : width_of(run, c));
  double low = answer.value;
  if (memory && !c.work.options.fused_loss) {
    low = std::min(low, least_memory_of_row(c, run, s, e).raw() / 0x1p30);
  }
  RowPrediction prediction{RowStatus::ok, {}, answer.value, low / width, answer.value * width, answer.roofline,
                           answer.fastest};
  prediction.recurrent = c.architecture.recurrent.has_value();
  if (!memory) {
    prediction.regime = regime_of(e.time);
  }
  return metric == "time_to_train_s" ? widened(prediction, spread_of_samples) : prediction;
}

}  // namespace headroom
