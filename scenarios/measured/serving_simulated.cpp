// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/core/real_text.hpp>
#include <headroom/model/serve/replica/drafting.hpp>
#include <headroom/model/serve/screen/screen.hpp>
#include <headroom/model/serve/simulation/fleet_simulation.hpp>
#include <headroom/model/serve/simulation/front_end.hpp>
#include <headroom/model/serve/simulation/simulated_replica.hpp>
#include <headroom/model/serve/time/random_stream.hpp>
#include <headroom/scenarios/measured/serving_run_pools.hpp>
#include <headroom/scenarios/measured/serving_simulated.hpp>
#include <headroom/scenarios/words/verdict_text.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

namespace headroom {
namespace {

struct SimulatedMetric {
  std::string_view name;
  ServingMetric metric;
  RunStatistic statistic;
};
constexpr std::array simulated_metrics{
    SimulatedMetric{"output_tokens_per_s", ServingMetric::output_rate, RunStatistic::mean},
    SimulatedMetric{"total_tokens_per_s", ServingMetric::total_rate, RunStatistic::mean},
    SimulatedMetric{"requests_per_s", ServingMetric::request_rate, RunStatistic::mean},
    SimulatedMetric{"ttft_ms_mean", ServingMetric::ttft, RunStatistic::mean},
    SimulatedMetric{"ttft_ms_p50", ServingMetric::ttft, RunStatistic::p50},
    SimulatedMetric{"ttft_ms_p90", ServingMetric::ttft, RunStatistic::p90},
    SimulatedMetric{"ttft_ms_p95", ServingMetric::ttft, RunStatistic::p95},
    SimulatedMetric{"ttft_ms_p99", ServingMetric::ttft, RunStatistic::p99},
    SimulatedMetric{"tpot_ms_mean", ServingMetric::tpot, RunStatistic::mean},
    SimulatedMetric{"tpot_ms_p50", ServingMetric::tpot, RunStatistic::p50},
    SimulatedMetric{"tpot_ms_p90", ServingMetric::tpot, RunStatistic::p90},
    SimulatedMetric{"tpot_ms_p95", ServingMetric::tpot, RunStatistic::p95},
    SimulatedMetric{"tpot_ms_p99", ServingMetric::tpot, RunStatistic::p99},
    SimulatedMetric{"e2e_ms_mean", ServingMetric::e2e, RunStatistic::mean},
    SimulatedMetric{"e2e_ms_p50", ServingMetric::e2e, RunStatistic::p50},
    SimulatedMetric{"e2e_ms_p90", ServingMetric::e2e, RunStatistic::p90},
    SimulatedMetric{"e2e_ms_p95", ServingMetric::e2e, RunStatistic::p95},
    SimulatedMetric{"e2e_ms_p99", ServingMetric::e2e, RunStatistic::p99},
    SimulatedMetric{"latency_ms_p99", ServingMetric::e2e, RunStatistic::p99},
    SimulatedMetric{"latency_ms_p50", ServingMetric::e2e, RunStatistic::p50},
    SimulatedMetric{"latency_ms_mean", ServingMetric::e2e, RunStatistic::mean},
};

const SimulatedMetric* simulated_metric(std::string_view name) {
  const auto* found = std::find_if(simulated_metrics.begin(), simulated_metrics.end(),
                                   [&](const SimulatedMetric& m) { return m.name == name; });
  return found == simulated_metrics.end() ? nullptr : found;
}

/// Length (tokens) that hardly any request exceeds, for tables, which extrapolate beyond it.
std::int64_t longest(const LengthLaw& law) noexcept {
  switch (law.shape) {
    case LengthShape::fixed: return static_cast<std::int64_t>(std::ceil(law.mean));
    case LengthShape::uniform: return static_cast<std::int64_t>(std::ceil(2.0 * law.mean));
    default: return std::min<std::int64_t>(law.most, static_cast<std::int64_t>(std::ceil(8.0 * law.mean)));
  }
}

/// Rounds up to a power of two, so that similar rows share one engine and its tables.
std::int64_t coarse(std::int64_t value) noexcept {
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(1, value))));
}

