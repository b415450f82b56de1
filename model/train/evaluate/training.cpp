// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/train/evaluate/training.hpp>
#include <headroom/model/train/memory/held_stages.hpp>
#include <headroom/model/train/software/rough_stack.hpp>
#include <headroom/model/train/step/step_time.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {
namespace {

constexpr std::string_view rough_form =
    "rough: the sustained rate stands in for element-wise kernels, communication, optimizer and launch gaps";

/// Layers of the fullest and of the last stage.
struct StageSpan {
  double first = 0.0;
  double last = 0.0;
};

/// Layers that do not divide evenly go to the early stages.
StageSpan split_layers(double layers, double stages) noexcept {
  return {std::ceil(layers / stages), std::floor(layers / stages)};
}

template <class Recorder>
void record_time(
    const CompiledTraining& c, const LayerTable& t, const Strategy& s, const Estimate& e, double layers, Recorder& r) {
  if constexpr (Recorder::records) {
    const double m = e.micro_batches;
    const double tokens = static_cast<double>(s.micro_batch) * c.seq_len / s.cp;
    r.line("gemm", "m L/p T 2 P_layer (1 + b) / (t R)", rough_form, e.time[Term::gemm].raw(), Shown::seconds,
           {{"m", m, Shown::count, "micro-batches: global_batch / (dp micro_batch)"},
            {"L/p", layers, Shown::count, "layers of the slowest stage"},
            {"T", tokens, Shown::count, "micro_batch seq_len / cp"},
            {"2 P_layer", c.gemm_per_token.raw(), Shown::flops, c.sources.architecture},
            {"b", c.gemm_backward, Shown::count, "backward / forward"},
            {"R", c.gemm_rate.raw(), Shown::flops_per_second, c.sources.sustained},
            {"peak", c.gemm_peak.raw(), Shown::flops_per_second, c.sources.peak}});
    r.line("attention", "m L/p T 4 s q k (1 + b) / (t R)",
           "scores and values; k = 1/2 where a fused kernel skips the causal half (Dao 2023, section 3.1)",
           e.time[Term::attention].raw(), Shown::seconds,
           {{"4 s q k", c.attention_per_token.raw(), Shown::flops, c.sources.architecture},
            {"b", c.attention_backward, Shown::count, "backward / forward"},
            {"R", c.wide_rate.raw(), Shown::flops_per_second, c.sources.sustained}});
    if (t.recompute.raw() > 0.0) {
      r.line("recompute", "one forward more of what is recomputed", "Korthikanti et al. 2022, section 5",
             e.time[Term::recompute].raw(), Shown::seconds, {});
    }
    r.line("head", "m T 2 h V (1 + b) / (t R)", "on the last stage", e.time[Term::head].raw(), Shown::seconds,
           {{"2 h V", c.head_per_token.raw(), Shown::flops, c.sources.architecture}});
    r.line("bubble", "(p - 1)/v x one micro-batch of the slowest stage", "Narayanan et al. 2021, section 2.2",
           e.time[Term::bubble].raw(), Shown::seconds,
           {{"p", double(s.pp), Shown::count, "strategy"},
            {"v", double(s.vpp), Shown::count, "strategy"},
            {"bubble / step", e.bubble_fraction, Shown::fraction, ""}});
    r.line("step", "sum", "", e.step.raw(), Shown::seconds, {});
  }
}

/// The rough form: one sustained rate for everything.
template <class Recorder>
void rough_step(const CompiledTraining& c, const LayerTable& t, const Strategy& s, Estimate& e, Recorder& recorder) {
  const double m = e.micro_batches;
  const StageSpan split = split_layers(c.layers, s.pp);
  const bool single = s.pp == 1;
  // The slowest stage sets the pace: the first has the most layers, the last the head.
  const Seconds layer = t.gemm + t.attention + t.recompute;
  const bool head_binds = split.last * layer + t.head > split.first * layer;
  const double layers = head_binds ? split.last : split.first;
  const Seconds head = head_binds || single ? t.head : Seconds{};
  const Seconds micro_batch = layers * layer + head;
  e.time[Term::gemm] = m * layers * t.gemm;
  e.time[Term::attention] = m * layers * t.attention;
  e.time[Term::recompute] = m * layers * t.recompute;
  e.time[Term::head] = m * head;
  e.time[Term::bubble] = m / micro_batches_a_flush(s, m) * (s.pp - 1.0) / s.vpp * micro_batch;
  e.step = e.time.total();
  e.bubble_fraction = e.time[Term::bubble] / e.step;
  if (c.timed) {
    record_time(c, t, s, e, layers, recorder);
  }
}

/// The upper end of the interval decides whether a plan fits, the lower end whether it surely does not.
void judge_memory(Bytes capacity, Estimate& e) noexcept {
  if (e.device.high <= capacity) {
    return;
  }
  e.verdict = e.device.low > capacity ? Verdict::out_of_memory : Verdict::may_not_fit;
  e.broke = (e.verdict == Verdict::out_of_memory ? e.device.mid : e.device.high).raw();
  e.limit = capacity.raw();
}

Estimate broken_estimate(const Legality& rule) noexcept {
  Estimate e;
  e.verdict = rule.verdict;
  e.broke = rule.broke;
  e.limit = rule.limit;
  return e;
}

/// Of a strategy that breaks no rule.
Estimate memory_estimate(const CompiledTraining& c, const FullestStage& fullest, double micro_batches) noexcept {
  Estimate e;
  e.micro_batches = static_cast<std::int32_t>(micro_batches);
  e.memory = fullest.memory.bytes;
  e.stage = fullest.stage;
  e.moment = fullest.memory.moment;
  e.in_flight = fullest.memory.in_flight;
  e.host = fullest.host;
  e.device = device_interval(fullest.memory, c.memory.stack);
  e.device.high = std::max(e.device.high, fullest.at_least);
  judge_memory(c.capacity, e);
  return e;
}

template <class Recorder>
Estimate memory_with(
    const CompiledTraining& c, const LayerTable& t, const Strategy& s, Recorder& recorder, Bytes room = any_room) {
  const Legality legality = check(c.architecture, c.work.shape, s);
  if (legality.verdict != Verdict::feasible) {
    return broken_estimate(legality);
  }
  const double m = micro_batches_of(c, s);
  const FullestStage fullest = fullest_stage(c.memory, t.memory, s, m, room);
  if constexpr (Recorder::records) {
    record_memory(c.memory, c.sources.architecture, c.sources.capacity, s, fullest, recorder);
  }
  return memory_estimate(c, fullest, m);
}

template <class Recorder>
void time_with(const CompiledTraining& c,
               const LayerTable& t,
               const Strategy& s,
               const StepTraffic& traffic,
               Estimate& e,
               Recorder& recorder) {
  if (!c.step) {
    rough_step(c, t, s, e, recorder);
    return;
  }
  const StepTime time = c.step->time(t.step, s, real(c.work.shape.global_batch), e.host, traffic);
  e.time = time.time;
  e.step = e.time.total();
  e.bubble_fraction = e.time[Term::bubble] / e.step;
  if constexpr (Recorder::records) {
    if (c.timed) {
      record_step(*c.step, t.step, key_of(s), s, time, recorder);
    }
  }
}

template <class Recorder>
Estimate evaluate_with(const CompiledTraining& c, const LayerTable& t, const Strategy& s, Recorder& recorder) {
  Estimate e = memory_with(c, t, s, recorder);
  if (e.micro_batches > 0) {
    time_with(c, t, s, traffic_of(c, t, s), e, recorder);
  }
  return e;
}

/// The software's dispatchers that run on the device: DeepEP's kernels, HybridEP's among them, are for NVIDIA GPUs of
/// compute capability 9.0 and later (DeepEP, README: Hopper; older ones without its collectives between hosts).
std::vector<ExpertDispatcher> dispatchers_on(const MemoryStack& software, const Device& device) {
  std::vector<ExpertDispatcher> all = software.dispatchers;
  const std::string& capability = device.compute_capability;
  const bool flexible = capability.starts_with("9.") || capability.starts_with("10.");
  std::erase_if(all, [&](ExpertDispatcher d) { return d != ExpertDispatcher::alltoall && !flexible; });
  if (std::find(all.begin(), all.end(), ExpertDispatcher::hybridep) != all.end()) {
    std::erase(all, ExpertDispatcher::deepep);  // as fast between hosts, slower inside them, on no fewer units
  }
  return all;
}

/// Parameters of the adapters that a token meets.
double active_adapters(const Architecture& arch, const MemoryStack& software, double rank) noexcept {
  const double met = arch.moe ? real(arch.moe->top_k) / real(arch.moe->experts) : 1.0;
  double sum = 0.0;
  for (const Block& block : arch.blocks()) {
    const LoraParameters pairs = lora_parameters(arch, block, rank, targets_of(software));
    sum += pairs.dense + met * pairs.experts;
  }
  return sum;
}

/// Model FLOP of a token: the passes that the method asks of it, causal attention not halved (Chowdhery et al. 2022,
/// appendix B). A matrix runs forward, for the gradient of its input and, where it is trained, for its own: a frozen
/// one counts 4 FLOP a weight, an adapter 6 (Hu et al. 2022, section 4.1). Attention has no weights and runs all three.
Flops model_flops(const Architecture& arch,
                  const MemoryStack& software,
                  const MemoryOptions& options,
                  double matrices,
                  double seq_len,
                  Flops scores) {
  if (options.method != Method::full) {
    return Flops{4.0 * matrices + 6.0 * active_adapters(arch, software, real(options.lora_rank))} + 3.0 * scores;
  }
  return Flops{6.0 * matrices + 3.0 * prediction_flops(arch, seq_len)} + 3.0 * scores;
}

/// Applies the options of a job to its software's parameters.
void as_asked(const MemoryOptions& options, StepPhysics& physics, StepStack& stack) noexcept {
  if (options.compiled) {
    stack.elementwise *= physics.compiled;
  }
  if (options.async_tp) {
    stack.tp_overlap = physics.async_tp;
  }
  if (options.row_scales) {
    physics.cast *= physics.row_casts;
  }
  if (!options.overlapped) {
    stack.dp_overlap = stack.tp_overlap = 0.0;
  }
}

}  // namespace

