// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/door/answer.hpp>
#include <headroom/answers/post_training/render_post_train.hpp>

#include <utility>

namespace headroom::kinds {

bool post_train::asks(const ConfigValue& document, const QuestionLibrary& /*library*/) {
  return asks_for_post_training(document);
}

PostTrainQuestion post_train::read(const ConfigValue& document,
                                   const std::string& file,
                                   const QuestionLibrary& library) {
  return read_post_training(document, file, library.sources);
}

PostTrainPlan post_train::answer(PostTrainQuestion& question, const AnswerOptions& /*options*/) {
  return make_post_train_plan(std::move(question));
}

bool post_train::good(const PostTrainPlan& step) noexcept {
  return step.feasible();
}

std::string post_train::text(const PostTrainPlan& step, bool explained) {
  return post_train_text(step, explained);
}

Value post_train::document(const PostTrainPlan& step) {
  return post_train_document(step);
}

std::string post_train::csv(const PostTrainPlan& step) {
  return post_train_csv(step);
}

}  // namespace headroom::kinds
