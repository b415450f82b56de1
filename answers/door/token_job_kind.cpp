// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/batch/render_batch.hpp>
#include <headroom/answers/door/answer.hpp>

#include <utility>

namespace headroom::kinds {

bool token_job::asks(const ConfigValue& document, const QuestionLibrary& library) {
  return asks_for_token_job(document, library.sources.models, library.networks);
}

TokenJob token_job::read(const ConfigValue& document, const std::string& file, const QuestionLibrary& library) {
  return read_token_job(document, file, library.sources);
}

TokenJobPlan token_job::answer(TokenJob& question, const AnswerOptions& options) {
  return plan_token_job(std::move(question), options.explain);
}

bool token_job::good(const TokenJobPlan& job) noexcept {
  return job.feasible();
}

std::string token_job::text(const TokenJobPlan& job, bool explained) {
  return token_job_text(job, explained);
}

Value token_job::document(const TokenJobPlan& job) {
  return token_job_document(job);
}

}  // namespace headroom::kinds