/// Rounds up to the next eighth of an octave, so that similar rows share one engine and its tables.
std::int64_t eighths(double value) noexcept {
  const auto whole = static_cast<std::int64_t>(std::ceil(std::max(1.0, value)));
  const std::int64_t step = std::max<std::int64_t>(1, coarse(whole + 1) / 16);
  return (whole + step - 1) / step * step;
}

/// Length (tokens) that the tables of the question's engine must reach.
std::int64_t reach_of(const ClientLoad& load) noexcept {
  return coarse(longest(load.prompt) + longest(load.output));
}

std::string text_of(const LengthLaw& law) {
  return std::to_string(static_cast<int>(law.shape)) + ":" + std::to_string(law.mean) + ":" + std::to_string(law.low) +
         ":" + std::to_string(law.cv) + ":" + std::to_string(law.most);
}

std::string text_of(const ClientFacts& client) {
  return std::to_string(client.stream_interval) + ":" + std::to_string(client.recv_interval) + ":" +
         std::to_string(client.batch_wait) + ":" + std::to_string(client.batch_wait_share) + ":" +
         std::to_string(client.decode_steps) + ":" + std::to_string(client.decode_steps_from) + ":" +
         std::to_string(client.front_ends) + ":" + std::to_string(client.balance_timeout) + ":" +
         std::to_string(client.balance_batching);
}

std::string limits_text(const SimulatedQuestion& q) {
  std::string text;
  for (const TailObjective& one : q.limits_kept) {
    text += "/" + std::to_string(static_cast<int>(one.metric)) + "<" + std::to_string(one.limit.raw());
  }
  return text;
}

/// What the publication of a row kept: MLPerf's 99th percentiles.
std::vector<TailObjective> limits_kept(const ServingConfiguration& run) {
  std::vector<TailObjective> kept;
  const auto add = [&](std::string_view key, LatencyMetric metric) {
    if (const std::optional<double> ms = row_number(run, key)) {
      kept.push_back({metric, 0.99, Seconds{1e-3 * *ms}});
    }
  };
  add("ttft_p99_ms", LatencyMetric::ttft);
  add("tpot_p99_ms", LatencyMetric::tpot);
  add("e2e_p99_ms", LatencyMetric::e2e);
  return kept;
}

/// Key of everything that decides a run's requests and engines.
std::string key_of(const SimulatedQuestion& q) {
  return q.engine() + "/" + std::to_string(q.placed.replicas) + "/" + std::to_string(static_cast<int>(q.load.kind)) +
         "/" + std::to_string(q.load.rate) + "/" + std::to_string(q.load.clients) + "/" +
         std::to_string(q.load.requests) + "/" + text_of(q.load.prompt) + "/" + text_of(q.load.output) + "/" +
         (q.load.known != nullptr ? q.load.known->id : "") + "/" + std::to_string(q.load.fresh) + "/" +
         text_of(q.client) + limits_text(q) + "/" + std::to_string(q.parse.raw()) +
         (q.prefill != nullptr ? "/" + std::to_string(q.prefill->placed.replicas) + " x " + q.prefill->engine() : "");
}

/// The steady load of a lone request, or of saturation, that bounds the run.
ServingTimeQuestion steady(const SimulatedQuestion& q) {
  ServingTimeQuestion s;
  s.pool = q.prefill != nullptr ? RowPool::decode : RowPool::whole;
  s.replica = q.placed.replica;
  s.least = q.placed.least;
  s.clock = q.placed.clock;
  s.stack = q.placed.stack;
  s.metric = q.metric;
  s.replicas = real(q.placed.replicas) * q.share;
  s.to_unit = q.to_unit;
  s.load.isl = q.load.prompt.mean;
  s.load.osl = q.load.output.mean;
  s.load.groups = real(q.placed.layout.attention_groups());
  s.load.stages = real(q.placed.layout.pp);
  s.load.beams = real(q.placed.beams);
  s.load.chunk = real(q.limits.max_num_tokens);
  s.drafts = q.placed.drafts;
  s.load.queries = q.placed.drafts.queries();
  s.load.step_tokens = q.placed.drafts.accepted.tokens;
  s.kind = is_time(q.metric) ? ServingLoad::closed : ServingLoad::saturated;
  s.load.concurrency = s.load.batch = is_time(q.metric) ? 1.0 : real(std::max<std::int64_t>(1, q.memory.max_sequences));
  return s;
}

}  // namespace

