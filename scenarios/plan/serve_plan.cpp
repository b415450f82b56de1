// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/number_words.hpp>
#include <headroom/core/real.hpp>
#include <headroom/model/serve/engine/serving_confidence.hpp>
#include <headroom/scenarios/money/formulas.hpp>
#include <headroom/scenarios/plan/serve_plan.hpp>
#include <headroom/scenarios/plan/serve_remedy.hpp>
#include <headroom/scenarios/question/sequence_length.hpp>
#include <headroom/scenarios/traffic/beside.hpp>
#include <headroom/scenarios/words/verdict_text.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace headroom {
namespace {

/// A broken rule in serving's words: replicas instead of dp, and stages that are layers and nothing else.
Problem serving_problem(const ServingEstimate& e) {
  Problem problem = problem_of({e.verdict, e.broke, e.limit});
  if (e.verdict == Verdict::gpus_not_divisible) {
    problem.text = format_count(e.broke) + " GPUs are no whole number of replicas of " + format_count(e.limit);
  } else if (e.verdict == Verdict::layers_too_few) {
    problem.way_out = "use pp " + format_count(e.broke) + " or less";
  } else if (e.verdict == Verdict::experts_not_divisible && e.broke > 1.0) {
    // Ranks beyond the experts' divisors hold some experts twice (DeepSeek-AI 2024, DeepSeek-V3, section 3.4).
    problem.way_out += ", or hold " + format_count(e.limit - std::fmod(e.broke, e.limit)) +
                       " experts more (serving.redundant_experts)";
  } else if (e.verdict == Verdict::expert_groups_misfit) {
    problem.text = "tp " + format_count(e.broke) + " and ep " + format_count(e.limit) + ": neither divides the other";
    problem.way_out = "use ep " + format_count(e.broke) + " or a multiple of it";
  }
  return problem;
}

std::string title(const ServeScenario& s) {
  return std::string{engine_titles[static_cast<std::size_t>(s.engine.engine)]};
}

/// Of the sequences asked for, those that run at once over all replicas; the rest waits.
Interval<double> running(const ServingEstimate& e, const ServingWorkload& w) {
  const std::int64_t seats = w.max_num_seqs * w.layout.attention_groups();
  const auto of = [&](std::int64_t capacity) {
    return std::min(real(w.concurrency), real(e.replicas) * real(std::min(seats, capacity)));
  };
  return {of(e.memory.capacity_low), of(e.memory.capacity), of(e.memory.capacity_high)};
}

std::string running_text(const Interval<double>& running, std::int64_t asked) {
  const bool certain = running.low >= running.high;
  const std::string range = certain ? "" : " (" + format_count(running.low) + " to " + format_count(running.high) + ")";
  return running.mid >= real(asked) ? "all " + format_count(real(asked)) + " asked sequences run at once" + range
                                    : format_count(running.mid) + range + " of the " + format_count(real(asked)) +
                                          " asked sequences run at once";
}

/// The weights of all layers as one GPU would hold them.
Bytes whole_weights(const ServeScenario& s) {
  return compile_serving_memory(s.architecture, s.device, s.engine.memory, {}, s.work.weights, s.work.kv)
      .stages[0]
      .weights;
}

/// The verdict in one line: whether it fits, and how many of the asked sequences run at once.
std::string verdict_line(const ServeScenario& s, const ServePlan& answer) {
  const ServingEstimate& e = answer.estimate;
  const ServingMemory& m = e.memory;
  const Bytes device = s.device.visible_capacity().value;
  const std::string runs = running_text(answer.running, s.work.concurrency);
  std::string text = verdict_text(e.verdict, e.broke, e.limit);
  if (e.verdict == Verdict::feasible) {
    text += ": " + format(m.terms.total()) + " of " + format(device) + " per GPU, " +
            (answer.running.mid < real(s.work.concurrency)
                 ? "but "
                 : "room for " + format_count(real(e.replicas * m.max_sequences)) + " sequences, ") +
            runs;
  } else if (e.verdict == Verdict::kv_cache_uncertain) {
    text = memory_refusal(s, m) + "; " + runs;
  } else if (e.verdict == Verdict::kv_cache_too_small) {
    text += "; none of the " + format_count(real(s.work.concurrency)) + " asked sequences runs";
  } else if (e.verdict == Verdict::out_of_memory) {
    const std::int64_t gpus = gpus_to_hold(whole_weights(s), device, s.work.memory_fraction);
    text += gpus > s.work.layout.gpus() && !s.device.slice
                ? "; the weights alone need " + std::to_string(gpus) + " GPUs"
                : "";
  }
  return text + (s.engine.basis == MemoryBasis::nothing
                     ? "; untested: there is no measured memory of " + title(s) + " to compare with"
                     : "");
}

/// The engine takes the model's positions for its longest sequence unless it is told another, and refuses to start, or
/// refuses such requests, when the pool cannot hold one of them.
void note_default_length(const ServeScenario& s, const CompiledServingMemory& compiled, Plan& plan) {
  const std::int64_t positions = s.architecture.max_seq_len;
  const std::int64_t tokens = s.work.limits().sequence_tokens;
  if (s.work.max_seq_len > 0 || positions <= tokens) {
    return;
  }
  const auto longest = longest_sequence(compiled, s.work.limits(), s.work.layout.attention_groups());
  if (longest && *longest < positions) {
    plan.notes.push_back(title(s) + "'s own max_seq_len, the model's " + std::to_string(positions) +
                         " positions, is more than the " + std::to_string(*longest) +
                         " tokens that the KV pool holds of one sequence: refused at start or when asked for; launch "
                         "with " +
                         s.engine.habits.length_option + " " + std::to_string(tokens));
  }
}

/// With a longer max_seq_len than asked, what sequences as long as asked would fill.
void note_reserved_length(const ServeScenario& s, const CompiledServingMemory& compiled, Plan& plan) {
  const std::int64_t asked = s.work.isl + s.work.osl;
  if (s.work.max_seq_len <= asked) {
    return;
  }
  ServingLimits limits = s.work.limits();
  const std::int64_t reserved = serving_memory(compiled, limits).capacity;
  limits.sequence_tokens = asked;
  const std::int64_t held = serving_memory(compiled, limits).capacity;
  const std::string more = reserved > 0 ? ", " + format_number(real(held) / real(reserved), 2) + " times as many" : "";
  plan.notes.push_back(
      "sequences are counted at max_seq_len; of " + std::to_string(asked) + " tokens, as asked, a replica holds " +
      std::to_string(held) + more + ": reserving max_seq_len leaves " +
      format_number(100.0 * contiguous_waste(real(s.work.max_seq_len), real(asked)), 2) + " % of it empty");
}

/// What is assumed beyond the scenario, and where the question leaves what is known.
void note_memory(const ServeScenario& s, const ServingEstimate& e, Plan& plan) {
  const std::int64_t held = e.memory.max_sequences * e.replicas;
  if (s.work.concurrency > held) {
    const bool limited = e.memory.max_sequences < e.memory.capacity;
    plan.notes.push_back("concurrency " + std::to_string(s.work.concurrency) + " exceeds what " +
                         (limited ? "max_num_seqs lets in" : "the KV cache holds") + " (" + std::to_string(held) +
                         " sequences): the rest waits");
  }
  if (const auto beyond = beyond_positions(s.architecture, s.work.limits().sequence_tokens)) {
    plan.notes.push_back(*beyond);
  }
  const ReplicaLayout least =
      replica_layout(whole_weights(s), s.device.visible_capacity().value, s.work.memory_fraction, s.work.gpus);
  if (least.tp < s.work.layout.gpus()) {
    plan.notes.push_back(
        "tp " + std::to_string(least.tp) + " (" + std::to_string(least.replicas) +
        (least.replicas == 1 ? " replica" : " replicas") +
        ") is enough to hold the weights; a higher tp leaves more room for KV cache and lowers latency");
  }
  if (!s.device.memory.visible) {
    plan.notes.push_back(
        "memory: " + s.device.id +
        " has no 'visible' capacity in the catalog; nvidia-smi's total stands for it, up to 1.3 % more "
        "than a program sees");
  }
}

/// Narrow weights on a chip without their rate.
void note_compute(const ServeScenario& s, Plan& plan) {
  const Precision compute = compute_precision(s.device, s.work.weights);
  if (compute != s.work.weights) {
    plan.notes.push_back("weights " + std::string{name_of(s.work.weights)} + ": " + s.device.id + " has no " +
                         std::string{name_of(row_of(s.work.weights).rate)} +
                         " rate; kernels unpack them and multiply at its " + std::string{name_of(compute)} +
                         " rate (weight-only; Frantar et al. 2024, MARLIN)");
  }
}

/// How pieces are written, where that is stated and moves nothing.
void note_pieces(const ServeScenario& s, const ServingTimes& times, std::int64_t replicas, Plan& plan) {
  const ClientFacts& client = s.work.client;
  const IterationStack& engine = s.engine.time;
  const double requests = real(s.work.concurrency) / real(replicas);
  const double answer = (times.state.ttft + (real(s.work.osl) - 1.0) * times.state.tpot).raw();
  // One process that writes every token.
  const bool one_keeps_up = requests * real(s.work.osl) * engine.piece.raw() <= answer;
  const std::string why =
      engine.piece <= Seconds{}
          ? " has no effect: the rate at which " + title(s) + "'s front end writes pieces was never measured"
          : " has no effect: one process of the front end writes every token as fast as the engine";
  if (client.stream_interval > 1.0 && !engine.holds_first && one_keeps_up) {
    plan.notes.push_back("serving.stream_interval" + why);
  }
  if (client.front_ends > 1.0 && one_keeps_up) {
    plan.notes.push_back("serving.front_end_processes" + why);
  }
}

/// How prompts wait for others, where that is stated and none does.
void note_waits(const ServeScenario& s, const ServingTimes& times, Plan& plan) {
  const ServingWorkload& w = s.work;
  const ClientFacts& client = w.client;
  const double decoding = times.state.decoding;
  const std::int64_t groups = w.layout.attention_groups();
  const double isl = std::max(1.0, w.mean_length() * real(w.isl));
  if (client.batch_wait > 0.0 &&
      (decoding <= 1.0 || isl + decoding >= client.batch_wait_share * real(w.max_num_tokens))) {
    plan.notes.push_back("serving.batch_wait and batch_wait_share have no effect: " +
                         (decoding <= 1.0 ? std::string{"no prompt waits beside the decodes of others"}
                                          : "one prompt alone fills " + percent(client.batch_wait_share) + " of the " +
                                                format_count(real(w.max_num_tokens)) + " tokens of a step"));
  }
  if (client.balance_timeout > 0.0 && (groups <= 1 || decoding <= real(groups))) {
    plan.notes.push_back("serving.attention_dp_timeout" +
                         std::string{client.balance_batching > 0.0 ? " and attention_dp_batching have" : " has"} +
                         " no effect: " +
                         (groups <= 1 ? "the replica has no attention-DP, which strategy.ep above tp is"
                                      : "so few sequences decode that a rank without one lets every prompt run"));
  }
}

template <class Q>
Interval<Q> spread(Q mid, const ServingErrors& errors) {
  return {errors.low * mid, mid, errors.high * mid};
}

/// Times and rates by kernels, each as wide as past errors of its class.
void answer_times(const ServeScenario& s, ServingTimes times, ServePlan& answer, Plan& plan) {
  const auto errors = [&](ServingQuantity quantity) { return serving_errors(s, quantity); };
  answer.ttft = spread(times.state.ttft, errors(ServingQuantity::ttft));
  answer.tpot = spread(times.state.tpot, errors(ServingQuantity::tpot));
  answer.output_tokens_per_s = spread(times.output_tokens_per_s, errors(ServingQuantity::rate));
  answer.input_tokens_per_s = spread(times.input_tokens_per_s, errors(ServingQuantity::rate));
  answer.requests_per_s = spread(times.requests_per_s, errors(ServingQuantity::rate));
  answer.times_source = errors(ServingQuantity::ttft).text() + "; " + errors(ServingQuantity::tpot).text() + "; " +
                        errors(ServingQuantity::rate).text();
  plan.interval_source = answer.times_source;
  const double drafting = times.decode_drafting.raw();
  const std::string drafted = drafting > 0.0 ? "; drafting takes " +
                                                   format_number(100.0 * drafting / times.state.decode_step.raw(), 2) +
                                                   " % of a step beside these"
                                             : "";
  const ServingPool pool = s.work.pool;
  answer.binds =
      pool == ServingPool::prefill
          ? "an iteration of one prompt: " + largest_terms(times.prompt)
          : "an iteration of decodes: " + largest_terms(times.decode) + drafted +
                (pool == ServingPool::decode ? ""
                                             : "; prompts take " + format_number(100.0 * times.state.prompt_share, 2) +
                                                   " % of the replica's time");
  note_pieces(s, times, std::max<std::int64_t>(answer.estimate.replicas, 1), plan);
  note_waits(s, times, plan);
  answer.times = std::move(times);
  answer.other_kernels = other_kernels_text(s);
}

/// Dollars, as wide as the rate that they stand on.
void price(const ServeScenario& s, const Money& money, ServePlan& answer) {
  if (!money.price || !answer.times) {
    return;
  }
  const auto each = [&](double share, double tokens) {
    const auto at = [&](double rate) {
      return cost_per_million(share * real(s.work.gpus) * *money.price, Hertz{rate * tokens});
    };
    return Interval<Dollars>{at(answer.requests_per_s.high), at(answer.requests_per_s.mid),
                             at(answer.requests_per_s.low)};
  };
  answer.cost_per_million_output_tokens = each(1.0, real(s.work.osl));
  const double prompts = answer.times->state.prompt_share;
  answer.cost_per_million_input_tokens_apart = each(prompts, real(s.work.isl));
  answer.cost_per_million_output_tokens_apart = each(1.0 - prompts, real(s.work.osl));
}

/// Half the distance between the ends of an interval, as a width of the rate.
double width_of(const Interval<double>& rate) {
  return rate.mid > 0.0 ? std::sqrt(rate.high / rate.low) - 1.0 : 0.0;
}

/// Prefill multiplies; a decode step reads or multiplies, whichever binds it. What they draw together follows from what
/// an iteration does (serving_power()).
void add_energy(const ServeScenario& s, const EnergyQuestion& question, double width, ServePlan& answer) {
  const PowerForm& form = power_form(*s.data);
  std::optional<GpuPower> power = gpu_power(s.device, s.host ? &*s.host : nullptr, s.power_cap, form);
  if (!power || !answer.times) {
    return;
  }
  power->width = form.serving_width;
  const double prefill = answer.times->state.prompt_share;
  const double decode = 1.0 - prefill;
  const Draw reads = answer.times->reads ? Draw::memory : Draw::matrix;
  EnergyWork work;
  work.gpus = real(s.work.gpus);
  work.gpus_per_node = s.host ? real(s.host->gpus) : 1.0;
  work.shares[static_cast<std::size_t>(Draw::matrix)] += prefill / (prefill + decode);
  work.shares[static_cast<std::size_t>(reads)] += decode / (prefill + decode);
  work.drawn = serving_power(*power, answer.times->use, form);
  work.rate = Hertz{answer.times->output_tokens_per_s};
  work.width = width;
  answer.energy = energy_of(*power, s.work.clock, question, work);
  if (s.work.pool == ServingPool::both) {
    answer.energy->phases = PhasePower{power->idle, serving_power(*power, answer.times->use_prompts, form),
                                       serving_power(*power, answer.times->use_decodes, form)};
  }
}

/// The same load without a draft, on what memory that leaves.
std::optional<SpeculationGain> gain_of(const ServeScenario& s, const ServingTimes& times) {
  ServingWorkload plain = s.work;
  plain.draft.reset();
  const ServingEstimate memory = serve_memory(s.architecture, s.device, s.engine, plain);
  if (memory.verdict != Verdict::feasible) {
    return std::nullopt;
  }
  const ServingTimes without =
      serving_times(*s.data, s.architecture, s.device, s.host ? &*s.host : nullptr, s.engine, plain, memory);
  return SpeculationGain{times.state.tpot, without.state.tpot, times.output_tokens_per_s, without.output_tokens_per_s,
                         times.step_tokens};
}

std::string reason_of(const ConfigError& error) {
  const std::span<const Diagnostic> all = error.diagnostics();
  return all.size() == 1 && all.front().file.empty() ? all.front().message : error.what();
}

std::string_view binding_text(RateLimit limit) {
  switch (limit) {
    case RateLimit::reading: return "reading weights and KV cache at the datasheet's bandwidth binds the rates";
    case RateLimit::multiplying: return "multiplying at the datasheet's peak binds the rates";
    case RateLimit::latency: break;
  }
  return "the latency of each request binds the rates: a prompt, then tokens one after another";
}

void fill_times(const ServeScenario& s, ExplainRecorder* recorder, ServePlan& answer, Plan& plan) {
  try {
    const Node* node = s.host ? &*s.host : nullptr;
    answer_times(s, serving_times(*s.data, s.architecture, s.device, node, s.engine, s.work, answer.estimate, recorder),
                 answer, plan);
    if (s.work.draft) {
      answer.speculation = gain_of(s, *answer.times);
    }
  } catch (const ConfigError& error) {
    answer.bound = serving_bound(s.architecture, s.device, s.work, answer.estimate, recorder);
    answer.untimed = reason_of(error);
    answer.binds = binding_text(answer.bound->limit);
    answer.times_source = plan.interval_source =
        "no interval: bytes at the datasheet's bandwidth or FLOP at its peak bound times from below, nothing bounds "
        "them from above";
    if (s.work.draft) {
      plan.notes.emplace_back("serving.speculative: the bound counts what drafts give and not what drafting takes");
    }
  }
}

/// Verdict, what the pools hold, and what to change when that is too little.
void judge(const ServeScenario& s, ServePlan& answer, Plan& plan) {
  const ServingEstimate& e = answer.estimate;
  answer.running = running(e, s.work);
  answer.verdict = verdict_line(s, answer);
  if (e.memory.capacity > 0 && e.verdict != Verdict::out_of_memory) {
    const CompiledServingMemory compiled = served_memory(s.architecture, s.device, s.engine.memory, s.work);
    answer.longest_sequence = longest_sequence(compiled, s.work.limits(), e.batch);
    note_memory(s, e, plan);
    note_default_length(s, compiled, plan);
    note_reserved_length(s, compiled, plan);
  }
  if (e.verdict != Verdict::feasible) {
    answer.changes = serving_changes(s, ServingGoal::fits);
    answer.changes_of_weights = narrower_weights(s, ServingGoal::fits);
  }
  if (answer.running.mid < real(s.work.concurrency) || e.verdict != Verdict::feasible) {
    answer.changes_for_all = serving_changes(s, ServingGoal::runs_all);
  }
}

}  // namespace

