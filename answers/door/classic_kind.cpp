// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/classic/render_classic.hpp>
#include <headroom/answers/door/answer.hpp>
#include <headroom/scenarios/keys/key.hpp>

#include <utility>

namespace headroom::kinds {

bool classic::asks(const ConfigValue& document, const QuestionLibrary& /*library*/) {
  const ConfigValue* const kind = document.find("kind");
  return kind != nullptr && kinds_of_word(kind->text) == Kinds::classic;
}

headroom::classic::Question classic::read(const ConfigValue& document,
                                          const std::string& file,
                                          const QuestionLibrary& library) {
  return headroom::classic::read_question(document, file, library.sources);
}

headroom::classic::Plan classic::answer(headroom::classic::Question& question, const AnswerOptions& /*options*/) {
  return headroom::classic::make_plan(std::move(question));
}

bool classic::good(const headroom::classic::Plan& priced) noexcept {
  return priced.feasible();
}

std::string classic::text(const headroom::classic::Plan& priced, bool explained) {
  return classic_text(priced, explained);
}

Value classic::document(const headroom::classic::Plan& priced) {
  return classic_document(priced);
}

}  // namespace headroom::kinds
