// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/workload/model_data.hpp>
#include <headroom/model/workload/model_library.hpp>

namespace headroom {
ModelLibrary::ModelLibrary(DataStore store) : store_{std::move(store)} {}

ModelLibrary ModelLibrary::standard() {
  return ModelLibrary{ModelData::standard().files()};
}

bool ModelLibrary::knows(std::string_view spelling) const {
  return store_.find("models", spelling).has_value();
}

std::optional<std::string> ModelLibrary::nearest(std::string_view spelling) const {
  const std::vector<std::string> names = store_.spellings("models");
  const std::vector<std::string_view> candidates{names.begin(), names.end()};
  return closest(normalised(spelling), candidates);
}

std::string ModelLibrary::unknown(std::string_view spelling) const {
  const std::vector<std::string> names = store_.spellings("models");
  const std::vector<std::string_view> candidates{names.begin(), names.end()};
  return "unknown model " + quoted(spelling) + suggestion(normalised(spelling), candidates) +
         " (see 'headroom catalog list models')";
}

DataStore::Entry ModelLibrary::entry(std::string_view spelling) const {
  const std::optional<DataStore::Entry> found = store_.find("models", spelling);
  if (!found) {
    throw ConfigError{unknown(spelling)};
  }
  return *found;
}

ConfigValue ModelLibrary::tree(std::string_view spelling) const {
  return store_.tree("models", entry(spelling));
}

Architecture ModelLibrary::find(std::string_view spelling) const {
  const ConfigValue root = tree(spelling);
  Diagnostics diagnostics;
  Architecture architecture = read_architecture(ConfigTable{root, "", diagnostics});
  diagnostics.throw_if_any();
  return architecture;
}

}  // namespace headroom
