// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/page/page.hpp>
#include <headroom/cli/fits/fit_overlay.hpp>
#include <headroom/cli/frame/data_folder.hpp>
#include <headroom/cli/frame/format_option.hpp>
#include <headroom/cli/frame/own_data.hpp>
#include <headroom/cli/render/render_calibration.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/embedded.hpp>
#include <headroom/core/whole_file.hpp>
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/workload/model_data.hpp>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

namespace headroom::cli {
namespace {

namespace fs = std::filesystem;

/// Data folder for a path of --output.
fs::path folder_of(const std::string& path) {
  if (std::optional<fs::path> folder = overlay_folder(path)) {
    return *std::move(folder);
  }
  throw ConfigError{"-o " + quoted(path) +
                    ": an overlay is a folder with gpus/ID.toml and curves/ID.toml, which "
                    "HEADROOM_DATA_DIR names; give the folder, or its gpus/" +
                    fs::path{path}.filename().string()};
}

}  // namespace

std::string overlay_id(const Arguments& arguments, const std::string& path, const std::string& base) {
  std::string id = arguments.one("--id");
  const fs::path file{path};
  if (id.empty()) {
    id = file.extension() == ".toml" ? file.stem().string() : base;
  }
  const bool plain = !id.empty() && normalised(id) == id && std::all_of(id.begin(), id.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '.';
  });
  if (!plain) {
    throw ConfigError{"id " + quoted(id) + " must be lower case letters, digits and dashes, such as h200-rack-7"};
  }
  return id;
}

std::string write_overlay(const Overlay& overlay, const std::string& path) {
  const fs::path folder = folder_of(path);
  for (const auto& [name, text] : overlay_files(overlay)) {
    const fs::path file = folder / name;
    std::error_code error;
    fs::create_directories(file.parent_path(), error);
    if (error) {
      throw ConfigError{quoted(file.parent_path().string()) + " cannot be made: " + error.message()};
    }
    write_whole_file(file.string(), text);
  }
  return folder.string();
}

std::string how_to_use(const Overlay& overlay, const std::string& folder) {
  return "use it:       HEADROOM_DATA_DIR=" + folder + " headroom plan SCENARIO.toml   (hardware.gpu = \"" +
         overlay.id + "\")\nwhat changes: headroom compare SCENARIO.toml --overlay " + folder + "\n";
}

Outcome fit_overlay(const Arguments& arguments) {
  const std::vector<std::string> folders = arguments.many("");
  for (const std::string& folder : folders) {
    if (!is_sample_folder(folder)) {
      throw ConfigError{quoted(folder) +
                        " holds no samples (no manifest.toml); --base fits folders that 'headroom "
                        "calibrate' or 'headroom probe' wrote, --gpu fits files of measured kernels"};
    }
  }
  const std::string output = arguments.one("--output");
  if (!output.empty()) {
    static_cast<void>(folder_of(output));
  }
  if (arguments.has("--html")) {
    report::require_charts();
  }
  const Catalog catalog = own_catalog();
  const Device& base = catalog.device(arguments.one("--base"));
  const SampleSet set = read_sample_folders(folders);
  const Overlay overlay =
      make_overlay(own_model_data(), set, base, catalog.reference_node(base), overlay_id(arguments, output, base.id));
  const std::string form = arguments.one("--format", "text");
  const DocumentFormat* const document = document_format(arguments);
  std::string text = document != nullptr ? document->print(overlay_document(overlay, set.manifest))
                     : form == "toml" ? overlay.gpu_toml + "\n" + overlay.curves_toml + "\n" + overlay.collectives_toml
                                      : overlay_text(overlay);
  std::string said;
  if (!output.empty()) {
    const std::string folder = write_overlay(overlay, output);
    said = "wrote " + folder + "\n" + how_to_use(overlay, folder);
  }
  if (arguments.has("--html")) {
    write_whole_file(arguments.one("--html"), report::page({{{"fit", overlay_document(overlay, set.manifest)}}, {}}));
    said += "wrote " + arguments.one("--html") + "\n";
  }
  return form == "text" ? Outcome{text + said, "", 0} : Outcome{text, said, 0};
}

}  // namespace headroom::cli
