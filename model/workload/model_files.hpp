// SPDX-License-Identifier: Apache-2.0
// The files of the model: presets, networks, curves, collectives, transports and stacks.
#pragma once

#include <headroom/core/config_reader.hpp>
#include <headroom/core/embedded.hpp>

#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace headroom {

/// Those that ship, and in front of them those of `folders`. ConfigError for a folder of HEADROOM_DATA_DIR that is
/// none.
[[nodiscard]] DataStore model_files(std::vector<std::string> folders = DataStore::user_folders());

/// One of them with its bases merged in.
struct ModelDocument {
  ConfigValue tree;
  std::string file;
};
/// A training, serving or rough stack: `kind` is "stacks/train", ... ConfigError where there is none of that id.
[[nodiscard]] ModelDocument stack_document(std::string_view kind, std::string_view id);
/// A file of the parameters of the step. ConfigError where there is none of that id.
[[nodiscard]] ModelDocument step_document(std::string_view id);

/// What `read(tree, file, diagnostics)` or `read(tree, diagnostics)` makes of a document. ConfigError with all that is
/// wrong in it.
template <class Read>
[[nodiscard]] auto read_document(const ModelDocument& document, Read read) {
  Diagnostics diagnostics;
  auto result = [&] {
    if constexpr (std::is_invocable_v<Read, const ConfigValue&, const std::string&, Diagnostics&>) {
      return read(document.tree, document.file, diagnostics);
    } else {
      return read(document.tree, diagnostics);
    }
  }();
  diagnostics.throw_if_any();
  return result;
}

}  // namespace headroom
