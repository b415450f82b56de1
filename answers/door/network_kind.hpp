// SPDX-License-Identifier: Apache-2.0
// The training of a network given as an op list.
#pragma once

#include <headroom/answers/document/value.hpp>
#include <headroom/core/config_value.hpp>
#include <headroom/scenarios/plan/network_plan.hpp>
#include <headroom/scenarios/question/network_scenario.hpp>

#include <string>

namespace headroom {

struct AnswerOptions;
struct QuestionLibrary;
namespace report {
struct Documents;
}

namespace asked {
struct NetworkRun {
  NetworkScenario scenario;
};
}  // namespace asked

namespace kinds {
struct network {
  using Asked = asked::NetworkRun;
  using Given = NetworkPlan;
  static constexpr const char* page = "plan";
  [[nodiscard]] static bool asks(const ConfigValue& document, const QuestionLibrary& library);
  [[nodiscard]] static Asked read(ConfigValue document, const std::string& file, const QuestionLibrary& library);
  [[nodiscard]] static Given answer(Asked& question, const AnswerOptions& options);
  [[nodiscard]] static bool good(const Given& plan) noexcept;
  [[nodiscard]] static std::string text(const Given& plan, bool explained);
  [[nodiscard]] static Value document(const Given& plan);
  static void add_evidence(report::Documents& documents, const Given& plan, unsigned threads);
};
}  // namespace kinds

}  // namespace headroom
