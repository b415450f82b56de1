// SPDX-License-Identifier: Apache-2.0
// ZB-V: two chunks a stage, virtual stages i and 2p - 1 - i, in the order for equal passes (Qi et al. 2023, section 6),
// as PyTorch's ScheduleZBVZeroBubble writes it out.
#include <headroom/model/train/schedules/pass_chain.hpp>
#include <headroom/model/train/schedules/schedule_model.hpp>
#include <headroom/model/train/schedules/schedule_simulation.hpp>

#include <algorithm>
#include <array>

namespace headroom {
namespace {

/// Counts what a stage has run of its two chunks, and writes passes of micro-batches that exist: the order is laid out
/// for at least 2p - 1 of them.
class VOrder {
 public:
  VOrder(const PipelineShape& shape, std::int32_t stage, std::vector<Pass>& out)
      : position_{stage, 2 * shape.stages - 1 - stage}, micro_batches_{shape.micro_batches}, out_{out} {}

  void forward(std::size_t chunk) { write(PassKind::forward, chunk, forwards_[chunk]++); }
  void backward_input(std::size_t chunk) { write(PassKind::backward_input, chunk, backwards_[chunk]++); }
  void backward_weight(std::size_t chunk) { write(PassKind::backward_weight, chunk, weights_[chunk]++); }
  void backward(std::size_t chunk) {
    backward_input(chunk);
    backward_weight(chunk);
  }
  [[nodiscard]] std::int32_t forwards(std::size_t chunk) const { return forwards_[chunk]; }
  /// Micro-batches whose weight gradients are still to come.
  [[nodiscard]] std::int32_t delayed(std::size_t chunk) const { return backwards_[chunk] - weights_[chunk]; }

 private:
  void write(PassKind kind, std::size_t chunk, std::int32_t micro_batch) {
    if (micro_batch < micro_batches_) {
      out_.push_back({kind, position_[chunk], micro_batch});
    }
  }
  std::array<std::int32_t, 2> position_, forwards_{}, backwards_{}, weights_{};
  std::int32_t micro_batches_;
  std::vector<Pass>& out_;
};

void write_order(const PipelineShape& shape, std::int32_t stage, std::vector<Pass>& out) {
  const std::int32_t p = shape.stages;
  const std::int32_t m = std::max(shape.micro_batches, 2 * p - 1);
  VOrder order{shape, stage, out};
  for (std::int32_t k = 0; k < 2 * (p - stage) - 1; ++k) {
    order.forward(0);
  }
  for (std::int32_t k = 0; k < stage; ++k) {
    order.forward(1);
    order.forward(0);
  }
  for (std::int32_t k = 0; k < p - stage; ++k) {
    order.forward(1);
    order.backward(1);
  }
  while (order.forwards(1) < order.forwards(0) || order.forwards(0) < m) {
    if (order.forwards(0) < m) {
      order.forward(0);
    }
    order.backward(0);
    order.forward(1);
    order.backward(1);
  }
  for (std::int32_t k = 0; k < stage; ++k) {
    order.backward_input(0);
    order.backward_input(1);
  }
  for (std::int32_t k = 0; k < p - stage; ++k) {
    order.backward_input(0);
    order.backward_weight(0);
  }
  for (const std::size_t chunk : {1U, 0U}) {
    while (order.delayed(chunk) > 0) {
      order.backward_weight(chunk);
    }
  }
}

/// ZB-V with fewer than 2p - 1 micro-batches: its order has holes.
double few_micro_batches(const PipelineShape& s, const PassLengths& x, double drain) noexcept {
  const double p = s.stages;
  const double m = s.micro_batches;
  if (m <= p) {
    return std::max(drain, PassChain{2.0 * p + m - 1.0, 2.0 * p + m - 1.0, 2.0 * m, 2.0 * p - 1.0 - m}.length(x));
  }
  const double beyond = m - p;
  const double missing = 2.0 * p - 1.0 - m;
  if (beyond <= missing) {
    drain = std::max({drain, PassChain{3.0 * (p + beyond) - 1.0, 3.0 * p - 1.0, 2.0 * p + beyond, p - 1.0}.length(x),
                      PassChain{2.0 * m, 4.0 * p - 2.0, 2.0 * m, 1.5 * (p - 1.0)}.length(x)});
  }
  const double forwards = 6.0 * p - 5.0 - 3.0 * missing;
  const double weights = 4.0 * p - 2.0 - 3.0 * missing;
  return std::max(
      {drain, PassChain{2.0 * m, 5.0 * p - 3.0 - missing, weights, 2.5 * p - 3.5 - 0.5 * missing}.length(x),
       PassChain{forwards, 3.0 * p - missing, 2.0 * m, std::max(1.5 * p - 2.5 - missing, 0.0)}.length(x),
       PassChain{2.0 * m, 4.0 * p - 1.0 - missing, 5.0 * p - 4.0 - 3.0 * missing, 1.5 * (p - 1.0)}.length(x),
       PassChain{forwards, 3.0 * p, weights, 1.5 * p - 2.5 - 0.5 * missing}.length(x)});
}

/// Qi et al. 2023, section 6: no bubble but the fill when passes are equal. Passes of half a stage.
double closed_form(const PipelineShape& s, const PassLengths& x) noexcept {
  const double p = s.stages;
  const double m = s.micro_batches;
  const double beyond = std::clamp(m - p, 0.0, p - 1.0);
  const double delayed = std::clamp(m - p - 1.0, 0.0, std::max(p - 2.0, 0.0));
  const double drain =
      PassChain{2.0 * std::max(m, p), 2.0 * (m + p - 1.0), 2.0 * (m - beyond), 2.0 * (p - 1.0) + delayed}.length(x);
  if (m < 2.0 * p - 1.0) {
    return few_micro_batches(s, x, drain);
  }
  return std::max({drain, PassChain{2.0 * m, 2.0 * m + p - 1.0, 2.0 * m, 2.5 * p - 3.5}.length(x),
                   PassChain{2.0 * m + p - 2.0, 2.0 * m + 1.0, 2.0 * m, 2.5 * p - 3.5}.length(x),
                   PassChain{2.0 * m + 2.0 * p - 3.0, 2.0 * m - p + 2.0, 2.0 * m, 1.5 * p - 2.5}.length(x)});
}

}  // namespace

constinit const ScheduleModel schedules::zb_v{
    .name = "zb-v",
    .title = "ZB-V",
    .placement = StagePlacement::folded,
    .chunks = 2,
    .splits_backward = true,
    .order = write_order,
    .closed_form = closed_form,
    .in_flight = [](const StageInFlight& at) noexcept { return std::min(at.micro_batches, at.stages); },
    .in_flight_source = "ZB-V, in full stages; Qi et al. 2023, section 6",
};

}  // namespace headroom
