// SPDX-License-Identifier: Apache-2.0
// A training or serving plan as a document: raw SI, the unit in the key.
#include <headroom/answers/views/render.hpp>
#include <headroom/answers/views/render_advice.hpp>
#include <headroom/answers/views/render_money.hpp>
#include <headroom/answers/views/render_outlook.hpp>
#include <headroom/core/version.hpp>
#include <headroom/model/train/memory/load_peak.hpp>
#include <headroom/scenarios/read/change_text.hpp>
#include <headroom/scenarios/words/strategy_text.hpp>

#include <algorithm>
#include <type_traits>

namespace headroom {
namespace {

std::string_view recompute_name(const Strategy& s) {
  return recompute_names[static_cast<std::size_t>(s.recompute)];
}

Value verdict(Verdict verdict, double broke, double limit, const std::string& text) {
  const bool broken = verdict != Verdict::feasible;
  return object("verdict"_m = name_of(verdict), "verdict_text"_m = text, "broke"_m = when(broken, broke),
                "limit"_m = when(broken, limit));
}

Value problems_of(const std::vector<Problem>& problems) {
  return when(!problems.empty(), list(problems, [](const Problem& p) {
    return row("verdict"_m = name_of(p.verdict), "text"_m = p.text, "way_out"_m = p.way_out);
  }));
}

/// What the run keeps other than by habit: method, optimizer, offloading.
Value recipe(const TrainScenario& t) {
  const MemoryOptions& o = t.work.options;
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < recompute_part_names.size(); ++i) {
    if (o.recompute_parts.has(static_cast<RecomputePart>(i))) {
      parts.emplace_back(recompute_part_names[i]);
    }
  }
  std::vector<std::string> offloaded;
  if (o.offload_optimizer) {
    offloaded.emplace_back("optimizer");
  }
  if (o.offload_activations) {
    offloaded.emplace_back("activations");
  }
  if (o.offload_parameters) {
    offloaded.emplace_back("parameters");
  }
  return object(
      "software"_m = t.software.id, "method"_m = method_names[static_cast<std::size_t>(o.method)],
      "lora_rank"_m = when(o.method != Method::full, o.lora_rank),
      "double_quant"_m = when(o.method == Method::qlora, doubly_quantised(t.software, o)),
      "optimizer"_m =
          t.stated.optimizer ? Value{optimizer_names[static_cast<std::size_t>(*t.stated.optimizer)]} : Value{},
      "offload"_m = when(!offloaded.empty(), Value{offloaded}.on_one_line()),
      "offload_to"_m = when(!offloaded.empty(), t.offload_to_nvme ? "nvme" : "host"),
      "recompute_parts"_m = when(!parts.empty(), Value{parts}.on_one_line()),
      "saved_activations"_m = o.narrow_saved ? Value{*o.narrow_saved ? "fp8" : "bf16"} : Value{},
      "dispatch"_m = when(o.experts.narrow_dispatch, "fp8"),
      "dispatch_domains"_m = when(o.experts.domains > 0, o.experts.domains),
      "dispatch_sms"_m = when(o.experts.units > 0, o.experts.units),
      "dispatcher"_m = o.experts.dispatcher
                           ? Value{expert_dispatcher_names[static_cast<std::size_t>(*o.experts.dispatcher)]}
                           : Value{},
      "expert_launch"_m =
          o.experts.launch ? Value{expert_launch_names[static_cast<std::size_t>(*o.experts.launch)]} : Value{},
      "expert_capacity"_m = when(o.experts.capacity > 0.0, o.experts.capacity),
      "rank_capacity"_m = when(o.experts.rank_capacity > 0.0, o.experts.rank_capacity),
      "gradient_format"_m = o.sent_gradients ? Value{o.sent_gradients->text()} : Value{},
      "bucket_bytes"_m = when(o.bucket > Bytes{}, o.bucket),
      "weight_average"_m =
          when(o.average != WeightAverage::none, weight_average_names[static_cast<std::size_t>(o.average)]));
}

/// What crosses the link for offloading, and how long it takes.
Value link_way(const std::string& unit, Bytes bytes, const std::optional<Seconds>& time) {
  return bytes.raw() > 0.0 ? object(Member{"link_bytes_per_" + unit, bytes}, Member{"link_time_s_per_" + unit, time})
                           : Value{};
}

/// What is kept off the device, and what crosses the link and NVMe for it.
Value offloaded(const OffloadPlan& o) {
  return object("to"_m = o.to_nvme ? "nvme" : "host", "bytes"_m = o.gpu, "node_bytes"_m = o.node,
                "node_capacity_bytes"_m = when(!o.to_nvme, o.room), link_way("step", o.step_way, o.step_time),
                link_way("micro_batch", o.pass_way, o.pass_time),
                "nvme_read_bytes_per_step"_m = when(o.to_nvme, o.read),
                "nvme_written_bytes_per_step"_m = when(o.to_nvme, o.written));
}

/// The three numbers that logs print, the moment of the peak, every term.
Value train_memory(const TrainScenario& t, const TrainPlan& p) {
  return object("memory_bytes"_m = p.memory, "memory_live_bytes"_m = p.live, "memory_reserved_bytes"_m = p.reserved,
                "memory_peak_moment"_m = peak_moment_names[static_cast<std::size_t>(p.estimate.moment)],
                "memory_peak_stage"_m = p.estimate.stage, "memory_in_flight_micro_batches"_m = p.estimate.in_flight,
                "offloaded"_m = p.offload ? offloaded(*p.offload) : Value{},
                "capacity_bytes"_m = t.device.visible_capacity().value,
                "memory_terms_bytes"_m = memory_terms(p.estimate.memory),
                "load"_m = p.load ? load_value(*p.load) : Value{});
}

Value remedies(const std::vector<Remedy>& remedies, PlanPart part) {
  return list(remedies, [&](const Remedy& r) {
    return row("changes"_m = texts_of(r.changes), "memory_bytes"_m = r.memory,
               "step_time_s"_m = when(part == PlanPart::all, r.step));
  });
}

/// What a GPU sends over each group that it is in.
Value sent_over_axes(const TrainPlan& p) {
  Value axes = Value::empty_list();
  for (std::size_t i = 0; i < p.sent.size(); ++i) {
    const AxisBytes& sent = p.sent[i];
    if (sent.step > Bytes{}) {
      axes.push(row("axis"_m = traffic_axis_names[i], "bytes_per_layer"_m = when(sent.layer > Bytes{}, sent.layer),
                    "bytes_per_step"_m = sent.step));
    }
  }
  return axes.members().empty() ? Value{} : axes;
}

/// Step, rates, the run and what it costs.
Value train_times(const Money& money, const TrainScenario& t, const TrainPlan& p) {
  const bool run = t.tokens > 0.0;
  const bool priced = money.price.has_value();
  return object("step_time_s"_m = p.step, "tokens_per_s"_m = per_second(p.tokens_per_s),
                "tokens_per_s_per_gpu"_m = per_second(p.tokens_per_s_per_gpu),
                "model_flop_per_s_per_gpu"_m = Value{p.model_flops_per_gpu}.as(Hint::flop_per_second),
                "mfu"_m = share(p.mfu), "duration_s"_m = when(run, p.duration), "gpu_hours"_m = when(run, p.gpu_hours),
                price(money), "usd_per_million_tokens"_m = when(priced, p.cost_per_million_tokens),
                "cost_usd"_m = when(priced && run, p.cost), outlook(t, p), "binds"_m = p.binds,
                "micro_batches"_m = p.estimate.micro_batches,
                "tokens_per_rank"_m = when(p.strategy.cp > 1, t.work.shape.seq_len / p.strategy.cp),
                "sent_bytes_per_gpu_and_step"_m = p.sent_data,
                "tensor_bytes_per_gpu_and_step"_m = when(p.strategy.tp > 1, p.sent_tensor),
                "sent_over_axes"_m = sent_over_axes(p), "step_terms_s"_m = step_terms(p.estimate.time.exposed),
                "data"_m = p.fed ? data(*p.fed) : Value{});
}

/// A strategy in what it differs from another.
Value strategy_changes(const Strategy& s, const Strategy& now) {
  return object("micro_batch"_m = when(s.micro_batch != now.micro_batch, s.micro_batch),
                "recompute"_m = when(s.recompute != now.recompute, recompute_name(s)));
}

Value today(const Choice& c) {
  return object("recompute"_m = recompute_name(c.strategy), "micro_batch"_m = c.strategy.micro_batch,
                "faster"_m = share(c.faster), "step_time_s"_m = c.step);
}

/// What more of each part of the hardware would buy.
Value sensitivities(const std::vector<Sensitivity>& all, const Strategy& now) {
  return when(!all.empty(), list(all, [&](const Sensitivity& s) {
    return row("resource"_m = resource_names[static_cast<std::size_t>(s.resource)], "more"_m = share(sensitivity_more),
               "faster"_m = share(s.faster), "step_time_s"_m = s.step, strategy_changes(s.strategy, now),
               "today"_m = s.today ? today(*s.today) : Value{});
  }));
}

Value fits_probability(const Plan& plan) {
  const std::optional<double> chance = plan.chance_to_fit();
  return chance ? Value{share(*chance)} : Value{};
}

/// What is trained on what.
Value job(const TrainScenario& t) {
  return object("model"_m = t.architecture.id, "gpu"_m = t.device.id, "gpus"_m = t.work.shape.gpus,
                "precision"_m = name_of(t.work.precision), "seq_len"_m = t.work.shape.seq_len,
                "global_batch"_m = t.work.shape.global_batch, "tokens"_m = when(t.tokens > 0.0, t.tokens));
}

/// Host, ranks and clock where the scenario states them.
Value conduct_value(const TrainScenario& t, const TrainPlan& p) {
  const RankConduct& stated = t.work.conduct;
  const ConductCost cost = conduct_cost(stated, p.estimate.time);
  const bool reads = stated.sync_every > 0.0;
  return reads || stated.states_ranks() || t.clock < 1.0
             ? object("sync_every"_m = when(reads, stated.sync_every), "host_dispatch_s"_m = stated.dispatch,
                      "sync_s"_m = when(reads, cost.sync),
                      "sync_throughput_change"_m = when(reads, change(cost.sync_throughput)),
                      "rank_spread"_m = stated.spread ? share(*stated.spread) : Value{},
                      "slow_rank"_m = when(stated.slow_rank > 0.0, share(stated.slow_rank)),
                      "slowest_share"_m = when(stated.states_ranks(), share(cost.slowest)),
                      "clock_share"_m = when(t.clock < 1.0, share(t.clock)))
             : Value{};
}

Value train(const Plan& plan, const TrainScenario& t, const TrainPlan& p) {
  const bool timed = p.estimate.step.raw() > 0.0;
  const bool whole = timed && plan.part == PlanPart::all;
  const Money& money = plan.scenario.money;
  return object("kind"_m = "train", job(t), "strategy"_m = strategy_value(p.strategy).on_one_line(), recipe(t),
                verdict(p.estimate.verdict, p.estimate.broke, p.estimate.limit, p.verdict),
                "fits_probability"_m = fits_probability(plan), "asked_probability"_m = t.confidence,
                "problems"_m = problems_of(p.problems), "remedies"_m = remedies(p.remedies, plan.part),
                timed ? train_memory(t, p) : Value{}, whole ? train_times(money, t, p) : Value{},
                "conduct"_m = whole ? conduct_value(t, p) : Value{},
                "money"_m = whole ? money_value(money, p.bill, p.variants) : Value{},
                "energy"_m = whole ? energy_value(p.energy, "j_per_million_tokens") : Value{},
                "sensitivities"_m = whole ? sensitivities(plan.sensitivities, p.strategy) : Value{},
                timed ? advice(p.advice) : Value{});
}

/// What a GPU holds, and its KV pool. Of a model that does not fit what is missing stands in verdict_text: a pool holds
/// nothing or more.
Value pool(const ServeScenario& s, const ServingEstimate& e) {
  return object("memory_terms_bytes"_m = memory_terms(e.memory.terms),
                "capacity_bytes"_m = s.device.visible_capacity().value, "nameplate_bytes"_m = s.device.capacity().value,
                "kv_pool_bytes"_m = std::max(Bytes{}, e.memory.pool), "kv_bytes_per_sequence"_m = e.memory.sequence,
                "kv_bytes_per_token"_m = e.kv_per_token);
}

/// What the KV pools of all replicas hold.
Value capacity(const ServePlan& p) {
  const ServingMemory& held = p.estimate.memory;
  const auto replicas = static_cast<double>(p.estimate.replicas);
  const Interval<double> sequences{replicas * static_cast<double>(held.capacity_low),
                                   replicas * static_cast<double>(held.capacity),
                                   replicas * static_cast<double>(held.capacity_high)};
  return object("max_sequences"_m = held.max_sequences * p.estimate.replicas,
                "kv_capacity_sequences"_m = held.bounded() ? Value{sequences} : "unbounded",
                "kv_capacity_interval_source"_m = p.memory_source, "kv_capacity_tokens"_m = replicas * held.tokens,
                "kv_in_use_bytes"_m = p.estimate.kv_in_use,
                "longest_sequence_tokens"_m = p.longest_sequence ? Value{*p.longest_sequence} : "unbounded");
}

Value iteration_terms(const IterationTerms& t) {
  return named(iteration_term_names, t.seconds, [](double /*all*/) { return true; }).as(Hint::seconds);
}

Value times(const ServingTimes& t) {
  const bool drafts = t.step_tokens > 1.0 || t.decode_drafting.raw() > 0.0;
  return object("prompt_alone_s"_m = t.prompt_alone, "decode_iteration_s"_m = t.state.decode_step,
                "mixed_iteration_s"_m = t.state.mixed_step, "least_decode_iteration_s"_m = t.least_decode,
                "prompt_share"_m = share(t.state.prompt_share), "decode_terms_s"_m = iteration_terms(t.decode),
                "prompt_terms_s"_m = iteration_terms(t.prompt), "step_tokens"_m = when(drafts, t.step_tokens),
                "decode_drafting_s"_m = when(drafts, t.decode_drafting),
                "prompt_drafting_s"_m = when(drafts, t.prompt_drafting), "kernels"_m = t.sources);
}

/// What no engine beats, where no kernels serve.
Value bounds(const ServingBound& b, const std::string& untimed) {
  return object("prompt_alone_at_least_s"_m = b.prompt_alone, "tpot_at_least_s"_m = b.tpot,
                "most_output_tokens_per_s"_m = per_second(b.output_tokens_per_s),
                "most_requests_per_s"_m = per_second(b.requests_per_s),
                "rates_bound_by"_m = rate_limit_names[static_cast<std::size_t>(b.limit)], "untimed"_m = untimed);
}

Value serve_times(const Money& money, const ServePlan& p, ServingPool pool) {
  const bool timed = p.times.has_value();
  const bool prefills = timed && pool != ServingPool::decode;
  const bool decodes = timed && pool != ServingPool::prefill;
  const bool priced = timed && money.price;
  return object("ttft_s"_m = when(prefills && decodes, p.ttft), "tpot_s"_m = when(decodes, p.tpot),
                "output_tokens_per_s"_m = when(decodes, per_second(p.output_tokens_per_s)),
                "input_tokens_per_s"_m = when(prefills && !decodes, per_second(p.input_tokens_per_s)),
                "requests_per_s"_m = when(timed, per_second(p.requests_per_s)), timed ? times(*p.times) : Value{},
                "other_kernels"_m = when(!p.other_kernels.empty(), p.other_kernels),
                p.bound ? bounds(*p.bound, p.untimed) : Value{},
                p.speculation ? object("tpot_without_draft_s"_m = p.speculation->tpot_without,
                                       "without_draft_output_tokens_per_s"_m =
                                           per_second(p.speculation->output_tokens_per_s_without),
                                       "speculation_speedup"_m = p.speculation->speedup())
                              : Value{},
                price(money), "usd_per_million_output_tokens"_m = when(priced, p.cost_per_million_output_tokens),
                "apart_usd_per_million_input_tokens"_m = when(priced, p.cost_per_million_input_tokens_apart),
                "apart_usd_per_million_output_tokens"_m = when(priced, p.cost_per_million_output_tokens_apart),
                "money"_m = money_value(money, p.bill),
                "energy"_m = energy_value(p.energy, "j_per_million_output_tokens"), "binds"_m = p.binds);
}

Value serve(const Plan& plan, const ServeScenario& s, const ServePlan& p) {
  const bool fits = p.estimate.verdict == Verdict::feasible;
  const ServingWorkload& w = s.work;
  return object(
      "kind"_m = "serve", "model"_m = s.architecture.id, "gpu"_m = s.device.id, "gpus"_m = w.gpus, "tp"_m = w.layout.tp,
      "pp"_m = w.layout.pp, "ep"_m = w.layout.ep, "engine"_m = engine_names[static_cast<std::size_t>(s.engine.engine)],
      "weights"_m = name_of(w.weights),
      "quantization"_m = when(w.weight_kernels != WeightKernels::fused,
                              weight_kernel_names[static_cast<std::size_t>(w.weight_kernels)]),
      "kv_cache"_m = name_of(w.kv), "isl"_m = w.isl, "osl"_m = w.osl,
      "pool_phase"_m = when(w.pool != ServingPool::both, serving_pool_names[static_cast<std::size_t>(w.pool)]),
      "redundant_experts"_m = when(w.layout.redundant > 0, w.layout.redundant),
      "balanced_experts"_m = when(w.layout.balanced, true), "two_batch_overlap"_m = when(w.layout.two_batches, true),
      "memory_fraction"_m = share(w.memory_fraction),
      verdict(p.estimate.verdict, p.estimate.broke, p.estimate.limit, p.verdict),
      "fits_probability"_m = fits_probability(plan), "asked_probability"_m = s.confidence,
      "problems"_m = problems_of(p.problems), "changes"_m = texts_of(p.changes),
      "changes_of_weights"_m = texts_of(p.changes_of_weights), "changes_for_all"_m = texts_of(p.changes_for_all),
      pool(s, p.estimate), "memory_basis"_m = memory_basis_names[static_cast<std::size_t>(s.engine.basis)],
      "asked_sequences"_m = w.concurrency, "running_sequences"_m = p.running,
      "replicas"_m = when(fits, p.estimate.replicas), "batch"_m = when(fits, p.estimate.batch),
      fits ? capacity(p) : Value{},
      fits && plan.part == PlanPart::all ? serve_times(plan.scenario.money, p, w.pool) : Value{});
}

/// What a recorded number counts, beside a number whose unit is not fixed.
std::string_view unit_of(Shown as) noexcept {
  switch (as) {
    case Shown::seconds:
    case Shown::run_seconds: return "s";
    case Shown::bytes: return "bytes";
    case Shown::flops: return "flop";
    case Shown::bytes_per_second: return "bytes_per_s";
    case Shown::flops_per_second: return "flop_per_s";
    case Shown::count:
    case Shown::fraction: break;
  }
  return "1";
}

Value explanation(const std::vector<ExplainEntry>& entries) {
  return when(!entries.empty(), list(entries, [](const ExplainEntry& e) {
    return object("name"_m = e.name, "formula"_m = e.formula, "reference"_m = e.reference, "value"_m = e.value,
                  "unit"_m = unit_of(e.as), "inputs"_m = list(e.inputs, [](const ExplainEntry::Input& input) {
                                              return row("symbol"_m = input.symbol, "value"_m = input.value,
                                                         "unit"_m = unit_of(input.as), "source"_m = input.source);
                                            }));
  }));
}

Value weighed_runs(const std::vector<OddRun>& runs) {
  return list(runs, [](const OddRun& run) {
    return row("file"_m = run.file, "line"_m = run.line, "step_error"_m = change(run.slow), "weight"_m = run.weight);
  });
}

Value own_runs_value(const OwnRuns& own, const OwnEffect& effect) {
  return object("gpu"_m = own.gpu, "software"_m = own.software, "runs"_m = static_cast<std::int64_t>(own.level.runs),
                "rows"_m = own.rows, "step_error"_m = change(own.slow()), "weight"_m = effect.weight,
                "level"_m = own.level.factor, "step_factor"_m = effect.step,
                "moved"_m = list(effect.moved,
                                 [](const MovedNumber& number) {
                                   return row("number"_m = number.key, "owner"_m = number.owner, "was"_m = number.was,
                                              "now"_m = number.now, "unit"_m = number.time ? "s" : "1",
                                              "step"_m = change(number.step));
                                 }),
                "not_told_apart"_m = effect.alike, "contradicted"_m = weighed_runs(own.odd),
                "counted_less"_m = weighed_runs(own.less),
                "not_used"_m = list(own.unused, [](const UnusedRuns& u) {
                  return row("what"_m = u.what, "why"_m = u.why, "rows"_m = u.rows);
                }));
}

Value nearest_value(const NearestRuns& nearest) {
  return object("radius"_m = nearest.radius, "within_radius"_m = nearest.within,
                "runs"_m = list(nearest.runs, [](const NearRun& run) {
                  return object("id"_m = run.id, "source"_m = run.source, "own"_m = run.own,
                                "distance"_m = run.distance, "model"_m = run.model, "gpu"_m = run.gpu,
                                "gpus"_m = run.gpus, "framework"_m = run.framework, "metric"_m = run.metric,
                                "unit"_m = run.unit, "measured"_m = run.measured, "predicted"_m = run.predicted,
                                "step_error"_m = change(run.step_error));
                }));
}

Member own_runs(const Plan& plan) {
  return "own_runs"_m = plan.own_runs && plan.own_effect ? own_runs_value(*plan.own_runs, *plan.own_effect) : Value{};
}

Value confidence(const Plan& plan) {
  if (!plan.confidence) {
    const auto* serve = std::get_if<ServePlan>(&plan.answer);
    return object("confidence"_m = serve == nullptr                ? "rough"
                                   : !serve->other_kernels.empty() ? "kernels of other SKUs"
                                   : serve->times                  ? "measured kernels"
                                   : serve->bound                  ? "bounds"
                                                                   : "no times",
                  own_runs(plan));
  }
  const PlanConfidence& c = *plan.confidence;
  const std::string wide{run_class_names[static_cast<std::size_t>(RunClass::wide_experts)]};
  return object("confidence"_m = run_class_names[static_cast<std::size_t>(c.run_class)],
                "confidence_basis"_m =
                    object("width"_m = share(c.width), error_widths(c.errors),
                           Member{wide, c.wide_experts() ? error_widths(c.basis.back().errors) : Value{}},
                           "outside_measured"_m = c.outside,
                           "narrowing"_m = list(c.narrowing,
                                                [](const NarrowingFact& fact) {
                                                  return object("fact"_m = fact.what, "width"_m = share(fact.width));
                                                })),
                own_runs(plan));
}

}  // namespace

