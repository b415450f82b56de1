// SPDX-License-Identifier: Apache-2.0
// Layout of a user's data folder, for all pages that describe it.
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace headroom::cli {

/// Subfolders that are read, one per kind of data file.
inline constexpr std::array<std::string_view, 19> data_kinds{
    "gpus",         "nodes",         "clusters",     "prices",       "models",      "networks", "stacks/train",
    "stacks/serve", "stacks/step",   "stacks/rough", "stacks/infer", "stacks/post", "curves",   "collectives",
    "transports",   "architectures", "partitions",   "cpus",         "video"};

/// "gpus, nodes, ...".
[[nodiscard]] inline std::string data_kinds_text() {
  std::string kinds;
  for (const std::string_view kind : data_kinds) {
    kinds += (kinds.empty() ? "" : ", ") + std::string{kind};
  }
  return kinds;
}

/// Folder of an overlay's path: the path itself, or the folder above gpus/ID.toml; nullopt for another file.
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