double ClientReport::of(ServingMetric metric, RunStatistic statistic) const noexcept {
  const auto at = static_cast<std::size_t>(statistic);
  switch (metric) {
    case ServingMetric::output_rate: return output_tokens_per_s;
    case ServingMetric::total_rate: return total_tokens_per_s;
    case ServingMetric::request_rate: return requests_per_s;
    case ServingMetric::ttft: return ttft[at];
    case ServingMetric::tpot: return tpot[at];
    case ServingMetric::input_rate:
    case ServingMetric::running:
    case ServingMetric::e2e: break;
  }
  return e2e[at];
}

ServingQuantity SimulatedQuestion::quantity() const noexcept {
  return metric == ServingMetric::ttft   ? ServingQuantity::ttft
         : metric == ServingMetric::tpot ? ServingQuantity::tpot
         : metric == ServingMetric::e2e  ? ServingQuantity::ttft
                                         : ServingQuantity::rate;
}

bool asks_for_run(const ServingConfiguration& run, std::string_view metric) {
  const SimulatedMetric* known = simulated_metric(metric);
  if (known == nullptr) {
    return false;
  }
  const std::string scenario = scenario_of(run);
  if (scenario == "online" || scenario == "burst" || keeps_limits(run)) {
    return true;
  }
  if (scenario == "offline") {
    return is_time(known->metric) || !row_option(run, "requests").empty();
  }
  const bool loop = scenario == "closed" || scenario == "interactive" || scenario == "sustained";
  const bool tail = known->statistic == RunStatistic::p90 || known->statistic == RunStatistic::p95 ||
                    known->statistic == RunStatistic::p99;
  const bool gaps = known->metric == ServingMetric::tpot && row_number(run, "token_gaps").has_value();
  // Of a deployment in pools that states one of them no run is simulated, nor of a pool by itself.
  return loop && !run.disaggregated && row_option(run, "pool").empty() &&
         (tail || gaps || known->metric == ServingMetric::e2e || known->metric == ServingMetric::ttft);
}

