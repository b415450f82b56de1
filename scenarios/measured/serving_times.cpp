// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/serve/load/lengths.hpp>
#include <headroom/model/serve/replica/engine_terms.hpp>
#include <headroom/scenarios/measured/serving_loads.hpp>
#include <headroom/scenarios/measured/serving_times.hpp>
#include <headroom/scenarios/words/verdict_text.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace headroom {
namespace {

struct MetricRow {
  std::string_view name;
  ServingMetric metric;
};
constexpr std::array metric_rows{
    MetricRow{"output_tokens_per_s", ServingMetric::output_rate},
    MetricRow{"total_tokens_per_s", ServingMetric::total_rate},
    MetricRow{"requests_per_s", ServingMetric::request_rate},
    MetricRow{"input_tokens_per_s", ServingMetric::input_rate},
    MetricRow{"ttft_ms_mean", ServingMetric::ttft},
    MetricRow{"ttft_ms_p50", ServingMetric::ttft},
    MetricRow{"tpot_ms_mean", ServingMetric::tpot},
    MetricRow{"tpot_ms_p50", ServingMetric::tpot},
    MetricRow{"e2e_ms_mean", ServingMetric::e2e},
    MetricRow{"running_requests_mean", ServingMetric::running},
};

struct LoadRow {
  std::string_view scenario;
  ServingLoad load;
};
constexpr std::array load_rows{
    LoadRow{"static", ServingLoad::fixed_batch}, LoadRow{"offline", ServingLoad::saturated},
    LoadRow{"closed", ServingLoad::closed},      LoadRow{"interactive", ServingLoad::closed},
    LoadRow{"sustained", ServingLoad::closed},
};

/// Why a metric does not belong to the pool that a row's layout describes; empty when it does. Rates and first tokens
/// of a disaggregated deployment depend on both pools and on the transfer between them.
std::string of_no_pool(RowPool pool, bool named, ServingMetric metric, std::string_view name) {
  const bool prefill = metric == ServingMetric::input_rate;
  if (pool == RowPool::whole) {
    return prefill ? "metric " + quoted(name) + " of replicas that decode too" : std::string{};
  }
  const bool own = pool == RowPool::prefill
                       ? prefill
                       : metric == ServingMetric::tpot || (named && metric == ServingMetric::output_rate);
  return own ? std::string{}
             : "metric " + quoted(name) +
                   " is no one pool's of a disaggregated deployment; the layout is that of the " +
                   (pool == RowPool::prefill ? "prefilling one" : "decoding one");
}

/// Share of a closed loop's prompts that were sent before: of `waves` c requests all but the fresh ones find theirs.
double found_again(const ServingConfiguration& run, double waves) {
  const std::optional<double> fresh = fresh_prompts(run);
  return fresh && run.concurrency ? std::max(0.0, 1.0 - *fresh / (waves * *run.concurrency)) : 0.0;
}

/// Why a metric has no closed form under a load; empty when it has one.
std::string without_form(ServingLoad load, ServingMetric metric, std::string_view name) {
  if (is_time(metric) && load == ServingLoad::saturated) {
    return "metric " + quoted(name) + " of requests that were all sent at once is a queue's: simulate it";
  }
  return {};
}

}  // namespace

std::string scenario_of(const ServingConfiguration& run) {
  const std::string stated = row_option(run, "scenario");
  return stated.empty() && run.concurrency ? "closed" : stated;
}

bool keeps_limits(const ServingConfiguration& run) {
  const std::string scenario = row_option(run, "scenario");
  return scenario == "server" || (scenario == "interactive" && run.request_rate);
}

bool comes_as_queue(const ServingConfiguration& run) {
  const std::string scenario = scenario_of(run);
  return scenario == "online" || scenario == "burst" || keeps_limits(run) ||
         (scenario == "offline" && !row_option(run, "requests").empty());
}

ServingTimeModel::ServingTimeModel(const Sources& sources) : places_{sources} {}

