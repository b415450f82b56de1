// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/workload/model_files.hpp>

#include <utility>

namespace headroom {
namespace embedded {
EmbeddedIndex embedded_models() noexcept;  // NOLINT(misc-use-internal-linkage)
}

DataStore model_files(std::vector<std::string> folders) {
  return DataStore{embedded::embedded_models(), std::move(folders)};
}

}  // namespace headroom
