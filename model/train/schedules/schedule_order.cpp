// SPDX-License-Identifier: Apache-2.0
// The published orders, one function each and a row in the table at the end.
#include <headroom/model/train/schedules/schedule_simulation.hpp>

#include <algorithm>
#include <array>
#include <deque>

namespace headroom {
namespace {

using Passes = std::vector<Pass>;

void gpipe(const PipelineShape& shape, std::int32_t stage, Passes& out) {
  for (std::int32_t k = 0; k < shape.micro_batches; ++k) {
    out.push_back({PassKind::forward, stage, k});
  }
  for (std::int32_t k = shape.micro_batches - 1; k >= 0; --k) {
    out.push_back({PassKind::backward, stage, k});
  }
}

/// Slots of the interleaved order: groups of p micro-batches run through chunk after chunk, backward passes meet the
/// chunks in reverse. A last group of fewer than p leaves slots empty, for the order of a shorter group would wait for
/// itself.
class ChunkedOrder {
 public:
  ChunkedOrder(const PipelineShape& shape, std::int32_t stage, Passes& out) : shape_{shape}, stage_{stage}, out_{out} {}

  [[nodiscard]] std::int32_t slots() const noexcept {
    const std::int32_t groups = (shape_.micro_batches + shape_.stages - 1) / shape_.stages;
    return groups * shape_.stages * shape_.chunks;
  }
  void write(PassKind kind, std::int32_t slot) {
    const std::int32_t per_group = shape_.stages * shape_.chunks;
    const std::int32_t inside = slot % per_group;
    const std::int32_t micro_batch = slot / per_group * shape_.stages + inside % shape_.stages;
    const std::int32_t chunk = inside / shape_.stages;
    const std::int32_t placed = kind == PassKind::forward ? chunk : shape_.chunks - 1 - chunk;
    if (micro_batch < shape_.micro_batches) {
      out_.push_back({kind, placed * shape_.stages + stage_, micro_batch});
    }
  }

