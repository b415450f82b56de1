// SPDX-License-Identifier: Apache-2.0
// Planning the training of a network given as an op list: memory, FLOP, traffic and times.
#pragma once

#include <headroom/model/train/memory/load_peak.hpp>
#include <headroom/scenarios/plan/network_times.hpp>
#include <headroom/scenarios/question/change.hpp>
#include <headroom/scenarios/question/network_scenario.hpp>
#include <headroom/scenarios/training/train_answer.hpp>

#include <optional>
#include <string>
#include <vector>

namespace headroom {

/// Changes, and what the memory is then.
struct NetworkRemedy {
  Changes changes;
  Bytes memory{};
};

struct NetworkPlan {
  NetworkScenario scenario;           ///< open axes filled
  std::vector<std::string> problems;  ///< rules the strategy breaks, each with the way out
  NetworkMemory memory;
  Bytes fragmentation{};  ///< the allocator's slack
  Bytes framework{};      ///< context, communicators and workspace
  Bytes capacity{};
  Interval<Bytes> interval;             ///< of total()
  std::string interval_source;          ///< where its width comes from
  std::vector<NetworkRemedy> remedies;  ///< when it does not fit
  std::int64_t accumulation = 1;
  Flops step_flops{};            ///< of all GPUs, recomputation included
  Bytes traffic{};               ///< sent per GPU and step for data parallelism
  std::optional<LoadPeak> load;  ///< where the scenario says what is loaded
  NetworkInference inference;
  std::int64_t inference_batch = 0;  ///< the largest that fits
  PlanPart part = PlanPart::all;
  std::optional<NetworkTimes> times;
  std::string untimed;                ///< why there are no times though they were asked for
  std::vector<ExplainEntry> explain;  ///< of the step, filled when asked for
  std::vector<std::string> notes;
  [[nodiscard]] Bytes total() const noexcept { return memory.total() + fragmentation + framework; }
  [[nodiscard]] bool fits() const noexcept { return total() <= capacity; }
  [[nodiscard]] bool feasible() const noexcept { return problems.empty() && fits(); }
};

/// Fills the open axes and prices memory, FLOP and traffic, and unless memory alone is asked for the times.
/// ConfigError when the SKU's capacity is unknown.
[[nodiscard]] NetworkPlan make_network_plan(NetworkScenario scenario,
                                            PlanPart part = PlanPart::all,
                                            bool explain = false,
                                            TermSet without = {});

}  // namespace headroom
