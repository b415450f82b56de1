// SPDX-License-Identifier: Apache-2.0
// A run's parts beside the terms of its plan: where the step takes longer than planned, the largest gap first.
#pragma once

#include <headroom/calibrate/diagnosis/cause.hpp>
#include <headroom/core/quantity.hpp>
#include <headroom/model/estimate/estimate.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// What a plan says of its step.
struct PlannedStep {
  Interval<Seconds> step;  ///< with what 80 % of past errors leave
  Breakdown terms;         ///< exposed; they sum to the middle
  double mfu = 0.0;        ///< model FLOP over the dense peak, 0 to 1
  double passes = 0.0;     ///< share of the memory's bandwidth that passes over tensors sustain, 0 to 1
};

/// A part of the run beside the plan's terms of the same work.
struct PlanGapRow {
  std::string part;            ///< "computing", "exposed_communication"; of a breakdown the file's own words
  std::optional<Seconds> run;  ///< unset: the run's files do not tell this part
  Seconds plan{};
  std::vector<std::string_view> terms;  ///< the plan's, the longest first
  double of_gap = 0.0;                  ///< of the whole gap, where it is no nought
  std::string says;                     ///< a sentence

  [[nodiscard]] Seconds gap() const noexcept { return run.value_or(Seconds{}) - plan; }
};

/// What of a GPU's use only the plan knows, for the plan's step and, as the same work in the run's time, for the run's.
struct PlannedUse {
  double mfu = 0.0;            ///< model FLOP over the dense peak
  double tensor_active = 0.0;  ///< all products' FLOP over the dense peak, those that are formed again among them
  double memory_passes = 0.0;  ///< of the memory's bandwidth, by passes over tensors and the optimizer alone
};

struct PlanGap {
  Seconds run{}, plan{};
  bool within = false;           ///< the run's step lies in the plan's interval
  std::vector<PlanGapRow> rows;  ///< by the size of the gap
  PlannedUse planned, reached;
  std::string verdict;  ///< a sentence
  std::vector<std::string> notes;
};

/// Matches the run's parts with the plan's terms by what they are: kernels with products, attention, passes and the
/// optimizer; collectives with exposed traffic, bubbles and stragglers, which a trace shows as waiting collectives;
/// copies with offloading; waits for samples with data; other waits for the host with launches. A part that bears a
/// term's own name is matched with it alone. The level of one's own runs is spread over all terms. Precondition: the
/// run has a step above zero, and so has the plan.
[[nodiscard]] PlanGap plan_gap(const RunReading& run, const PlannedStep& plan);

}  // namespace headroom