std::optional<SimulatedQuestion> simulated_question(const ServingConfiguration& run,
                                                    std::string_view metric,
                                                    std::string_view unit,
                                                    ServingPlaces& places,
                                                    RowPrediction& refusal) {
  const SimulatedMetric* known = simulated_metric(metric);
  if (known == nullptr) {
    refusal = unsupported("metric " + quoted(metric) + " in " + quoted(unit) + " is not predicted for serving yet");
    return std::nullopt;
  }
  std::optional<PlacedRow> placed = places.place(run, refusal);
  if (!placed) {
    return std::nullopt;
  }
  std::string why;
  const std::optional<ClientLoad> load =
      client_load(run, placed->isl, placed->osl, published_loads(places.data()), why);
  if (!load) {
    refusal = unsupported(why);
    return std::nullopt;
  }
  SimulatedQuestion q;
  q.placed = std::move(*placed);
  if (run.dp && q.placed.layout.attention_groups() == 1) {
    q.placed.replicas = std::min(q.placed.replicas, *run.dp);  // GPUs beyond the stated replicas are idle
  }
  q.load = *load;
  q.client = client_facts(run);
  q.parse = Seconds{1e-3 * row_number(run, "chat_template_ms").value_or(0.0)};
  const std::string policy = row_option(run, "scheduler");
  const auto* const rules = std::find(scheduler_names.begin(), scheduler_names.end(), policy);
  if (!policy.empty() && rules == scheduler_names.end()) {
    refusal = unsupported("options.scheduler is " + quoted(policy) + ", which is no scheduler that is simulated");
    return std::nullopt;
  }
  q.rules = policy.empty() ? q.placed.stack->scheduler : schedulers[rules - scheduler_names.begin()];
  if (!prompts_first(*q.placed.stack, run) && q.rules.order == PromptOrder::before_decodes) {
    // SGLang's estimate of future tokens is simulated with prompts that run alone; mixed, they are admitted by the
    // chunk.
    q.rules.order = PromptOrder::beside_decodes;
    q.rules.future = {};
    q.rules.overlap = Overlap::none;
  }
  q.token_gaps = row_number(run, "token_gaps").has_value();
  if (const std::string chunked = row_option(run, "chunked_prefill"); !chunked.empty()) {
    const std::optional<double> tokens = whole_real(chunked);  // rows state 0, 1 or the tokens of a chunk
    if (!tokens || !(*tokens >= 0.0)) {
      refusal =
          unsupported("options.chunked_prefill is " + quoted(chunked) + "; it must be 0, 1 or the tokens of a chunk");
      return std::nullopt;
    }
    q.chunked = *tokens > 0.0;
  }
  if (run.disaggregated && row_option(run, "pool").empty() && !add_prefilling(run, places, q, refusal)) {
    return std::nullopt;
  }
  if (keeps_limits(run)) {
    // A harness spreads requests evenly, so that each replica has its part of them; of pools apart the least part that
    // has whole workers of both.
    q.limits_kept = limits_kept(run);
    const std::int64_t parts =
        q.prefill == nullptr ? q.placed.replicas : std::gcd(q.placed.replicas, q.prefill->placed.replicas);
    q.share = real(parts);
    q.placed.replicas /= parts;
    if (q.prefill != nullptr) {
      auto part = std::make_shared<SimulatedQuestion>(*q.prefill);
      part->placed.replicas /= parts;
      q.prefill = std::move(part);
    }
  }
  q.metric = known->metric;
  q.statistic = known->statistic;
  q.to_unit = is_time(q.metric) ? 1e3 : 1.0;
  q.limits = q.placed.limits;
  q.limits.sequence_tokens = eighths(q.load.prompt.mean + real(q.placed.beams) * q.load.output.mean);
  q.memory = serving_memory(q.placed.memory, q.limits);
  if (q.memory.capacity < 1) {
    refusal = unsupported(verdict_text(q.memory.verdict, q.memory.broke, q.memory.limit));
    return std::nullopt;
  }
  if (q.limits_kept.empty()) {
    // More places than requests would stay empty and only enlarge the tables.
    q.limits.max_num_seqs = std::min(coarse(q.load.requests), q.limits.max_num_seqs);
  }
  q.name_run();
  return q;
}

void SimulatedQuestion::set_accepted(const RowDrafts::Accepted& accepted) {
  placed.drafts.accepted = accepted;
  name_run();
}

void SimulatedQuestion::name_run() {
  run = key_of(*this);
}

std::string SimulatedQuestion::engine() const {
  return std::to_string(reinterpret_cast<std::uintptr_t>(placed.replica.get())) + "/" + placed.stack->id + "/" +
         std::to_string(limits.memory_fraction) + "/" + std::to_string(placed.limits.max_num_seqs) + "/" +
         std::to_string(limits.max_num_seqs) + "/" + std::to_string(limits.max_num_tokens) + "/" +
         std::to_string(limits.sequence_tokens) + "/" + std::to_string(placed.beams) + "/" +
         std::to_string(placed.clock) + "/" + std::to_string(reach_of(load)) +
         (chunked ? (*chunked ? "/chunked" : "/whole") : "") + "/" + std::to_string(static_cast<int>(rules.order)) +
         std::to_string(static_cast<int>(rules.reservation)) +
         (placed.layout.attention_groups() > 1 ? "/" + std::to_string(std::llround(placed.isl)) : "") +
         (placed.drafts.drafted > 0
              ? "/" + std::to_string(placed.drafts.drafted) + ":" + std::to_string(placed.drafts.accepted.probability) +
                    ":" + std::to_string(placed.drafts.verified) + (placed.drafts.overlapped ? "o" : "")
              : "");
}