Value load_value(const LoadPeak& load) {
  return row("form"_m = checkpoint_form_names[static_cast<std::size_t>(load.form)], "rank_0_bytes"_m = load.first,
             "rank_bytes"_m = load.rank, "capacity_bytes"_m = load.capacity, "fits"_m = load.fits(),
             "text"_m = load_text(load));
}

Value memory_terms(const MemoryBreakdown& memory) {
  return named(memory_term_names, memory.bytes, [](Bytes term) { return term.raw() > 0.0; });
}

Value step_terms(std::span<const Seconds> terms) {
  return named(term_names, terms, [](Seconds term) { return term.raw() != 0.0; });
}

Value error_widths(const ClassErrors& errors) {
  return object("width_50"_m = share(errors.width_50), "width_80"_m = share(errors.width_80),
                "width_90"_m = share(errors.width_90), "rows"_m = errors.rows, "sources"_m = errors.sources);
}

Value price(const GpuPrice& price) {
  return price.price ? object("price_usd_per_s_per_gpu"_m = price.price, "price_source"_m = price.source) : Value{};
}

Value strategy_value(const Strategy& s) {
  Value value = object(
      "tp"_m = s.tp, "pp"_m = s.pp, "vpp"_m = s.vpp, "dp"_m = s.dp, "cp"_m = s.cp, "ep"_m = s.ep, "etp"_m = s.etp,
      "zero"_m = s.zero, "micro_batch"_m = s.micro_batch, "recompute"_m = recompute_name(s),
      "sequence_parallel"_m = s.sequence_parallel, "schedule"_m = name_of(s.schedule),
      "shard_ranks"_m = when(s.shard_ranks > 0, s.shard_ranks),
      "recompute_block"_m = when(s.recompute == Recompute::full, s.recompute_block),
      "cp_form"_m = when(s.cp > 1 && s.cp_form != CpForm::unstated, cp_form_names[static_cast<std::size_t>(s.cp_form)]),
      "first_stage_layers"_m = when(s.first_stage_layers > 0, s.first_stage_layers),
      "last_stage_layers"_m = when(s.last_stage_layers > 0, s.last_stage_layers),
      "order"_m = when(s.order != RankOrder::tp_cp_dp_pp, name_of(s.order)),
      "overlap_experts"_m = when(s.overlap_experts, true));
  for_each_told_field(s, [&](const auto& field) {
    const auto number = field.of(s);
    const std::string key{field.name.view()};
    if constexpr (std::is_enum_v<std::remove_const_t<decltype(number)>>) {
      value.add({key, field_text(field, s)});
    } else {
      value.add({key, number});
    }
  });
  return value;
}

Value data(const FedStep& fed) {
  return row("binds"_m = input_stage_names[static_cast<std::size_t>(fed.input.binds)], "exposed_s"_m = fed.exposed,
             "cores_needed"_m = fed.input.cores_needed, "storage_needed_bytes_per_s"_m = fed.input.storage_needed,
             "copy_needed_bytes_per_s"_m = fed.input.copy_needed);
}

Value plan_document(const Plan& plan) {
  const auto* const trained = std::get_if<TrainScenario>(&plan.scenario.question);
  return object("schema"_m = "headroom.plan/1", "version"_m = version(), "name"_m = plan.scenario.name,
                confidence(plan), "interval_source"_m = plan.interval_source,
                trained != nullptr
                    ? train(plan, *trained, std::get<TrainPlan>(plan.answer))
                    : serve(plan, std::get<ServeScenario>(plan.scenario.question), std::get<ServePlan>(plan.answer)),
                "assumed"_m = plan.notes, "nearest_runs"_m = plan.nearest ? nearest_value(*plan.nearest) : Value{},
                "explain"_m = explanation(plan.explain));
}

}  // namespace headroom
