// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/train/schedules/schedule_model.hpp>
#include <headroom/model/train/schedules/schedule_simulation.hpp>

namespace headroom {

std::vector<std::vector<Pass>> pass_order(const PipelineShape& shape) {
  const ScheduleModel& model = model_of(shape.schedule);
  std::vector<std::vector<Pass>> all(static_cast<std::size_t>(shape.stages));
  for (std::int32_t stage = 0; stage < shape.stages; ++stage) {
    std::vector<Pass>& out = all[static_cast<std::size_t>(stage)];
    out.reserve(3 * static_cast<std::size_t>(shape.micro_batches) * static_cast<std::size_t>(shape.chunks));
    model.order(shape, stage, out);
  }
  return all;
}

std::int32_t stage_of(const PipelineShape& shape, std::int32_t position, std::int32_t micro_batch) noexcept {
  const std::int32_t p = shape.stages;
  switch (model_of(shape.schedule).placement) {
    case StagePlacement::folded: return position / p % 2 == 0 ? position % p : p - 1 - position % p;
    case StagePlacement::two_way: return 2 * micro_batch < shape.micro_batches ? position : p - 1 - position;
    case StagePlacement::looped: break;
  }
  return position % p;
}

std::int32_t chunk_of(const PipelineShape& shape, std::int32_t position, std::int32_t micro_batch) noexcept {
  if (model_of(shape.schedule).placement == StagePlacement::two_way) {
    return 2 * micro_batch < shape.micro_batches ? 0 : 1;
  }
  return position / shape.stages;
}

}  // namespace headroom
