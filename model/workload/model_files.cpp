// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/workload/model_files.hpp>

#include <optional>
#include <utility>

namespace headroom {
namespace embedded {
EmbeddedIndex embedded_models() noexcept;  // NOLINT(misc-use-internal-linkage)
}

DataStore model_files(std::vector<std::string> folders) {
  return DataStore{embedded::embedded_models(), std::move(folders)};
}

ModelDocument stack_document(std::string_view kind, std::string_view id) {
  const DataStore store = model_files();
  const std::optional<DataStore::Entry> entry = store.find(kind, id);
  if (!entry) {
    throw ConfigError{"unknown stack " + quoted(id)};
  }
  return {store.tree(kind, *entry), entry->file};
}

ModelDocument step_document(std::string_view id) {
  const DataStore store = model_files();
  const std::optional<DataStore::Entry> entry = store.find("stacks/step", id);
  if (!entry) {
    throw ConfigError{"there is no " + std::string{id} + ".toml among the parameters of the step"};
  }
  return {store.tree("stacks/step", *entry), entry->file};
}

}  // namespace headroom