ExpertHabits expert_habits_of(const MemoryStack& software,
                              const TrainingWorkload& work,
                              const Architecture& arch,
                              const Device& device) {
  if (!arch.moe) {
    return {};
  }
  const ExpertTraffic& stated = work.options.experts;
  ExpertHabits habits = expert_habits(software.experts, {work.release, device.id, arch.id, work.precision});
  // A capacity fixes the shapes.
  const bool fixed = stated.capacity > 0.0 || stated.rank_capacity > 0.0;
  const ExpertLaunch usual = fixed && reads_back(habits.launch) ? ExpertLaunch::static_shapes : habits.launch;
  habits.launch = stated.launch.value_or(usual);
  habits.dispatcher = stated.dispatcher.value_or(habits.dispatcher);
  habits.fused_products = stated.fused_products.value_or(habits.fused_products);
  habits.usual = habits.usual && !(stated.launch && stated.dispatcher);
  return habits;
}

CompiledTraining compile_for_memory(const Architecture& arch,
                                    const Device& device,
                                    const MemoryStack& software,
                                    const TrainingWorkload& work) {
  const ParameterCount parameters = count_parameters(arch);
  CompiledTraining c;
  c.architecture = arch;
  c.work = work;
  c.hidden = real(arch.hidden);
  c.vocab = real(arch.vocab);
  c.seq_len = real(work.shape.seq_len);
  c.layers = real(arch.layers);
  c.parameters = parameters.total;
  c.active_parameters = parameters.active;

  const double head_matrix = c.vocab * c.hidden;
  c.gemm_per_token = Flops{2.0 * (parameters.active_matrices - head_matrix) / c.layers};
  // Packed documents see themselves alone.
  const double documents = work.options.document_tokens;
  const double seen = documents > 0.0 ? std::min(documents, c.seq_len) : c.seq_len;
  c.score_flops = Flops{score_flops(arch, seen) / c.layers};
  const bool halves = work.options.flash_attention && arch.kind == ArchitectureKind::decoder;
  c.attention_per_token = (halves ? 0.5 : 1.0) * c.score_flops;
  c.head_per_token = Flops{2.0 * head_matrix};
  c.gemm_backward = work.options.method == Method::full ? 2.0 : 1.0;
  c.attention_backward = work.options.flash_attention ? 2.5 : 2.0;
  c.model_flops_per_token =
      model_flops(arch, software, work.options, parameters.active_matrices, c.seq_len, c.layers * c.score_flops);
  c.gemm_peak = c.gemm_rate = c.wide_rate = FlopsPerSecond{1.0};

  c.capacity = device.visible_capacity().value;
  c.memory = compile_memory(arch, software, work.states, work.precision, work.options, work.shape.seq_len, c.capacity);
  c.memory.attention = narrow_attention_of(software, work.options, work.precision, device.generation);
  c.sources.architecture = arch.source;
  c.sources.capacity = device.visible_capacity().source;
  return c;
}

