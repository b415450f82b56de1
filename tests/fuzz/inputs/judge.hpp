// SPDX-License-Identifier: Apache-2.0
// What an answer or a refusal may never look like.
#pragma once

#include "program.hpp"
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace headroom::fuzz {

/// Why a text is no JSON document (RFC 8259), with the byte; empty: it is one. Numbers beyond a double are refused too.
[[nodiscard]] std::string json_fault(std::string_view text);

/// A folder's files by name, with their bytes.
using Files = std::map<std::string, std::string>;
[[nodiscard]] Files files_of(const std::filesystem::path& folder);

/// What is broken, one sentence; empty: nothing. `before`, `after`: the command's folder.
[[nodiscard]] std::string judge(const std::vector<std::string>& words,
                                const Files& before,
                                const Files& after,
                                const Reply& reply);

}  // namespace headroom::fuzz
