// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/train/schedules/schedule_simulation.hpp>

#include <algorithm>
#include <array>
#include <cassert>

namespace headroom {
namespace {

constexpr double unknown = -1.0;

/// Times are raw seconds here. Every stage runs ahead until an input has not been computed yet; whoever computes it
/// wakes the stage. The result does not depend on the order in which stages are visited: a start is the largest of
/// fixed sums.
class Simulation {
 public:
  Simulation(const PipelineShape& shape, std::span<const StageCosts> costs)
      : shape_{shape},
        costs_{costs},
        order_{pass_order(shape)},
        next_(order_.size(), 0),
        free_(order_.size(), 0.0),
        streams_(order_.size()),
        forward_ready_(cells(), unknown),
        backward_ready_(cells(), unknown) {
    assert(costs.size() == 1 || costs.size() == static_cast<std::size_t>(shape.positions()));
    step_.stages.resize(order_.size());
    for (std::int32_t k = 0; k < shape.micro_batches; ++k) {
      forward_ready_[cell(0, k)] = 0.0;
    }
  }

  SimulatedStep run() {
    std::vector<std::size_t> awake(order_.size());
    for (std::size_t stage = 0; stage < awake.size(); ++stage) {
      awake[stage] = awake.size() - 1 - stage;
    }
    while (!awake.empty()) {
      const std::size_t stage = awake.back();
      awake.pop_back();
      while (next_[stage] < order_[stage].size() && advance(stage, awake)) {
      }
    }
    finish();
    return std::move(step_);
  }

 private:
  [[nodiscard]] std::size_t cells() const {
    return static_cast<std::size_t>(shape_.positions()) * static_cast<std::size_t>(shape_.micro_batches);
  }
  [[nodiscard]] std::size_t cell(std::int32_t position, std::int32_t micro_batch) const {
    return static_cast<std::size_t>(position) * static_cast<std::size_t>(shape_.micro_batches) +
           static_cast<std::size_t>(micro_batch);
  }
  [[nodiscard]] const StageCosts& cost(std::int32_t position) const {
    return costs_[costs_.size() == 1 ? 0 : static_cast<std::size_t>(position)];
  }
  /// A pair runs the backward of the GPU's mirrored virtual stage.
  [[nodiscard]] std::int32_t backward_position(const Pass& pass) const {
    return pass.kind == PassKind::pair ? shape_.mirrored(pass.position) : pass.position;
  }

  [[nodiscard]] double length(const Pass& pass) const {
    const StageCosts& c = cost(pass.position);
    switch (pass.kind) {
      case PassKind::forward: return c.forward.raw();
      case PassKind::backward: return c.backward().raw();
      case PassKind::backward_input: return c.backward_input.raw();
      case PassKind::backward_weight: return c.backward_weight.raw();
      case PassKind::pair: break;
    }
    return c.forward_with_backward.raw();
  }

  /// When its inputs are there, or unknown.
  [[nodiscard]] double ready(const Pass& pass) const {
    switch (pass.kind) {
      case PassKind::forward: return forward_ready_[cell(pass.position, pass.micro_batch)];
      case PassKind::backward:
      case PassKind::backward_input: return backward_ready_[cell(pass.position, pass.micro_batch)];
      case PassKind::backward_weight: return 0.0;  // its stage ran the backward_input before
      case PassKind::pair: break;
    }
    const double forward = forward_ready_[cell(pass.position, pass.micro_batch)];
    const double backward = backward_ready_[cell(backward_position(pass), pass.backward_micro_batch)];
    return forward == unknown || backward == unknown ? unknown : std::max(forward, backward);
  }

