// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/views/json_members.hpp>
#include <headroom/answers/views/render.hpp>
#include <headroom/answers/views/render_advice.hpp>
#include <headroom/answers/views/render_money.hpp>
#include <headroom/answers/views/render_outlook.hpp>
#include <headroom/core/json_writer.hpp>
#include <headroom/core/version.hpp>
#include <headroom/scenarios/read/change_text.hpp>

#include <algorithm>

namespace headroom {
namespace {

void memory(JsonWriter& json, const MemoryBreakdown& breakdown) {
  json.key("memory_terms_bytes");
  json.begin_object();
  for (std::size_t i = 0; i < memory_term_count; ++i) {
    if (breakdown.bytes[i].raw() > 0.0) {
      json.member(memory_term_names[i], breakdown.bytes[i].raw());
    }
  }
  json.end_object();
}

void verdict(JsonWriter& json, Verdict value, double broke, double limit, const std::string& text) {
  json.member("verdict", name_of(value));
  json.member("verdict_text", std::string_view{text});
  if (value != Verdict::feasible) {
    json.member("broke", broke);
    json.member("limit", limit);
  }
}

void problem_members(JsonWriter& json, const std::vector<Problem>& problems) {
  if (problems.empty()) {
    return;
  }
  json.key("problems");
  json.begin_array();
  for (const Problem& problem : problems) {
    json.compact_next();
    json.begin_object();
    json.member("verdict", name_of(problem.verdict));
    json.member("text", std::string_view{problem.text});
    json.member("way_out", std::string_view{problem.way_out});
    json.end_object();
  }
  json.end_array();
}

/// What of the strategy is not as usual.
void form_members(JsonWriter& json, const Strategy& s) {
  if (s.cp > 1 && s.cp_form != CpForm::unstated) {
    json.member("cp_form", cp_form_names[static_cast<std::size_t>(s.cp_form)]);
  }
  if (s.first_stage_layers > 0) {
    json.member("first_stage_layers", int{s.first_stage_layers});
  }
  if (s.last_stage_layers > 0) {
    json.member("last_stage_layers", int{s.last_stage_layers});
  }
  if (s.order != RankOrder::tp_cp_dp_pp) {
    json.member("order", name_of(s.order));
  }
  if (s.overlap_experts) {
    json.member("overlap_experts", true);
  }
  if (s.cuda_graphs) {
    json.member("cuda_graphs", true);
  }
}

}  // namespace

void strategy_members(JsonWriter& json, const Strategy& s) {
  json.member("tp", int{s.tp});
  json.member("pp", int{s.pp});
  json.member("vpp", int{s.vpp});
  json.member("dp", std::int64_t{s.dp});
  json.member("cp", int{s.cp});
  json.member("ep", int{s.ep});
  json.member("etp", int{s.etp});
  json.member("zero", int{s.zero});
  json.member("micro_batch", int{s.micro_batch});
  json.member("recompute", recompute_names[static_cast<std::size_t>(s.recompute)]);
  json.member("sequence_parallel", s.sequence_parallel);
  json.member("schedule", name_of(s.schedule));
  if (s.shard_ranks > 0) {
    json.member("shard_ranks", int{s.shard_ranks});
  }
  if (s.recompute == Recompute::full) {
    json.member("recompute_block", int{s.recompute_block});
  }
  form_members(json, s);
}

namespace {

/// What the run keeps other than by habit: method, optimizer, offloading.
void recipe_members(JsonWriter& json, const TrainScenario& t) {
  const MemoryOptions& o = t.work.options;
  json.member("software", std::string_view{t.software.id});
  json.member("method", method_names[static_cast<std::size_t>(o.method)]);
  if (o.method != Method::full) {
    json.member("lora_rank", o.lora_rank);
  }
  if (t.stated.optimizer) {
    json.member("optimizer", optimizer_names[static_cast<std::size_t>(*t.stated.optimizer)]);
  }
  if (o.offload_optimizer || o.offload_activations) {
    json.key("offload");
    json.compact_next();
    json.begin_array();
    if (o.offload_optimizer) {
      json.text("optimizer");
    }
    if (o.offload_activations) {
      json.text("activations");
    }
    json.end_array();
    json.member("offload_to", t.offload_to_nvme ? "nvme" : "host");
  }
}

/// What is kept off the device, and what crosses the link and NVMe for it.
void offload_members(JsonWriter& json, const OffloadPlan& o) {
  json.key("offloaded");
  json.begin_object();
  json.member("to", o.to_nvme ? "nvme" : "host");
  json.member("bytes", o.gpu.raw());
  json.member("node_bytes", o.node.raw());
  if (o.room && !o.to_nvme) {
    json.member("node_capacity_bytes", o.room->raw());
  }
  const auto way = [&](std::string_view unit, Bytes bytes, const std::optional<Seconds>& time) {
    if (bytes.raw() > 0.0) {
      json.member("link_bytes_per_" + std::string{unit}, bytes.raw());
      if (time) {
        json.member("link_time_s_per_" + std::string{unit}, time->raw());
      }
    }
  };
  way("step", o.step_way, o.step_time);
  way("micro_batch", o.pass_way, o.pass_time);
  if (o.to_nvme) {
    json.member("nvme_read_bytes_per_step", o.read.raw());
    json.member("nvme_written_bytes_per_step", o.written.raw());
  }
  json.end_object();
}

/// The three numbers that logs print, the moment of the peak, every term.
void train_memory(JsonWriter& json, const TrainScenario& t, const TrainPlan& p) {
  interval(json, "memory_bytes", p.memory);
  json.member("memory_live_bytes", p.live.raw());
  json.member("memory_reserved_bytes", p.reserved.raw());
  json.member("memory_peak_moment", peak_moment_names[static_cast<std::size_t>(p.estimate.moment)]);
  json.member("memory_peak_stage", std::int64_t{p.estimate.stage});
  json.member("memory_in_flight_micro_batches", p.estimate.in_flight);
  if (p.offload) {
    offload_members(json, *p.offload);
  }
  json.member("capacity_bytes", t.device.visible_capacity().value.raw());
  memory(json, p.estimate.memory);
}

void remedy_members(JsonWriter& json, const std::vector<Remedy>& remedies, PlanPart part) {
  json.key("remedies");
  json.begin_array();
  for (const Remedy& remedy : remedies) {
    json.compact_next();
    json.begin_object();
    texts(json, "changes", texts_of(remedy.changes));
    json.member("memory_bytes", remedy.memory.raw());
    if (part == PlanPart::all) {
      json.member("step_time_s", remedy.step.raw());
    }
    json.end_object();
  }
  json.end_array();
}

/// Step, rates, the run and what it costs.
void train_times(JsonWriter& json, const Money& money, const TrainScenario& t, const TrainPlan& p) {
  interval(json, "step_time_s", p.step);
  interval(json, "tokens_per_s", p.tokens_per_s);
  interval(json, "tokens_per_s_per_gpu", p.tokens_per_s_per_gpu);
  interval(json, "model_flop_per_s_per_gpu", p.model_flops_per_gpu);
  interval(json, "mfu", p.mfu);
  if (t.tokens > 0.0) {
    interval(json, "duration_s", p.duration);
    interval(json, "gpu_hours", p.gpu_hours);
  }
  if (money.price) {
    json.member("price_usd_per_gpu_s", money.price->raw());
    json.member("price_source", std::string_view{money.source});
    interval(json, "cost_per_million_tokens_usd", p.cost_per_million_tokens);
    if (t.tokens > 0.0) {
      interval(json, "cost_usd", p.cost);
    }
  }
  outlook_members(json, t, p);
  json.member("binds", std::string_view{p.binds});
  json.key("step_terms_s");
  json.begin_object();
  for (std::size_t i = 0; i < term_count; ++i) {
    if (p.estimate.time.exposed[i].raw() != 0.0) {
      json.member(term_names[i], p.estimate.time.exposed[i].raw());
    }
  }
  json.end_object();
  if (p.fed) {
    data_members(json, *p.fed);
  }
}

/// What more of each part of the hardware would buy.
void sensitivity_members(JsonWriter& json, const std::vector<Sensitivity>& all, const Strategy& now) {
  if (all.empty()) {
    return;
  }
  json.key("sensitivities");
  json.begin_array();
  for (const Sensitivity& s : all) {
    json.compact_next();
    json.begin_object();
    json.member("resource", resource_names[static_cast<std::size_t>(s.resource)]);
    json.member("more", sensitivity_more);
    json.member("faster", s.faster);
    json.member("step_time_s", s.step.raw());
    if (s.strategy.micro_batch != now.micro_batch) {
      json.member("micro_batch", int{s.strategy.micro_batch});
    }
    if (s.strategy.recompute != now.recompute) {
      json.member("recompute", recompute_names[static_cast<std::size_t>(s.strategy.recompute)]);
    }
    if (s.today) {
      json.key("today");
      json.begin_object();
      json.member("recompute", recompute_names[static_cast<std::size_t>(s.today->strategy.recompute)]);
      json.member("micro_batch", int{s.today->strategy.micro_batch});
      json.member("faster", s.today->faster);
      json.member("step_time_s", s.today->step.raw());
      json.end_object();
    }
    json.end_object();
  }
  json.end_array();
}

/// What is trained on what.
void job_members(JsonWriter& json, const TrainScenario& t) {
  json.member("model", std::string_view{t.architecture.id});
  json.member("gpu", std::string_view{t.device.id});
  json.member("gpus", t.work.shape.gpus);
  json.member("precision", name_of(t.work.precision));
  json.member("seq_len", t.work.shape.seq_len);
  json.member("global_batch", t.work.shape.global_batch);
  if (t.tokens > 0.0) {
    json.member("tokens", t.tokens);
  }
}

void train(JsonWriter& json, const Plan& plan, const TrainScenario& t, const TrainPlan& p) {
  json.member("kind", "train");
  job_members(json, t);
  json.key("strategy");
  json.compact_next();
  json.begin_object();
  strategy_members(json, p.strategy);
  json.end_object();
  recipe_members(json, t);
  verdict(json, p.estimate.verdict, p.estimate.broke, p.estimate.limit, p.verdict);
  problem_members(json, p.problems);
  remedy_members(json, p.remedies, plan.part);
  if (p.estimate.step.raw() <= 0.0) {
    return;
  }
  train_memory(json, t, p);
  if (plan.part == PlanPart::all) {
    train_times(json, plan.scenario.money, t, p);
    money_members(json, plan.scenario.money, p.bill, p.variants);
    energy_members(json, p.energy, "j_per_million_tokens");
    sensitivity_members(json, plan.sensitivities, p.strategy);
  }
  advice_members(json, p.advice);
}

/// What a GPU holds, and its KV pool.
void pool_members(JsonWriter& json, const ServeScenario& s, const ServingEstimate& e) {
  const ServingMemory& held = e.memory;
  memory(json, held.terms);
  json.member("capacity_bytes", s.device.visible_capacity().value.raw());
  json.member("nameplate_bytes", s.device.capacity().value.raw());
  // Of a model that does not fit what is missing stands in verdict_text: a pool holds nothing or more.
  json.member("kv_pool_bytes", std::max(Bytes{}, held.pool).raw());
  json.member("kv_bytes_per_sequence", held.sequence.raw());
  json.member("kv_bytes_per_token", e.kv_per_token.raw());
}

/// What the KV pools of all replicas hold.
void capacity_members(JsonWriter& json, const ServePlan& p) {
  const ServingMemory& held = p.estimate.memory;
  const auto replicas = static_cast<double>(p.estimate.replicas);
  json.member("max_sequences", held.max_sequences * p.estimate.replicas);
  if (held.bounded()) {
    interval(json, "kv_capacity_sequences",
             Interval<double>{replicas * static_cast<double>(held.capacity_low),
                              replicas * static_cast<double>(held.capacity),
                              replicas * static_cast<double>(held.capacity_high)});
  } else {
    json.member("kv_capacity_sequences", "unbounded");
  }
  json.member("kv_capacity_interval_source", std::string_view{p.memory_source});
  json.member("kv_capacity_tokens", replicas * held.tokens);
  json.member("kv_in_use_bytes", p.estimate.kv_in_use.raw());
  json.key("longest_sequence_tokens");
  if (p.longest_sequence) {
    json.integer(*p.longest_sequence);
  } else {
    json.text("unbounded");
  }
}

void terms(JsonWriter& json, std::string_view name, const IterationTerms& t) {
  json.key(name);
  json.begin_object();
  for (std::size_t i = 0; i < iteration_term_count; ++i) {
    json.member(iteration_term_names[i], t.seconds[i]);
  }
  json.end_object();
}

void time_members(JsonWriter& json, const ServingTimes& t) {
  json.member("prompt_alone_s", t.prompt_alone.raw());
  json.member("decode_iteration_s", t.state.decode_step.raw());
  json.member("mixed_iteration_s", t.state.mixed_step.raw());
  json.member("least_decode_iteration_s", t.least_decode.raw());
  json.member("prompt_share", t.state.prompt_share);
  terms(json, "decode_terms_s", t.decode);
  terms(json, "prompt_terms_s", t.prompt);
  if (t.step_tokens > 1.0 || t.decode_drafting.raw() > 0.0) {
    json.member("step_tokens", t.step_tokens);
    json.member("decode_drafting_s", t.decode_drafting.raw());
    json.member("prompt_drafting_s", t.prompt_drafting.raw());
  }
  texts(json, "kernels", t.sources);
}

/// What no engine beats, where nobody measured kernels.
void bound_members(JsonWriter& json, const ServePlan& p) {
  json.member("prompt_alone_at_least_s", p.bound->prompt_alone.raw());
  json.member("tpot_at_least_s", p.bound->tpot.raw());
  json.member("output_tokens_per_s_at_most", p.bound->output_tokens_per_s);
  json.member("requests_per_s_at_most", p.bound->requests_per_s);
  json.member("rates_bound_by", rate_limit_names[static_cast<std::size_t>(p.bound->limit)]);
  json.member("untimed", std::string_view{p.untimed});
}

void serve(JsonWriter& json, const Plan& plan, const ServeScenario& s, const ServePlan& p) {
  json.member("kind", "serve");
  json.member("model", std::string_view{s.architecture.id});
  json.member("gpu", std::string_view{s.device.id});
  json.member("gpus", s.work.gpus);
  json.member("tp", s.work.layout.tp);
  json.member("pp", s.work.layout.pp);
  json.member("ep", s.work.layout.ep);
  json.member("engine", engine_names[static_cast<std::size_t>(s.engine.engine)]);
  json.member("weights", name_of(s.work.weights));
  json.member("kv_cache", name_of(s.work.kv));
  json.member("isl", s.work.isl);
  json.member("osl", s.work.osl);
  json.member("memory_fraction", s.work.memory_fraction);
  verdict(json, p.estimate.verdict, p.estimate.broke, p.estimate.limit, p.verdict);
  problem_members(json, p.problems);
  texts(json, "changes", texts_of(p.changes));
  texts(json, "changes_of_weights", texts_of(p.changes_of_weights));
  texts(json, "changes_for_all", texts_of(p.changes_for_all));
  pool_members(json, s, p.estimate);
  json.member("memory_basis", memory_basis_names[static_cast<std::size_t>(s.engine.basis)]);
  json.member("asked_sequences", s.work.concurrency);
  interval(json, "running_sequences", p.running);
  if (p.estimate.verdict != Verdict::feasible) {
    return;
  }
  json.member("replicas", p.estimate.replicas);
  json.member("batch", p.estimate.batch);
  capacity_members(json, p);
  if (plan.part == PlanPart::memory) {
    return;
  }
  if (p.times) {
    interval(json, "ttft_s", p.ttft);
    interval(json, "tpot_s", p.tpot);
    interval(json, "output_tokens_per_s", p.output_tokens_per_s);
    interval(json, "requests_per_s", p.requests_per_s);
    time_members(json, *p.times);
  }
  if (p.bound) {
    bound_members(json, p);
  }
  if (p.speculation) {
    json.member("tpot_without_draft_s", p.speculation->tpot_without.raw());
    json.member("output_tokens_per_s_without_draft", p.speculation->output_tokens_per_s_without);
    json.member("speculation_speedup", p.speculation->speedup());
  }
  if (plan.scenario.money.price) {
    json.member("price_usd_per_gpu_s", plan.scenario.money.price->raw());
    json.member("price_source", std::string_view{plan.scenario.money.source});
    if (p.times) {
      interval(json, "cost_per_million_output_tokens_usd", p.cost_per_million_output_tokens);
      interval(json, "cost_per_million_input_tokens_apart_usd", p.cost_per_million_input_tokens_apart);
      interval(json, "cost_per_million_output_tokens_apart_usd", p.cost_per_million_output_tokens_apart);
    }
  }
  money_members(json, plan.scenario.money, p.bill);
  energy_members(json, p.energy, "j_per_million_output_tokens");
  json.member("binds", std::string_view{p.binds});
}

void explanation(JsonWriter& json, const Plan& plan) {
  json.key("explain");
  json.begin_array();
  for (const ExplainEntry& entry : plan.explain) {
    json.begin_object();
    json.member("name", std::string_view{entry.name});
    json.member("formula", std::string_view{entry.formula});
    json.member("reference", std::string_view{entry.reference});
    json.member("value", entry.value);
    json.key("inputs");
    json.begin_array();
    for (const ExplainEntry::Input& input : entry.inputs) {
      json.compact_next();
      json.begin_object();
      json.member("symbol", std::string_view{input.symbol});
      json.member("value", input.value);
      json.member("source", std::string_view{input.source});
      json.end_object();
    }
    json.end_array();
    json.end_object();
  }
  json.end_array();
}

void own_runs_members(JsonWriter& json, const OwnRuns& own) {
  json.key("own_runs");
  json.begin_object();
  json.member("gpu", std::string_view{own.gpu});
  json.member("software", std::string_view{own.software});
  json.member("runs", static_cast<std::int64_t>(own.level.runs));
  json.member("rows", static_cast<std::int64_t>(own.rows));
  json.member("step_error", own.slow());
  json.member("weight", own.level.weight);
  json.member("level", own.level.factor);
  json.key("not_used");
  json.begin_array();
  for (const UnusedRuns& u : own.unused) {
    json.compact_next();
    json.begin_object();
    json.member("what", std::string_view{u.what});
    json.member("why", std::string_view{u.why});
    json.member("rows", static_cast<std::int64_t>(u.rows));
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

void nearest_members(JsonWriter& json, const NearestRuns& nearest) {
  json.key("nearest_runs");
  json.begin_object();
  json.member("radius", nearest.radius);
  json.member("within_radius", static_cast<std::int64_t>(nearest.within));
  json.key("runs");
  json.begin_array();
  for (const NearRun& run : nearest.runs) {
    json.begin_object();
    json.member("id", std::string_view{run.id});
    json.member("source", std::string_view{run.source});
    json.member("own", run.own);
    json.member("distance", run.distance);
    json.member("model", std::string_view{run.model});
    json.member("gpu", std::string_view{run.gpu});
    json.member("gpus", run.gpus);
    json.member("framework", std::string_view{run.framework});
    json.member("metric", std::string_view{run.metric});
    json.member("unit", std::string_view{run.unit});
    json.member("measured", run.measured);
    json.member("predicted", run.predicted);
    json.member("step_error", run.step_error);
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

void confidence_members(JsonWriter& json, const Plan& plan) {
  if (!plan.confidence) {
    const auto* serve = std::get_if<ServePlan>(&plan.answer);
    json.member("confidence", serve == nullptr ? "rough"
                              : serve->times   ? "measured kernels"
                              : serve->bound   ? "bounds"
                                               : "no times");
    return;
  }
  const PlanConfidence& c = *plan.confidence;
  json.member("confidence", run_class_names[static_cast<std::size_t>(c.run_class)]);
  json.key("confidence_basis");
  json.begin_object();
  json.member("width", c.width);
  json.member("width_50", c.errors.width_50);
  json.member("width_80", c.errors.width_80);
  json.member("width_90", c.errors.width_90);
  json.member("rows", c.errors.rows);
  json.member("sources", c.errors.sources);
  if (c.wide_experts()) {
    const ClassErrors& wide = c.basis.back().errors;
    json.key(run_class_names[static_cast<std::size_t>(RunClass::wide_experts)]);
    json.begin_object();
    json.member("width_50", wide.width_50);
    json.member("width_80", wide.width_80);
    json.member("width_90", wide.width_90);
    json.member("rows", wide.rows);
    json.member("sources", wide.sources);
    json.end_object();
  }
  texts(json, "outside_measured", c.outside);
  json.end_object();
  if (plan.own_runs) {
    own_runs_members(json, *plan.own_runs);
  }
}

}  // namespace

void data_members(JsonWriter& json, const FedStep& fed) {
  json.key("data");
  json.compact_next();
  json.begin_object();
  json.member("binds", input_stage_names[static_cast<std::size_t>(fed.input.binds)]);
  json.member("exposed_s", fed.exposed.raw());
  json.member("cores_needed", fed.input.cores_needed);
  json.member("storage_needed_bytes_per_s", fed.input.storage_needed.raw());
  json.member("copy_needed_bytes_per_s", fed.input.copy_needed.raw());
  json.end_object();
}

void write_plan(JsonWriter& json, const Plan& plan) {
  json.begin_object();
  json.member("schema", "headroom.plan/1");
  json.member("version", version());
  json.member("name", std::string_view{plan.scenario.name});
  confidence_members(json, plan);
  json.member("interval_source", std::string_view{plan.interval_source});
  if (const auto* scenario = std::get_if<TrainScenario>(&plan.scenario.question)) {
    train(json, plan, *scenario, std::get<TrainPlan>(plan.answer));
  } else {
    serve(json, plan, std::get<ServeScenario>(plan.scenario.question), std::get<ServePlan>(plan.answer));
  }
  texts(json, "assumed", plan.notes);
  if (plan.nearest) {
    nearest_members(json, *plan.nearest);
  }
  if (!plan.explain.empty()) {
    explanation(json, plan);
  }
  json.end_object();
}

std::string plan_json(const Plan& plan) {
  JsonWriter json;
  write_plan(json, plan);
  return json.take();
}

}  // namespace headroom
