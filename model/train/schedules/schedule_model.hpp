// SPDX-License-Identifier: Apache-2.0
// A pipeline schedule as plain data and functions: one ScheduleModel for each, defined in the file of its name. Code
// that places, prices, checks or words a schedule reads this model and never compares names.
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

/// Requirements of the order on its stages p and micro-batches m.
struct OrderRules {
  std::int32_t stages_multiple = 1;         ///< p is a multiple of it
  std::int32_t micro_batches_multiple = 1;  ///< m is a multiple of it
  std::int32_t micro_batches_a_stage = 0;   ///< m is at least so many times p
};

/// A stage whose activations in flight are asked for. All are real numbers, because the bound of an open question may
/// have a fraction of a micro-batch.
struct StageInFlight {
  double stages = 1.0;         ///< of the pipeline, >= 1
  double chunks = 1.0;         ///< virtual stages that a GPU holds of one copy, >= 1
  double stage = 0.0;          ///< place of the stage, 0 to stages - 1
  double micro_batches = 1.0;  ///< of a step, > 0
};

struct ScheduleModel {
  std::string_view name{};   ///< in scenarios, software files, searches and answers: "dualpipe"
  std::string_view title{};  ///< in sentences: "DualPipe"
  StagePlacement placement = StagePlacement::looped;
  /// Virtual stages that a GPU holds of one copy of the network; 0: as many as the strategy says (vpp).
  std::int32_t chunks = 1;
  bool splits_backward = false;  ///< whether gradients of weights are passes of their own
  /// Whether the forward pass of one micro-batch and the whole backward pass of another, on mirrored virtual stages of
  /// a GPU, run as one pass that hides the exchanges of experts.
  bool overlaps_passes = false;
  /// Whether the bubble of uneven stages is their sum beyond the slowest. Else the step is that of stages all as slow
  /// as the slowest, unless it is simulated.
  bool waits_for_stages = false;
  OrderRules rules{};
  std::span<const Schedule> instead{};  ///< schedules to propose for a number of stages that breaks `rules`

  /// Writes a stage's passes in the order in which it runs them. Precondition: no broken rule.
  void (*order)(const PipelineShape& shape, std::int32_t stage, std::vector<Pass>& out) = nullptr;
  /// Seconds of a step of equal stages, p >= 2, whose sends run beside compute.
  double (*closed_form)(const PipelineShape& shape, const PassLengths& lengths) noexcept = nullptr;
  /// Upper bound in seconds of a step of uneven stages in one chunk, besides the closed form of stages that all cost
  /// `most`, the largest of each cost; for these schedules that closed form is exact. nullptr: the closed form is not
  /// exact, and its upper bound gets a slack.
  double (*high)(std::span<const StageCosts> costs,
                 const PipelineShape& shape,
                 const StageCosts& most) noexcept = nullptr;
  /// Most micro-batches whose activations a stage keeps at once; a chunk's counts as 1 / chunks. On stage 0, and in the
  /// mean over all stages, at least the min(m, p - i) of 1F1B; it does not grow from a stage to the next.
  double (*in_flight)(const StageInFlight& at) noexcept = nullptr;
  std::string_view in_flight_source{};          ///< publication of `in_flight`
  std::string_view in_flight_source_chunked{};  ///< the same for several chunks, where the strategy chooses them

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

/// The schedule's placement; `looped` for a single stage, which holds the whole network.
[[nodiscard]] inline StagePlacement placement_of(Schedule schedule, std::int64_t stages) noexcept {
  return stages > 1 ? model_of(schedule).placement : StagePlacement::looped;
}

}  // namespace headroom
