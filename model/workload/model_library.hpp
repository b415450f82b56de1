// SPDX-License-Identifier: Apache-2.0
// Model presets by id or alias, embedded in the binary and extended by the user's folders.
#pragma once

#include <headroom/core/embedded.hpp>
#include <headroom/model/workload/architecture.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

class ModelLibrary {
 public:
  explicit ModelLibrary(DataStore store);
  [[nodiscard]] static ModelLibrary standard();

  /// ConfigError: unknown id (with the nearest spelling) or a broken file.
  [[nodiscard]] Architecture find(std::string_view spelling) const;
  /// The file an id or alias means. ConfigError: unknown.
  [[nodiscard]] DataStore::Entry entry(std::string_view spelling) const;
  [[nodiscard]] bool knows(std::string_view spelling) const;
  /// The known spelling that a slip most likely means.
  [[nodiscard]] std::optional<std::string> nearest(std::string_view spelling) const;
  /// The tree of a preset, bases applied: what an inline `[model] base = "ID"` extends.
  [[nodiscard]] ConfigValue tree(std::string_view spelling) const;
  [[nodiscard]] std::vector<std::string> ids() const { return store_.ids("models"); }
  /// "unknown model 'x'; did you mean 'y'?"
  [[nodiscard]] std::string unknown(std::string_view spelling) const;

 private:
  DataStore store_;
};

}  // namespace headroom
