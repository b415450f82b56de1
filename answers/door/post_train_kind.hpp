// SPDX-License-Identifier: Apache-2.0
// A step of post-training, or stages that feed each other.
#pragma once

#include <headroom/answers/document/value.hpp>
#include <headroom/core/config_value.hpp>
#include <headroom/scenarios/post_training/post_train_plan.hpp>

#include <string>

namespace headroom {

struct AnswerOptions;
struct QuestionLibrary;

namespace kinds {
struct post_train {
  using Asked = PostTrainQuestion;
  using Given = PostTrainPlan;
  static constexpr const char* page = "post_training";
  [[nodiscard]] static bool asks(const ConfigValue& document, const QuestionLibrary& library);
  [[nodiscard]] static Asked read(const ConfigValue& document, const std::string& file, const QuestionLibrary& library);
  [[nodiscard]] static Given answer(Asked& question, const AnswerOptions& options);
  [[nodiscard]] static bool good(const Given& step) noexcept;
  [[nodiscard]] static std::string text(const Given& step, bool explained);
  [[nodiscard]] static Value document(const Given& step);
  [[nodiscard]] static std::string csv(const Given& step);
};
}  // namespace kinds

}  // namespace headroom