  /// Runs the stage's next pass; false: it has to wait.
  bool advance(std::size_t stage, std::vector<std::size_t>& awake) {
    const Pass& pass = order_[stage][next_[stage]];
    const double input = ready(pass);
    if (input == unknown) {
      return false;
    }
    ++next_[stage];
    const double start = std::max(input, free_[stage]);
    const double end = start + length(pass);
    free_[stage] = end;
    SimulatedStage& out = step_.stages[stage];
    out.passes.push_back({pass, Seconds{start}, Seconds{end}});
    out.busy += Seconds{end - start};
    if (pass.kind == PassKind::forward || pass.kind == PassKind::pair) {
      hand_forward(stage, pass.position, pass.micro_batch, end, awake);
    }
    if (pass.kind == PassKind::backward || pass.kind == PassKind::backward_input || pass.kind == PassKind::pair) {
      const std::int32_t micro_batch = pass.kind == PassKind::pair ? pass.backward_micro_batch : pass.micro_batch;
      hand_backward(stage, backward_position(pass), micro_batch, end, awake);
    }
    return true;
  }

  void hand_forward(
      std::size_t stage, std::int32_t position, std::int32_t micro_batch, double end, std::vector<std::size_t>& awake) {
    if (position + 1 == shape_.positions()) {
      backward_ready_[cell(position, micro_batch)] = end;  // the loss
      return;
    }
    const std::int32_t to = stage_of(shape_, position + 1, micro_batch);
    const double length = to == static_cast<std::int32_t>(stage) ? 0.0 : cost(position).send_forward.raw();
    forward_ready_[cell(position + 1, micro_batch)] = send(stage, true, position, micro_batch, end, length);
    awake.push_back(static_cast<std::size_t>(to));
  }

  void hand_backward(
      std::size_t stage, std::int32_t position, std::int32_t micro_batch, double end, std::vector<std::size_t>& awake) {
    if (position == 0) {
      return;
    }
    const std::int32_t to = stage_of(shape_, position - 1, micro_batch);
    const double length = to == static_cast<std::int32_t>(stage) ? 0.0 : cost(position).send_backward.raw();
    backward_ready_[cell(position - 1, micro_batch)] = send(stage, false, position, micro_batch, end, length);
    awake.push_back(static_cast<std::size_t>(to));
  }

  /// When it has arrived.
  double send(std::size_t stage,
              bool forward,
              std::int32_t position,
              std::int32_t micro_batch,
              double computed,
              double length) {
    if (length <= 0.0) {
      return computed;
    }
    double& stream = shape_.blocking_sends ? free_[stage] : streams_[stage][forward ? 0 : 1];
    const double start = std::max(computed, stream);
    stream = start + length;
    step_.stages[stage].sends.push_back({forward, position, micro_batch, Seconds{start}, Seconds{stream}});
    return stream;
  }

  /// Activations are kept from the start of the forward pass to the end of the pass that needs them last.
  [[nodiscard]] double most_in_flight(const std::vector<Pass>& passes) const {
    std::int32_t kept = 0;
    std::int32_t most = 0;
    for (const Pass& pass : passes) {
      if (pass.kind == PassKind::forward || pass.kind == PassKind::pair) {
        most = std::max(most, ++kept);
      }
      if (pass.kind != PassKind::forward && pass.kind != PassKind::backward_input) {
        --kept;
      }
    }
    assert(kept == 0);
    return static_cast<double>(most) / shape_.chunks;
  }

  void finish() {
    for (std::size_t stage = 0; stage < order_.size(); ++stage) {
      assert(next_[stage] == order_[stage].size() && "the order waits for itself");
      step_.total = std::max(step_.total, Seconds{free_[stage]});
      step_.stages[stage].in_flight = most_in_flight(order_[stage]);
    }
    for (SimulatedStage& stage : step_.stages) {
      stage.bubble = step_.total - stage.busy;
    }
  }

  PipelineShape shape_;
  std::span<const StageCosts> costs_;
  std::vector<std::vector<Pass>> order_;
  std::vector<std::size_t> next_;
  std::vector<double> free_;
  std::vector<std::array<double, 2>> streams_;
  std::vector<double> forward_ready_, backward_ready_;
  SimulatedStep step_;
};

}  // namespace

SimulatedStep simulate_schedule(const PipelineShape& shape, std::span<const StageCosts> costs) {
  return Simulation{shape, costs}.run();
}

}  // namespace headroom
