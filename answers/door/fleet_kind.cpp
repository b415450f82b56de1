// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/door/answer.hpp>
#include <headroom/answers/evidence/evidence.hpp>
#include <headroom/answers/views/render_fleet.hpp>
#include <headroom/scenarios/fleet/fleet_axes.hpp>

#include <utility>

namespace headroom {

FleetPlanOptions fleet_options(const AnswerOptions& options) {
  FleetPlanOptions how;
  how.threads = options.threads;
  how.stop = options.stop;
  how.progress = options.fleet_progress;
  return how;
}

}  // namespace headroom

namespace headroom::kinds {

bool fleet::asks(const ConfigValue& document, const QuestionLibrary& /*library*/) {
  return asks_for_fleet(document);
}

asked::FleetSize fleet::read(ConfigValue document, const std::string& file, const QuestionLibrary& library) {
  return {read_fleet(std::move(document), file, library.sources)};
}

FleetPlan fleet::answer(asked::FleetSize& question, const AnswerOptions& options) {
  return plan_fleet(question.question, fleet_options(options));
}

bool fleet::good(const FleetPlan& plan) noexcept {
  return plan.complete && plan.feasible();
}

std::string fleet::text(const FleetPlan& plan, bool /*explained*/) {
  return fleet_text(plan);
}

Value fleet::document(const FleetPlan& plan) {
  return fleet_document(plan);
}

void fleet::add_evidence(report::Documents& documents, const FleetPlan& plan, unsigned threads) {
  report::add_evidence(documents, plan, threads);
}

}  // namespace headroom::kinds
