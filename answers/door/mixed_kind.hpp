// SPDX-License-Identifier: Apache-2.0
// Pools of unlike SKUs, [[hardware.pool]]: one training job over them, or one fleet of their replicas.
#pragma once

#include <headroom/answers/document/value.hpp>
#include <headroom/core/config_value.hpp>
#include <headroom/scenarios/mixed/mixed_fleet.hpp>
#include <headroom/scenarios/mixed/mixed_question.hpp>
#include <headroom/scenarios/mixed/mixed_training.hpp>

#include <string>
#include <variant>

namespace headroom {

struct AnswerOptions;
struct QuestionLibrary;

namespace given {
struct Mixed {
  std::variant<MixedTraining, MixedFleet> plan;
};
}  // namespace given

namespace kinds {
/// How a mix is asked, read, answered and shown (docs/design.md, "What an addition asks").
struct mixed {
  using Asked = MixedQuestion;
  using Given = given::Mixed;
  static constexpr const char* page = "mixed";
  [[nodiscard]] static bool asks(const ConfigValue& document, const QuestionLibrary& library);
  [[nodiscard]] static Asked read(const ConfigValue& document, const std::string& file, const QuestionLibrary& library);
  [[nodiscard]] static Given answer(Asked& question, const AnswerOptions& options);
  [[nodiscard]] static bool good(const Given& given) noexcept;
  [[nodiscard]] static std::string text(const Given& given, bool explained);
  [[nodiscard]] static Value document(const Given& given);
};
}  // namespace kinds

}  // namespace headroom
