// SPDX-License-Identifier: Apache-2.0
// Writes fitted numbers of networks' calls back into their files.
#pragma once

#include <headroom/calibrate/networks/fit_networks.hpp>

#include <string>
#include <vector>

namespace headroom {

/// Replaces the free numbers, the sources of their files and the widths of intervals (where networks were left out) in
/// FOLDER/stacks/infer/*.toml and FOLDER/stacks/step/network-calls.toml; everything else stays byte for byte. All files
/// are read back before any is written. Returns the written files. ConfigError when a file or a number is missing.
[[nodiscard]] std::vector<std::string> write_network_files(const NetworkFit& fit, const std::string& folder);

}  // namespace headroom
