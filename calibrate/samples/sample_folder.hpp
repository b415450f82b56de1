// SPDX-License-Identifier: Apache-2.0
// Writes a folder of samples completely or not at all.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace headroom {

/// Name and text of a file.
using FolderFile = std::pair<std::string, std::string>;

/// Checks before hours of measuring that samples can go to `folder`. Throws ConfigError when it exists (with `force`:
/// unless it is empty or holds a probe's manifest.toml, because nothing else is ever removed), or when its parent does
/// not exist or is not writable.
void check_sample_folder(const std::string& folder, bool force);

/// Writes all files to a new folder next to `folder`, renames it, and only then removes the old one. Throws ConfigError
/// as check_sample_folder does, or when a file cannot be written; `folder` is then unchanged.
void write_sample_folder(const std::string& folder, const std::vector<FolderFile>& files, bool force);

}  // namespace headroom
