// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/door/answer.hpp>
#include <headroom/answers/evidence/evidence.hpp>
#include <headroom/answers/views/render.hpp>
#include <headroom/scenarios/read/network_reader.hpp>

#include <utility>

namespace headroom::kinds {

bool network::asks(const ConfigValue& document, const QuestionLibrary& library) {
  return asks_for_network(document, library.sources.models, library.networks);
}

asked::NetworkRun network::read(ConfigValue document, const std::string& file, const QuestionLibrary& library) {
  return {read_network_scenario(document, file, library.sources, library.networks)};
}

NetworkPlan network::answer(asked::NetworkRun& question, const AnswerOptions& options) {
  return make_network_plan(std::move(question.scenario), options.part, options.explain, options.without);
}

bool network::good(const NetworkPlan& plan) noexcept {
  return plan.feasible();
}

std::string network::text(const NetworkPlan& plan, bool explained) {
  return explained ? network_explain_text(plan) : network_plan_text(plan);
}

Value network::document(const NetworkPlan& plan) {
  return network_document(plan);
}

void network::add_evidence(report::Documents& documents, const NetworkPlan& plan, unsigned /*threads*/) {
  report::add_evidence(documents, plan);
}

}  // namespace headroom::kinds
