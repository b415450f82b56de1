// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/samples/manifest.hpp>
#include <headroom/calibrate/samples/sample_folder.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/input_file.hpp>

#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace headroom {
namespace {

namespace fs = std::filesystem;

/// The path without a trailing slash, so that names next to it can be formed.
fs::path normal(const std::string& folder) {
  const fs::path path = fs::path{folder}.lexically_normal();
  return path.has_filename() ? path : path.parent_path();
}

fs::path beside(const fs::path& path, const char* what) {
  return path.string() + "." + what + "-" + std::to_string(getpid());
}

bool holds_samples(const fs::path& path) {
  try {
    return is_manifest(read_file((path / "manifest.toml").string()).text);
  } catch (const ConfigError&) {
    return false;  // missing or unreadable
  }
}

/// A temporary folder, removed on destruction unless kept.
class Draft {
 public:
  explicit Draft(const fs::path& target) : path_{beside(target, "partial")} {
    std::error_code error;
    if (!fs::create_directory(path_, error)) {
      throw ConfigError{quoted(path_.string()) + " cannot be made: " + (error ? error.message() : "it exists")};
    }
  }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;
  Draft(Draft&&) = delete;
  Draft& operator=(Draft&&) = delete;
  ~Draft() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  [[nodiscard]] const fs::path& path() const noexcept { return path_; }

 private:
  fs::path path_;
};

void check_replaceable(const fs::path& path, bool force) {
  std::error_code error;
  if (!fs::exists(fs::symlink_status(path, error))) {
    return;
  }
  const std::string name = quoted(path.string());
  if (!force) {
    throw ConfigError{name + " exists; choose another folder with -o, or replace it with --force"};
  }
  if (!fs::is_directory(fs::symlink_status(path, error))) {
    throw ConfigError{name + " is no folder; --force replaces folders of samples alone"};
  }
  if (!fs::is_empty(path, error) && !holds_samples(path)) {
    throw ConfigError{name +
                      " holds something else than samples (no manifest.toml of a probe); --force leaves it alone"};
  }
}

}  // namespace

void check_sample_folder(const std::string& folder, bool force) {
  const fs::path path = normal(folder);
  if (path.empty() || path == "." || path == ".." || path == path.root_path()) {
    throw ConfigError{quoted(folder) + " cannot be replaced; name a folder of its own"};
  }
  check_replaceable(path, force);
  const Draft draft{path};  // tests that the parent is writable before anything is measured
}

void write_sample_folder(const std::string& folder, const std::vector<FolderFile>& files, bool force) {
  const fs::path path = normal(folder);
  check_sample_folder(folder, force);
  const Draft draft{path};
  for (const auto& [name, text] : files) {
    std::ofstream stream{draft.path() / name, std::ios::binary};
    stream << text;
    stream.close();
    if (!stream) {
      throw ConfigError{quoted((draft.path() / name).string()) + " cannot be written"};
    }
  }
  const fs::path old = beside(path, "old");
  std::error_code error;
  const bool replaces = fs::exists(path, error);
  if (replaces) {
    fs::rename(path, old, error);
  }
  if (!error) {
    fs::rename(draft.path(), path, error);
  }
  if (error) {
    const std::string why = error.message();
    if (replaces) {
      fs::rename(old, path, error);
    }
    throw ConfigError{quoted(path.string()) + " cannot be written: " + why};
  }
  fs::remove_all(old, error);
}

}  // namespace headroom
