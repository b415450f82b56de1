// SPDX-License-Identifier: Apache-2.0
// A job of a language model: kind batch with [serving] and [job].
#pragma once

#include <headroom/answers/document/value.hpp>
#include <headroom/core/config_value.hpp>
#include <headroom/scenarios/token_job/token_job_plan.hpp>

#include <string>

namespace headroom {

struct AnswerOptions;
struct QuestionLibrary;

namespace kinds {
/// How a job is asked, read, answered and shown (docs/design.md, "What an addition asks").
struct token_job {
  using Asked = TokenJob;
  using Given = TokenJobPlan;
  static constexpr const char* page = "batch";
  [[nodiscard]] static bool asks(const ConfigValue& document, const QuestionLibrary& library);
  [[nodiscard]] static Asked read(const ConfigValue& document, const std::string& file, const QuestionLibrary& library);
  [[nodiscard]] static Given answer(Asked& question, const AnswerOptions& options);
  [[nodiscard]] static bool good(const Given& job) noexcept;
  [[nodiscard]] static std::string text(const Given& job, bool explained);
  [[nodiscard]] static Value document(const Given& job);
};
}  // namespace kinds

}  // namespace headroom
