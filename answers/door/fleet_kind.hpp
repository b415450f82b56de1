// SPDX-License-Identifier: Apache-2.0
// The kind of question that asks for a fleet: how many replicas keep a latency promise under arriving requests.
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
/// A fleet to be sized, with the axes that its document leaves open.
struct FleetSize {
  AskedFleet question;
};
}  // namespace asked

/// The part of the answer's options that the sizing of a fleet reads.
[[nodiscard]] FleetPlanOptions fleet_options(const AnswerOptions& options);

namespace kinds {
/// How a fleet is asked, read, answered and shown (docs/design.md, "What an addition asks").
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
