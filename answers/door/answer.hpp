// SPDX-License-Identifier: Apache-2.0
// From a question to its answer: the one way that the command line, the tests and the library's users go.
#pragma once

#include <headroom/answers/door/question.hpp>
#include <headroom/scenarios/fleet/fleet_comparison.hpp>
#include <headroom/scenarios/plan/own_runs.hpp>
#include <headroom/scenarios/plan/plan.hpp>
#include <headroom/scenarios/search/search.hpp>
#include <headroom/scenarios/search/search_plan.hpp>
#include <headroom/scenarios/serving/simulated_serving.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace headroom {

class SimulationRecord;

namespace given {

/// A simulation with the question that it answers.
struct Simulated {
  Scenario scenario;
  ServingSimulation simulation;
};

/// A series of GPU counts with the scenario that it is of.
struct Series {
  Scenario scenario;
  scaling::Curve curve;
};

/// A measured speed-up explained, with the scenario that it is of.
struct Speedup {
  Scenario scenario;
  scaling::SpeedupAnswer answer;
};

}  // namespace given

/// The answers, in the order of the questions.
template <class... Kind>
std::variant<Plan,
             SearchPlan,
             given::Simulated,
             Comparison,
             FleetComparison,
             given::Series,
             given::Speedup,
             typename Kind::Given...>
    sum_of_answers(KindList<Kind...>);
using GivenAnswer = decltype(sum_of_answers(OwnKinds{}));

/// Who searches: run_search in this process alone, or search_on_ranks.
using SearchFunction = std::function<SearchResult(const SearchQuestion&, const SearchOptions&)>;

/// How a question is to be answered. What has no part in a question's answer is not read.
struct AnswerOptions {
  PlanPart part = PlanPart::all;  ///< memory alone needs no peak, no rate and no price
  bool explain = false;           ///< every term with its formula and inputs
  TermSet without;                ///< terms of a training step that are left out
  bool beside = true;             ///< measured runs like a training plan, and what 10 % more of each part would buy
  std::vector<RunFile> runs;      ///< measured runs of the user's, which move a plan's level
  unsigned threads = 0;           ///< 0: as many as the machine has; the answer is the same
  SimulationRecord* record = nullptr;  ///< of a simulated fleet; null: nothing is recorded
  std::string checkpoint;              ///< file of a search; empty: none
  /// Ends a search, a fleet's plan or a curve of stated GPUs with what was found so far.
  const std::atomic<bool>* stop = nullptr;
  std::function<bool()> time_over;                      ///< whether `stop` was set because the time ran out
  FleetProgress* fleet_progress = nullptr;              ///< of a fleet's plan, to be looked at from another thread
  BoxProgress* box_progress = nullptr;                  ///< of a curve, likewise
  std::function<void(const SearchProgress&)> progress;  ///< of a search, twice a second at most
  std::function<void(const std::string&)> tell;         ///< of what a search lost on its way
  SearchFunction search = run_search;
};

/// ConfigError where the question cannot be answered as it is asked, every problem at once.
[[nodiscard]] GivenAnswer answer_of(AskedQuestion question, const AnswerOptions& options = {});

/// Not stopped before all was looked at.
[[nodiscard]] bool is_complete(const GivenAnswer& answer) noexcept;
/// Stopped because its time ran out.
[[nodiscard]] bool is_time_over(const GivenAnswer& answer) noexcept;

/// Neither refused nor a promise missed: what a plan's exit code 0 says.
[[nodiscard]] bool is_good(const GivenAnswer& answer) noexcept;

}  // namespace headroom