CompiledTraining compile(const Architecture& arch,
                         const Device& device,
                         std::shared_ptr<const JobGroups> groups,
                         const MemoryStack& software,
                         const TrainingWorkload& work,
                         const StepParameters& parameters,
                         TermSet without) {
  CompiledTraining c = compile_for_memory(arch, device, software, work);
  c.timed = true;
  c.balances_stages = work.balances_stages && software.defaults.balances_stages;
  const Rate rate = row_of(work.precision).rate;
  c.gemm_peak = device.peak_of(rate);
  if (const auto& peak = device.peak[static_cast<std::size_t>(rate)]) {
    c.sources.peak = peak->source;
  }
  StepRecipe recipe;
  recipe.architecture = arch;
  recipe.device = device;
  recipe.stack = arch.moe ? software.time.moe : software.time.plain;
  recipe.physics = parameters.physics;
  as_asked(work.options, recipe.physics, recipe.stack);
  recipe.level = parameters.levels.of(device, parameters.physics.power_clock).at_clock(work.clock);
  recipe.level.narrow *= work.options.row_scales ? parameters.physics.row_scales : 1.0;
  recipe.selective = software.selective;
  recipe.recompute_end = software.recompute_end;
  recipe.precision = work.precision;
  recipe.options = work.options;
  recipe.experts = expert_habits_of(software, work, arch, device);
  if (work.open_recipe && arch.moe && !work.options.experts.dispatcher) {
    recipe.dispatchers = dispatchers_on(software, device);
  }
  recipe.seq_len = c.seq_len;
  recipe.gathered_bytes = c.memory.gather_bytes;
  recipe.measured = work.measured;
  recipe.without = without;
  recipe.host_link = work.host_link;
  recipe.host_gpus = work.host_gpus;
  recipe.host_memory = work.host_memory;
  recipe.targets = targets_of(software);
  recipe.drops_inputs = drops_inputs(software, work.options);
  recipe.attention = c.memory.attention;
  recipe.feed = work.feed;
  recipe.conduct = work.conduct;
  c.step = std::make_shared<const StepModel>(std::move(recipe), std::move(groups), work.options.lora_rank);
  return c;
}

