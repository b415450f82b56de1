// SPDX-License-Identifier: Apache-2.0
// Words that text and documents about post-training share.
#pragma once

#include <string>

namespace headroom {

struct PostTrainPlan;
struct PostTrainWay;

/// "split, asynchronous, 16 GPUs sample and 48 train".
[[nodiscard]] std::string way_words(const PostTrainWay& way);
/// One sentence: what is taken and what a step takes, or why nothing is.
[[nodiscard]] std::string verdict_of(const PostTrainPlan& plan);

}  // namespace headroom
