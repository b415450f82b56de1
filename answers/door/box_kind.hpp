// SPDX-License-Identifier: Apache-2.0
// A stated number of GPUs under fixed loads: throughput against latency.
#pragma once

#include <headroom/answers/document/value.hpp>
#include <headroom/core/config_value.hpp>
#include <headroom/scenarios/box/box_curve.hpp>

#include <string>

namespace headroom {

struct AnswerOptions;
struct QuestionLibrary;

[[nodiscard]] BoxOptions box_options(const AnswerOptions& options);

namespace kinds {
struct box {
  using Asked = BoxQuestion;
  using Given = BoxCurve;
  static constexpr const char* page = "box";
  [[nodiscard]] static bool asks(const ConfigValue& document, const QuestionLibrary& library);
  [[nodiscard]] static Asked read(ConfigValue document, const std::string& file, const QuestionLibrary& library);
  [[nodiscard]] static Given answer(Asked& question, const AnswerOptions& options);
  [[nodiscard]] static bool good(const Given& curve) noexcept;
  [[nodiscard]] static std::string text(const Given& curve, bool explained);
  [[nodiscard]] static Value document(const Given& curve);
};
}  // namespace kinds

}  // namespace headroom
