// SPDX-License-Identifier: Apache-2.0
// The network that `model` names, lists in a file, or holds.
#pragma once

#include <headroom/core/config_reader.hpp>
#include <headroom/model/workload/network_library.hpp>

#include <string>

namespace headroom {

/// Of `model` in `root`: an id of the catalog, a TOML file beside `file`, or a table of ops; with the values that
/// `sizes` gives to sizes that the network names. Problems go to the diagnostics of `root`.
[[nodiscard]] Network read_network_model(ConfigTable& root, const std::string& file, const NetworkLibrary& networks);

}  // namespace headroom
