// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/batch/render_batch.hpp>
#include <headroom/answers/door/answer.hpp>
#include <headroom/scenarios/batch_search/batch_search_reader.hpp>
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
  if (document.find("search") != nullptr) {
    return {read_batch_search(document, file, library.sources, library.networks)};
  }
  BatchCandidate only;
  only.scenario = read_batch_scenario(document, file, library.sources, library.networks);
  return {{std::move(only)}};
}

BatchPlan batch::answer(asked::BatchRun& question, const AnswerOptions& /*options*/) {
  if (question.candidates.size() == 1 && question.candidates.front().gpu.empty()) {
    return make_batch_plan(*std::move(question.candidates.front().scenario));
  }
  return choose_plan(std::move(question.candidates));
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
