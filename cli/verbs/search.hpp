// SPDX-License-Identifier: Apache-2.0
// Searches as the command line runs them: progress on a terminal, an interrupt that ends them with what was found.
#pragma once

#include <headroom/answers/door/answer.hpp>
#include <headroom/cli/frame/verb.hpp>
#include <headroom/core/config_value.hpp>

#include <string>

namespace headroom::cli {

/// "search.tp=any" of "tp=any", "search.strategy=any" of "any": what `--search` says.
[[nodiscard]] std::string search_assignment(const std::string& axis);

/// What a search found; `effort` is for stderr.
struct FoundPlan {
  SearchPlan answer;
  std::string effort;

  /// Of a command that has no answer for want of this plan: 1, or that of the interrupt.
  [[nodiscard]] int code_without_plan() const noexcept;
};

/// Options of a search from the command line: who searches, and the interrupt.
[[nodiscard]] AnswerOptions search_options();

/// Answers a question that searches, with progress on a terminal's stderr. ConfigError as answer_of.
[[nodiscard]] FoundPlan search(AskedQuestion question, AnswerOptions options);

/// The plan that a document's search takes, for verbs that go on from it: none where it was interrupted. ConfigError as
/// read_question and answer_of.
[[nodiscard]] FoundPlan find_plan(const ConfigValue& root, const std::string& file, const QuestionLibrary& library);

/// --threads; 0: as many as the machine has.
[[nodiscard]] unsigned threads_of(const Arguments& arguments);

}  // namespace headroom::cli
