// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/config_reader.hpp>
#include <headroom/core/embedded.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <set>
#include <utility>

namespace headroom {
namespace {

namespace fs = std::filesystem;

/// TOML files of one kind in one folder, sorted so that the order is the same on every machine.
std::vector<fs::path> files_of(const std::string& folder, std::string_view kind) {
  std::vector<fs::path> files;
  std::error_code status;
  fs::directory_iterator entry{fs::path{folder} / kind, status};
  for (; !status && entry != fs::directory_iterator{}; entry.increment(status)) {
    std::error_code unknown;
    if (entry->path().extension() == ".toml" && entry->is_regular_file(unknown)) {
      files.push_back(entry->path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// Aliases that a user's file states. A file that does not parse has none: it is reported when its id is asked for.
std::vector<std::string> aliases_of(const fs::path& file) {
  std::vector<std::string> aliases;
  try {
    const ConfigSource source = read_file(file.string());
    const ConfigValue root = parse_toml(source.text, source.file);
    if (const ConfigValue* list = root.find("aliases"); list != nullptr && list->kind == ConfigValue::Kind::array) {
      for (const ConfigValue& item : list->items) {
        if (item.kind == ConfigValue::Kind::text) {
          aliases.push_back(item.text);
        }
      }
    }
  } catch (const ConfigError&) {
    return {};
  }
  return aliases;
}

DataStore::Entry entry_of(const fs::path& file) {
  ConfigSource source = read_file(file.string());
  return {file.stem().string(), std::move(source.file), std::move(source.text)};
}

std::optional<DataStore::Entry> find_in_folder(const std::string& folder,
                                               std::string_view kind,
                                               std::string_view wanted) {
  const std::vector<fs::path> files = files_of(folder, kind);
  for (const fs::path& file : files) {
    if (normalised(file.stem().string()) == wanted) {
      return entry_of(file);
    }
  }
  for (const fs::path& file : files) {
    for (const std::string& alias : aliases_of(file)) {
      if (normalised(alias) == wanted) {
        return entry_of(file);
      }
    }
  }
  return std::nullopt;
}

}  // namespace

void PassedOver::note(const std::string& file, std::string_view kind, const std::string& id, const ConfigError& error) {
  const std::lock_guard lock{mutex_};
  if (!files_.insert(file).second || error.diagnostics().empty()) {
    return;
  }
  Diagnostic first = error.diagnostics().front();
  if (first.file.empty()) {
    first.file = file;
  }
  const std::size_t more = error.diagnostics().size() - 1;
  first.message += (more > 0 ? " (and " + std::to_string(more) + " more problems)" : "") + "; " + quoted(id) +
                   " is left out of the " + std::string{kind} + ", the others are read";
  warnings_.push_back(first.warning());
}

std::vector<std::string> PassedOver::warnings() const {
  const std::lock_guard lock{mutex_};
  return warnings_;
}

std::string normalised(std::string_view spelling) {
  std::string result;
  for (const char c : spelling) {
    const bool upper = c >= 'A' && c <= 'Z';
    result += upper ? static_cast<char>(c - 'A' + 'a') : c == '_' || c == ' ' ? '-' : c;
  }
  return result;
}

DataStore::DataStore(EmbeddedIndex index, UserFolders folders)
    : index_{index}, folders_{std::move(folders.folders)}, passed_over_{std::move(folders.passed_over)} {
  for (std::string& folder : folders_) {
    if (const fs::path path{folder}; path.has_parent_path() && !path.has_filename()) {
      folder = path.parent_path().string();  // "mine/" and "mine" name the same folder
    }
  }
}

std::vector<std::string> DataStore::user_folders() {
  std::vector<std::string> folders;
  std::error_code status;
  if (const char* listed = std::getenv("HEADROOM_DATA_DIR")) {
    std::string_view rest = listed;
    while (!rest.empty()) {
      const std::size_t colon = std::min(rest.find(':'), rest.size());
      const fs::path folder{rest.substr(0, colon)};
      if (!folder.empty() && !fs::is_directory(folder, status)) {
        throw ConfigError("HEADROOM_DATA_DIR names " + quoted(folder.string()) + ", which is no folder");
      }
      if (!folder.empty()) {
        folders.push_back(folder.string());
      }
      rest.remove_prefix(std::min(colon + 1, rest.size()));
    }
  }
  fs::path own;
  if (const char* config = std::getenv("XDG_CONFIG_HOME"); config != nullptr && *config != '\0') {
    own = fs::path{config} / "headroom";
  } else if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0') {
    own = fs::path{home} / ".config" / "headroom";
  }
  if (fs::is_directory(own, status)) {
    folders.push_back(own.string());
  }
  return folders;
}

std::vector<std::string> DataStore::user_files(std::string_view kind) {
  std::vector<std::string> paths;
  for (const std::string& folder : user_folders()) {
    for (const fs::path& file : files_of(folder, kind)) {
      paths.push_back(file.string());
    }
  }
  return paths;
}

std::optional<DataStore::Entry> DataStore::find(std::string_view kind, std::string_view spelling) const {
  return find_below(kind, spelling, {});
}

std::optional<DataStore::Entry> DataStore::find_below(std::string_view kind,
                                                      std::string_view spelling,
                                                      std::string_view file) const {
  const std::string wanted = normalised(spelling);
  bool below = file.empty();
  for (const std::string& folder : folders_) {
    if (below) {
      if (auto found = find_in_folder(folder, kind, wanted)) {
        return found;
      }
    } else if (fs::path{file}.parent_path().parent_path() == fs::path{folder}) {
      below = true;
    }
  }
  const auto before = [](const EmbeddedAlias& alias, const std::pair<std::string_view, std::string_view>& key) {
    return std::pair{alias.kind, alias.spelling} < key;
  };
  const auto found = std::lower_bound(index_.aliases.begin(), index_.aliases.end(),
                                      std::pair<std::string_view, std::string_view>{kind, wanted}, before);
  if (found == index_.aliases.end() || found->kind != kind || found->spelling != wanted) {
    return std::nullopt;
  }
  const EmbeddedFile& embedded = index_.files[found->file];
  // No place has lower precedence than the binary.
  if (embedded.name == file) {
    return std::nullopt;
  }
  return Entry{std::string{embedded.id}, std::string{embedded.name}, std::string{embedded.text}};
}

ConfigValue DataStore::tree(std::string_view kind, const Entry& entry) const {
  const BaseResolver resolve = [&](std::string_view id, const std::string& file) -> std::optional<ConfigSource> {
    std::optional<Entry> base = find(kind, id);
    if (base && fs::path{file}.stem() == base->id) {
      base = find_below(kind, id, file);
    }
    return base ? std::optional{ConfigSource{base->file, base->text}} : std::nullopt;
  };
  return load_with_bases({entry.file, entry.text}, resolve);
}

std::vector<std::string> DataStore::ids(std::string_view kind) const {
  std::set<std::string> ids;
  for (const std::string& folder : folders_) {
    for (const fs::path& file : files_of(folder, kind)) {
      ids.insert(file.stem().string());
    }
  }
  for (const EmbeddedFile& file : index_.files) {
    if (file.kind == kind) {
      ids.emplace(file.id);
    }
  }
  return {ids.begin(), ids.end()};
}

void DataStore::each(std::string_view kind, const std::function<void(const std::string& id)>& see) const {
  for (const std::string& id : ids(kind)) {
    try {
      see(id);
    } catch (const ConfigError& error) {
      const std::optional<Entry> entry = find(kind, id);
      const bool ships = !entry || std::none_of(folders_.begin(), folders_.end(), [&](const std::string& folder) {
        return fs::path{entry->file}.parent_path() == fs::path{folder} / kind;
      });
      if (ships) {
        throw;
      }
      passed_over_->note(entry->file, kind, id, error);
    }
  }
}

std::vector<Diagnostic> DataStore::unreadable(std::string_view kind) const {
  std::vector<Diagnostic> found;
  for (const std::string& folder : folders_) {
    for (const fs::path& file : files_of(folder, kind)) {
      try {
        const ConfigSource source = read_file(file.string());
        static_cast<void>(parse_toml(source.text, source.file));
      } catch (const ConfigError& error) {
        found.insert(found.end(), error.diagnostics().begin(), error.diagnostics().end());
      }
    }
  }
  return found;
}

std::string DataStore::unreadable_text(std::string_view kind) const {
  std::string text;
  for (const Diagnostic& problem : unreadable(kind)) {
    text += "; " + problem.file + ":" + std::to_string(problem.at.line) + ":" + std::to_string(problem.at.column) +
            " cannot be read and may hold it";
  }
  return text;
}

std::vector<std::string> DataStore::spellings(std::string_view kind) const {
  std::set<std::string> spellings;
  for (const std::string& folder : folders_) {
    for (const fs::path& file : files_of(folder, kind)) {
      spellings.insert(normalised(file.stem().string()));
      for (const std::string& alias : aliases_of(file)) {
        spellings.insert(normalised(alias));
      }
    }
  }
  for (const EmbeddedAlias& alias : index_.aliases) {
    if (alias.kind == kind) {
      spellings.emplace(alias.spelling);
    }
  }
  return {spellings.begin(), spellings.end()};
}

void DataStore::follow_bases(std::string_view kind,
                             const Entry& entry,
                             std::string_view what,
                             const std::function<std::string(const Entry&)>& base_of) const {
  std::vector<std::string> files{entry.file};
  for (std::string base = base_of(entry); !base.empty();) {
    // A set whose base is its own id extends the one it hides.
    const bool hides = base == fs::path{files.back()}.stem();
    const std::optional<Entry> below = hides ? find_below(kind, base, files.back()) : find(kind, base);
    if (!below || std::find(files.begin(), files.end(), below->file) != files.end()) {
      throw ConfigError{files.back() + ": base " + quoted(base) +
                        (below ? " leads back to itself" : " is no " + std::string{what})};
    }
    files.push_back(below->file);
    base = base_of(*below);
  }
}

}  // namespace headroom