CompiledTraining compile(const Architecture& arch,
                         const Device& device,
                         const RoughStack& stack,
                         const MemoryStack& software,
                         const TrainingWorkload& work) {
  CompiledTraining c = compile_for_memory(arch, device, software, work);
  c.timed = true;
  const bool narrow = row_of(work.precision).compute_bytes <= 2.0;
  const Precision wide = narrow && work.precision != Precision::fp16 ? Precision::bf16 : work.precision;
  c.gemm_rate = stack.sustained_rate(device, work.precision);
  c.gemm_peak = device.peak_of(row_of(work.precision).rate);
  // If only narrow formats were measured, attention and head are assumed to sustain the same share of their own peak.
  const FittedFraction* share = stack.share(device, work.precision);
  c.wide_rate = stack.share(device, wide) != nullptr ? stack.sustained_rate(device, wide)
                                                     : share->value * device.peak_of(row_of(wide).rate);
  const Rate rate = row_of(work.precision).rate;
  if (const auto& peak = device.peak[static_cast<std::size_t>(rate)]) {
    c.sources.peak = peak->source;
  }
  c.sources.sustained =
      format_number(100.0 * share->value) + " % of the dense " + std::string{name_of(rate)} + " peak; " + share->source;
  return c;
}

LayerKey key_of(const Strategy& s) noexcept {
  const std::uint16_t stages = pipeline_outermost(s.order) ? std::uint16_t{0} : s.pp;
  return {s.tp,        s.cp,   s.ep,          s.etp,     s.micro_batch, s.sequence_parallel,
          s.recompute, s.dp,   s.shard_ranks, s.cp_form, s.cuda_graphs, s.overlap_experts,
          s.order,     stages, s.parts};
}

