// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/config_value.hpp>
#include <headroom/scenarios/question/scenario.hpp>

namespace headroom {

Sources Sources::standard() {
  return {Catalog::standard(), ModelLibrary::standard()};
}

bool states(const Scenario& scenario, std::string_view table, std::string_view key) noexcept {
  const ConfigValue* found = scenario.document ? scenario.document->find(table) : nullptr;
  return found != nullptr && found->find(key) != nullptr;
}

}  // namespace headroom
