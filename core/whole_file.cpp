// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/whole_file.hpp>

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <vector>

namespace headroom {
namespace {

/// End of a draft's name, behind that of its file and a random number between dots.
constexpr std::string_view draft_end = ".part";

bool written(const std::string& path, std::string_view text) {
  std::ofstream stream{path, std::ios::binary};
  stream << text;
  stream.close();
  return static_cast<bool>(stream);
}

ConfigError cannot_write(const std::string& path, const std::string& why) {
  return ConfigError{{Diagnostic{path, {}, "cannot be written: " + why}}};
}

}  // namespace

std::string behind_links(const std::string& path) {
  namespace fs = std::filesystem;
  constexpr int most_links = 40;  // limit of Linux for one name: path_resolution(7)
  fs::path at{path};
  std::error_code status;
  for (int links = 0; fs::is_symlink(fs::symlink_status(at, status)); ++links) {
    if (links == most_links) {
      throw cannot_write(path, "it is a link that leads back to itself; name a file");
    }
    const fs::path next = fs::read_symlink(at, status);
    at = next.is_absolute() ? next : at.parent_path() / next;
  }
  return at.string();
}

bool same_file(const std::string& a, const std::string& b) {
  namespace fs = std::filesystem;
  std::error_code status;
  if (fs::exists(a, status) && fs::exists(b, status)) {
    return fs::equivalent(a, b, status);
  }
  const auto place = [&](const std::string& path) {
    std::string behind = path;
    try {
      behind = behind_links(path);
    } catch (const ConfigError&) {  // NOLINT(bugprone-empty-catch): a loop is one file with nothing but itself
    }
    return fs::weakly_canonical(fs::absolute(behind, status), status).lexically_normal();
  };
  return place(a) == place(b);
}

void write_whole_file(const std::string& path, std::string_view text) {
  namespace fs = std::filesystem;
  errno = 0;
  std::error_code status;
  const fs::file_status there = fs::status(path, status);
  if (fs::exists(there) && !fs::is_regular_file(there)) {
    if (!written(path, text)) {
      throw cannot_write(path, std::strerror(errno));
    }
    return;
  }
  const fs::path target = behind_links(path);
  const std::string beside = target.string() + "." + std::to_string(std::random_device{}()) + std::string{draft_end};
  if (!written(beside, text)) {
    const ConfigError error = cannot_write(path, std::strerror(errno));
    fs::remove(beside, status);
    throw error;
  }
  if (fs::exists(there)) {
    fs::permissions(beside, there.permissions(), status);
  }
  std::error_code renamed;
  fs::rename(beside, target, renamed);
  if (renamed) {
    fs::remove(beside, status);
    throw cannot_write(path, renamed.message());
  }
}

void remove_drafts(const std::string& path) {
  namespace fs = std::filesystem;
  const fs::path target = behind_links(path);
  const std::string begin = target.filename().string() + ".";
  const auto is_draft = [&](const std::string& name) {
    if (name.size() <= begin.size() + draft_end.size() || !name.starts_with(begin) || !name.ends_with(draft_end)) {
      return false;
    }
    const std::string_view number =
        std::string_view{name}.substr(begin.size(), name.size() - begin.size() - draft_end.size());
    return std::all_of(number.begin(), number.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
  };
  std::error_code status;
  std::vector<fs::path> drafts;
  for (const fs::directory_entry& entry :
       fs::directory_iterator{target.has_parent_path() ? target.parent_path() : fs::path{"."}, status}) {
    if (is_draft(entry.path().filename().string())) {
      drafts.push_back(entry.path());
    }
  }
  for (const fs::path& draft : drafts) {
    fs::remove(draft, status);
  }
}

void require_writable(const std::string& path) {
  namespace fs = std::filesystem;
  const auto refuse = [&](const std::string& why) { throw cannot_write(path, why); };
  std::error_code status;
  const fs::file_status there = fs::status(path, status);
  if (fs::is_directory(there)) {
    refuse("it is a folder; name a file in it");
  }
  if (fs::exists(there) && !fs::is_regular_file(there)) {
    return;
  }
  const fs::path target = behind_links(path);
  const std::string folder = target.has_parent_path() ? target.parent_path().string() : ".";
  if (!fs::is_directory(folder, status)) {
    refuse("there is no folder " + quoted(folder) + "; make it first or name another");
  }
  // The file is replaced by a rename, so the folder must be writable.
  if (access(folder.c_str(), W_OK | X_OK) != 0) {
    refuse("the folder " + quoted(folder) + " may not be written to; name another");
  }
}

}  // namespace headroom
