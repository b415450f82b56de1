// SPDX-License-Identifier: Apache-2.0
// `headroom fit FOLDER --base GPU`: samples in, an overlay of the catalog out.
#pragma once

#include <headroom/calibrate/overlay/overlay.hpp>
#include <headroom/cli/frame/verb.hpp>

#include <string>

namespace headroom::cli {

[[nodiscard]] Outcome fit_overlay(const Arguments& arguments);

/// Writes the overlay as a data folder, files whole or not at all; `path` is that folder, or its gpus/ID.toml.
/// Returns the folder.
[[nodiscard]] std::string write_overlay(const Overlay& overlay, const std::string& path);

/// The id of an overlay that is to go to `path`: that of --id, else the file's stem, else the base's own.
[[nodiscard]] std::string overlay_id(const Arguments& arguments, const std::string& path, const std::string& base);

/// "use it: HEADROOM_DATA_DIR=FOLDER ..."
[[nodiscard]] std::string how_to_use(const Overlay& overlay, const std::string& folder);

}  // namespace headroom::cli
