// SPDX-License-Identifier: Apache-2.0
#include <headroom/cli/frame/own_data.hpp>

#include <cstddef>
#include <memory>

namespace headroom::cli {
namespace {

/// A command is a process: all that it reads notes broken files in one place.
const std::shared_ptr<PassedOver>& passed_over() {
  static const auto all = std::make_shared<PassedOver>();
  return all;
}

}  // namespace

UserFolders own_folders() {
  return {DataStore::user_folders(), passed_over()};
}

Catalog own_catalog() {
  return Catalog::of(own_folders());
}

ModelData own_model_data() {
  return ModelData{own_folders()};
}

Sources own_sources() {
  return Sources::of(own_folders());
}

QuestionLibrary own_library() {
  return QuestionLibrary::of(own_folders());
}

std::vector<std::string> untold_warnings() {
  static std::size_t told = 0;
  std::vector<std::string> all = passed_over()->warnings();
  all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(told));
  told += all.size();
  return all;
}

}  // namespace headroom::cli
