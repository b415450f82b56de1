// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/serve/simulation/fleet_simulation.hpp>
#include <headroom/model/serve/simulation/front_end.hpp>
#include <headroom/model/serve/simulation/simulated_replica.hpp>
#include <headroom/model/serve/time/random_stream.hpp>
#include <headroom/scenarios/measured/serving_simulated.hpp>
#include <headroom/scenarios/words/verdict_text.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
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
    SimulatedMetric{"ttft_ms_p95", ServingMetric::ttft, RunStatistic::p95},
    SimulatedMetric{"ttft_ms_p99", ServingMetric::ttft, RunStatistic::p99},
    SimulatedMetric{"tpot_ms_mean", ServingMetric::tpot, RunStatistic::mean},
    SimulatedMetric{"tpot_ms_p50", ServingMetric::tpot, RunStatistic::p50},
    SimulatedMetric{"tpot_ms_p95", ServingMetric::tpot, RunStatistic::p95},
    SimulatedMetric{"tpot_ms_p99", ServingMetric::tpot, RunStatistic::p99},
    SimulatedMetric{"e2e_ms_mean", ServingMetric::e2e, RunStatistic::mean},
    SimulatedMetric{"e2e_ms_p50", ServingMetric::e2e, RunStatistic::p50},
    SimulatedMetric{"e2e_ms_p95", ServingMetric::e2e, RunStatistic::p95},
    SimulatedMetric{"e2e_ms_p99", ServingMetric::e2e, RunStatistic::p99},
};

const SimulatedMetric* metric_named(std::string_view name) {
  const auto* found = std::find_if(simulated_metrics.begin(), simulated_metrics.end(),
                                   [&](const SimulatedMetric& m) { return m.name == name; });
  return found == simulated_metrics.end() ? nullptr : found;
}

