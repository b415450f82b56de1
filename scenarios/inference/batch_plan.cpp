// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/train/step/job_groups.hpp>
#include <headroom/model/workload/model_data.hpp>
#include <headroom/scenarios/inference/batch_parts.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace headroom {
namespace {

/// One host and what its GPUs take of it when none waits.
[[nodiscard]] InputRate input_of(const BatchScenario& s, const CallBook& book) {
  const DataFeed& feed = *s.feed;
  const std::int64_t batch = best_batch(s, book);
  const std::int64_t gpus = std::min(s.gpus_per_node, s.gpus.value_or(s.gpus_per_node));
  InputPipeline pipeline;
  pipeline.stored = feed.stored;
  pipeline.fed = feed.fed;
  pipeline.cpu = feed.cpu;
  pipeline.cores = feed.workers;
  pipeline.storage = feed.storage;
  if (const auto link = host_link_of(s.device, s.host ? &*s.host : nullptr)) {
    pipeline.copy = real(gpus) * *link;
  }
  pipeline.gpu_samples = feed.gpu_rate > 0.0 ? feed.gpu_rate : real(gpus) * real(batch) / book.curve.of(batch).raw();
  pipeline.overlapped_copy = feed.pinned;
  return input_rate(pipeline);
}

/// Watts of one GPU and its share of the host, and of the building, at a share of busy time.
[[nodiscard]] std::optional<Watts> power_at(const BatchScenario& s, double busy) {
  const Node* node = s.host ? &*s.host : nullptr;
  const std::optional<GpuPower> power = gpu_power(s.device, node, s.power_cap, power_form(*s.data));
  if (!power) {
    return std::nullopt;
  }
  return s.energy.pue.value_or(1.0) * (busy * power->of(Draw::matrix) + (1.0 - busy) * power->idle + power->host);
}

}  // namespace

std::int64_t best_batch(const BatchScenario& s, const CallBook& book) noexcept {
  std::int64_t most = std::min(s.max_batch.value_or(book.curve.largest()), book.curve.largest());
  if (s.job && s.job->longest_call) {
    while (most > 1 && book.curve.of(most) > *s.job->longest_call) {
      --most;
    }
  }
  if (s.network) {
    return s.max_batch && *s.max_batch == most ? most : book.curve.best(most);
  }
  std::int64_t best = 1;
  double fastest = 0.0;
  for (const MeasuredCall& call : s.calls) {
    const double rate = real(call.batch) / call.time.raw();
    if (call.batch <= most && rate > fastest) {
      fastest = rate;
      best = call.batch;
    }
  }
  return fastest > 0.0 ? best : most;
}

BatchPlan make_batch_plan(BatchScenario scenario) {
  BatchPlan plan{{}, make_call_book(scenario), {}, "gpu", {}, {}, {}};
  const BatchScenario& s = scenario;
  double fed = std::numeric_limits<double>::infinity();
  if (s.feed) {
    plan.input = input_of(s, plan.book);
    plan.binds = input_stage_names[static_cast<std::size_t>(plan.input->binds)];
    const std::int64_t gpus = std::min(s.gpus_per_node, s.gpus.value_or(s.gpus_per_node));
    fed = plan.input->rate / real(gpus);
  }
  if (plan.book.points.empty() || !plan.book.points.front().fits) {
    plan.scenario = std::move(scenario);
    return plan;
  }
  if (s.requests) {
    plan.online = plan_requests(scenario, plan.book, fed);
    if (const std::optional<Watts> watts = power_at(s, plan.online->mean_utilisation)) {
      plan.online->energy = energy_per_item(real(plan.online->gpus) * *watts, Hertz{s.requests->rate});
    }
  }
  if (s.clients) {
    const std::int64_t most = s.max_batch.value_or(plan.book.curve.largest());
    ClosedPlan closed;
    closed.loop = closed_loop(plan.book.curve, s.clients->clients, s.clients->samples,
                              std::min(most, plan.book.curve.largest()), s.engine ? s.engine->served : 1.0);
    if (closed.loop.rate > fed) {  // the loop turns as fast as its input
      const double slower = closed.loop.rate / fed;
      closed.loop.rate = fed;
      for (Seconds* each : {&closed.loop.mean, &closed.loop.p95, &closed.loop.p99}) {
        *each *= slower;
      }
    }
    plan.closed = closed;
  }
  if (s.job) {
    plan.job = plan_job(s, plan.book, fed);
    if (const std::optional<Watts> watts = power_at(s, plan.job->busy)) {
      plan.job->energy = real(plan.job->gpus) * *watts * plan.job->time[0];
    }
  }
  plan.scenario = std::move(scenario);
  return plan;
}

}  // namespace headroom
