// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/core/statistics.hpp>
#include <headroom/scenarios/measured/serving_runs.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace headroom {

const SimulatedReplica& SimulatedRuns::engine(const SimulatedQuestion& question) {
  auto [engine, unknown] = engines_.try_emplace(question.engine());
  if (unknown) {
    engine->second = simulated_engine(question, question.placed.stack->time, iteration_physics(data_));
  }
  return engine->second;
}

const SimulatedReplica* SimulatedRuns::prefilling_engine(const SimulatedQuestion& question) {
  return question.prefill != nullptr ? &engine(*question.prefill) : nullptr;
}

const RunAtLimits& SimulatedRuns::limit(const SimulatedQuestion& question) {
  auto [at, fresh] = limits_.try_emplace(question.run);
  if (fresh) {
    at->second = run_at_limits(question, engine(question), question.placed.stack->time, published_loads(data_),
                               prefilling_engine(question));
  }
  return at->second;
}

const ClientReport& SimulatedRuns::report(const SimulatedQuestion& question) {
  if (!question.limits_kept.empty()) {
    return limit(question).report;
  }
  auto [at, fresh] = reports_.try_emplace(question.run);
  if (fresh) {
    at->second = simulated_report(question, engine(question), question.placed.stack->time, published_loads(data_),
                                  prefilling_engine(question));
  }
  return at->second;
}

double SimulatedRuns::answer(const SimulatedQuestion& question) {
  if (!question.rate_at_limits()) {
    double time = report(question).of(question.metric, question.statistic);
    for (const TailObjective& one : question.limits_kept) {
      // The run was valid: whatever this replica does, that one kept its 99th percentile.
      const bool own = (one.metric == LatencyMetric::ttft && question.metric == ServingMetric::ttft) ||
                       (one.metric == LatencyMetric::tpot && question.metric == ServingMetric::tpot) ||
                       (one.metric == LatencyMetric::e2e && question.metric == ServingMetric::e2e);
      time = own ? std::min(time, one.limit.raw()) : time;
    }
    return question.to_unit * time;
  }
  const double requests = question.share * limit(question).rate;
  const double tokens = question.metric == ServingMetric::request_rate ? 1.0
                        : question.metric == ServingMetric::output_rate
                            ? question.load.output.mean
                            : question.load.prompt.mean + question.load.output.mean;
  return question.to_unit * requests * tokens;
}

/// The answer of a replica `speed` times as fast.
double SimulatedRuns::answer_at(const SimulatedQuestion& question, double speed) {
  const bool time = is_time(question.metric);
  if (question.load.kind != ClientKind::open) {
    return time ? answer(question) / speed : answer(question) * speed;
  }
  SimulatedQuestion asked = question;
  asked.load.rate /= speed;
  asked.name_run();
  return time ? answer(asked) / speed : answer(asked) * speed;
}

QueueReach SimulatedRuns::reach(const SimulatedQuestion& question, const QueueReach& speed) {
  if (question.rate_at_limits()) {
    return speed;
  }
  const double middle = answer(question);
  if (!question.limits_kept.empty() || !(middle > 0.0)) {
    return {};
  }
  const std::array<double, 2> ends{answer_at(question, speed.low) / middle, answer_at(question, speed.high) / middle};
  const auto [low, high] = std::minmax(ends[0], ends[1]);
  return {std::min(1.0, low), std::max(1.0, high)};
}

ServingErrors errors_of_run(const SimulatedQuestion& question,
                            SimulatedRuns& runs,
                            const ServingErrors& rate,
                            const ServingErrors& queue) {
  if (!question.rate_of_open_load()) {
    return beside_reach(queue, runs.reach(question, {rate.low, rate.high}));
  }
  const ServingErrors speed = beside_reach(queue, {rate.low, rate.high});
  const QueueReach reach = runs.reach(question, {speed.low, speed.high});
  const double came = normal_quantile(0.9) / std::sqrt(real(question.load.requests));
  ServingErrors errors = queue;
  errors.low = std::exp(-std::hypot(std::log(reach.low), came));
  errors.high = std::exp(std::hypot(std::log(reach.high), came));
  return errors;
}

}  // namespace headroom