bool is_time(ServingMetric m) noexcept {
  return m == ServingMetric::ttft || m == ServingMetric::tpot || m == ServingMetric::e2e;
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

/// Key of everything that decides a run's requests and engines.
std::string key_of(const SimulatedQuestion& q) {
  return q.engine() + "/" + std::to_string(q.placed.replicas) + "/" + std::to_string(static_cast<int>(q.load.kind)) +
         "/" + std::to_string(q.load.rate) + "/" + std::to_string(q.load.clients) + "/" +
         std::to_string(q.load.requests) + "/" + text_of(q.load.prompt) + "/" + text_of(q.load.output);
}

void add(std::array<double, 4>& sums, const TimeSummary& times, double share) noexcept {
  const std::array<Seconds, 4> all{times.mean, times.p50, times.p95, times.p99};
  for (std::size_t i = 0; i < all.size(); ++i) {
    sums[i] += share * all[i].raw();
  }
}

/// The steady load of a lone request, or of saturation, that bounds the run.
ServingTimeQuestion steady(const SimulatedQuestion& q) {
  ServingTimeQuestion s;
  s.replica = q.placed.replica;
  s.least = q.placed.least;
  s.stack = q.placed.stack;
  s.metric = q.metric;
  s.replicas = real(q.placed.replicas);
  s.to_unit = q.to_unit;
  s.load.isl = q.load.prompt.mean;
  s.load.osl = q.load.output.mean;
  s.load.groups = real(q.placed.layout.attention_groups());
  s.load.stages = real(q.placed.layout.pp);
  s.load.chunk = real(q.limits.max_num_tokens);
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
  const SimulatedMetric* known = metric_named(metric);
  if (known == nullptr) {
    return false;
  }
  const std::string scenario = row_option(run, "scenario");
  if (scenario == "online" || scenario == "burst") {
    return true;
  }
  if (scenario == "offline") {
    return is_time(known->metric) || !row_option(run, "requests").empty();
  }
  const bool loop = scenario == "closed" || scenario == "interactive" || scenario == "sustained";
  const bool tail = known->statistic == RunStatistic::p95 || known->statistic == RunStatistic::p99;
  return loop && (tail || known->metric == ServingMetric::e2e);
}

std::optional<SimulatedQuestion> simulated_question(const ServingConfiguration& run,
                                                    std::string_view metric,
                                                    std::string_view unit,
                                                    ServingPlaces& places,
                                                    RowPrediction& refusal) {
  const SimulatedMetric* known = metric_named(metric);
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
  q.metric = known->metric;
  q.statistic = known->statistic;
  q.to_unit = is_time(q.metric) ? 1e3 : 1.0;
  q.limits = q.placed.limits;
  q.limits.sequence_tokens = eighths(q.load.prompt.mean + q.load.output.mean);
  q.memory = serving_memory(q.placed.memory, q.limits);
  if (q.memory.capacity < 1) {
    refusal = unsupported(verdict_text(q.memory.verdict, q.memory.broke, q.memory.limit));
    return std::nullopt;
  }
  // More places than requests would stay empty and only enlarge the tables.
  q.limits.max_num_seqs = std::min(coarse(q.load.requests), q.limits.max_num_seqs);
  q.run = key_of(q);
  return q;
}

std::string SimulatedQuestion::engine() const {
  return std::to_string(reinterpret_cast<std::uintptr_t>(placed.replica.get())) + "/" + placed.stack->id + "/" +
         std::to_string(limits.memory_fraction) + "/" + std::to_string(placed.limits.max_num_seqs) + "/" +
         std::to_string(limits.max_num_seqs) + "/" + std::to_string(limits.max_num_tokens) + "/" +
         std::to_string(limits.sequence_tokens) + "/" + std::to_string(reach_of(load)) +
         (placed.layout.attention_groups() > 1 ? "/" + std::to_string(std::llround(placed.isl)) : "");
}

SimulatedReplica simulated_engine(const SimulatedQuestion& question,
                                  const IterationStack& stack,
                                  const IterationPhysics& physics,
                                  const MixTerms& terms) {
  SimulatedHabits habits;
  habits.terms = terms;
  habits.longest = reach_of(question.load);
  habits.prompt = std::llround(question.placed.isl);
  ServingStack with = *question.placed.stack;
  with.time = stack;
  return simulated_replica(*question.placed.replica, with, physics, question.limits, question.memory, habits);
}

ClientReport simulated_report(const SimulatedQuestion& question,
                              const SimulatedReplica& replica,
                              const IterationStack& stack,
                              const PublishedLoads& loads) {
  ServingFleet fleet;
  fleet.pool = replica.pool(question.placed.replicas);
  fleet.front_end = picoseconds(stack.request.raw());
  const std::int64_t repeats = question.load.repeats(loads);
  const double share = 1.0 / real(repeats);
  ClientReport report;
  for (std::int64_t i = 0; i < repeats; ++i) {
    const RequestLoad load = requests_of(question.load, loads.seed + static_cast<std::uint64_t>(i));
    const FrontEnd front{load, picoseconds(stack.intake.raw())};
    FleetResult result = simulate(fleet, front.behind());
    front.show(result);
    const RequestMetrics all = serving_metrics(load, result).all;
    add(report.ttft, all.ttft, share);
    add(report.tpot, all.tpot, share);
    add(report.e2e, all.e2e, share);
    report.requests_per_s += share * all.finished_per_s;
    report.output_tokens_per_s += share * all.output_tokens_per_s;
    report.total_tokens_per_s += share * (all.input_tokens_per_s + all.output_tokens_per_s);
  }
  return report;
}

const ClientReport& SimulatedRuns::report(const SimulatedQuestion& question) {
  auto [at, fresh] = reports_.try_emplace(question.run);
  if (fresh) {
    const IterationStack& stack = question.placed.stack->time;
    auto [engine, unknown] = engines_.try_emplace(question.engine());
    if (unknown) {
      engine->second = simulated_engine(question, stack, iteration_physics(data_));
    }
    at->second = simulated_report(question, engine->second, stack, published_loads(data_));
  }
  return at->second;
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
