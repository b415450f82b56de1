// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/door/answer.hpp>
#include <headroom/answers/views/render_box.hpp>

namespace headroom {

BoxOptions box_options(const AnswerOptions& options) {
  return {options.threads, options.stop, options.box_progress};
}

}  // namespace headroom

namespace headroom::kinds {

bool box::asks(const ConfigValue& document, const QuestionLibrary& /*library*/) {
  return asks_for_box(document);
}

BoxQuestion box::read(ConfigValue document, const std::string& file, const QuestionLibrary& library) {
  return read_box(document, file, library.sources);
}

BoxCurve box::answer(BoxQuestion& question, const AnswerOptions& options) {
  return box_curve(question, box_options(options));
}

bool box::good(const BoxCurve& curve) noexcept {
  return curve.complete && curve.feasible();
}

std::string box::text(const BoxCurve& curve, bool /*explained*/) {
  return box_text(curve);
}

Value box::document(const BoxCurve& curve) {
  return box_document(curve);
}

}  // namespace headroom::kinds
