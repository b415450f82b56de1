// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/door/answer.hpp>
#include <headroom/answers/sharing/render_sharing.hpp>

#include <utility>

namespace headroom::kinds {

bool sharing::asks(const ConfigValue& document, const QuestionLibrary& /*library*/) {
  return asks_for_sharing(document);
}

SharingQuestion sharing::read(const ConfigValue& document, const std::string& file, const QuestionLibrary& library) {
  return read_sharing(document, file, library.sources, library.networks);
}

SharingPlan sharing::answer(SharingQuestion& question, const AnswerOptions& /*options*/) {
  return make_sharing_plan(std::move(question));
}

bool sharing::good(const SharingPlan& plan) noexcept {
  return plan.feasible();
}

std::string sharing::text(const SharingPlan& plan, bool explained) {
  return sharing_text(plan, explained);
}

Value sharing::document(const SharingPlan& plan) {
  return sharing_document(plan);
}

}  // namespace headroom::kinds
