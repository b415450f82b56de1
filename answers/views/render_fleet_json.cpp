// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/views/render_fleet.hpp>
#include <headroom/answers/views/render_money.hpp>
#include <headroom/answers/views/render_simulation.hpp>
#include <headroom/scenarios/read/change_text.hpp>
#include <headroom/scenarios/traffic/beside.hpp>

#include <algorithm>
#include <optional>
#include <variant>

namespace headroom {
namespace {

Value size_value(const FleetSize& size) {
  return object("replicas"_m = size.replicas, "spare"_m = size.spare, "prefill_replicas"_m = size.prefill_replicas);
}

Value sized_value(const SizedFleet& fleet) {
  const ServingMetrics& m = fleet.metrics;
  return object(size_value(fleet), "keeps"_m = fleet.keeps(), "keeps_at_middle"_m = fleet.keeps_at_middle(),
                "ttft_s"_m = tail(m.all.ttft), "tpot_s"_m = tail(m.all.tpot), "e2e_s"_m = tail(m.all.e2e),
                "queue_s"_m = tail(m.all.queue), "good_requests_per_s"_m = per_second(m.all.good_per_s),
                "good_share"_m = share(m.all.good_share),
                "output_tokens_per_s"_m = per_second(m.all.output_tokens_per_s),
                "input_tokens_per_s"_m = per_second(m.all.input_tokens_per_s), "overloaded"_m = fleet.overloaded(),
                "saturation_requests_per_s"_m = fleet.saturation, "load_share"_m = share(fleet.load()),
                "slow_end_load_share"_m = share(fleet.load_at_slow_end()), "knee_requests_per_s"_m = fleet.knee,
                "busy"_m = share(m.pool.busy), "kv_mean"_m = share(m.pool.kv_mean), "kv_peak"_m = share(m.pool.kv_peak),
                "batch_mean"_m = m.pool.batch_mean, "preemptions"_m = m.pool.preemptions, "queue_mean"_m = m.queue_mean,
                "simulated_requests"_m = m.all.requests);
}

/// What would do if replicas were as fast as the model says.
Value middle_value(const FleetOption& o) {
  return o.sized && o.sized->middle
             ? row("gpus"_m = o.sized->middle->gpus, size_value(*o.sized->middle),
                   "usd_per_s"_m = when(o.per_hour_at_middle.raw() > 0.0, o.per_hour_at_middle / hour))
             : Value{};
}

Value prices_value(const FleetOption& o) {
  return o.per_hour.raw() > 0.0 ? object("usd_per_s"_m = o.per_hour / hour,
                                         "usd_per_million_output_tokens"_m = o.per_million_output_of_all,
                                         "apart_usd_per_million_input_tokens"_m = o.per_million_input,
                                         "apart_usd_per_million_output_tokens"_m = o.per_million_output)
                                : Value{};
}

Value option_value(const FleetOption& o, bool front) {
  const ServeScenario& s = o.question();
  const std::optional<TightestPromise> tightest = tightest_promise(o);
  return object(
      "option_text"_m = option_text(o), replica_value(s),
      "prefill_tp"_m = s.fleet->prefill ? Value{s.fleet->prefill->tp} : Value{},
      "changes"_m = list(o.changes, override_of).on_one_line(), "gpus"_m = o.gpus, "front"_m = front,
      "at_middle"_m = middle_value(o), "replicas_needed"_m = o.replicas, prices_value(o),
      "tightest_promise"_m = tightest ? row("class"_m = tightest->service_class, "promise"_m = tightest->promise,
                                            "of_limit_share"_m = share(tightest->of_limit))
                                      : Value{},
      "screened"_m = object("replicas"_m = o.screened_replicas, "saturation_requests_per_s"_m = o.screened.saturation,
                            "ttft_p95_s"_m = Seconds{o.screened.ttft.quantile(0.95)},
                            "tpot_p95_s"_m = Seconds{o.screened.tpot.quantile(0.95)}),
      "sized"_m = o.sized ? sized_value(*o.sized) : Value{});
}

Value scaled_value(const ScaledFleet& fleet, const Money& money) {
  return row("gpu_hours"_m = fleet.gpu_hours,
             "cost_usd"_m = money.price ? Value{fleet.gpu_hours * hour * *money.price} : Value{},
             "missed_share"_m = share(fleet.missed), "overloaded_share"_m = share(fleet.overloaded),
             "longest_wait_s"_m = fleet.longest_wait, "least_replicas"_m = fleet.least, "most_replicas"_m = fleet.most);
}

/// The floor keeps what is promised by its definition: what closed forms say it misses is none of it.
Value floor_value(const ScaledFleet& floor, const Money& money) {
  return row("gpu_hours"_m = floor.gpu_hours,
             "cost_usd"_m = money.price ? Value{floor.gpu_hours * hour * *money.price} : Value{},
             "least_replicas"_m = floor.least, "most_replicas"_m = floor.most);
}

/// The curve that both ways follow: rate and replicas at as many times as a chart shows, of a trace at least at the
/// begin of each of its parts.
Value curve_value(const Autoscaling& a, const LoadCurve& day, std::int64_t gpus) {
  constexpr std::size_t usual = 96;  // a quarter of an hour of a day
  const std::size_t parts = day.repeats ? usual : std::max<std::size_t>(1, day.points.size() / 2);
  const std::size_t times = parts * ((usual + parts - 1) / parts);
  Value curve = Value::empty_list();
  const auto floor = [&](std::size_t step, std::int64_t each) {
    return a.floor ? Value{each * a.floor->units[step]} : Value{};
  };
  for (std::size_t i = 0; i < times && !a.scaled.units.empty(); ++i) {
    const double at = static_cast<double>(i) / static_cast<double>(times);
    const auto step = static_cast<std::size_t>(at * static_cast<double>(a.scaled.units.size()) + 1e-9);
    // Of a trace in the middle of the step: at its edges the rate jumps.
    const Seconds time = day.repeats ? at * day.period : (static_cast<double>(step) + 0.5) * a.step;
    curve.push(row("time_s"_m = at * day.period, "rate_requests_per_s"_m = day.at(time),
                   "fixed_replicas"_m = a.fixed.most, "following_replicas"_m = a.scaled.units[step],
                   "following_paid_replicas"_m = a.scaled.paid[step], "floor_replicas"_m = floor(step, 1),
                   "fixed_gpus"_m = gpus * a.fixed.most, "following_gpus"_m = gpus * a.scaled.units[step],
                   "following_paid_gpus"_m = gpus * a.scaled.paid[step], "floor_gpus"_m = floor(step, gpus)));
  }
  return curve;
}

/// Parts of a cold start, of those that are stated by their parts.
Value parts_value(const ColdStart& start) {
  Value parts = Value::empty_list();
  for (std::size_t i = 0; start.parts && i < start_part_count; ++i) {
    const Seconds part = (*start.parts)[i];
    parts.push(row("part"_m = start_part_names[i], "time_s"_m = part,
                   "of_whole_share"_m = start.whole > Seconds{} ? Value{share(part / start.whole)} : Value{}));
  }
  return when(start.parts.has_value(), std::move(parts));
}

Value floor_sizes_value(const FleetPlan& plan) {
  return list(plan.floor_sizes, [](const KnownNeed& need) {
    return row("rate_requests_per_s"_m = need.rate, "replicas"_m = need.units);
  });
}

/// Why more replicas do not help: of each cause its numbers.
Value no_help_value(const NoHelp& why) {
  const bool burst = why.cause == NoHelpCause::burst;
  const bool prefill = why.cause == NoHelpCause::prefill;
  const bool missed = !burst && !prefill;
  Value keys = Value::empty_list();
  for (const std::string_view key : helping_keys(why)) {
    keys.push(key);
  }
  return object("cause"_m = no_help_names[static_cast<std::size_t>(why.cause)], "text"_m = no_help_text(why),
                "helping_keys"_m = std::move(keys),
                missed ? object("promise"_m = key_of(why.promise), "limit_s"_m = why.promise.limit,
                                "probability"_m = when(why.probability > 0.0, share(why.probability)),
                                "reached_s"_m = when(why.cause != NoHelpCause::unanswered, why.reached),
                                "refused_share"_m = when(why.cause == NoHelpCause::refused, share(why.refused)))
                       : Value{},
                prefill ? object("stated_replicas"_m = why.stated, "enough_replicas"_m = why.enough) : Value{},
                burst ? object("at_s"_m = why.at, "length_s"_m = why.length, "cold_start_s"_m = why.cold_start,
                               "before_requests_per_s"_m = why.before, "peak_requests_per_s"_m = why.peak,
                               "serving_replicas"_m = why.stated, "warm_replicas"_m = why.enough,
                               "warm_replicas_for_wait"_m = why.warm_for_wait)
                      : Value{});
}

Value autoscaling_value(const FleetPlan& plan) {
  const Autoscaling& a = *plan.autoscaling;
  const FleetOption& best = plan.options.front();
  const LoadCurve& day = *best.question().traffic->day;
  const std::int64_t gpus = gpus_of_a_replica(plan);
  return object("period_s"_m = day.period, "fixed"_m = scaled_value(a.fixed, best.scenario->money),
                "following"_m = scaled_value(a.scaled, best.scenario->money),
                "fixed_is_stated"_m = fixed_is_stated(plan), "freed_gpu_hours"_m = a.freed_gpu_hours(),
                "above_gpu_hours"_m = a.above_gpu_hours(), "following_texts"_m = fleet_following(plan),
                "floor"_m = a.floor ? floor_value(*a.floor, best.scenario->money) : Value{},
                "floor_sizes"_m = floor_sizes_value(plan), "floor_texts"_m = fleet_floor(plan),
                "repeats"_m = day.repeats, "step_s"_m = a.step, "gpus_per_replica"_m = gpus,
                "cold_start_s"_m = plan.cold_start->whole, "cold_start_parts"_m = parts_value(*plan.cold_start),
                "curve"_m = curve_value(a, day, gpus));
}

Value promises_value(const ServingSimulation& simulated) {
  return list(simulated.promises, [&](const JudgedPromise& p) {
    return row("class"_m = simulated.classes.at(p.service_class), "promise"_m = key_of(p.promise),
               "limit_s"_m = p.promise.limit, "reached_s"_m = p.interval, "kept"_m = p.kept,
               "kept_at_slow_end"_m = p.kept_at_slow_end, "kept_probability"_m = share(p.chance),
               "unanswered_share"_m = share(p.unanswered));
  });
}

/// Of several models on one pool: what each would take with GPUs of its own.
Value apart_value(const ApartPool& pool) {
  const bool feasible = pool.why.empty();
  return object("model"_m = pool.model, "feasible"_m = feasible,
                "option"_m = feasible ? option_value(pool.plan->options.front(), true) : Value{},
                "why"_m = when(!feasible, pool.why));
}

Value models_value(const ServeScenario& asked) {
  Value models = Value::empty_list();
  for (std::size_t i = 0; i < model_count(asked); ++i) {
    models.push(model_of(asked, i).id);
  }
  return when(!asked.beside.empty(), std::move(models));
}

Value asked_value(const Scenario& question) {
  const auto& asked = std::get<ServeScenario>(question.question);
  return object("name"_m = question.name, "asked_probability"_m = asked.confidence, "model"_m = asked.architecture.id,
                "models"_m = models_value(asked), "prompt_tokens_mean"_m = asked.traffic->lengths().prompt,
                "output_tokens_mean"_m = asked.traffic->lengths().output);
}

Value chance_value(const std::optional<double>& chance) {
  return chance ? Value{share(*chance)} : Value{};
}

Value options_value(const FleetPlan& plan) {
  Value options = Value::empty_list();
  for (std::size_t i = 0; i < plan.options.size(); ++i) {
    options.push(option_value(plan.options[i], std::find(plan.front.begin(), plan.front.end(), i) != plan.front.end()));
  }
  return options;
}

}  // namespace

Value fleet_document(const FleetPlan& plan) {
  const FleetOption* const best = plan.options.empty() ? nullptr : &plan.options.front();
  const std::string way_out = fleet_way_out(plan);
  const bool middle = plan.at_middle.has_value();
  return object(
      "schema"_m = "headroom.fleet/1", "complete"_m = plan.complete, "feasible"_m = plan.feasible(),
      "combinations"_m = plan.combinations, "verdict_text"_m = fleet_verdict(plan),
      "way_out"_m = when(!way_out.empty(), way_out),
      "no_help_reason"_m = plan.no_help ? no_help_value(*plan.no_help) : Value{},
      "middle_text"_m = middle ? Value{fleet_at_middle(plan)} : Value{}, "middle_option"_m = plan.at_middle,
      "kept_probability"_m = chance_value(plan.chance),
      "middle_kept_probability"_m = chance_value(plan.chance_at_middle),
      plan.question ? asked_value(*plan.question) : Value{},
      best != nullptr ? object("rate_requests_per_s"_m = best->mean_rate,
                               "peak_requests_per_s"_m = best->question().traffic->rate(),
                               "interval_source"_m = plan.interval_source)
                      : Value{},
      "autoscaling"_m = plan.autoscaling ? autoscaling_value(plan) : Value{},
      plan.simulated
          ? object("times_source"_m = plan.simulated->times_source, "intervals"_m = time_intervals(*plan.simulated),
                   "promises"_m = promises_value(*plan.simulated),
                   "memory"_m = replica_memory(*plan.simulated, best->question()))
          : Value{},
      plan.simulated ? sessions_value(*plan.simulated) : Value{}, "options"_m = options_value(plan),
      "pools_apart"_m = when(!plan.apart.empty(), list(plan.apart, apart_value)),
      "left_out"_m = list(plan.dropped,
                          [](const DroppedOption& dropped) {
                            return row("changes"_m = list(dropped.changes, override_of), "why"_m = dropped.why,
                                       "misses_promises"_m = dropped.cause == DropCause::promise);
                          }),
      "money"_m = best != nullptr ? money_value(best->scenario->money, plan.bill) : Value{},
      "energy"_m = best != nullptr ? energy_value(plan.energy, "j_per_million_output_tokens") : Value{},
      "assumed"_m = plan.notes);
}

}  // namespace headroom
