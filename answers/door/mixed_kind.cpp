// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/door/answer.hpp>
#include <headroom/answers/mixed/render_mixed.hpp>

#include <string>
#include <utility>
#include <variant>

namespace headroom::kinds {

bool mixed::asks(const ConfigValue& document, const QuestionLibrary& /*library*/) {
  return asks_for_mixed(document);
}

MixedQuestion mixed::read(const ConfigValue& document, const std::string& file, const QuestionLibrary& library) {
  return read_mixed(document, file, library.sources);
}

given::Mixed mixed::answer(MixedQuestion& question, const AnswerOptions& /*options*/) {
  if (question.serves) {
    return {plan_mixed_fleet(std::move(question))};
  }
  return {plan_mixed_training(std::move(question))};
}

bool mixed::good(const given::Mixed& given) noexcept {
  const auto* const train = std::get_if<MixedTraining>(&given.plan);
  return train != nullptr ? train->feasible() : std::get<MixedFleet>(given.plan).asked().good();
}

std::string mixed::text(const given::Mixed& given, bool /*explained*/) {
  const auto* const train = std::get_if<MixedTraining>(&given.plan);
  return train != nullptr ? mixed_training_text(*train) : mixed_fleet_text(std::get<MixedFleet>(given.plan));
}

Value mixed::document(const given::Mixed& given) {
  const auto* const train = std::get_if<MixedTraining>(&given.plan);
  return train != nullptr ? mixed_training_document(*train) : mixed_fleet_document(std::get<MixedFleet>(given.plan));
}

}  // namespace headroom::kinds
