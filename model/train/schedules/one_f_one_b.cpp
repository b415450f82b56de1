// SPDX-License-Identifier: Apache-2.0
// 1F1B: p - i - 1 forward passes ahead, then one of each in turn (Narayanan et al. 2021, section 2.2.1, figure 4).
// Interleaved with several chunks (section 2.2.2), with the warm-up and the groups of p micro-batches of Megatron-Core
// (schedules.py, get_pp_rank_microbatches and get_schedule_table).
#include <headroom/core/real.hpp>
#include <headroom/model/train/schedules/pass_chain.hpp>
#include <headroom/model/train/schedules/schedule_model.hpp>
#include <headroom/model/train/schedules/schedule_simulation.hpp>

#include <algorithm>

namespace headroom {
namespace {

/// Slots of the interleaved order: groups of p micro-batches run through chunk after chunk, backward passes meet the
/// chunks in reverse. A last group of fewer than p leaves slots empty, for the order of a shorter group would wait for
/// itself.
class ChunkedOrder {
 public:
  ChunkedOrder(const PipelineShape& shape, std::int32_t stage, std::vector<Pass>& out)
      : shape_{shape}, stage_{stage}, out_{out} {}

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
  std::vector<Pass>& out_;
};

void write_order(const PipelineShape& shape, std::int32_t stage, std::vector<Pass>& out) {
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

/// As GPipe (Narayanan et al. 2021, section 2.2.1), and a stage that has p - i micro-batches in flight waits for them
/// to return: m - 1 - ceil((m - 1)/p) more trips.
double plain(const PipelineShape& s, const PassLengths& x) noexcept {
  return fill_and_drain(s, x) + round_trips(s.micro_batches - 1, s.stages) * x.sends();
}

/// Chunks of f + b: (m v + p - 1)(f + b) (Narayanan et al. 2021, section 2.2.2), and the first micro-batch's way there
/// and the last one's way back over all p v virtual stages. A last group of r < p micro-batches waits p - r backward
/// passes for each further chunk; fewer micro-batches than stages wait for both.
double interleaved(const PipelineShape& s, const PassLengths& x) noexcept {
  const double p = s.stages;
  const double v = s.chunks;
  const double m = s.micro_batches;
  const double empty = real((s.stages - s.micro_batches % s.stages) % s.stages);
  const double waits = empty * (v - 1.0);
  // Of the sends in those waits a third to a half of a trip each shows, by costs; no chain is longest for all of them.
  const double trips = p * v - 1.0 + (m > p ? 0.35 * waits : 0.0);
  const double forwards = m * v + p - 1.0 + (m < p ? waits : 0.0);
  const double backwards = m * v + p - 1.0 + waits;
  // Sends longer than a pass: a return over all stages moves on by 2p - 1 chunks and takes 2 (p - 1) sends.
  const double steps = std::max(0.0, m * v - 1.0 - (v - 1.0) * p);
  const double beyond = std::max(0.0, (p - 1.0) * (x.sends() - x.both())) / (2.0 * p - 1.0);
  return PassChain{forwards, backwards, backwards, trips}.length(x) + steps * beyond;
}

double closed_form(const PipelineShape& s, const PassLengths& x) noexcept {
  return s.chunks > 1 ? interleaved(s, x) : plain(s, x);
}

/// The way through of one micro-batch, then the busiest stage's rate and its round trips. In the ramps forward and
/// backward passes may wait for different stages.
double high(std::span<const StageCosts> costs, const PipelineShape& s, const StageCosts& most) noexcept {
  double busiest = 0.0;
  for (const StageCosts& c : costs) {
    busiest = std::max(busiest, c.compute().raw());
  }
  const double apart = most.compute().raw();
  const double steps = s.micro_batches - 1;
  const double ramps = std::min(steps, real(s.stages - 1));
  return way_through(costs) + steps * (busiest + (most.send_forward + most.send_backward).raw()) +
         ramps * (apart - busiest);
}

/// min(p - i, m); interleaved min((v-1) p + 2(p-i-1) + 1, m v)/v.
double in_flight(const StageInFlight& at) noexcept {
  if (at.chunks <= 1.0) {
    return std::min(at.micro_batches, at.stages - at.stage);
  }
  const double warm_up = (at.chunks - 1.0) * at.stages + 2.0 * (at.stages - at.stage - 1.0) + 1.0;
  return std::min(at.micro_batches * at.chunks, warm_up) / at.chunks;
}

}  // namespace

constinit const ScheduleModel schedules::one_f_one_b{
    .name = "1f1b",
    .title = "1F1B",
    .chunks = 0,
    .waits_for_stages = true,
    .order = write_order,
    .closed_form = closed_form,
    .high = high,
    .in_flight = in_flight,
    .in_flight_source = "1F1B; Narayanan et al. 2021, section 2.2",
    .in_flight_source_chunked = "interleaved schedule, in full stages; Korthikanti et al. 2022, section 4.2.3",
};

}  // namespace headroom
