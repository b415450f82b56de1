// SPDX-License-Identifier: Apache-2.0
// GPipe: all forward passes, then all backward ones (Huang et al. 2019, figure 2c).
#include <headroom/core/real.hpp>
#include <headroom/model/train/schedules/pass_chain.hpp>
#include <headroom/model/train/schedules/schedule_model.hpp>
#include <headroom/model/train/schedules/schedule_simulation.hpp>

#include <algorithm>

namespace headroom {
namespace {

void write_order(const PipelineShape& shape, std::int32_t stage, std::vector<Pass>& out) {
  for (std::int32_t k = 0; k < shape.micro_batches; ++k) {
    out.push_back({PassKind::forward, stage, k});
  }
  for (std::int32_t k = shape.micro_batches - 1; k >= 0; --k) {
    out.push_back({PassKind::backward, stage, k});
  }
}

/// The way through of one micro-batch, then the slowest of passes and sends. In the ramps forward and backward passes
/// may wait for different stages.
double high(std::span<const StageCosts> costs, const PipelineShape& s, const StageCosts& most) noexcept {
  const double steps = s.micro_batches - 1;
  return way_through(costs) +
         steps * (std::max(most.forward, most.send_forward) + std::max(most.backward(), most.send_backward)).raw();
}

}  // namespace

constinit const ScheduleModel schedules::gpipe{
    .name = "gpipe",
    .title = "GPipe",
    .waits_for_stages = true,
    .order = write_order,
    .closed_form = fill_and_drain,
    .high = high,
    .in_flight = [](const StageInFlight& at) noexcept { return at.micro_batches; },
    .in_flight_source = "GPipe; Huang et al. 2019, section 2.3",
};

}  // namespace headroom
