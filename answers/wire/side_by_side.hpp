// SPDX-License-Identifier: Apache-2.0
// What may be held side by side, and the plan that each question takes.
#pragma once

#include <headroom/answers/door/answer.hpp>
#include <headroom/core/config_value.hpp>

#include <optional>
#include <string>
#include <vector>

namespace headroom {

/// A question and what its column is called.
struct NamedDocument {
  std::string name;
  ConfigValue root;
  bool listed = false;  ///< of several values of an option: where it cannot be answered the others are
};

/// ConfigError for what a plan alone answers, by itself.
void refuse_alone(const ConfigValue& root, const std::string& name, const QuestionLibrary& library);

/// Whether they are fleets. ConfigError where some are and others are not.
[[nodiscard]] bool are_fleets(const std::vector<NamedDocument>& documents, const QuestionLibrary& library);

/// Of a plan, a search or a curve: the plan, the best of it, the chosen point. nullopt: there is none. Precondition: it
/// is one of the three.
[[nodiscard]] std::optional<Plan> plan_taken(GivenAnswer answer);

/// What is told of a question that is left out of a comparison.
[[nodiscard]] std::string first_problem(const ConfigError& error);

}  // namespace headroom
