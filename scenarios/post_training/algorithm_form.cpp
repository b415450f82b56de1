// SPDX-License-Identifier: Apache-2.0
#include <headroom/scenarios/post_training/post_train_question.hpp>

namespace headroom {

AlgorithmForm form_of(PostTrainAlgorithm algorithm) noexcept {
  switch (algorithm) {
    case PostTrainAlgorithm::sft: return {false, false, false, 1.0};
    case PostTrainAlgorithm::dpo: return {false, false, true, 2.0};
    case PostTrainAlgorithm::ppo: return {true, true, true, 1.0};
    case PostTrainAlgorithm::dapo: return {true, false, false, 1.0};
    case PostTrainAlgorithm::grpo:
    case PostTrainAlgorithm::rloo: break;
  }
  return {true, false, true, 1.0};
}

}  // namespace headroom
