// SPDX-License-Identifier: Apache-2.0
#include <headroom/scenarios/question/scenario.hpp>

#include <utility>

namespace headroom {

Sources Sources::of(const UserFolders& folders) {
  ModelData data{folders};
  ModelLibrary models{data.files()};
  return {Catalog::of(folders), std::move(models), std::move(data)};
}

Sources Sources::standard() {
  return of(DataStore::user_folders());
}

}  // namespace headroom
