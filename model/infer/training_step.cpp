// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/infer/training_step.hpp>

#include <algorithm>
#include <cmath>

namespace headroom {

TrainedTensors trained_tensors(const Network& network) {
  TrainedTensors all;
  for (const Stage& stage : network.stages) {
    const auto blocks = static_cast<double>(stage.repeat);
    for (std::size_t i = stage.first; i < stage.first + stage.count; ++i) {
      const Op& op = network.ops[i];
      if (op.kind == OpKind::embedding_bag) {
        all.sparse += blocks * stage.per_sample * op.output_elements;
      } else if (op.parameters > 0.0) {
        all.parameters += blocks * op.parameters;
        // A norm has two vectors, a product its matrix and a bias.
        all.tensors += blocks * (op.kind == OpKind::norm || op.sizes.bias ? 2.0 : 1.0);
      }
    }
  }
  return all;
}

Seconds training_step_time(const TrainingStep& step,
                           Seconds call,
                           const CallDevice& device,
                           const CallPhysics& physics,
                           const NetworkEngine& engine) noexcept {
  constexpr double bucket = 25e6, gradient_bytes = 2.0;
  constexpr double backward = 2.0 / 3.0;
  const double tensors =
      engine.buckets ? std::ceil(step.trained.parameters * gradient_bytes / bucket) : step.trained.tensors;
  const double owners = engine.sharded_update ? step.ranks : 1.0;
  const Bytes updated{physics.update_bytes * step.trained.parameters / owners};
  Seconds all =
      step.calls * call + updated / (device.bandwidth_share * device.bandwidth) + tensors * physics.update_tensor;
  if (step.ranks > 1.0) {
    const Seconds exchange = step.exchange + tensors * (1.0 + 0.5 * std::log2(step.hosts)) * physics.exchange_tensor;
    all += step.calls * step.sparse + exchange - std::min(engine.exchange_hidden * exchange, backward * call);
    all *= 1.0 + physics.straggler * std::log2(step.ranks);
  }
  return all;
}

}  // namespace headroom
