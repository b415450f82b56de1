// SPDX-License-Identifier: Apache-2.0
// Everything that can be asked, as one closed sum, and the one place that says which question a document asks.
#pragma once

#include <headroom/answers/door/kind_list.hpp>
#include <headroom/answers/door/library.hpp>
#include <headroom/core/config_value.hpp>
#include <headroom/scenarios/compare/comparison.hpp>
#include <headroom/scenarios/compare/cures.hpp>
#include <headroom/scenarios/question/scenario.hpp>
#include <headroom/scenarios/search/search_job.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace headroom {

namespace asked {

/// One training strategy, or one serving replica under a fixed load.
struct OnePlan {
  Scenario scenario;
};

/// The best of the strategies, jobs or machines that a training document frees.
struct BestPlan {
  SearchQuestion question;
};

/// Requests as they come, on the fleet that the scenario states.
struct SimulatedFleet {
  Scenario scenario;
  double factor = 1.0;  ///< of the traffic's rate, above 0
};

/// Several questions side by side, the first the one that others are held against.
struct SideBySide {
  std::vector<Scenario> scenarios;
  Objectives objectives;
  std::vector<RefusedPlan> refused;  ///< beside them, told with the answer
};

/// Several fleets side by side.
struct FleetsSideBySide {
  std::vector<AskedFleet> fleets;
  std::vector<RefusedPlan> refused;  ///< beside them, told with the answer
};

/// A training scenario at a series of GPU counts.
struct GpuSeries {
  Scenario scenario;
  scaling::Request request;
};

/// A measured speed-up of a training scenario, to be explained.
struct SpeedupSeen {
  Scenario scenario;
  scaling::MeasuredSpeedup measured;
};

}  // namespace asked

template <class... Kind>
std::variant<asked::OnePlan,
             asked::BestPlan,
             asked::SimulatedFleet,
             asked::SideBySide,
             asked::FleetsSideBySide,
             asked::GpuSeries,
             asked::SpeedupSeen,
             typename Kind::Asked...>
    sum_of_questions(KindList<Kind...>);
using AskedQuestion = decltype(sum_of_questions(OwnKinds{}));

/// Found without reading the document: by what each kind looks at, its [search]. One that is broken has a kind too.
[[nodiscard]] DocumentKind kind_of(const ConfigValue& document, const QuestionLibrary& library);

/// Reads a document as what it asks. ConfigError with every problem at once, of `file` where none is nearer.
[[nodiscard]] AskedQuestion read_question(ConfigValue document,
                                          const std::string& file,
                                          const QuestionLibrary& library);
AskedQuestion read_question(ConfigValue document, const std::string& file, const QuestionLibrary&& gone) = delete;

}  // namespace headroom
