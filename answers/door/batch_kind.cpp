// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/batch/render_batch.hpp>
#include <headroom/answers/door/answer.hpp>
#include <headroom/scenarios/read/batch_reader.hpp>
#include <headroom/scenarios/token_job/token_job.hpp>

#include <utility>

namespace headroom::kinds {

bool batch::asks(const ConfigValue& document, const QuestionLibrary& library) {
  const ConfigValue* const kind = document.find("kind");
  return kind != nullptr && kinds_of_word(kind->text) == Kinds::batches &&
         !asks_for_token_job(document, library.sources.models, library.networks);
}

asked::BatchRun batch::read(const ConfigValue& document, const std::string& file, const QuestionLibrary& library) {
  return {read_batch_scenario(document, file, library.sources, library.networks)};
}

BatchPlan batch::answer(asked::BatchRun& question, const AnswerOptions& /*options*/) {
  return make_batch_plan(std::move(question.scenario));
}

bool batch::good(const BatchPlan& plan) noexcept {
  return plan.feasible();
}

std::string batch::text(const BatchPlan& plan, bool explained) {
  return batch_text(plan, explained);
}

Value batch::document(const BatchPlan& plan) {
  return batch_document(plan);
}

}  // namespace headroom::kinds
