// SPDX-License-Identifier: Apache-2.0
// The data of the model as one library has them: presets, networks, curves, collectives, transports and stacks.
#pragma once

#include <headroom/core/config_reader.hpp>
#include <headroom/core/embedded.hpp>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <vector>

namespace headroom {

/// Files that ship, a user's folders over them, and what was read of them: each thing once, when it is first asked for,
/// so that a broken file is told to who needs it. What is read belongs to this object and its copies, which share it.
/// Safe to call from several threads.
class ModelData {
 public:
  /// `folders` hold KIND/ID.toml and hide files that ship; earlier folders win.
  explicit ModelData(UserFolders folders);
  /// With the folders of HEADROOM_DATA_DIR and the user's configuration. ConfigError for a folder that is none.
  [[nodiscard]] static ModelData standard();

  [[nodiscard]] const DataStore& files() const noexcept { return files_; }

  /// What `make()` returns, kept by its type and `name`. What it throws is not kept.
  template <class Make>
  [[nodiscard]] const std::invoke_result_t<Make>& once(std::string_view name, const Make& make) const {
    using Made = std::invoke_result_t<Make>;
    return *static_cast<const Made*>(kept(
        typeid(Made), name, [&]() -> std::shared_ptr<const void> { return std::make_shared<const Made>(make()); }));
  }

 private:
  struct Kept;
  [[nodiscard]] const void* kept(const std::type_info& type,
                                 std::string_view name,
                                 const std::function<std::shared_ptr<const void>()>& make) const;

  DataStore files_;
  std::shared_ptr<Kept> kept_;
};

/// A file with its bases merged in.
struct ModelDocument {
  ConfigValue tree;
  std::string file;
};
/// A training, serving or rough stack: `kind` is "stacks/train", ... ConfigError where there is none of that id.
[[nodiscard]] ModelDocument stack_document(const ModelData& data, std::string_view kind, std::string_view id);
/// A file of the parameters of the step. ConfigError where there is none of that id.
[[nodiscard]] ModelDocument step_document(const ModelData& data, std::string_view id);

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

/// A file of the parameters of the step as `read` reads it, once.
template <class Read>
[[nodiscard]] const auto& step_numbers(const ModelData& data, std::string_view id, Read read) {
  return data.once(id, [&] { return read_document(step_document(data, id), read); });
}

}  // namespace headroom
