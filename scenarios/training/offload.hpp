// SPDX-License-Identifier: Apache-2.0
// Where offloaded bytes go, whether there is room, and what the way there costs before any overlap.
#pragma once

#include <headroom/model/estimate/estimate.hpp>

#include <optional>
#include <string>
#include <vector>

namespace headroom {

struct TrainScenario;

/// Of one GPU where nothing else is said.
struct OffloadPlan {
  bool to_nvme = false;
  Bytes gpu{};                ///< what stays there
  Bytes node{};               ///< of all GPUs of a node
  std::optional<Bytes> room;  ///< of the host of a node, where it is known
  bool short_of_room = false;
  /// Over the host link each way: gradients of the parameters that this rank updates and their new weights, and paged
  /// moments, in a step; saved layer inputs, and offloaded weights for either pass, in a micro-batch.
  Bytes step_way{}, pass_way{};
  std::optional<Seconds> step_time, pass_time;  ///< before any overlap; nothing where the link's rate is not known
  std::optional<Seconds> exposed;               ///< in the step; nothing where the link's rate is not known
  /// NVMe in a step: states are read, updated and written back, activations written and read (Rajbhandari et al. 2021,
  /// ZeRO-Infinity, section 5.2), offloaded weights read for either pass.
  Bytes read{}, written{};
};

/// Nothing when nothing is offloaded.
[[nodiscard]] std::optional<OffloadPlan> plan_offload(const TrainScenario& train, const Estimate& estimate);

/// Of host memory, what the GPUs of a node offload together.
[[nodiscard]] Bytes host_need(const TrainScenario& train, const Estimate& estimate) noexcept;
/// Whether the host is known to be too small for what is offloaded to it.
[[nodiscard]] bool host_is_short(const TrainScenario& train, const Estimate& estimate) noexcept;

/// The same in words, a note each.
[[nodiscard]] std::vector<std::string> offload_notes(const OffloadPlan& offload);

}  // namespace headroom
