// SPDX-License-Identifier: Apache-2.0
// Files that are written completely or not at all.
#pragma once

#include <string>
#include <string_view>

namespace headroom {

/// Writes a temporary file next to `path` and renames it, so that a reader never sees a half-written file and a failure
/// keeps the old one. The folder must be writable; a read-only file is replaced and its mode kept. If `path` is a link,
/// the file behind it is replaced or made. A special file (/dev/stdout, a pipe) is written directly. Throws ConfigError
/// "PATH cannot be written: why".
void write_whole_file(const std::string& path, std::string_view text);

/// Removes what calls of write_whole_file() left beside `path` when they were killed before they could rename it.
/// Nobody else may be writing the file. What cannot be removed stays.
void remove_drafts(const std::string& path);

/// Throws ConfigError with the way out where write_whole_file() would certainly fail, so that no work is done in vain:
/// the path is a folder, its folder is missing or not writable, or its links form a cycle.
void require_writable(const std::string& path);

/// The path that a file of this name is written to: behind its links, whether or not the file exists. ConfigError if
/// the links form a cycle.
[[nodiscard]] std::string behind_links(const std::string& path);

/// Whether two names mean the same file or folder through links, hard links or other spellings. A name without a file
/// is compared by the place it would be written to.
[[nodiscard]] bool same_file(const std::string& a, const std::string& b);

}  // namespace headroom
