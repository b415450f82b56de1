// SPDX-License-Identifier: Apache-2.0
// The searching side of `headroom plan`, and what other verbs do with a scenario that searches.
#pragma once

#include <headroom/cli/frame/verb.hpp>
#include <headroom/core/config_value.hpp>
#include <headroom/model/estimate/estimate.hpp>
#include <headroom/scenarios/question/scenario.hpp>
#include <headroom/scenarios/search/search_plan.hpp>

#include <string>

namespace headroom::cli {

/// "search.tp=any" of "tp=any", "search.strategy=any" of "any": what `--search` says.
[[nodiscard]] std::string search_assignment(const std::string& axis);

/// "taken: 512 x h100-sxm-80gb: tp 8, ...; least cost of all": for a search that found a plan.
[[nodiscard]] std::string taken_text(const SearchPlan& answer);
/// What emptied the space, for one that found none.
[[nodiscard]] std::string no_plan_text(const SearchPlan& answer);

/// The search that a document asks for, without a plan where it was interrupted; `effort` is for stderr. ConfigError as
/// read_search.
struct FoundPlan {
  SearchPlan answer;
  std::string effort;

  /// Of a command that has no answer for want of this plan: 1, or that of the interrupt.
  [[nodiscard]] int code_without_plan() const noexcept;
};
[[nodiscard]] FoundPlan find_plan(const ConfigValue& root, const std::string& file, const Sources& sources);

/// Searches, with progress on a terminal's stderr; an interrupt ends it with what was found so far. `explained`: the
/// plan taken term by term instead of the lists.
[[nodiscard]] Outcome search_outcome(const Arguments& arguments,
                                     const ConfigValue& root,
                                     const std::string& file,
                                     const Sources& sources,
                                     TermSet without,
                                     bool explained);

/// --threads; 0: as many as the machine has.
[[nodiscard]] unsigned threads_of(const Arguments& arguments);

}  // namespace headroom::cli
