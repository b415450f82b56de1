// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/door/question.hpp>
#include <headroom/scenarios/fleet/fleet_axes.hpp>
#include <headroom/scenarios/read/network_reader.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>

#include <utility>

namespace headroom {

DocumentKind kind_of(const ConfigValue& document, const QuestionLibrary& library) {
  if (asks_for_network(document, library.sources.models, library.networks)) {
    return DocumentKind::network;
  }
  if (asks_for_fleet(document)) {
    return DocumentKind::fleet;
  }
  return asks_for_search(document) ? DocumentKind::search : DocumentKind::one_plan;
}

AskedQuestion read_question(ConfigValue document, const std::string& file, const QuestionLibrary& library) {
  switch (kind_of(document, library)) {
    case DocumentKind::network:
      return asked::NetworkRun{read_network_scenario(document, file, library.sources, library.networks)};
    case DocumentKind::fleet: return asked::FleetSize{std::move(document), file, &library.sources};
    case DocumentKind::search: return asked::BestPlan{read_search(document, file, library.sources)};
    case DocumentKind::one_plan: break;
  }
  return asked::OnePlan{read_scenario(document, file, library.sources)};
}

}  // namespace headroom
