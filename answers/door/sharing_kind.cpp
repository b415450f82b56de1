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

bool sharing::good(const SharingPlan& shared) noexcept {
  return shared.feasible();
}

std::string sharing::text(const SharingPlan& shared, bool explained) {
  return sharing_text(shared, explained);
}

Value sharing::document(const SharingPlan& shared) {
  return sharing_document(shared);
}

}  // namespace headroom::kinds
