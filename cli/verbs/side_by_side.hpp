// SPDX-License-Identifier: Apache-2.0
// Questions that were typed or listed together, held side by side.
#pragma once

#include <headroom/answers/wire/side_by_side.hpp>
#include <headroom/cli/frame/verb.hpp>
#include <headroom/cli/verbs/quick_form.hpp>
#include <headroom/cli/verbs/search.hpp>
#include <headroom/core/config_value.hpp>

#include <optional>
#include <string>
#include <vector>

namespace headroom::cli {

/// A document for each form of each file, of each form where there is no file. ConfigError with every problem at once,
/// beyond a hundred documents, for networks of ops, and where the command would overwrite a file that one names.
[[nodiscard]] std::vector<NamedDocument> documents_of(const Verb& verb,
                                                      const Arguments& arguments,
                                                      const std::vector<SweptForm>& forms,
                                                      const QuestionLibrary& library);

/// Several questions answered together.
struct HeldTogether {
  std::optional<GivenAnswer> answer;  ///< absent: none of them has a plan, which `said` tells
  std::string said;                   ///< what was taken of each, and what searches took
  bool complete = true;
  int code = 1;  ///< of a command without an answer
};

/// Fleets as they are planned; of others the plan that each takes, the best of a search and the chosen point of a curve
/// among them. `ask` answers each, with `options`. ConfigError with every problem at once.
[[nodiscard]] HeldTogether held_together(std::vector<NamedDocument> documents,
                                         const Objectives& objectives,
                                         const QuestionLibrary& library,
                                         const AnswerOptions& options,
                                         const Asking& ask);

/// The same as a command's outcome. `threads`: 0 for as many as the machine has.
[[nodiscard]] Outcome held_side_by_side(std::vector<NamedDocument> documents,
                                        const Objectives& objectives,
                                        const Arguments& arguments,
                                        const QuestionLibrary& library,
                                        unsigned threads);

}  // namespace headroom::cli
