// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/workload/model_data.hpp>
#include <headroom/model/workload/network_library.hpp>

namespace headroom {
NetworkLibrary::NetworkLibrary(DataStore store) : store_{std::move(store)} {}

NetworkLibrary NetworkLibrary::standard() {
  return NetworkLibrary{ModelData::standard().files()};
}

bool NetworkLibrary::knows(std::string_view spelling) const {
  return store_.find("networks", spelling).has_value();
}

std::optional<std::string> NetworkLibrary::nearest(std::string_view spelling) const {
  const std::vector<std::string> names = store_.spellings("networks");
  const std::vector<std::string_view> candidates{names.begin(), names.end()};
  return closest(normalised(spelling), candidates);
}

DataStore::Entry NetworkLibrary::entry(std::string_view spelling) const {
  const std::optional<DataStore::Entry> found = store_.find("networks", spelling);
  if (!found) {
    const std::vector<std::string> names = store_.spellings("networks");
    const std::vector<std::string_view> candidates{names.begin(), names.end()};
    throw ConfigError{"unknown network " + quoted(spelling) + suggestion(normalised(spelling), candidates) +
                      " (see 'headroom catalog list networks')"};
  }
  return *found;
}

Network NetworkLibrary::find(std::string_view spelling, const NetworkSizes& sizes) const {
  const DataStore::Entry preset = entry(spelling);
  const ConfigValue root = store_.tree("networks", preset);
  Diagnostics diagnostics;
  Network network = read_network(ConfigTable{root, "", diagnostics}, sizes);
  diagnostics.throw_if_any();
  return network;
}

}  // namespace headroom
