// SPDX-License-Identifier: Apache-2.0
// Data files built into the binary, with an index of their ids and aliases that is made at build time.
#pragma once

#include <headroom/core/config_value.hpp>
#include <headroom/core/diagnostic.hpp>

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom {

/// One data file of the source tree.
struct EmbeddedFile {
  std::string_view kind;  ///< folder of the file: "gpus", "nodes", "models", ...
  std::string_view id;    ///< stem of the file name
  std::string_view name;  ///< name for messages: "gpus/h100-sxm-80gb.toml"
  std::string_view text;
};

/// A normalised id or alias and its file. The index is sorted by kind, then spelling.
struct EmbeddedAlias {
  std::string_view kind;
  std::string_view spelling;
  std::uint32_t file;  ///< index into EmbeddedIndex::files
};

struct EmbeddedIndex {
  std::span<const EmbeddedFile> files;
  std::span<const EmbeddedAlias> aliases;  ///< aliases; each id is also an alias of itself
};

/// Lower case, with '_' and blanks replaced by '-': the form in which ids and aliases are compared.
[[nodiscard]] std::string normalised(std::string_view spelling);

/// Warnings on files of the user's own that were passed over: those of one library, whose stores share them. Safe to
/// use from several threads.
class PassedOver {
 public:
  /// Of a file of the kind, what was wrong with it; the first time only.
  void note(const std::string& file, std::string_view kind, const std::string& id, const ConfigError& error);
  /// In the order in which they were met, each with what its file would have been.
  [[nodiscard]] std::vector<std::string> warnings() const;

 private:
  mutable std::mutex mutex_;
  std::set<std::string> files_;
  std::vector<std::string> warnings_;
};

/// A user's folders of KIND/ID.toml, earlier ones first, and where broken files in them are noted.
struct UserFolders {
  std::vector<std::string> folders;
  std::shared_ptr<PassedOver> passed_over = std::make_shared<PassedOver>();

  UserFolders() = default;
  UserFolders(std::vector<std::string> named) : folders{std::move(named)} {}  // NOLINT(*-explicit-*)
  UserFolders(std::initializer_list<std::string> named) : folders{named} {}   // NOLINT(*-explicit-*)
  UserFolders(std::vector<std::string> named, std::shared_ptr<PassedOver> noted_in)
      : folders{std::move(named)}, passed_over{std::move(noted_in)} {}
};

/// Data files of each kind ("gpus", "models", ...) from three places in order of precedence: HEADROOM_DATA_DIR, the
/// user's configuration folder ($XDG_CONFIG_HOME/headroom or ~/.config/headroom), the binary. Parsed on demand.
class DataStore {
 public:
  /// `folders` hold KIND/ID.toml and take precedence over the embedded files; earlier folders win.
  DataStore(EmbeddedIndex index, UserFolders folders);

  /// Folders of HEADROOM_DATA_DIR (ConfigError if one is missing) and the user's configuration folder if it exists.
  [[nodiscard]] static std::vector<std::string> user_folders();
  /// Paths of the user's own files of a kind.
  [[nodiscard]] static std::vector<std::string> user_files(std::string_view kind);

  struct Entry {
    std::string id;
    std::string file;  ///< path of the file, or its embedded name
    std::string text;
  };
  /// The entry that an id or alias means. User files match by their stem and by their `aliases`.
  [[nodiscard]] std::optional<Entry> find(std::string_view kind, std::string_view spelling) const;
  /// The entry that an id or alias means in the places of lower precedence than `file`: the base of a user's file whose
  /// `base` is its own id.
  [[nodiscard]] std::optional<Entry> find_below(std::string_view kind,
                                                std::string_view spelling,
                                                std::string_view file) const;
  /// The document of an entry with its bases merged in. A file whose base is its own id extends the file that it hides.
  [[nodiscard]] ConfigValue tree(std::string_view kind, const Entry& entry) const;
  /// Of the user, earlier ones first.
  [[nodiscard]] const std::vector<std::string>& folders() const noexcept { return folders_; }
  /// The same for another store, which notes broken files where this one does.
  [[nodiscard]] UserFolders shared() const { return {folders_, passed_over_}; }
  /// What each() has passed over.
  [[nodiscard]] std::vector<std::string> warnings() const { return passed_over_->warnings(); }
  /// All ids of a kind, sorted.
  [[nodiscard]] std::vector<std::string> ids(std::string_view kind) const;
  /// `see` of each of them. A file of the user's own that cannot be read, which `see` tells by a ConfigError, is passed
  /// over and noted (warnings()); of a file that ships the error is thrown on.
  void each(std::string_view kind, const std::function<void(const std::string& id)>& see) const;
  /// What is wrong with files of the user's own whose text cannot be parsed: nobody knows which ids and aliases they
  /// would have had.
  [[nodiscard]] std::vector<Diagnostic> unreadable(std::string_view kind) const;
  /// "; FILE:3:5 cannot be read and may hold it": of the same, for whoever finds nothing.
  [[nodiscard]] std::string unreadable_text(std::string_view kind) const;
  /// Ids and aliases of a kind: the candidates for "did you mean".
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
  std::shared_ptr<PassedOver> passed_over_;
};

}  // namespace headroom
