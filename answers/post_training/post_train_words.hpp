// SPDX-License-Identifier: Apache-2.0
// Words that text and documents about post-training share.
#pragma once

#include <string>

namespace headroom {

struct PostTrainPlan;

/// One sentence: what is taken and what a step takes, or why nothing is.
[[nodiscard]] std::string verdict_of(const PostTrainPlan& plan);

}  // namespace headroom