SimulatedReplica simulated_engine(const SimulatedQuestion& question,
                                  const IterationStack& stack,
                                  const IterationPhysics& physics,
                                  const MixTerms& terms) {
  SimulatedHabits habits;
  habits.terms = terms;
  habits.longest = reach_of(question.load);
  habits.prompt = std::llround(question.placed.isl);
  habits.text = question.load.prompt.mean;
  habits.beams = question.placed.beams;
  habits.clock = question.placed.clock;
  habits.chunked_prefill = question.chunked;
  std::optional<Drafting> drafting;
  if (const RowDrafts& drafts = question.placed.drafts; drafts.drafted > 0) {
    drafting.emplace(*question.placed.replica, drafts.speculation(), drafts.queries(), drafts.share, stack, physics);
    habits.drafting = &*drafting;
  }
  ServingStack with = *question.placed.stack;
  with.time = stack;
  with.scheduler = question.rules;
  ServingMemory memory = question.memory;
  if (question.placed.beams > 1) {
    // The engine's blocks count one answer of a request, whose beams hold several.
    memory.tokens *= (question.placed.isl + question.placed.osl) / question.placed.held_tokens(1.0);
  }
  return simulated_replica(*question.placed.replica, with, physics, question.limits, memory, habits);
}

namespace {

/// What a closed loop's client sees beyond the run: iterations that the engine lags, and a first piece that has to
/// fill.
void add_client(const SimulatedQuestion& question,
                const SimulatedReplica& replica,
                const IterationStack& stack,
                ClientReport& report) {
  const double clients = real(question.load.clients) / real(question.placed.replicas);
  const double b = std::clamp(clients, 1.0, real(std::max<std::int64_t>(1, replica.engine.max_num_seqs)));
  const auto decodes = static_cast<std::int64_t>(std::llround(b));
  const double keys = question.load.prompt.mean + 0.5 * question.load.output.mean;
  const DecodeLine line = replica.tables->decode_line(decodes, static_cast<std::int64_t>(b * keys));
  const double step = seconds_of(line.at(static_cast<std::int64_t>(b * keys)));
  const double osl = question.load.output.mean;
  const double held = stack.holds_first ? std::min(question.client.stream_interval, osl) - 1.0 : 0.0;
  // A client sends as an iteration ends: of the `steps` that the engine lags behind, one that forms ahead has taken
  // those that run and are formed by then.
  const double lag = std::max(0.0, stack.steps - (stack.formed_ahead ? 2.0 : 0.0));
  const double later = lag * step * (b - 1.0) / b + held * report.tpot[0];
  for (double& time : report.ttft) {
    time += later;
  }
  for (double& time : report.e2e) {
    time += later - held * report.tpot[0];
  }
  for (double& time : report.tpot) {
    time *= osl > 1.0 ? 1.0 - held / (osl - 1.0) : 1.0;
  }
}

bool kept(const ServingScreen& screened, std::span<const TailObjective> limits) noexcept {
  return !screened.overloaded && std::all_of(limits.begin(), limits.end(), [&](const TailObjective& one) {
    const TimeDistribution& times = one.metric == LatencyMetric::ttft   ? screened.ttft
                                    : one.metric == LatencyMetric::tpot ? screened.tpot
                                                                        : screened.e2e;
    return !(times.quantile(one.quantile) > one.limit.raw());
  });
}

}  // namespace

bool SimulatedQuestion::rate_at_limits() const noexcept {
  return !limits_kept.empty() && !is_time(metric);
}

bool SimulatedQuestion::rate_of_open_load() const noexcept {
  return load.kind == ClientKind::open && limits_kept.empty() && !is_time(metric);
}

