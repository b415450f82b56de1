// SPDX-License-Identifier: Apache-2.0
// DualPipe: from both ends at once, forward and backward passes of the two directions overlapped in pairs (DeepSeek-AI
// 2024, DeepSeek-V3, section 3.2.1), in the eight phases of its published code.
#include <headroom/core/real.hpp>
#include <headroom/model/train/schedules/pass_chain.hpp>
#include <headroom/model/train/schedules/schedule_model.hpp>
#include <headroom/model/train/schedules/schedule_simulation.hpp>

#include <algorithm>
#include <array>
#include <deque>

namespace headroom {
namespace {

/// A GPU's near direction is the one that enters at its own half of the pipeline.
class TwoWayOrder {
 public:
  TwoWayOrder(const PipelineShape& shape, std::int32_t stage, std::vector<Pass>& out) : out_{out} {
    const std::int32_t half = shape.micro_batches / 2;
    const std::int32_t other = shape.stages - 1 - stage;
    const bool second = stage > other;
    first_ = {second ? half : 0, second ? 0 : half};
    position_ = {second ? other : stage, second ? stage : other};
  }

  void forward(std::size_t way) { out_.push_back({PassKind::forward, position_[way], next(forwards_, way)}); }
  void backward(std::size_t way) { out_.push_back({PassKind::backward, position_[way], next(backwards_, way)}); }
  void backward_input(std::size_t way) {
    const Pass pass{PassKind::backward_input, position_[way], next(backwards_, way)};
    out_.push_back(pass);
    delayed_.push_back({PassKind::backward_weight, pass.position, pass.micro_batch});
  }
  void backward_weight() {
    out_.push_back(delayed_.front());
    delayed_.pop_front();
  }
  void pair(std::size_t forward_way) {
    const std::int32_t micro_batch = next(forwards_, forward_way);
    out_.push_back({PassKind::pair, position_[forward_way], micro_batch, next(backwards_, 1 - forward_way)});
  }

 private:
  [[nodiscard]] std::int32_t next(std::array<std::int32_t, 2>& counts, std::size_t way) const {
    return first_[way] + counts[way]++;
  }
  std::vector<Pass>& out_;
  std::array<std::int32_t, 2> first_{}, position_{}, forwards_{}, backwards_{};
  std::deque<Pass> delayed_;
};

void warm_up(TwoWayOrder& order, std::int32_t rank, std::int32_t outer) {
  for (std::int32_t k = 0; k < 2 * outer; ++k) {
    order.forward(0);
  }
  for (std::int32_t k = 0; k <= rank; ++k) {
    order.forward(0);
    order.forward(1);
  }
  for (std::int32_t k = 0; k < outer; ++k) {
    order.backward_input(1);
    order.backward_weight();
    order.forward(1);
  }
}

void cool_down(TwoWayOrder& order, std::int32_t rank, std::int32_t outer) {
  for (std::int32_t k = 0; k < outer; ++k) {
    order.backward(1);
    order.pair(1);
  }
  // The second half of these splits its weight gradients off.
  for (std::int32_t k = 0; k < 2 * (rank + 1); ++k) {
    const auto way = static_cast<std::size_t>(1 - k % 2);
    if (k < rank + 1) {
      order.backward(way);
    } else {
      order.backward_input(way);
    }
  }
  for (std::int32_t k = 0; k < outer; ++k) {
    order.backward_weight();
    order.backward_input(0);
  }
  for (std::int32_t k = 0; k <= rank; ++k) {
    order.backward_weight();
  }
}

void write_order(const PipelineShape& shape, std::int32_t stage, std::vector<Pass>& out) {
  const std::int32_t p = shape.stages;
  const std::int32_t rank = std::min(stage, p - 1 - stage);  // counted from the nearer end
  const std::int32_t outer = p / 2 - rank - 1;
  TwoWayOrder order{shape, stage, out};
  warm_up(order, rank, outer);
  for (std::int32_t k = 0; k < shape.micro_batches / 2 - p + rank + 1; ++k) {
    if (k == 0 && outer == 0) {  // the middle ranks' first two are not overlapped
      order.forward(0);
      order.backward(1);
    } else {
      order.pair(0);
    }
    order.pair(1);
  }
  cool_down(order, rank, outer);
}

/// DeepSeek-AI 2024 (DeepSeek-V3), table 2: all but the ramps runs as overlapped pairs, m - p/2 - 2 of them in a chain.
double closed_form(const PipelineShape& s, const PassLengths& x) noexcept {
  const double p = s.stages;
  const double m = s.micro_batches;
  const double h = p / 2.0;
  // Pairs pass on in either direction alone, along the slower sends.
  const double alone = m - real(s.micro_batches / s.stages) - std::min(2.0, h);
  const double pairs = (m - h - 2.0) * x.pair + alone * std::max(x.there, x.back);
  return pairs + std::max({PassChain{3.0 * h, h + 2.0, h + 2.0, h}.length(x),
                           PassChain{3.0 * h, p + 1.0, 3.0, 1.5 * h - 0.5}.length(x),
                           PassChain{p, 3.0 * h, 3.0, 2.0 * h - 1.0}.length(x)});
}

constexpr std::array instead{Schedule::one_f_one_b, Schedule::zb_v};

}  // namespace

constinit const ScheduleModel schedules::dualpipe{
    .name = "dualpipe",
    .title = "DualPipe",
    .placement = StagePlacement::two_way,
    .splits_backward = true,
    .overlaps_passes = true,
    .rules = {.stages_multiple = 2, .micro_batches_multiple = 2, .micro_batches_a_stage = 2},  // as many each way
    .instead = instead,
    .order = write_order,
    .closed_form = closed_form,
    .in_flight = [](const StageInFlight& at) noexcept { return std::min(at.micro_batches, at.stages + 1.0); },
    .in_flight_source = "DualPipe, both directions; DeepSeek-AI 2024 (DeepSeek-V3), table 2",
};

}  // namespace headroom
