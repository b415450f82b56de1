// SPDX-License-Identifier: Apache-2.0
// Files that are written whole or not at all.
#pragma once

#include <string>
#include <string_view>

namespace headroom {

/// Writes beside `path` and renames over it, so that a reader never sees half of it and a failure leaves what was
/// there. What is no plain file (/dev/stdout, a pipe) is written as it is. ConfigError: "PATH cannot be written: why".
void write_whole_file(const std::string& path, std::string_view text);

/// ConfigError with the way out where write_whole_file() would fail for certain: before work is done for a file that
/// cannot be. A folder of that name, no folder to hold it, or one that may not be written to.
void require_writable(const std::string& path);

}  // namespace headroom
