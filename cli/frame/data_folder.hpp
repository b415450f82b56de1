// SPDX-License-Identifier: Apache-2.0
// How a folder of a user's own data is laid out, for every page that tells it.
#pragma once

#include <array>
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

/// "{gpus,nodes,...}/ID.toml".
[[nodiscard]] inline std::string data_folder_layout() {
  std::string kinds;
  for (const std::string_view kind : data_kinds) {
    kinds += (kinds.empty() ? "" : ",") + std::string{kind};
  }
  return "{" + kinds + "}/ID.toml";
}

}  // namespace headroom::cli