namespace {

bool kept(const ClientReport& report, std::span<const TailObjective> limits) noexcept {
  constexpr auto tail = static_cast<std::size_t>(RunStatistic::p99);
  return report.requests_per_s > 0.0 && std::all_of(limits.begin(), limits.end(), [&](const TailObjective& one) {
           const std::array<double, run_statistics>& times = one.metric == LatencyMetric::ttft   ? report.ttft
                                                             : one.metric == LatencyMetric::tpot ? report.tpot
                                                                                                 : report.e2e;
           return !(times[tail] > one.limit.raw());
         });
}

/// Requests per second of one replica at which it just keeps the limits, in closed form (model/serve/screen); at least
/// those of a lone request after another.
double screened_at_limits(const SimulatedQuestion& question,
                          const SimulatedReplica& replica,
                          const IterationStack& stack,
                          const SimulatedReplica* prefill) {
  const ServingFleet fleet = run_fleet(question, replica, stack, prefill);
  ScreenTraffic traffic;
  traffic.prompt = {question.load.prompt.mean, cv_of(question.load.prompt)};
  traffic.output = {question.load.output.mean, cv_of(question.load.output)};
  double high = screened_saturation(fleet, traffic).raw();
  double low = 0.0;
  // To a thousandth of the saturation, which is far below what the forms are off.
  for (int i = 0; i < 10; ++i) {
    const double middle = 0.5 * (low + high);
    traffic.rate = Hertz{middle};
    (kept(screen(fleet, traffic), question.limits_kept) ? low : high) = middle;
  }
  if (low > 0.0) {
    return low;
  }
  traffic.rate = Hertz{1e-3 * high};
  return 1.0 / screen(fleet, traffic).e2e.mean();  // one request after the other
}

}  // namespace

ClientReport simulated_report(const SimulatedQuestion& question,
                              const SimulatedReplica& replica,
                              const IterationStack& stack,
                              const PublishedLoads& loads,
                              const SimulatedReplica* prefill) {
  const ServingFleet fleet = run_fleet(question, replica, stack, prefill);
  const std::int64_t repeats = question.load.repeats(loads);
  const double share = 1.0 / real(repeats);
  ClientReport report;
  TimesOfRuns times;
  for (std::int64_t i = 0; i < repeats; ++i) {
    const RequestLoad load = requests_of(question.load, loads.seed + static_cast<std::uint64_t>(i));
    const FrontEnd front{load, picoseconds(stack.intake.raw()), picoseconds(question.parse.raw())};
    FleetResult result = simulate(fleet, front.behind());
    front.show(result);
    const RequestMetrics all = serving_metrics(load, result).all;
    times.add(load, result);
    report.requests_per_s += share * all.finished_per_s;
    report.output_tokens_per_s += share * all.output_tokens_per_s;
    report.total_tokens_per_s += share * (all.input_tokens_per_s + all.output_tokens_per_s);
    constexpr std::array<double, run_statistics> quantiles{0.5, 0.5, 0.9, 0.95, 0.99};
    for (std::size_t j = 0; question.token_gaps && j < quantiles.size(); ++j) {
      report.gaps[j] += share * seconds_of(result.pool.sum.gaps.quantile(quantiles[j]));
    }
  }
  times.report(report);
  if (question.token_gaps) {
    report.gaps[0] = report.tpot[0];
    report.tpot = report.gaps;
  }
  if (question.load.kind == ClientKind::closed) {
    add_client(question, replica, stack, report);
  }
  return report;
}

void TimesOfRuns::add(const RequestLoad& load, const FleetResult& result) {
  for (std::size_t i = 0; i < load.requests.size(); ++i) {
    const RequestTimes& times = result.requests[i];
    if (times.refused || times.finished == never) {
      continue;
    }
    ttft_.push_back(seconds_of(times.first_token - times.arrival));
    e2e_.push_back(seconds_of(times.finished - times.arrival));
    if (const std::int32_t tokens = load.requests[i].output_tokens; tokens > 1) {
      tpot_.push_back(seconds_of(times.finished - times.first_token) / (tokens - 1));
    }
  }
}

