// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/number_words.hpp>
#include <headroom/core/real.hpp>
#include <headroom/model/estimate/spread.hpp>
#include <headroom/scenarios/compare/comparison.hpp>
#include <headroom/scenarios/words/strategy_text.hpp>
#include <headroom/scenarios/words/verdict_text.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {
namespace {

const TrainScenario* train_of(const Plan& plan) noexcept {
  return std::get_if<TrainScenario>(&plan.scenario.question);
}
const TrainPlan& train_answer(const Plan& plan) {
  return std::get<TrainPlan>(plan.answer);
}
const ServePlan& serve_answer(const Plan& plan) {
  return std::get<ServePlan>(plan.answer);
}

/// Keys and values of one plan, in the order they are shown.
using Keys = std::vector<std::pair<std::string, std::string>>;

template <class Names>
std::string word(const Names& names, std::size_t index) {
  return std::string{names[index]};
}

void add_strategy(const Strategy& s, Keys& keys) {
  for_each_strategy_field([&](const auto& field) {
    keys.emplace_back("strategy." + std::string{field.name.view()}, field_text(field, s));
  });
}

void add_cap(const std::optional<Watts>& cap, Keys& keys) {
  keys.emplace_back("hardware.power_cap", cap ? format(*cap) : "-");
}

void add_money(const Scenario& scenario, Keys& keys) {
  const Money& money = scenario.money;
  keys.emplace_back("price per GPU", money.price ? format(*money.price) : "-");
  keys.emplace_back("money.storage.size", money.storage ? format(money.storage->size) : "-");
  keys.emplace_back("money.egress.size", money.egress ? format(money.egress->size) : "-");
  keys.emplace_back("energy.pue", scenario.energy.pue ? format_number(*scenario.energy.pue) : "-");
}

/// What is said of failures, saves and pauses.
void add_long_run(const TrainScenario& t, Keys& keys) {
  const goodput::Question asked = t.long_run.value_or(goodput::Question{});
  const goodput::Recovery& r = asked.recovery;
  keys.insert(keys.end(),
              {{"goodput.failures", asked.rate_source.empty() ? "-" : asked.rate_source},
               {"goodput.checkpoint", format(asked.checkpoint)},
               {"goodput.checkpoint_store", format(asked.store.storage)},
               {"goodput.checkpoint_writer", format(asked.store.per_writer)},
               {"goodput.asynchronous", asked.store.mode == goodput::SaveMode::asynchronous ? "true" : "false"},
               {"goodput.interval", asked.interval ? format(*asked.interval) : "-"},
               {"goodput.interval_steps", std::to_string(asked.interval_steps)},
               {"goodput.detection", format(r.detection)},
               {"goodput.restart", format(r.restart)},
               {"goodput.repair", format(r.repair)},
               {"goodput.spares", std::to_string(r.spares)},
               {"goodput.may_miss", std::to_string(r.may_miss)},
               {"goodput.evaluation", format(asked.evaluation)},
               {"goodput.evaluation_every", std::to_string(asked.evaluation_every)}});
}

/// What is said of host, ranks and clock.
void add_conduct(const TrainScenario& t, Keys& keys) {
  const RankConduct& stated = t.work.conduct;
  keys.insert(keys.end(), {{"hardware.clock", t.clock < 1.0 ? percent(t.clock) + " of the SKU's" : "-"},
                           {"training.sync_every", stated.sync_every > 0.0 ? format_count(stated.sync_every) : "-"},
                           {"training.host_dispatch", stated.dispatch ? format(*stated.dispatch) : "-"},
                           {"training.rank_spread", stated.spread ? percent(*stated.spread) : "-"},
                           {"training.slow_rank", stated.slow_rank > 0.0 ? percent(stated.slow_rank) : "-"}});
}

Keys keys_of(const Plan& plan, const TrainScenario& t) {
  const MemoryOptions& o = t.work.options;
  Keys keys{
      {"model", t.architecture.id},
      {"hardware.gpu", t.device.id},
      {"hardware.gpus", std::to_string(t.work.shape.gpus)},
      {"hardware.node", t.node},
      {"hardware.cluster", t.cluster ? t.cluster->id : "-"},
      {"training.precision", std::string{name_of(t.work.precision)}},
      {"training.seq_len", std::to_string(t.work.shape.seq_len)},
      {"training.global_batch", std::to_string(t.work.shape.global_batch)},
      {"training.tokens", t.tokens > 0.0 ? format_number(t.tokens) : "-"},
      {"training.software", t.software.id},
      {"training.method", word(method_names, static_cast<std::size_t>(o.method))},
      {"training.optimizer",
       t.stated.optimizer ? word(optimizer_names, static_cast<std::size_t>(*t.stated.optimizer)) : "the software's"},
      {"training.offload", std::string{o.offload_optimizer ? "optimizer " : ""} +
                               (o.offload_activations ? "activations" : "") +
                               (o.offload_parameters ? " parameters" : "")},
      {"training.compile", o.compiled ? "true" : "false"},
      {"training.overlap", o.overlapped ? "true" : "false"},
      {"training.async_tp", o.async_tp ? "true" : "false"}};
  add_strategy(train_answer(plan).strategy, keys);
  for (const StatedKey& stated : stated_recipe(o)) {
    keys.emplace_back(std::string{stated.path}, stated.value.empty() ? "-" : stated.value);
  }
  add_cap(t.power_cap, keys);
  add_conduct(t, keys);
  add_money(plan.scenario, keys);
  add_long_run(t, keys);
  return keys;
}

Keys keys_of(const Plan& plan, const ServeScenario& s) {
  const ServingWorkload& w = s.work;
  Keys keys{{"model", s.architecture.id},
            {"hardware.gpu", s.device.id},
            {"hardware.gpus", std::to_string(w.gpus)},
            {"serving.engine", word(engine_names, static_cast<std::size_t>(s.engine.engine))},
            {"serving.weights", std::string{name_of(w.weights)}},
            {"serving.kv_cache", std::string{name_of(w.kv)}},
            {"serving.quantization", word(weight_kernel_names, static_cast<std::size_t>(w.weight_kernels))},
            {"serving.isl", std::to_string(w.isl)},
            {"serving.osl", std::to_string(w.osl)},
            {"serving.concurrency", std::to_string(w.concurrency)},
            {"serving.engine_version", s.engine_version.empty() ? "current" : s.engine_version},
            {"serving.speculative.draft", std::to_string(w.draft ? w.draft->speculation.draft : 0)},
            {"serving.speculative.acceptance", w.draft ? format_number(w.draft->speculation.acceptance) : "-"},
            {"serving.speculative.draft_model", w.draft && w.draft->model ? w.draft->model->id : "-"},
            {"serving.tp", std::to_string(w.layout.tp)},
            {"serving.pp", std::to_string(w.layout.pp)},
            {"serving.ep", std::to_string(w.layout.ep)},
            {"serving.redundant_experts", std::to_string(w.layout.redundant)},
            {"serving.balanced_experts", w.layout.balanced ? "true" : "false"},
            {"serving.two_batch_overlap", w.layout.two_batches ? "true" : "false"},
            {"serving.pool", word(serving_pool_names, static_cast<std::size_t>(w.pool))},
            {"serving.range_ratio", format_number(w.range_ratio)},
            {"serving.distinct_prompts", w.distinct_prompts > 0 ? std::to_string(w.distinct_prompts) : "all"},
            {"serving.stream_interval", format_number(w.client.stream_interval)},
            {"serving.recv_interval", format_number(w.client.recv_interval)},
            {"serving.batch_wait", format_number(w.client.batch_wait)},
            {"serving.batch_wait_share", format_number(w.client.batch_wait_share)},
            {"serving.attention_dp_timeout", format_number(w.client.balance_timeout)},
            {"serving.attention_dp_batching", format_number(w.client.balance_batching)},
            {"serving.front_end_processes", format_number(w.client.front_ends)}};
  add_cap(s.power_cap, keys);
  add_money(plan.scenario, keys);
  return keys;
}

/// Those whose values are not all the same.
std::vector<DifferingKey> differing(const std::vector<ComparedPlan>& plans) {
  std::vector<Keys> all;
  for (const ComparedPlan& p : plans) {
    const TrainScenario* const t = train_of(p.plan);
    all.push_back(t != nullptr ? keys_of(p.plan, *t)
                               : keys_of(p.plan, std::get<ServeScenario>(p.plan.scenario.question)));
  }
  std::vector<DifferingKey> result;
  for (std::size_t k = 0; k < all.front().size(); ++k) {
    DifferingKey key{all.front()[k].first, {}};
    for (const Keys& keys : all) {
      key.values.push_back(keys[k].second.empty() ? "-" : keys[k].second);
    }
    const bool same = std::all_of(key.values.begin(), key.values.end(),
                                  [&](const std::string& value) { return value == key.values.front(); });
    if (!same) {
      result.push_back(std::move(key));
    }
  }
  return result;
}

/// Sequences per second of a priced training step; output tokens of a served batch that kernels price. 0 of others: a
/// bound is compared with nothing.
double rate_of(const Plan& plan) {
  if (const TrainScenario* const t = train_of(plan)) {
    const Seconds step = train_answer(plan).estimate.step;
    return plan.part == PlanPart::all && step > Seconds{} ? real(t->work.shape.global_batch) / step.raw() : 0.0;
  }
  const ServePlan& served = serve_answer(plan);
  return served.times ? served.output_tokens_per_s.mid : 0.0;
}

double tokens_of_step(const TrainScenario& t) noexcept {
  return real(t.work.shape.global_batch) * real(t.work.shape.seq_len);
}

bool share_level(const Plan& a, const Plan& b) {
  const TrainScenario* const t = train_of(a);
  return t != nullptr && same_level(*t, *a.confidence, *train_of(b), *b.confidence);
}

/// Width of the ratio of two throughputs. Those of serving err apart.
double width_between(const Plan& a, const Plan& b) {
  if (train_of(a) != nullptr) {
    return ratio_width(*a.confidence, *b.confidence, share_level(a, b));
  }
  // Where nobody measured the SKU's kernels the slow side is the wider one.
  const auto log_width = [](const ServePlan& p) {
    const Interval<double>& i = p.output_tokens_per_s;
    const double fast = std::log(i.high / i.mid);
    return !p.other_kernels.empty() ? std::max(fast, std::log(i.mid / i.low)) : fast;
  };
  return std::expm1(std::hypot(log_width(serve_answer(a)), log_width(serve_answer(b))));
}

/// Terms at as many tokens as a step of the reference.
void add_terms(const Plan& reference, const Plan& other, Difference& d) {
  const double scale = tokens_of_step(*train_of(reference)) / tokens_of_step(*train_of(other));
  const Estimate& from = train_answer(reference).estimate;
  const Estimate& to = train_answer(other).estimate;
  for (std::size_t i = 0; i < term_count; ++i) {
    d.terms[i] = scale * to.time.exposed[i] - from.time.exposed[i];
  }
  d.step = scale * to.step - from.step;
}

/// Tokens per second: plans of several sequence lengths are compared by the work that they do.
double tokens_rate(const ComparedPlan& p) {
  const TrainScenario* const t = train_of(p.plan);
  return t != nullptr ? p.samples_per_second * real(t->work.shape.seq_len) : p.samples_per_second;
}

void add_differences(Comparison& comparison) {
  std::vector<ComparedPlan>& plans = comparison.plans;
  const auto priced = [](const ComparedPlan& p) { return p.samples_per_second > 0.0; };
  const auto found = std::find_if(plans.begin(), plans.end(), priced);
  if (found == plans.end()) {
    return;
  }
  comparison.reference = static_cast<std::size_t>(found - plans.begin());
  const ComparedPlan& reference = *found;
  for (ComparedPlan& other : plans) {
    if (&other == &reference || !priced(other)) {
      continue;
    }
    Difference d;
    d.shared_level = share_level(reference.plan, other.plan);
    d.ratio = widened(tokens_rate(other) / tokens_rate(reference), width_between(reference.plan, other.plan));
    d.distinguishable = d.ratio.low > 1.0 || d.ratio.high < 1.0;
    if (!comparison.serving) {
      add_terms(reference.plan, other.plan, d);
    }
    other.difference = d;
  }
}

/// At the middle, or at the high end of the intervals.
/// With so much probability: each objective for itself.
bool meets(const Plan& plan, const Objectives& o, double probability) {
  const auto within = [&](const Interval<Seconds>& time, const std::optional<Seconds>& limit) {
    return !limit || quantile_of(time, probability) <= *limit;
  };
  if (train_of(plan) != nullptr) {
    return within(train_answer(plan).calendar, o.duration);
  }
  const ServePlan& p = serve_answer(plan);
  return within(p.ttft, o.ttft) && within(p.tpot, o.tpot);
}

double confidence_asked(const Plan& plan) {
  return std::visit([](const auto& question) { return question.confidence; }, plan.scenario.question);
}

Offer offer_of(const ComparedPlan& p, const Objectives& objectives) {
  Offer offer;
  offer.feasible = p.plan.feasible();
  offer.timed = p.samples_per_second > 0.0;
  offer.per_second = p.kept_per_second;
  if (p.plan.scenario.money.price) {
    offer.price = p.gpus_held * *p.plan.scenario.money.price;
  }
  offer.meets = meets(p.plan, objectives, 0.5);
  return offer;
}

/// Prices are taken as exact: what a dollar buys is as sure as the throughput.
void mark_near_best(Comparison& comparison) {
  if (comparison.ranking.empty() || comparison.ranking.front().standing != Standing::meets) {
    return;
  }
  const RankedOffer& best = comparison.ranking.front();
  for (const RankedOffer& other : comparison.ranking) {
    if (&other != &best && other.standing == Standing::meets) {
      const double width = width_between(comparison.plans[best.offer].plan, comparison.plans[other.offer].plan);
      comparison.plans[other.offer].near_best = best.samples_per_dollar / other.samples_per_dollar < 1.0 + width;
    }
  }
}

void check_kinds(const std::vector<Scenario>& scenarios, const Objectives& o, std::size_t refused) {
  if (scenarios.empty() || scenarios.size() + refused < 2) {
    throw ConfigError{"'compare' needs two scenario files or more; 'headroom plan' answers one"};
  }
  Diagnostics diagnostics;
  const bool trains = std::holds_alternative<TrainScenario>(scenarios.front().question);
  for (const Scenario& s : scenarios) {
    const auto* const t = std::get_if<TrainScenario>(&s.question);
    if ((t != nullptr) != trains) {
      diagnostics.add("", {},
                      quoted(s.file) + (trains ? " serves, " : " trains, ") + quoted(scenarios.front().file) +
                          (trains ? " trains" : " serves") + ": plans of one kind can be compared");
    } else if (o.duration && t != nullptr && t->tokens <= 0.0) {
      diagnostics.add("", {}, "--deadline needs training.tokens, which " + quoted(s.file) + " does not state");
    }
  }
  if (o.duration && !trains) {
    diagnostics.add("", {}, "--deadline is of a training run; serving has --ttft and --tpot");
  }
  if ((o.ttft || o.tpot) && trains) {
    diagnostics.add("", {}, "--ttft and --tpot are of serving; a training run has --deadline");
  }
  diagnostics.throw_if_any();
}

}  // namespace

