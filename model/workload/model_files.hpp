// SPDX-License-Identifier: Apache-2.0
// The files of the model: presets, networks, curves, collectives, transports and stacks.
#pragma once

#include <headroom/core/embedded.hpp>

#include <string>
#include <vector>

namespace headroom {

/// Those that ship, and in front of them those of `folders`. ConfigError for a folder of HEADROOM_DATA_DIR that is
/// none.
[[nodiscard]] DataStore model_files(std::vector<std::string> folders = DataStore::user_folders());

}  // namespace headroom
