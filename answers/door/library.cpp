// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/door/library.hpp>

#include <utility>

namespace headroom {

QuestionLibrary QuestionLibrary::of(const UserFolders& folders) {
  Sources sources = Sources::of(folders);
  NetworkLibrary networks{sources.data.files()};
  return {std::move(sources), std::move(networks)};
}

QuestionLibrary QuestionLibrary::standard() {
  return of(DataStore::user_folders());
}

}  // namespace headroom
