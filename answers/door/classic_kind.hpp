// SPDX-License-Identifier: Apache-2.0
// An algorithm of classic machine learning on GPUs and on cores.
#pragma once

#include <headroom/answers/document/value.hpp>
#include <headroom/core/config_value.hpp>
#include <headroom/scenarios/classic/classic_plan.hpp>

#include <string>

namespace headroom {

struct AnswerOptions;
struct QuestionLibrary;

namespace kinds {
/// How it is asked, read, answered and shown (docs/design.md, "What an addition asks").
struct classic {
  using Asked = headroom::classic::Question;
  using Given = headroom::classic::Plan;
  static constexpr const char* page = "classic";
  [[nodiscard]] static bool good(const Given& plan) noexcept;
  [[nodiscard]] static Given answer(Asked& question, const AnswerOptions& options);
  [[nodiscard]] static bool asks(const ConfigValue& document, const QuestionLibrary& library);
  [[nodiscard]] static std::string text(const Given& plan, bool explained);
  [[nodiscard]] static Asked read(const ConfigValue& document, const std::string& file, const QuestionLibrary& library);
  [[nodiscard]] static Value document(const Given& plan);
};
}  // namespace kinds

}  // namespace headroom
