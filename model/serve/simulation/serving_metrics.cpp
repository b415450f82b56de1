// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/serve/simulation/serving_metrics.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace headroom {
namespace {

Seconds as_seconds(Picoseconds time) {
  return Seconds{seconds_of(time)};
}

class Collector {
 public:
  explicit Collector(std::size_t most) {
    for (std::vector<double>* values : {&ttft_, &tpot_, &e2e_, &queue_}) {
      values->reserve(most);
    }
  }

  void add(const Request& request, const RequestTimes& times, const ServiceObjective& objective) {
    ++out_.requests;
    first_ = std::min(first_, times.arrival);
    if (times.refused) {
      ++out_.refused;
      return;
    }
    if (times.started != never) {
      queue_.push_back(seconds_of(times.started - times.arrival));
    }
    if (times.finished == never) {
      ++out_.unfinished;
      return;
    }
    ++out_.finished;
    last_ = std::max(last_, times.finished);
    output_ += request.output_tokens;
    input_ += request.prompt_tokens;
    const double ttft = seconds_of(times.first_token - times.arrival);
    const double e2e = seconds_of(times.finished - times.arrival);
    ttft_.push_back(ttft);
    e2e_.push_back(e2e);
    double tpot = 0.0;
    if (request.output_tokens > 1) {
      tpot = seconds_of(times.finished - times.first_token) / (request.output_tokens - 1);
      tpot_.push_back(tpot);
    }
    good_ += ttft <= objective.ttft.raw() && tpot <= objective.tpot.raw() && e2e <= objective.e2e.raw() ? 1 : 0;
  }

  RequestMetrics finish() {
    out_.ttft = time_summary(ttft_);
    out_.tpot = time_summary(tpot_);
    out_.e2e = time_summary(e2e_);
    out_.queue = time_summary(queue_);
    out_.good_share = out_.requests > 0 ? static_cast<double>(good_) / static_cast<double>(out_.requests) : 0.0;
    if (out_.finished > 0 && last_ > first_) {
      const double time = seconds_of(last_ - first_);
      out_.good_per_s = static_cast<double>(good_) / time;
      out_.finished_per_s = static_cast<double>(out_.finished) / time;
      out_.output_tokens_per_s = static_cast<double>(output_) / time;
      out_.input_tokens_per_s = static_cast<double>(input_) / time;
    }
    return out_;
  }

 private:
  RequestMetrics out_;
  std::vector<double> ttft_, tpot_, e2e_, queue_;
  std::int64_t good_ = 0, output_ = 0, input_ = 0;
  Picoseconds first_ = never, last_{};
};

PoolMetrics pool_metrics(const PoolCounters& counters, Picoseconds end) {
  PoolMetrics out;
  const EngineCounters& sum = counters.sum;
  if (counters.engines == 0 || end <= Picoseconds{0}) {
    return out;
  }
  const double time = seconds_of(end);
  out.busy = seconds_of(sum.busy) / time / static_cast<double>(counters.engines);
  out.kv_mean = sum.block_seconds / time / static_cast<double>(counters.blocks);
  out.kv_peak = static_cast<double>(sum.peak_blocks) / static_cast<double>(counters.engine_blocks);
  out.iterations = sum.iterations;
  out.preemptions = sum.preemptions;
  out.batch = sum.batch;
  double sequences = 0.0;
  for (std::size_t i = 0; i < sum.batch.size(); ++i) {
    sequences += static_cast<double>(i) * static_cast<double>(sum.batch[i]);
  }
  out.batch_mean = sum.iterations > 0 ? sequences / static_cast<double>(sum.iterations) : 0.0;
  out.gap_p50 = as_seconds(sum.gaps.quantile(0.50));
  out.gap_p95 = as_seconds(sum.gaps.quantile(0.95));
  out.gap_p99 = as_seconds(sum.gaps.quantile(0.99));
  out.gap_max = as_seconds(sum.gaps.quantile(1.0));
  return out;
}

/// Models that share devices iterate one at a time, and each has KV blocks of its own size.
void add_models(const FleetResult& result, ServingMetrics& out) {
  if (result.models.empty()) {
    return;
  }
  const auto count = static_cast<double>(result.models.size());
  out.pool.busy *= count;
  out.pool.kv_mean = out.pool.kv_peak = 0.0;
  for (const PoolCounters& counters : result.models) {
    out.models.push_back(pool_metrics(counters, result.end));
    out.pool.kv_mean += out.models.back().kv_mean / count;
    out.pool.kv_peak = std::max(out.pool.kv_peak, out.models.back().kv_peak);
  }
}

/// Time that a request's answer took by itself; 0 if it did not end. `token`: a long gap between two tokens.
Picoseconds own_time(const RequestLoad& load, const FleetResult& result, std::size_t request, Picoseconds token) {
  const RequestTimes& times = result.requests[request];
  if (times.finished == never || times.started == never) {
    return Picoseconds{0};
  }
  const Picoseconds whole = times.finished - times.started;
  if (result.prefill.engines == 0) {
    return whole;
  }
  // Between the pools a sequence waits again.
  return std::min(whole, times.first_token - times.started + load.requests[request].output_tokens * token);
}

/// When each request of sessions would have been answered if none waited for an engine: a turn is sent a pause after
/// the answer before it, and takes its own time. Planned times, which take all tokens to be as fast, do not say how far
/// sessions have come by the end of a short load; the times at which turns were sent hide how far those lag that come
/// too fast.
std::vector<Picoseconds> due_times(const RequestLoad& load, const FleetResult& result) {
  const Picoseconds token = result.pool.sum.gaps.quantile(0.95);
  std::vector<Picoseconds> due(load.requests.size(), never);
  for (std::size_t i = 0; i < due.size(); ++i) {
    const std::uint32_t before = load.turns.previous[i];
    Picoseconds asked = load.requests[i].arrival;
    if (before != SessionTurns::none) {
      const bool answered = result.requests[before].finished != never;
      asked = due[before] + (answered ? load.turns.pause[i] : asked - load.requests[before].arrival);
    }
    due[i] = asked + own_time(load, result, i, token);
  }
  return due;
}

void judge_load(const RequestLoad& load, const FleetResult& result, ServingMetrics& out) {
  if (load.concurrency > 0 || load.requests.size() < 2) {
    return;
  }
  const Picoseconds first = load.requests.front().arrival;
  const Picoseconds last = load.requests.back().arrival;
  if (last <= first) {
    return;
  }
  out.arrived_per_s = static_cast<double>(load.requests.size() - 1) / seconds_of(last - first);
  const Picoseconds half = first + (last - first) / 2;
  const std::vector<Picoseconds> due = load.turns.empty() ? std::vector<Picoseconds>{} : due_times(load, result);
  std::int64_t arrived = 0;
  std::int64_t answered = 0;
  for (std::size_t i = 0; i < result.requests.size(); ++i) {
    const RequestTimes& times = result.requests[i];
    const Picoseconds asked = due.empty() ? times.arrival : due[i];
    arrived += asked > half && asked <= last ? 1 : 0;
    answered += times.finished > half && times.finished <= last ? 1 : 0;
    answered += times.refused && times.arrival > half ? 1 : 0;
  }
  out.overloaded = static_cast<double>(answered) < 0.95 * static_cast<double>(arrived);
  out.saturated_per_s = out.overloaded ? static_cast<double>(answered) / seconds_of(last - half) : 0.0;
}

}  // namespace