std::optional<ServingTimeQuestion> ServingTimeModel::question(const ServingConfiguration& run,
                                                              std::string_view metric,
                                                              std::string_view unit,
                                                              RowPrediction& refusal) {
  const auto refuse = [&](const std::string& why) {
    refusal = unsupported(why);
    return std::nullopt;
  };
  const auto* known =
      std::find_if(metric_rows.begin(), metric_rows.end(), [&](const MetricRow& m) { return m.name == metric; });
  if (known == metric_rows.end()) {
    return refuse("metric " + quoted(metric) + " in " + quoted(unit) + " is not predicted for serving yet");
  }
  const RowPool pool = pool_of(run);
  const bool named = !row_option(run, "pool").empty();
  if (const std::string none = of_no_pool(pool, named, known->metric, metric); !none.empty()) {
    return refuse(none);
  }
  // A pool measured by itself is full of its own work, whatever the row calls its load.
  const std::string scenario = named ? "closed" : scenario_of(run);
  if (scenario.empty()) {
    return refuse("not published: options.scenario, and no concurrency tells a closed loop");
  }
  const auto* load =
      std::find_if(load_rows.begin(), load_rows.end(), [&](const LoadRow& l) { return l.scenario == scenario; });
  if (load == load_rows.end()) {
    return refuse("a load of scenario " + quoted(scenario) + " has no closed form: a run to simulate");
  }
  if (load->load == ServingLoad::saturated && !row_option(run, "requests").empty()) {
    return refuse(row_option(run, "requests") + " requests at once fill and drain the batch: a run to simulate");
  }
  if (const std::string none = without_form(load->load, known->metric, metric); !none.empty()) {
    return refuse(none);
  }
  std::optional<PlacedRow> placed = places_.place(run, refusal);
  if (!placed) {
    return std::nullopt;
  }
  ServingTimeQuestion q;
  q.replica = placed->replica;
  q.least = placed->least;
  q.clock = placed->clock;
  q.stack = placed->stack;
  q.kind = load->load;
  q.pool = pool;
  q.metric = known->metric;
  q.experts = placed->arch->moe.has_value();
  q.replicas = real(placed->replicas);
  q.to_unit = is_time(q.metric) ? 1e3 : 1.0;
  q.load.isl = placed->isl;
  q.load.osl = placed->osl;
  q.load.groups = real(placed->layout.attention_groups());
  q.load.stages = real(placed->layout.pp);
  q.load.beams = real(placed->beams);
  // Sequences that run at once: the stated number, capped by the engine and by its cache.
  ServingLimits limits = placed->limits;
  const std::optional<LengthLaw> outputs =
      q.kind == ServingLoad::saturated ? named_outputs(run, q.load.osl, published_loads(places_.data())) : std::nullopt;
  q.load.output_cv = outputs ? cv_of(*outputs) : 0.0;
  const double held = placed->held_tokens(placed->stack->reserves_output() ? 1.0 : q.load.answered() / q.load.osl);
  limits.sequence_tokens = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(held)));
  const ServingMemory m = serving_memory(placed->memory, limits);
  if (m.capacity < 1) {
    return refuse(verdict_text(m.verdict, m.broke, m.limit));
  }
  q.load.chunk = real(limits.max_num_tokens);
  q.load.client = client_facts(run);
  q.drafts = placed->drafts;
  q.load.queries = q.drafts.queries();
  q.load.step_tokens = q.drafts.accepted.tokens;
  if (q.kind == ServingLoad::saturated) {
    q.load.requests = row_number(run, "set_of_requests").value_or(0.0) / q.replicas;
    q.load.set_seconds = row_number(run, "set_seconds").value_or(0.0);
  }
  if (outputs) {
    // Those that run when the last request starts are met in proportion to their lengths.
    q.load.longest = longest_of(*outputs, real(m.max_sequences));
  }
  const double most = real(m.max_sequences);
  const bool counted =
      pool != RowPool::prefill && (q.kind == ServingLoad::fixed_batch || q.kind == ServingLoad::closed);
  const std::optional<double> asked = run.concurrency             ? run.concurrency
                                      : scenario == "interactive" ? std::optional{1.0}
                                                                  : std::nullopt;
  if (counted && !asked) {
    return refuse("not published: concurrency");
  }
  if (counted) {
    q.replicas = std::min(q.replicas, std::max(1.0, *asked));  // with fewer requests than replicas some are idle
  }
  q.load.concurrency = counted ? *asked / q.replicas : most;
  q.load.batch = q.kind == ServingLoad::fixed_batch ? q.load.concurrency : std::min(q.load.concurrency, most);
  if (q.kind == ServingLoad::fixed_batch && q.load.concurrency > most) {
    // What the cache does not hold waits: the batch is a set that passes through the places.
    q.load.batch = most;
    if (q.metric != ServingMetric::ttft && q.metric != ServingMetric::tpot) {
      q.kind = ServingLoad::saturated;
      q.load.requests = q.load.concurrency;
    }
  }
  q.load.prompts_first = prompts_first(*placed->stack, run);
  if (q.kind == ServingLoad::closed) {
    q.load.found = found_again(run, q.load.waves);
    std::string why;
    const std::optional<ClientLoad> sent =
        client_load(run, q.load.isl, q.load.osl, published_loads(places_.data()), why);
    q.load.in_step = q.load.groups == 1.0 && sent && !sent->random();
  }
  return q;
}

double drafting_seconds(const RowDrafts& drafts,
                        const Replica& replica,
                        const IterationStack& stack,
                        const IterationCost& engine,
                        const IterationMix& mix) {
  if (drafts.drafted == 0 || mix.decodes <= 0.0) {
    return 0.0;
  }
  IterationMix decodes;
  decodes.decodes = mix.decodes;
  decodes.keys = mix.keys;
  const double groups = static_cast<double>(replica.layout().attention_groups());
  return drafts.share * engine(decodes) + (drafts.overlapped ? 0.0 : drafting_host(stack, mix.decodes, groups));
}

