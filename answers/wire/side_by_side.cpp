// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/wire/side_by_side.hpp>

#include <utility>
#include <variant>

namespace headroom {

void refuse_alone(const ConfigValue& root, const std::string& name, const QuestionLibrary& library) {
  switch (kind_of(root, library)) {
    case DocumentKind::one_plan:
    case DocumentKind::search:
    case DocumentKind::box:
    case DocumentKind::fleet: return;
    case DocumentKind::network:
      throw ConfigError{"networks of ops are not held side by side, and " + quoted(name) +
                        " is one: 'headroom plan' answers its memory and its step"};
    case DocumentKind::mixed:
      throw ConfigError{"mixes of SKUs are not held side by side, and " + quoted(name) +
                        " is one ([[hardware.pool]]): 'headroom plan' answers each"};
    default: break;
  }
  throw ConfigError{"questions of kind " + quoted(root.find("kind")->text) + " are not held side by side, and " +
                    quoted(name) + " is one: 'headroom plan' answers each"};
}

bool are_fleets(const std::vector<NamedDocument>& documents, const QuestionLibrary& library) {
  const NamedDocument* fleet = nullptr;
  const NamedDocument* other = nullptr;
  for (const NamedDocument& document : documents) {
    (kind_of(document.root, library) == DocumentKind::fleet ? fleet : other) = &document;
  }
  if (fleet != nullptr && other != nullptr) {
    throw ConfigError{quoted(fleet->name) + " asks for a fleet ([traffic]), " + quoted(other->name) +
                      " does not: fleets are held beside fleets, plans of a fixed load beside such plans; give both "
                      "[traffic], or both serving.concurrency"};
  }
  return fleet != nullptr;
}

std::optional<Plan> plan_taken(GivenAnswer answer) {
  if (auto* const search = std::get_if<SearchPlan>(&answer)) {
    return std::move(search->plan);
  }
  if (auto* const curve = std::get_if<BoxCurve>(&answer)) {
    return std::move(curve->plan);
  }
  return std::move(std::get<Plan>(answer));
}

std::string first_problem(const ConfigError& error) {
  return error.diagnostics().empty() ? std::string{error.what()} : error.diagnostics().front().message;
}

}  // namespace headroom
