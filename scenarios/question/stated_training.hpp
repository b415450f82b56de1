// SPDX-License-Identifier: Apache-2.0
// What the author of a training question states of its strategy and its software, blanks left blank: from it the
// question is resolved, and resolved again once something is changed.
#pragma once

#include <headroom/model/train/memory/memory.hpp>
#include <headroom/model/train/software/expert_recipe.hpp>
#include <headroom/model/train/software/memory_stack.hpp>
#include <headroom/model/train/strategy/strategy.hpp>
#include <headroom/scenarios/question/change.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace headroom {

/// Keys of [training] whose blanks the software fills.
struct StatedTraining {
  StatedStrategy strategy;
  std::optional<std::string> software;
  std::optional<double> gradients;  ///< bytes of one
  std::optional<Optimizer> optimizer;
  std::optional<bool> flash_attention;
  std::optional<std::int64_t> vocab_multiple;
  bool offload = false;
  std::int64_t seq_len = 0;  ///< 0: an image's own
};

/// The stack of a blank `training.software`: ZeRO 3 and the stages below it are different software.
[[nodiscard]] std::string_view default_software(std::int64_t zero) noexcept;
/// The same where adapters are trained on one GPU: TRL on peft and bitsandbytes, which need no groups of ranks.
inline constexpr std::string_view one_card_software = "trl";

/// What blank keys of a strategy mean to a software on so many GPUs: dp is what the other ranks leave, the rest as the
/// software does. Open micro-batches and recomputation are 1 and none.
[[nodiscard]] Strategy resolve_strategy(const StatedStrategy& stated,
                                        const Architecture& architecture,
                                        const StackDefaults& software,
                                        std::int64_t gpus) noexcept;

struct TrainScenario;
/// The same of the question's software, whose recipe for the job may run exchanges of experts beside compute.
[[nodiscard]] Strategy resolve_strategy(const StatedStrategy& stated, const TrainScenario& train) noexcept;
/// Whether overlapped experts get in the way of a layout's collectives: one hardware queue keeps those in order,
/// several let exchanges run beside compute, and before Blackwell a launch has either.
[[nodiscard]] bool overlap_is_in_the_way(const TrainScenario& train, int tp, int cp) noexcept;
/// Whether the question's software runs the exchanges of a strategy's experts beside compute, as its file says.
[[nodiscard]] bool runs_overlapped(const TrainScenario& train, const Strategy& strategy) noexcept;
/// How the question runs its experts, stated or not.
[[nodiscard]] ExpertHabits expert_habits_of(const TrainScenario& train);
/// Software, strategy, bytes of the states and options that follow from what is stated of them. ConfigError for a
/// software that is none.
void resolve_training(TrainScenario& train);

/// States a change. Precondition: it is one of a strategy.
void state(const Change& change, StatedStrategy& strategy);
/// The question with changes of its strategy, optimizer, offloading, method, loss or length, resolved again; nullopt
/// where so many ranks cannot share an image of the stated length. Precondition: no other changes.
[[nodiscard]] std::optional<TrainScenario> resolved_with(const TrainScenario& train, std::span<const Change> changes);

}  // namespace headroom