std::string SpeculationGain::text() const {
  const auto change = [](double factor) {
    return factor >= 1.0 ? format_number(factor) + " times as fast" : format_number(1.0 / factor) + " times as slow";
  };
  const double rate = output_tokens_per_s / output_tokens_per_s_without;
  return format_number(step_tokens) + " tokens a step; a sequence's tokens come " + change(speedup()) +
         " as without the draft, " + format_number(rate) + " times as many in all" +
         (speedup() < 1.0 ? ": at this batch verifying costs more than it saves; draft fewer, or none"
          : rate < 1.0    ? ": sooner, not more of them"
                          : "");
}

ServePlan plan_serving(const ServeScenario& s, const Costs& costs, bool explained, PlanPart part, Plan& plan) {
  ServePlan answer;
  answer.memory_source = s.engine.uncertainty_source;
  ExplainRecorder recorder;
  if (part == PlanPart::memory) {
    answer.estimate = serve_memory(s.architecture, s.device, s.engine, s.work, explained ? &recorder : nullptr);
    plan.interval_source = s.engine.uncertainty_source;
  } else {
    answer.estimate = serve_memory(s.architecture, s.device, s.engine, s.work, explained ? &recorder : nullptr);
    if (answer.estimate.verdict == Verdict::feasible) {
      fill_times(s, explained ? &recorder : nullptr, answer, plan);
    }
  }
  plan.explain = recorder.entries();
  const ServingEstimate& e = answer.estimate;
  if (e.memory.terms.total().raw() <= 0.0) {
    answer.verdict = verdict_text(e.verdict, e.broke, e.limit);
    answer.problems.push_back(serving_problem(e));  // no such layout
    return answer;
  }
  judge(s, answer, plan);
  if (part == PlanPart::all && e.verdict == Verdict::feasible) {
    note_compute(s, plan);
    price(s, costs.money, answer);
    if (answer.times) {
      answer.bill = serving_bill(
          costs.money, {real(s.work.gpus), real(s.work.isl), real(s.work.osl), answer.times->output_tokens_per_s});
    }
    add_energy(s, costs.energy, width_of(answer.output_tokens_per_s), answer);
  }
  return answer;
}

}  // namespace headroom
