// SPDX-License-Identifier: Apache-2.0
// What a training step would gain from a little more of each thing that the hardware has.
#pragma once

#include <headroom/scenarios/training/train_answer.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace headroom {

/// What a SKU or its node is bought by.
enum class Resource : std::uint8_t { matrix_rate, memory_bandwidth, memory_capacity, scale_up, scale_out, count };
inline constexpr std::size_t resource_count = static_cast<std::size_t>(Resource::count);
inline constexpr std::array<std::string_view, resource_count> resource_names{
    "matrix_rate", "memory_bandwidth", "memory_capacity", "scale_up_rate", "nic_rate"};
/// The same for people.
inline constexpr std::array<std::string_view, resource_count> resource_texts{"matrix FLOP/s", "memory bandwidth",
                                                                             "memory capacity", "scale-up link", "NIC"};

/// How much more is asked for.
inline constexpr double sensitivity_more = 0.1;

/// Another strategy and what it gains.
struct Choice {
  Strategy strategy;
  Seconds step{};
  double faster = 0.0;  ///< throughput over that of the plan - 1
};

struct Sensitivity {
  Resource resource = Resource::matrix_rate;
  double faster = 0.0;  ///< throughput over that of the plan - 1: the plan's step over `step`, less 1
  Seconds step{};       ///< with it
  /// With more capacity the open axes, and a stated recomputation, are closed anew: what they are then. The plan's own
  /// where nothing is chosen that does not fit today.
  Strategy strategy;
  /// Of capacity, where recomputation is stated: another that surely fits today, without more, and is faster.
  std::optional<Choice> today;
};

/// The scenario with `factor` times the resource, all else the same. Compute rates are those of every format.
[[nodiscard]] TrainScenario with_more(const TrainScenario& train, Resource resource, double factor);

/// One entry a resource, in the order of `Resource`, each re-priced at the plan's strategy; capacity re-opens
/// micro-batch and recomputation, the latter also where it is stated; what that gains today is no merit of the memory
/// and stands in `today`. Empty where no time is priced. `base`: the
/// scenario's step at that strategy; `groups`: of its job, built anew when there are none.
[[nodiscard]] std::vector<Sensitivity> sensitivities_of(const TrainScenario& train,
                                                        const Strategy& strategy,
                                                        Seconds base,
                                                        TermSet without = {},
                                                        std::shared_ptr<const JobGroups> groups = nullptr);

}  // namespace headroom
