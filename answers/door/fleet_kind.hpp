// SPDX-License-Identifier: Apache-2.0
// Requests that come when they come, and the fleet that keeps what they are promised.
#pragma once

#include <headroom/answers/document/value.hpp>
#include <headroom/core/config_value.hpp>
#include <headroom/scenarios/fleet/fleet_axes.hpp>
#include <headroom/scenarios/fleet/fleet_plan.hpp>

#include <string>

namespace headroom {

struct AnswerOptions;
struct QuestionLibrary;
namespace report {
struct Documents;
}

namespace asked {
struct FleetSize {
  AskedFleet question;
};
}  // namespace asked

[[nodiscard]] FleetPlanOptions fleet_options(const AnswerOptions& options);

namespace kinds {
struct fleet {
  using Asked = asked::FleetSize;
  using Given = FleetPlan;
  static constexpr const char* page = "fleet";
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
