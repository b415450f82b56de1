// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/workload/model_data.hpp>
#include <headroom/scenarios/inference/batch_parts.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace headroom {
namespace {

/// What stages on the GPU take of it for a sample, beside the network.
[[nodiscard]] Seconds beside_the_network(const BatchScenario& s) {
  Seconds time{};
  for (const PipelineStage& stage : s.pipeline.stages) {
    if (stage.on == StagePlace::gpu) {
      time += stage.share * stage.now();
    }
  }
  return time;
}

/// The curve of a GPU that works on each sample so much longer.
[[nodiscard]] CallCurve longer(const CallCurve& curve, Seconds each) {
  std::vector<Seconds> times;
  times.reserve(static_cast<std::size_t>(curve.largest()));
  for (std::int64_t b = 1; b <= curve.largest(); ++b) {
    times.push_back(curve.of(b) + real(b) * each);
  }
  return CallCurve{std::move(times)};
}

/// Without a node of the catalog all stated GPUs are in one.
[[nodiscard]] std::int64_t gpus_of_node(const BatchScenario& s) noexcept {
  return s.host ? s.gpus_per_node : s.gpus.value_or(1);
}

/// Watts of one GPU and its share of the host, and of the building, at a share of busy time.
[[nodiscard]] std::optional<Watts> power_at(const BatchScenario& s, double busy) {
  const Node* node = s.host ? &*s.host : nullptr;
  const std::optional<GpuPower> power = gpu_power(s.device, node, s.power_cap, power_form(*s.data));
  if (s.node_power) {
    return s.energy.pue.value_or(1.0) / real(gpus_of_node(s)) * *s.node_power;
  }
  if (!power) {
    return std::nullopt;
  }
  return s.energy.pue.value_or(1.0) * (busy * power->of(Draw::matrix) + (1.0 - busy) * power->idle + power->host);
}

/// A node's power while its GPUs work: measured, else all of them at their limit.
[[nodiscard]] std::optional<RackPlan> rack_of(const BatchScenario& s) {
  RackPlan rack;
  if (s.node_power) {
    rack.node = *s.node_power;
    rack.measured = true;
  } else if (const auto power = gpu_power(s.device, s.host ? &*s.host : nullptr, s.power_cap, power_form(*s.data))) {
    rack.node = real(s.gpus_per_node) * (power->of(Draw::matrix) + power->host);
  } else {
    return std::nullopt;
  }
  if (s.energy.rack_power) {
    rack.nodes = static_cast<std::int64_t>(*s.energy.rack_power / rack.node);
  }
  return rack;
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
  BatchPlan plan{{}, make_call_book(scenario), {}, "gpu", {}, {}, {}, {}, {}};
  const BatchScenario& s = scenario;
  Surroundings around;
  if (s.feed) {
    const Seconds each = beside_the_network(s);
    plan.book.curve = longer(plan.book.curve, each);
    const std::int64_t batch = best_batch(s, plan.book);
    const CallPoint& least = plan.book.points.front();
    plan.data = plan_data(s, batch, plan.book.curve.of(batch) - real(batch) * each, least.memory);
    plan.binds = plan.data->binds;
    around.fed = plan.data->rate / real(std::min(s.gpus_per_node, s.gpus.value_or(s.gpus_per_node)));
    around.beside = plan.data->latency;
  }
  if (plan.book.points.empty() || !plan.book.points.front().fits) {
    plan.scenario = std::move(scenario);
    return plan;
  }
  if (s.requests) {
    Surroundings way = around;
    way.beside += s.requests->round_trip;
    plan.online = plan_requests(scenario, plan.book, way);
    if (const std::optional<Watts> watts = power_at(s, plan.online->mean_utilisation)) {
      plan.online->energy = energy_per_item(real(plan.online->gpus) * *watts, Hertz{s.requests->rate});
    }
  }
  if (s.clients) {
    const std::int64_t most = s.max_batch.value_or(plan.book.curve.largest());
    ClosedPlan closed;
    closed.loop =
        closed_loop(plan.book.curve, s.clients->clients, s.clients->samples, std::min(most, plan.book.curve.largest()),
                    s.network ? s.engine->served : 1.0, s.clients->round_trip + around.beside);
    if (closed.loop.rate > around.fed) {  // the loop turns as fast as its input
      const double slower = closed.loop.rate / around.fed;
      closed.loop.rate = around.fed;
      for (Seconds* each : {&closed.loop.mean, &closed.loop.p95, &closed.loop.p99}) {
        *each *= slower;
      }
    }
    plan.closed = closed;
  }
  if (s.job) {
    plan.job = plan_job(s, plan.book, around.fed);
    if (const std::optional<Watts> watts = power_at(s, plan.job->busy)) {
      plan.job->energy = real(plan.job->gpus) * *watts * plan.job->time[0];
    }
  }
  if (s.energy.rack_power || s.node_power) {
    plan.rack = rack_of(s);
  }
  plan.scenario = std::move(scenario);
  return plan;
}

}  // namespace headroom
