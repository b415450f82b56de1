// SPDX-License-Identifier: Apache-2.0
// How a folder of a user's own data is laid out, for every page that tells it.
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace headroom::cli {

/// The subfolders that are read, one for each kind of data file.
inline constexpr std::array<std::string_view, 13> data_kinds{
    "gpus",         "nodes",       "clusters",     "prices", "models",      "networks",  "stacks/train",
    "stacks/serve", "stacks/step", "stacks/rough", "curves", "collectives", "transports"};

/// "gpus, nodes, ...".
[[nodiscard]] inline std::string data_kinds_text() {
  std::string kinds;
  for (const std::string_view kind : data_kinds) {
    kinds += (kinds.empty() ? "" : ", ") + std::string{kind};
  }
  return kinds;
}

/// The folder that an overlay's path means: itself, or of its gpus/ID.toml the folder of both; nullopt for another
/// file.
[[nodiscard]] inline std::optional<std::filesystem::path> overlay_folder(const std::string& path) {
  std::filesystem::path file = std::filesystem::path{path}.lexically_normal();
  if (file.extension() != ".toml") {
    return file;
  }
  if (file.parent_path().filename() != "gpus") {
    return std::nullopt;
  }
  const std::filesystem::path folder = file.parent_path().parent_path();
  return folder.empty() ? std::filesystem::path{"."} : folder;
}

}  // namespace headroom::cli
