// SPDX-License-Identifier: Apache-2.0
// What a pipeline schedule is: plain data and functions, one instance a schedule, defined in the file of its name.
// Whoever places, prices, checks or words a schedule asks its model and never its name.
#pragma once

#include <headroom/model/train/schedules/schedule.hpp>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace headroom {

struct Pass;         // schedule_simulation.hpp
struct PassLengths;  // pass_chain.hpp

/// Which stage holds which parts of the network.
enum class StagePlacement : std::uint8_t {
  looped,  ///< virtual stages go round the stages, chunk by chunk
  folded,  ///< down the stages and up again, in an even number of chunks: the first stage holds both ends
  two_way  ///< micro-batches enter at both ends, half each: a stage holds its own part and the mirrored one
};

/// What the order asks of its stages and micro-batches.
struct OrderRules {
  std::int32_t stages_multiple = 1;
  std::int32_t micro_batches_multiple = 1;
  std::int32_t micro_batches_a_stage = 0;  ///< at least
};

/// A stage as memory asks for it. Micro-batches are real, as the batch of an open question may be.
struct StageInFlight {
  double stages = 1.0;
  double chunks = 1.0;
  double stage = 0.0;
  double micro_batches = 1.0;
};

struct ScheduleModel {
  std::string_view name{};   ///< in scenarios, software files, searches and answers: "dualpipe"
  std::string_view title{};  ///< in sentences: "DualPipe"
  StagePlacement placement = StagePlacement::looped;
  /// Virtual stages that a GPU holds of one copy of the network; 0: as many as the strategy says (vpp).
  std::int32_t chunks = 1;
  bool splits_backward = false;  ///< gradients of weights are passes of their own
  /// A forward and a whole backward pass of a GPU's mirrored virtual stages run as one, exchanges of experts within.
  bool overlaps_passes = false;
  /// The bubble of uneven stages is their sum beyond the slowest. Else the step is that of stages all as slow as the
  /// slowest, unless it is simulated.
  bool waits_for_stages = false;
  OrderRules rules{};
  std::span<const Schedule> instead{};  ///< where its stages do not suit

  /// Writes a stage's passes in the order in which it runs them. Precondition: no broken rule.
  void (*order)(const PipelineShape& shape, std::int32_t stage, std::vector<Pass>& out) = nullptr;
  /// Raw seconds of equal stages, two at least, whose sends run beside compute.
  double (*closed_form)(const PipelineShape& shape, const PassLengths& lengths) noexcept = nullptr;
  /// A bound of uneven stages in one chunk from above, beside the closed form at `most`, the largest of each cost,
  /// which is then exact. nullptr: the closed form is not, and stands with a slack.
  double (*high)(std::span<const StageCosts> costs,
                 const PipelineShape& shape,
                 const StageCosts& most) noexcept = nullptr;
  /// Micro-batches' worth of activations that a stage keeps, in full stages: never fewer than 1F1B's min(m, p - i) in
  /// the mean over the stages and on the first, and never more from a stage to the next.
  double (*in_flight)(const StageInFlight& at) noexcept = nullptr;
  std::string_view in_flight_source{};  ///< who says so
  std::string_view
      in_flight_source_chunked{};  ///< with several chunks; of a schedule that lets the strategy choose them

  /// Whether the strategy chooses the chunks.
  [[nodiscard]] constexpr bool takes_chunks() const noexcept { return chunks == 0; }
  /// Whether a strategy may state the layers of the end stages: stages hold one run of layers of each direction.
  [[nodiscard]] constexpr bool takes_stated_ends() const noexcept {
    return waits_for_stages || placement == StagePlacement::two_way;
  }
};

/// Virtual stages a GPU holds of one model replica: the schedule's own, else the strategy's.
[[nodiscard]] inline std::int32_t chunks_of(Schedule schedule, std::int32_t vpp) noexcept {
  const ScheduleModel& model = model_of(schedule);
  return model.takes_chunks() ? vpp : model.chunks;
}

/// One stage alone holds the network as it is, whatever the schedule.
[[nodiscard]] inline StagePlacement placement_of(Schedule schedule, std::int64_t stages) noexcept {
  return stages > 1 ? model_of(schedule).placement : StagePlacement::looped;
}

}  // namespace headroom
