// SPDX-License-Identifier: Apache-2.0
// Answers questions for the command line: progress on a terminal, and interrupts that keep what was found.
#pragma once

#include <headroom/answers/door/answer.hpp>
#include <headroom/cli/frame/verb.hpp>

#include <functional>
#include <optional>
#include <string>

namespace headroom::cli {

/// Assignment for an argument of --search: "search.tp=any" for "tp=any", "search.strategy=any" for "any".
[[nodiscard]] std::string search_assignment(const std::string& axis);

/// Options of the command line: the function that searches, and the interrupt flag.
[[nodiscard]] AnswerOptions search_options();

/// An answer; `effort` is a remark for stderr.
struct Answered {
  GivenAnswer answer;
  std::string effort;
};

/// Answers a question, with progress on a terminal's stderr. An interrupt ends what searches with what was found, and
/// leaves a fleet's plan without an answer. Throws ConfigError as answer_of does.
[[nodiscard]] Answered answered(AskedQuestion question, AnswerOptions options);

/// Who answers: answered(), or what notes an interrupt otherwise.
using Asking = std::function<Answered(AskedQuestion, AnswerOptions)>;

/// The plan that a question takes, for verbs that go on with it.
struct TakenPlan {
  std::optional<Plan> plan;
  std::string effort;    ///< of a search: a remark for stderr
  std::string text;      ///< what was taken of several, or why nothing was; empty of a question with one plan
  bool complete = true;  ///< nothing was stopped before its end

  /// Exit code of a command that cannot answer without this plan: 1, or the interrupt's.
  [[nodiscard]] int code_without_plan() const noexcept;
};

/// The plan of one strategy or fixed load, the best of a search, the chosen point of a curve; absent after an
/// interrupt, but the best so far at the end of a time limit. Throws ConfigError as answer_of does.
[[nodiscard]] TakenPlan taken_plan(AskedQuestion question, unsigned threads = 0);
/// The same as `ask` answers it, with `options` but for what stands beside a plan.
[[nodiscard]] TakenPlan taken_plan(AskedQuestion question, AnswerOptions options, const Asking& ask);

/// Value of --threads; 0: one per hardware thread.
[[nodiscard]] unsigned threads_of(const Arguments& arguments);

}  // namespace headroom::cli
