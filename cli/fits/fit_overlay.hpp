// SPDX-License-Identifier: Apache-2.0
// `headroom fit FOLDER --base GPU`: makes an overlay of the catalog from samples.
#pragma once

#include <headroom/calibrate/overlay/overlay.hpp>
#include <headroom/cli/frame/verb.hpp>

#include <string>

namespace headroom::cli {

[[nodiscard]] Outcome fit_overlay(const Arguments& arguments);

/// Writes the overlay as a data folder, each file completely or not at all. `path` is the folder or its gpus/ID.toml;
/// returns the folder.
[[nodiscard]] std::string write_overlay(const Overlay& overlay, const std::string& path);

/// Id of an overlay written to `path`: --id, else the file's stem, else the base's id.
[[nodiscard]] std::string overlay_id(const Arguments& arguments, const std::string& path, const std::string& base);

/// Hint for the user: "use it: HEADROOM_DATA_DIR=FOLDER ...".
[[nodiscard]] std::string how_to_use(const Overlay& overlay, const std::string& folder);

}  // namespace headroom::cli
