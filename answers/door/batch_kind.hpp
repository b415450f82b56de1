// SPDX-License-Identifier: Apache-2.0
// Batch inference of a network: requests under a promise, clients in a loop, records by a deadline.
#pragma once

#include <headroom/answers/document/value.hpp>
#include <headroom/core/config_value.hpp>
#include <headroom/scenarios/batch_search/batch_choice.hpp>

#include <string>
#include <vector>

namespace headroom {

struct AnswerOptions;
struct QuestionLibrary;

namespace asked {
struct BatchRun {
  std::vector<BatchCandidate> candidates;  ///< one, but of a search
};
}  // namespace asked

namespace kinds {
struct batch {
  using Asked = asked::BatchRun;
  using Given = BatchPlan;
  static constexpr const char* page = "batch";
  [[nodiscard]] static bool asks(const ConfigValue& document, const QuestionLibrary& library);
  [[nodiscard]] static Asked read(const ConfigValue& document, const std::string& file, const QuestionLibrary& library);
  [[nodiscard]] static Given answer(Asked& question, const AnswerOptions& options);
  [[nodiscard]] static bool good(const Given& plan) noexcept;
  [[nodiscard]] static std::string text(const Given& plan, bool explained);
  [[nodiscard]] static Value document(const Given& plan);
};
}  // namespace kinds

}  // namespace headroom