TimeSummary time_summary(std::vector<double>& values) {
  TimeSummary out;
  if (values.empty()) {
    return out;
  }
  double sum = 0.0;
  for (const double value : values) {
    sum += value;
  }
  // Quantiles in ascending order: each selects among the values above the previous one.
  auto from = values.begin();
  const auto at = [&](double q) {
    const double position = q * static_cast<double>(values.size() - 1);
    const auto below = values.begin() + static_cast<std::ptrdiff_t>(position);
    std::nth_element(from, below, values.end());
    from = below;
    const double next = below + 1 < values.end() ? *std::min_element(below + 1, values.end()) : *below;
    return Seconds{*below + (position - std::floor(position)) * (next - *below)};
  };
  out.mean = Seconds{sum / static_cast<double>(values.size())};
  out.p50 = at(0.50);
  out.p90 = at(0.90);
  out.p95 = at(0.95);
  out.p99 = at(0.99);
  out.max = at(1.0);
  return out;
}

ServingMetrics serving_metrics(const RequestLoad& load,
                               const FleetResult& result,
                               std::span<const ServiceObjective> objectives,
                               std::int64_t warm_up) {
  std::size_t classes = objectives.size();
  for (const Request& request : load.requests) {
    classes = std::max(classes, static_cast<std::size_t>(request.service_class) + 1);
  }
  const auto from = static_cast<std::size_t>(std::max<std::int64_t>(warm_up, 0));
  const std::size_t count = load.requests.size() - std::min(from, load.requests.size());
  Collector all{count};
  std::vector<Collector> each(classes, Collector{0});
  for (std::size_t i = from; i < load.requests.size(); ++i) {
    const RequestTimes& times = result.requests[i];
    if (times.arrival == never) {
      continue;  // beyond the horizon, or not yet sent by a closed loop
    }
    const auto of = static_cast<std::size_t>(load.requests[i].service_class);
    const ServiceObjective objective = of < objectives.size() ? objectives[of] : ServiceObjective{};
    all.add(load.requests[i], times, objective);
    if (classes > 1) {
      each[of].add(load.requests[i], times, objective);
    }
  }
  ServingMetrics out;
  out.all = all.finish();
  for (Collector& one : each) {
    out.classes.push_back(one.finish());
  }
  if (classes == 1) {
    out.classes.front() = out.all;
  }
  out.pool = pool_metrics(result.pool, result.end);
  out.prefill = pool_metrics(result.prefill, result.end);
  add_models(result, out);
  judge_load(load, result, out);
  out.unanswered = result.unanswered;
  out.overloaded = out.overloaded || out.unanswered > 0;
  out.queue_mean = out.all.finished_per_s > 0.0 ? out.all.finished_per_s * out.all.queue.mean.raw() : 0.0;
  return out;
}

}  // namespace headroom
