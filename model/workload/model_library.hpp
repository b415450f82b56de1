// SPDX-License-Identifier: Apache-2.0
// Model presets by id or alias, embedded in the binary and extended by the user's folders.
#pragma once

#include <headroom/core/embedded.hpp>
#include <headroom/model/estimate/precision.hpp>
#include <headroom/model/workload/architecture.hpp>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// A preset that a name means without being a spelling of it, and the format of weights that the name states.
struct MeantModel {
  std::string id;
  std::optional<Precision> weights;
};

class ModelLibrary {
 public:
  explicit ModelLibrary(DataStore store);
  [[nodiscard]] static ModelLibrary standard();

  /// By id, alias or what a name means. ConfigError: unknown (with the nearest id) or a broken file.
  [[nodiscard]] Architecture find(std::string_view spelling) const;
  /// The file of the same. ConfigError: unknown.
  [[nodiscard]] DataStore::Entry entry(std::string_view spelling) const;
  /// As an id or alias.
  [[nodiscard]] bool knows(std::string_view spelling) const;
  /// What a name means that is none of the spellings (model_name.hpp): "Qwen/Qwen3-32B-FP8". nullopt: nothing known.
  [[nodiscard]] std::optional<MeantModel> meant(std::string_view name) const;
  /// The id that a slip most likely means.
  [[nodiscard]] std::optional<std::string> nearest(std::string_view spelling) const;
  /// The tree of a preset, bases applied: what an inline `[model] base = "ID"` extends.
  [[nodiscard]] ConfigValue tree(std::string_view spelling) const;
  [[nodiscard]] std::vector<std::string> ids() const { return store_.ids("models"); }
  /// `see` of each id, but of files of the user's own that are broken (DataStore::each).
  void each(const std::function<void(const std::string& id)>& see) const { store_.each("models", see); }
  /// "unknown model 'x'; did you mean 'y'?", or of what no preset could describe why (why_no_preset).
  [[nodiscard]] std::string unknown(std::string_view spelling) const;
  /// "; did you mean 'y'?", or nothing.
  [[nodiscard]] std::string suggested(std::string_view spelling) const;

 private:
  DataStore store_;
};

}  // namespace headroom
