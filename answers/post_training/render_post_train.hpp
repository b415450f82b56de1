// SPDX-License-Identifier: Apache-2.0
// The answer about a step of post-training for people and for programs.
#pragma once

#include <headroom/answers/document/value.hpp>

#include <string>

namespace headroom {

struct PostTrainPlan;

/// `explained`: the phases of every way too.
[[nodiscard]] std::string post_train_text(const PostTrainPlan& plan, bool explained);
/// Schema "headroom.post-training/1": raw SI, the unit in the key.
[[nodiscard]] Value post_train_document(const PostTrainPlan& plan);
/// A row of each way: placement, order, GPUs of each pool, seconds of each phase and of the step, idle shares.
[[nodiscard]] std::string post_train_csv(const PostTrainPlan& plan);

}  // namespace headroom
