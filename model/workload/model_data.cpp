// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/workload/model_data.hpp>

#include <map>
#include <mutex>
#include <optional>
#include <typeindex>
#include <utility>

namespace headroom {
namespace embedded {
EmbeddedIndex embedded_models() noexcept;  // NOLINT(misc-use-internal-linkage)
}

struct ModelData::Kept {
  std::mutex mutex;
  std::map<std::pair<std::type_index, std::string>, std::shared_ptr<const void>> things;
};

ModelData::ModelData(UserFolders folders)
    : files_{embedded::embedded_models(), std::move(folders)}, kept_{std::make_shared<Kept>()} {}

ModelData ModelData::standard() {
  return ModelData{DataStore::user_folders()};
}

const void* ModelData::kept(const std::type_info& type,
                            std::string_view name,
                            const std::function<std::shared_ptr<const void>()>& make) const {
  const std::pair<std::type_index, std::string> key{type, name};
  {
    const std::lock_guard lock{kept_->mutex};
    if (const auto found = kept_->things.find(key); found != kept_->things.end()) {
      return found->second.get();
    }
  }
  // Made without the lock, for it may ask for other things; of two threads the first one's stays.
  std::shared_ptr<const void> made = make();
  const std::lock_guard lock{kept_->mutex};
  return kept_->things.try_emplace(key, std::move(made)).first->second.get();
}

ModelDocument stack_document(const ModelData& data, std::string_view kind, std::string_view id) {
  const std::optional<DataStore::Entry> entry = data.files().find(kind, id);
  if (!entry) {
    throw ConfigError{"unknown stack " + quoted(id)};
  }
  return {data.files().tree(kind, *entry), entry->file};
}

ModelDocument step_document(const ModelData& data, std::string_view id) {
  const std::optional<DataStore::Entry> entry = data.files().find("stacks/step", id);
  if (!entry) {
    throw ConfigError{"there is no " + std::string{id} + ".toml among the parameters of the step"};
  }
  return {data.files().tree("stacks/step", *entry), entry->file};
}

}  // namespace headroom