namespace {

SteadyState state_of(const ServingTimeQuestion& q, const IterationCost& step, const SteadyHabits& habits) {
  return q.pool == RowPool::prefill           ? prefill_pool(step, q.load)
         : q.pool == RowPool::decode          ? decode_pool(step, q.load, habits)
         : q.kind == ServingLoad::fixed_batch ? static_batch(step, q.load, habits)
         : q.kind == ServingLoad::closed      ? closed_loop(step, q.load, habits)
                                              : saturated(step, q.load, habits);
}

/// Answer to the question for a given cost of iterations, in the row's unit.
double answer(const ServingTimeQuestion& q, const IterationCost& step, const SteadyHabits& habits) {
  const SteadyState s = state_of(q, step, habits);
  switch (q.metric) {
    case ServingMetric::output_rate: return q.replicas * s.output_tokens_per_s;
    case ServingMetric::total_rate: return q.replicas * s.requests_per_s * (q.load.isl + q.load.osl);
    case ServingMetric::request_rate: return q.replicas * s.requests_per_s;
    case ServingMetric::input_rate: return q.replicas * s.requests_per_s * q.load.isl;
    case ServingMetric::ttft: return q.to_unit * s.ttft.raw();
    case ServingMetric::tpot: return q.to_unit * s.tpot.raw();
    case ServingMetric::running: return q.replicas * q.load.batch;
    case ServingMetric::e2e: break;
  }
  if (q.kind == ServingLoad::saturated) {
    return q.to_unit * q.load.requests / s.requests_per_s;  // until the last of the set is answered
  }
  return q.to_unit * (s.ttft.raw() + (q.load.osl - 1.0) * s.tpot.raw());
}

/// A power cap slows iterations limited by multiplying; those limited by reading keep their time (docs/money.md).
IterationTerms clocked(const ServingTimeQuestion& q, const IterationMix& mix, IterationTerms terms) {
  if (q.clock < 1.0 && !q.least->reads(mix)) {
    terms[IterationTerm::products] /= q.clock;
    terms[IterationTerm::experts] /= q.clock;
    terms[IterationTerm::prefill_attention] /= q.clock;
  }
  return terms;
}

/// Seconds of an iteration, and of drafting beside its decodes. The question must outlive it.
IterationCost step_cost(const ServingTimeQuestion& q,
                        const KernelTerms& kernels,
                        const IterationStack& stack,
                        const IterationPhysics& physics) {
  const IterationCost engine = [&](const IterationMix& mix) {
    return clocked(q, mix, engine_terms(*q.replica, mix, kernels(mix), stack, physics)).total();
  };
  return [&q, &stack, engine](const IterationMix& mix) {
    return engine(mix) + drafting_seconds(q.drafts, *q.replica, stack, engine, mix);
  };
}

constexpr SteadyHabits no_habits{Seconds{}, 0.0, 0.0, 0.0, 0.0, 0.0, false, 0.0};

SteadyHabits habits_of(const ServingTimeQuestion& q, const IterationStack& stack, const IterationPhysics& physics) {
  SteadyHabits habits = steady_habits(stack, q.load.isl, physics.bubble);
  habits.late_results = habits.late_results && (q.drafts.drafted == 0 || q.drafts.overlapped);
  return habits;
}

}  // namespace

double predict_time(const ServingTimeQuestion& q,
                    const KernelTerms& kernels,
                    const IterationStack& stack,
                    const IterationPhysics& physics) {
  const IterationCost step = step_cost(q, kernels, stack, physics);
  return answer(q, step, habits_of(q, stack, physics));
}

SteadyState steady_state_of(const ServingTimeQuestion& q,
                            const KernelTerms& kernels,
                            const IterationStack& stack,
                            const IterationPhysics& physics) {
  const IterationCost step = step_cost(q, kernels, stack, physics);
  return state_of(q, step, habits_of(q, stack, physics));
}

double sheet_time(const ServingTimeQuestion& asked) {
  ServingTimeQuestion q = asked;
  q.load.client = {};
  return answer(
      q, [&](const IterationMix& mix) { return q.least->time(mix, ExpertsRead::expected); }, no_habits);
}

double fastest_time(const ServingTimeQuestion& q) {
  const IterationCost step = [&](const IterationMix& mix) { return q.least->time(mix, ExpertsRead::least); };
  ServingTimeQuestion bound = q;
  bound.load.client = {};
  if (q.kind == ServingLoad::closed && q.to_unit != 1.0) {
    bound.load.batch = bound.load.concurrency = 1.0;  // an empty queue, and any number of sequences at once
    return answer(bound, step, no_habits);
  }
  if (q.kind == ServingLoad::saturated && q.to_unit != 1.0) {
    bound.load.batch = q.load.requests;  // any number of sequences at once
  }
  if (q.kind == ServingLoad::fixed_batch || q.to_unit != 1.0) {
    return answer(bound, step, no_habits);
  }
  // The engine chooses how many sequences run at once, so the bound is the best over a wide range.
  double best = 0.0;
  for (const double factor : {0.5, 1.0, 2.0, 4.0, 8.0}) {
    bound.load.batch = std::max(1.0, factor * q.load.batch);
    bound.load.concurrency = std::max(q.load.concurrency, bound.load.batch);
    best = std::max(best, answer(bound, step, no_habits));
  }
  return best;
}

}  // namespace headroom