std::string ComparedPlan::untimed() const {
  if (samples_per_second > 0.0 || !plan.feasible()) {
    return {};
  }
  const auto* const served = std::get_if<ServePlan>(&plan.answer);
  return served != nullptr && served->bound ? served->untimed : "its time is not priced";
}

Comparison compare_plans(std::vector<Scenario> scenarios,
                         const Objectives& objectives,
                         std::vector<RefusedPlan> refused) {
  check_kinds(scenarios, objectives, refused.size());
  Comparison comparison;
  comparison.refused = std::move(refused);
  comparison.serving = !std::holds_alternative<TrainScenario>(scenarios.front().question);
  comparison.objectives = objectives;
  for (Scenario& scenario : scenarios) {
    ComparedPlan& compared = comparison.plans.emplace_back();
    compared.file = scenario.file;
    compared.plan = price_plan(std::move(scenario));
    compared.samples_per_second = rate_of(compared.plan);
    const TrainScenario* const t = train_of(compared.plan);
    compared.kept_per_second =
        compared.samples_per_second * (t != nullptr ? train_answer(compared.plan).useful() : 1.0);
    compared.gpus_held =
        t != nullptr ? t->gpus_held() : real(std::get<ServeScenario>(compared.plan.scenario.question).work.gpus);
  }
  comparison.keys = differing(comparison.plans);
  add_differences(comparison);
  std::vector<Offer> offers;
  for (ComparedPlan& p : comparison.plans) {
    offers.push_back(offer_of(p, objectives));
    p.crosses = offers.back().meets && !meets(p.plan, objectives, confidence_asked(p.plan));
  }
  comparison.ranking = rank_offers(offers);
  mark_near_best(comparison);
  return comparison;
}

}  // namespace headroom