LayerTable tabulate(const CompiledTraining& c, const LayerKey& k) {
  if (c.step) {
    LayerTable table;
    table.step = c.step->tabulate(k);
    table.memory = tabulate_memory(c.memory, k);
    return table;
  }
  const double tokens = static_cast<double>(k.micro_batch) * c.seq_len / k.cp;
  const double t = k.tp;

  LayerTable table;
  const Seconds gemm = c.gemm_per_token * tokens / t / c.gemm_rate;
  const Seconds attention = c.attention_per_token * tokens / t / c.wide_rate;
  table.gemm = (1.0 + c.gemm_backward) * gemm;
  table.attention = (1.0 + c.attention_backward) * attention;
  if (k.recompute == Recompute::full) {
    table.recompute = gemm + attention;
  } else if (k.recompute == Recompute::selective && !c.work.options.flash_attention) {
    table.recompute = attention;
  }
  table.head = (1.0 + c.gemm_backward) * (c.head_per_token * tokens / t / c.wide_rate);

  table.memory = tabulate_memory(c.memory, k);
  return table;
}

Estimate evaluate(const CompiledTraining& compiled, const LayerTable& table, const Strategy& strategy) noexcept {
  NoRecorder recorder;
  return evaluate_with(compiled, table, strategy, recorder);
}

Estimate evaluate_memory(const CompiledTraining& compiled,
                         const LayerTable& table,
                         const Strategy& strategy,
                         Bytes room) noexcept {
  NoRecorder recorder;
  return memory_with(compiled, table, strategy, recorder, room);
}

Estimate evaluate_memory(const CompiledTraining& compiled,
                         const Legality& legality,
                         HeldStages& held,
                         const Strategy& strategy,
                         Bytes room) {
  return legality.verdict != Verdict::feasible
             ? broken_estimate(legality)
             : memory_estimate(compiled, held.fullest(strategy, room), micro_batches_of(compiled, strategy));
}

StepTraffic traffic_of(const CompiledTraining& compiled, const LayerTable& table, const Strategy& strategy) noexcept {
  return compiled.step ? compiled.step->traffic(table.step, strategy) : StepTraffic{};
}

void evaluate_time(const CompiledTraining& compiled,
                   const LayerTable& table,
                   const Strategy& strategy,
                   Estimate& estimate) noexcept {
  if (estimate.micro_batches > 0) {
    evaluate_time(compiled, table, strategy, traffic_of(compiled, table, strategy), estimate);
  }
}

void evaluate_time(const CompiledTraining& compiled,
                   const LayerTable& table,
                   const Strategy& strategy,
                   const StepTraffic& traffic,
                   Estimate& estimate) noexcept {
  NoRecorder recorder;
  if (estimate.micro_batches > 0) {
    time_with(compiled, table, strategy, traffic, estimate, recorder);
  }
}

Estimate explain(const CompiledTraining& compiled,
                 const LayerTable& table,
                 const Strategy& strategy,
                 ExplainRecorder& recorder) {
  return evaluate_with(compiled, table, strategy, recorder);
}

}  // namespace headroom
