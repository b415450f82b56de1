// SPDX-License-Identifier: Apache-2.0
// The way that a plan of post-training takes, as the launch of a software.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace headroom {

struct PostTrainPlan;

inline constexpr std::array<std::string_view, 2> post_train_form_names{"verl", "nemo-rl"};

/// The command with the overrides of its configuration (verl-project/verl @ 1dda039b,
/// verl/trainer/config/ppo_trainer.yaml; docs/advance/one_step_off.md and fully_async.md). ConfigError: no way is
/// possible, or it trains without sampling.
[[nodiscard]] std::string verl_launch(const PostTrainPlan& plan);

/// A recipe that overrides the software's own (NVIDIA-NeMo/RL, examples/configs/grpo_math_1B.yaml and
/// docs/guides/async-grpo.md). ConfigError as above.
[[nodiscard]] std::string nemo_rl_recipe(const PostTrainPlan& plan);

}  // namespace headroom
