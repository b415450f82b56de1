// SPDX-License-Identifier: Apache-2.0
// Several tenants on one card.
#pragma once

#include <headroom/answers/document/value.hpp>
#include <headroom/core/config_value.hpp>
#include <headroom/scenarios/sharing/sharing_plan.hpp>

#include <string>

namespace headroom {

struct AnswerOptions;
struct QuestionLibrary;

namespace kinds {
struct sharing {
  using Asked = SharingQuestion;
  using Given = SharingPlan;
  static constexpr const char* page = "sharing";
  [[nodiscard]] static bool asks(const ConfigValue& document, const QuestionLibrary& library);
  [[nodiscard]] static Asked read(const ConfigValue& document, const std::string& file, const QuestionLibrary& library);
  [[nodiscard]] static Given answer(Asked& question, const AnswerOptions& options);
  [[nodiscard]] static bool good(const Given& plan) noexcept;
  [[nodiscard]] static std::string text(const Given& plan, bool explained);
  [[nodiscard]] static Value document(const Given& plan);
};
}  // namespace kinds

}  // namespace headroom
