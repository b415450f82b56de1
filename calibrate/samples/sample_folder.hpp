// SPDX-License-Identifier: Apache-2.0
// A folder of samples, written whole or not at all.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace headroom {

/// Name and text of one file.
using FolderFile = std::pair<std::string, std::string>;

/// Whether samples can go to `folder`, asked before hours are spent on measuring. Throws ConfigError: it exists
/// (without `force`; with it, unless it is empty or holds a probe's manifest.toml, for nothing else is ever removed),
/// or the folder above it does not exist or cannot be written.
void check_sample_folder(const std::string& folder, bool force);

/// Writes all files to a new folder beside `folder`, then renames it; what stood there goes only after that.
/// Throws ConfigError as check_sample_folder, or when a file cannot be written; `folder` is then as it was.
void write_sample_folder(const std::string& folder, const std::vector<FolderFile>& files, bool force);

}  // namespace headroom
