// SPDX-License-Identifier: Apache-2.0
// Files that are written whole or not at all.
#pragma once

#include <string>
#include <string_view>

namespace headroom {

/// Writes beside `path` and renames over it, so that a reader never sees half of it and a failure leaves what was
/// there. It is the folder that must allow it: a file that may not be written to is replaced, its mode kept. Through a
/// link the file behind it is replaced or made, not the link. What is no plain file (/dev/stdout, a pipe) is written as
/// it is. ConfigError: "PATH cannot be written: why".
void write_whole_file(const std::string& path, std::string_view text);

/// ConfigError with the way out where write_whole_file() would fail for certain: before work is done for a file that
/// cannot be. A folder of that name, no folder to hold it, one that may not be written to, or links without an end.
void require_writable(const std::string& path);

/// Where a file of this name is written: the path behind its links, whether there is a file or not. ConfigError where
/// the links lead back to themselves.
[[nodiscard]] std::string behind_links(const std::string& path);

/// Whether two names are of one file or folder: through links, second names and other spellings. Of what is not there
/// yet the place counts where it would be written.
[[nodiscard]] bool same_file(const std::string& a, const std::string& b);

}  // namespace headroom
