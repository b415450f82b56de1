// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/workload/model_data.hpp>
#include <headroom/model/workload/model_library.hpp>
#include <headroom/model/workload/model_name.hpp>

namespace headroom {
ModelLibrary::ModelLibrary(DataStore store) : store_{std::move(store)} {}

ModelLibrary ModelLibrary::standard() {
  return ModelLibrary{ModelData::standard().files()};
}

bool ModelLibrary::knows(std::string_view spelling) const {
  return store_.find("models", spelling).has_value();
}

std::optional<MeantModel> ModelLibrary::meant(std::string_view name) const {
  const ModelName asked = read_model_name(name);
  for (const std::string& known : store_.spellings("models")) {
    if (read_model_name(known).network == asked.network) {
      return MeantModel{entry(known).id, asked.weights};
    }
  }
  return std::nullopt;
}

std::optional<std::string> ModelLibrary::nearest(std::string_view spelling) const {
  const std::optional<std::string> name = nearest_model_name(spelling, store_.spellings("models"));
  return name ? std::optional{entry(*name).id} : std::nullopt;
}

std::string ModelLibrary::suggested(std::string_view spelling) const {
  const std::optional<std::string> id = nearest(spelling);
  return id ? "; did you mean '" + *id + "'?" : std::string{};
}

std::string ModelLibrary::unknown(std::string_view spelling) const {
  if (const std::string_view reason = why_no_preset(spelling); !reason.empty()) {
    return "model " + quoted(spelling) + " is not known: " + std::string{reason};
  }
  return "unknown model " + quoted(spelling) + suggested(spelling) + store_.unreadable_text("models") +
         " (see 'headroom catalog list models')";
}

DataStore::Entry ModelLibrary::entry(std::string_view spelling) const {
  if (std::optional<DataStore::Entry> found = store_.find("models", spelling)) {
    return *std::move(found);
  }
  if (const std::optional<MeantModel> found = meant(spelling)) {
    return entry(found->id);
  }
  throw ConfigError{unknown(spelling)};
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