 private:
  const PipelineShape& shape_;
  std::int32_t stage_;
  Passes& out_;
};

void one_f_one_b(const PipelineShape& shape, std::int32_t stage, Passes& out) {
  ChunkedOrder order{shape, stage, out};
  const std::int32_t slots = shape.chunks > 1 ? order.slots() : shape.micro_batches;
  const std::int32_t behind = shape.stages - stage - 1;
  const std::int32_t warm_up =
      std::min(slots, shape.chunks > 1 ? 2 * behind + (shape.chunks - 1) * shape.stages : behind);
  for (std::int32_t slot = 0; slot < warm_up; ++slot) {
    order.write(PassKind::forward, slot);
  }
  for (std::int32_t slot = 0; slot < slots; ++slot) {
    if (slot + warm_up < slots) {
      order.write(PassKind::forward, slot + warm_up);
    }
    order.write(PassKind::backward, slot);
  }
}

/// `reach` 1: as many forward passes ahead as 1F1B (ZB-H1); 2: twice as many (ZB-H2).
void zero_bubble(const PipelineShape& shape, std::int32_t stage, std::int32_t reach, Passes& out) {
  const std::int32_t m = shape.micro_batches;
  const std::int32_t warm_up = std::min(m, reach * (shape.stages - stage - 1));
  const std::int32_t delay = std::min(m, reach * stage);
  for (std::int32_t k = 0; k < warm_up; ++k) {
    out.push_back({PassKind::forward, stage, k});
  }
  for (std::int32_t k = 0; k < m; ++k) {
    if (k + warm_up < m) {
      out.push_back({PassKind::forward, stage, k + warm_up});
    }
    out.push_back({PassKind::backward_input, stage, k});
    if (k >= delay) {
      out.push_back({PassKind::backward_weight, stage, k - delay});
    }
  }
  for (std::int32_t k = m - delay; k < m; ++k) {
    out.push_back({PassKind::backward_weight, stage, k});
  }
}

void zb_h1(const PipelineShape& shape, std::int32_t stage, Passes& out) {
  zero_bubble(shape, stage, 1, out);
}
void zb_h2(const PipelineShape& shape, std::int32_t stage, Passes& out) {
  zero_bubble(shape, stage, 2, out);
}

/// Counts what a stage has run of its two chunks, and writes passes of micro-batches that exist: the order is laid out
/// for at least 2p - 1 of them.
class VOrder {
 public:
  VOrder(const PipelineShape& shape, std::int32_t stage, Passes& out)
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
  Passes& out_;
};

void zb_v(const PipelineShape& shape, std::int32_t stage, Passes& out) {
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

/// A GPU's near direction is the one that enters at its own half of the pipeline.
class TwoWayOrder {
 public:
  TwoWayOrder(const PipelineShape& shape, std::int32_t stage, Passes& out)
      : p_{shape.stages}, stage_{stage}, out_{out} {
    const std::int32_t half = shape.micro_batches / 2;
    const bool second = 2 * stage >= p_;
    first_ = {second ? half : 0, second ? 0 : half};
    position_ = {second ? p_ - 1 - stage : stage, second ? stage : p_ - 1 - stage};
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
  std::int32_t p_, stage_;
  Passes& out_;
  std::array<std::int32_t, 2> first_{}, position_{}, forwards_{}, backwards_{};
  std::deque<Pass> delayed_;
};

void dualpipe_warm_up(TwoWayOrder& order, std::int32_t rank, std::int32_t outer) {
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

void dualpipe_cool_down(TwoWayOrder& order, std::int32_t rank, std::int32_t outer) {
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

void dualpipe(const PipelineShape& shape, std::int32_t stage, Passes& out) {
  const std::int32_t p = shape.stages;
  const std::int32_t rank = std::min(stage, p - 1 - stage);  // counted from the nearer end
  const std::int32_t outer = p / 2 - rank - 1;
  TwoWayOrder order{shape, stage, out};
  dualpipe_warm_up(order, rank, outer);
  for (std::int32_t k = 0; k < shape.micro_batches / 2 - p + rank + 1; ++k) {
    if (k == 0 && outer == 0) {  // the middle ranks' first two are not overlapped
      order.forward(0);
      order.backward(1);
    } else {
      order.pair(0);
    }
    order.pair(1);
  }
  dualpipe_cool_down(order, rank, outer);
}

using Order = void (*)(const PipelineShape&, std::int32_t stage, Passes& out);
constexpr std::array<Order, schedule_names.size()> orders{one_f_one_b, gpipe, zb_h1, zb_h2, zb_v, dualpipe};

}  // namespace

std::vector<std::vector<Pass>> pass_order(const PipelineShape& shape) {
  std::vector<std::vector<Pass>> all(static_cast<std::size_t>(shape.stages));
  for (std::int32_t stage = 0; stage < shape.stages; ++stage) {
    Passes& out = all[static_cast<std::size_t>(stage)];
    out.reserve(3 * static_cast<std::size_t>(shape.micro_batches) * static_cast<std::size_t>(shape.chunks));
    orders[static_cast<std::size_t>(shape.schedule)](shape, stage, out);
  }
  return all;
}

std::int32_t stage_of(const PipelineShape& shape, std::int32_t position, std::int32_t micro_batch) noexcept {
  const std::int32_t p = shape.stages;
  switch (shape.schedule) {
    case Schedule::zb_v: return position < p ? position : 2 * p - 1 - position;
    case Schedule::dualpipe: return 2 * micro_batch < shape.micro_batches ? position : p - 1 - position;
    case Schedule::one_f_one_b:
    case Schedule::gpipe:
    case Schedule::zb_h1:
    case Schedule::zb_h2: break;
  }
  return position % p;
}

std::int32_t chunk_of(const PipelineShape& shape, std::int32_t position, std::int32_t micro_batch) noexcept {
  if (shape.schedule == Schedule::dualpipe) {
    return 2 * micro_batch < shape.micro_batches ? 0 : 1;
  }
  return position / shape.stages;
}

}  // namespace headroom
