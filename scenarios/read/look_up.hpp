// SPDX-License-Identifier: Apache-2.0
// Ids and files that a scenario names, looked up with the problem told at the key that names them.
#pragma once

#include <headroom/core/config_reader.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace headroom {

/// A document whose bases are merged has no `base` any more (scenario_tree); what states one all the same is no file.
inline void refuse_base(ConfigTable& root) {
  if (root.value("base") != nullptr) {
    root.problem("base",
                 "'base' stands in a scenario's file alone, for its path is relative to that file; ask about the file "
                 "that it names, and state over it what differs (--set KEY=VALUE)");
  }
}

/// How the name of a document begins that came as a request: it names no files, and none are opened for it.
inline constexpr std::string_view request_document = "<request>";
[[nodiscard]] inline bool is_request(std::string_view file) noexcept {
  return file.starts_with(request_document);
}
/// What is said of a path in a request.
[[nodiscard]] inline std::string no_files_text(std::string_view path) {
  return quoted(path) + " is the path of a file, and a request opens none";
}

/// A path relative to the file that names it; on the command line to the current folder.
/// ConfigError of a request.
[[nodiscard]] inline std::string path_beside(const std::string& file, const std::string& path) {
  if (is_request(file)) {
    throw ConfigError{no_files_text(path)};
  }
  return file.empty() || file.starts_with("--") || file == "command line"
             ? path
             : (std::filesystem::path{file}.parent_path() / path).lexically_normal().string();
}

/// What `look` finds. Problems without a place of their own stand at `key` of `table`, and nothing is found.
template <class Look>
auto look_up(ConfigTable& table, std::string_view key, const std::string& spelling, Look look)
    -> std::optional<std::decay_t<decltype(look(spelling))>> {
  try {
    return look(spelling);
  } catch (const ConfigError& error) {
    for (const Diagnostic& diagnostic : error.diagnostics()) {
      if (diagnostic.file.empty()) {
        table.problem(key, diagnostic.message);
      } else {
        table.diagnostics().add(diagnostic.file, diagnostic.at, diagnostic.message);
      }
    }
    table.diagnostics().pass_over(error.untold());
    return std::nullopt;
  }
}

}  // namespace headroom
