// SPDX-License-Identifier: Apache-2.0
// What ships with the user's own data over it, as every command reads it.
#pragma once

#include <headroom/answers/door/library.hpp>
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/workload/model_data.hpp>
#include <headroom/scenarios/question/scenario.hpp>

#include <string>
#include <vector>

namespace headroom::cli {

/// With the folders that HEADROOM_DATA_DIR and the user's configuration name. ConfigError for a folder that is none.
[[nodiscard]] UserFolders own_folders();
[[nodiscard]] Catalog own_catalog();
[[nodiscard]] ModelData own_model_data();
[[nodiscard]] Sources own_sources();
[[nodiscard]] QuestionLibrary own_library();

/// Warnings on files of those folders that were passed over and have not been told yet.
[[nodiscard]] std::vector<std::string> untold_warnings();

}  // namespace headroom::cli
