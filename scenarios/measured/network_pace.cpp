// SPDX-License-Identifier: Apache-2.0
// The time of a row's call, of ranks that share a sample too, and what a GPU draws meanwhile.
#include <headroom/hardware/catalog/device.hpp>
#include <headroom/model/infer/call_time.hpp>
#include <headroom/model/infer/training_step.hpp>
#include <headroom/model/power/power.hpp>
#include <headroom/scenarios/measured/network_row.hpp>

#include <vector>

namespace headroom {

SharedAttention shared_attention(
    const std::vector<CallOp>& ops, double element, double columns, double ring, const Device& device) {
  constexpr double sustained = 0.8;  // of the link, by NCCL's all-to-all of megabytes
  // What the host launches: four exchanges, each between two copies; of a ring's step the attention, keys and values on
  // their way, and a merge that is compiled.
  constexpr double exchange_launches = 12.0, step_launches = 6.0;
  SharedAttention shared;
  if (columns * ring <= 1.0 || !device.scale_up.per_gpu) {
    return shared;
  }
  double elements = 0.0;
  for (const CallOp& op : ops) {
    // Of keys that are the prompt's every rank has its own.
    const bool itself = op.m == op.n || op.m == op.k;
    if (op.in_attention && op.kind == CallOpKind::product && itself) {
      elements += (op.in + op.out - op.scores) * op.count;
      // Of the two products of one attention.
      shared.launches += 0.5 * op.count * ((columns > 1.0 ? exchange_launches : 0.0) + (ring - 1.0) * step_launches);
    }
  }
  const double ranks = columns * ring;
  shared.exchange =
      Bytes{elements * element / ranks * (columns - 1.0) / columns} / (sustained * device.scale_up.per_gpu->value);
  shared.merged = 0.25 * elements / ranks * (ring - 1.0);
  return shared;
}

namespace {

/// Of one evaluation of one sample between the ranks that share it.
[[nodiscard]] Seconds shared_time(const NetworkRowCall& call, const CallDevice& device, const CallPhysics& physics) {
  return call.exchange + Bytes{call.merged * physics.ring_bytes} / (device.bandwidth_share * device.bandwidth);
}

}  // namespace

NetworkPace network_pace(const NetworkRowCall& call,
                         const CallDevice& uncapped,
                         const CallPhysics& physics,
                         const NetworkEngine& engine) {
  // Memory has a clock of its own, which no cap lowers (docs/money.md).
  CallDevice device = uncapped;
  device.product *= call.clock * call.core_clock;
  device.vector_rate *= call.core_clock;
  device.step /= call.core_clock;
  device.bandwidth *= call.memory_clock;
  const auto time = [&](double samples, const CallSetting& setting) {
    const double evaluated = samples * call.evaluations;
    const Seconds exchange = call.shared > 1.0 ? evaluated * shared_time(call, device, physics) : Seconds{};
    const Seconds one =
        call_time(*call.ops, evaluated / call.shared, device, physics, engine, setting).total() + exchange;
    if (call.after == nullptr) {
      return one.raw();
    }
    CallSetting alone = setting;
    alone.launches = 0.0;
    return (one + call_time(*call.after, samples, device, physics, engine, alone).total() / call.steps).raw();
  };
  if (call.step) {
    const double samples = call.batches.front();
    const Seconds step = training_step_time(*call.step, Seconds{time(samples, call.setting)}, device, physics, engine);
    return {samples * call.step->calls / step.raw(), step.raw(), samples};
  }
  if (call.together > 0.0) {
    CallSetting setting = call.setting;
    // Copies of others run beside a call: the server's input path is the lone client's.
    setting.input_bytes = 0.0;
    const double rate = engine.served * call.batches.front() / time(call.batches.front(), setting);
    return {rate, 0.97 * call.together / rate, call.batches.front()};
  }
  NetworkPace best;
  for (const double samples : call.batches) {
    const double seconds = time(samples, call.setting);
    if (samples / seconds > best.rate) {
      best = {samples / seconds, seconds, samples};
    }
  }
  if (call.beside > FlopsPerSecond{} && call.flop > 0.0) {
    best.rate += call.beside.raw() / (call.evaluations * call.flop);
  }
  return best;
}

NetworkPace network_pace(const NetworkRowCall& call, const CallRates& rates, const NetworkEngine& engine) {
  return network_pace(call, call_device(*call.device, rates, engine, call.setting.format, call.setting.training),
                      rates.physics, engine);
}

Watts network_watts(const NetworkRowCall& call, double batch, const CallRates& rates, const GpuPower& power) {
  CallDevice device = call_device(*call.device, rates, *call.engine, call.setting.format, false);
  device.product *= call.clock;
  const CallTime time =
      call_time(*call.ops, batch * call.evaluations / call.shared, device, rates.physics, *call.engine, call.setting);
  const Seconds exchange =
      call.shared > 1.0 ? batch * call.evaluations * shared_time(call, device, rates.physics) : Seconds{};
  const Seconds all = time.total() + exchange;
  const auto share = [&](Seconds part) { return part / all; };
  const double waits = 1.0 - share(time.products) - share(time.passes) - share(exchange);
  return share(time.products) * power.of(Draw::matrix) + share(time.passes) * power.of(Draw::memory) +
         share(exchange) * power.of(Draw::communication) + waits * power.of(Draw::waiting);
}

}  // namespace headroom
