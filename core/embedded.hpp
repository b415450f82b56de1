// SPDX-License-Identifier: Apache-2.0
// Data files built into the binary, and the index of their ids and aliases made at build time.
#pragma once

#include <headroom/core/config_value.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// One data file as it stands in the source tree.
struct EmbeddedFile {
  std::string_view kind;  ///< "gpus", "nodes", "models", ...
  std::string_view id;    ///< the file's stem
  std::string_view name;  ///< "gpus/h100-sxm-80gb.toml": for messages
  std::string_view text;
};

/// A normalised spelling and the file it means. Sorted by kind, then spelling.
struct EmbeddedAlias {
  std::string_view kind;
  std::string_view spelling;
  std::uint32_t file;  ///< index into files
};

struct EmbeddedIndex {
  std::span<const EmbeddedFile> files;
  std::span<const EmbeddedAlias> aliases;  ///< ids are aliases of themselves
};

/// Lower case, '_' and blanks to '-': how ids and aliases are compared.
[[nodiscard]] std::string normalised(std::string_view spelling);

/// Catalog entries of one kind ("gpus") from all places, in this order of precedence: HEADROOM_DATA_DIR, the user's
/// config folder ($XDG_CONFIG_HOME/headroom or ~/.config/headroom), the binary. Nothing is parsed until asked for.
class DataStore {
 public:
  /// `folders` hold KIND/ID.toml and come before the embedded files; earlier folders win.
  DataStore(EmbeddedIndex index, std::vector<std::string> folders);

  /// The folders of HEADROOM_DATA_DIR (ConfigError for one that is none) and the user's configuration, if there is one.
  [[nodiscard]] static std::vector<std::string> user_folders();
  /// The user's own files of a kind, by their paths: those that a spelling may mean.
  [[nodiscard]] static std::vector<std::string> user_files(std::string_view kind);

  struct Entry {
    std::string id;
    std::string file;  ///< path, or the embedded name
    std::string text;
  };
  /// The entry an id or alias means. User files are found by their stem, and by their `aliases`.
  [[nodiscard]] std::optional<Entry> find(std::string_view kind, std::string_view spelling) const;
  /// The entry an id or alias means in the places below `file`: what a user's own `base = "same-id"` extends.
  [[nodiscard]] std::optional<Entry> find_below(std::string_view kind,
                                                std::string_view spelling,
                                                std::string_view file) const;
  /// The document of an entry with its bases merged in; a file whose base is its own id extends the one it hides.
  [[nodiscard]] ConfigValue tree(std::string_view kind, const Entry& entry) const;
  /// All ids of a kind, sorted.
  [[nodiscard]] std::vector<std::string> ids(std::string_view kind) const;
  /// Ids and aliases of a kind: the candidates of "did you mean".
  [[nodiscard]] std::vector<std::string> spellings(std::string_view kind) const;

  /// The entries that a set stands on, itself first: `base_of` reads one and says its base, "" for none. `what` names
  /// the sets: "set of kernel curves". ConfigError for a base that is none, or leads back.
  void follow_bases(std::string_view kind,
                    const Entry& entry,
                    std::string_view what,
                    const std::function<std::string(const Entry&)>& base_of) const;

 private:
  EmbeddedIndex index_;
  std::vector<std::string> folders_;
};

}  // namespace headroom