void TimesOfRuns::report(ClientReport& to) {
  const auto statistics_of = [](std::vector<double>& values) -> std::array<double, run_statistics> {
    const TimeSummary all = time_summary(values);
    return {all.mean.raw(), all.p50.raw(), all.p90.raw(), all.p95.raw(), all.p99.raw()};
  };
  to.ttft = statistics_of(ttft_);
  to.tpot = statistics_of(tpot_);
  to.e2e = statistics_of(e2e_);
}

RunAtLimits run_at_limits(const SimulatedQuestion& question,
                          const SimulatedReplica& replica,
                          const IterationStack& stack,
                          const PublishedLoads& loads,
                          const SimulatedReplica* prefill) {
  constexpr double step = 1.15;
  constexpr int most_steps = 8;  // a third of what the closed forms say to three times as much
  constexpr int halvings = 2;    // of the last step, to 4 %
  constexpr double answers = 4.0;
  constexpr std::int64_t most_requests = 60'000;
  SimulatedQuestion asked = question;
  const auto run = [&](double rate) {
    asked.load.rate = rate;
    RunAtLimits at{rate, simulated_report(asked, replica, stack, loads, prefill)};
    // A run shorter than a few answers of thousands of tokens ends before its queue is seen.
    const std::int64_t lasting = std::min<std::int64_t>(most_requests, std::llround(answers * rate * at.report.e2e[0]));
    if (lasting > asked.load.requests) {
      asked.load.requests = lasting;
      at.report = simulated_report(asked, replica, stack, loads, prefill);
    }
    return at;
  };
  RunAtLimits best = run(screened_at_limits(question, replica, stack, prefill));
  double broken = 0.0;  // the lowest rate that is known to break a limit; 0: none
  bool good = kept(best.report, question.limits_kept);
  for (int i = 0; i < most_steps && !good; ++i) {
    broken = best.rate;
    best = run(best.rate / step);
    good = kept(best.report, question.limits_kept);
  }
  const auto narrow = [&](double rate) {
    RunAtLimits next = run(rate);
    if (kept(next.report, question.limits_kept)) {
      best = std::move(next);
    } else {
      broken = next.rate;
    }
  };
  for (int i = 0; i < most_steps && good && broken == 0.0; ++i) {
    narrow(best.rate * step);
  }
  for (int i = 0; i < halvings && good && broken > 0.0; ++i) {
    narrow(std::sqrt(best.rate * broken));
  }
  // A replica that is slightly overloaded keeps its limits for a while: the run lasts as long as the benchmark's.
  constexpr double finer = 1.04;
  constexpr int most_finer = 6;
  // What a step with drafts yields is drawn for each sequence of each step, which takes ten times as long.
  const std::int64_t longest_run = question.placed.drafts.drafted > 0 ? loads.server_most / 2 : loads.server_most;
  for (int i = 0; i < most_finer && good; ++i) {
    const double rate = i == 0 ? best.rate : best.rate / finer;
    const auto lasting = static_cast<std::int64_t>(std::min<double>(real(longest_run), rate * loads.server_seconds));
    if (lasting <= asked.load.requests && i == 0) {
      break;
    }
    asked.load.requests = std::max(asked.load.requests, lasting);
    best = run(rate);
    if (kept(best.report, question.limits_kept)) {
      break;
    }
  }
  return best;
}

double simulated_sheet(const SimulatedQuestion& question) {
  return sheet_time(steady(question));
}

double simulated_fastest(const SimulatedQuestion& question) {
  ServingTimeQuestion s = steady(question);
  if (is_time(question.metric) && question.load.random()) {
    // When lengths vary the shortest request may come first, so the bound assumes one token in and one out.
    s.load.isl = s.load.osl = 1.0;
  }
  return fastest_time(s);
}

}  // namespace headroom
