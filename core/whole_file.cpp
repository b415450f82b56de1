// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/whole_file.hpp>

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

namespace headroom {
namespace {

bool written(const std::string& path, std::string_view text) {
  std::ofstream stream{path, std::ios::binary};
  stream << text;
  stream.close();
  return static_cast<bool>(stream);
}

ConfigError cannot_write(const std::string& path) {
  return ConfigError{{Diagnostic{path, {}, std::string{"cannot be written: "} + std::strerror(errno)}}};
}

}  // namespace

void write_whole_file(const std::string& path, std::string_view text) {
  namespace fs = std::filesystem;
  errno = 0;
  std::error_code status;
  const fs::file_status there = fs::status(path, status);
  if (fs::exists(there) && !fs::is_regular_file(there)) {
    if (!written(path, text)) {
      throw cannot_write(path);
    }
    return;
  }
  // Through a link the target is replaced, not the link.
  const fs::path target = fs::exists(there) ? fs::canonical(path, status) : fs::path{path};
  const std::string beside = target.string() + "." + std::to_string(std::random_device{}()) + ".part";
  if (!written(beside, text)) {
    const ConfigError error = cannot_write(path);
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
    throw ConfigError{{Diagnostic{path, {}, "cannot be written: " + renamed.message()}}};
  }
}

void require_writable(const std::string& path) {
  namespace fs = std::filesystem;
  const auto refuse = [&](const std::string& why) {
    throw ConfigError{{Diagnostic{path, {}, "cannot be written: " + why}}};
  };
  std::error_code status;
  const fs::file_status there = fs::status(path, status);
  if (fs::is_directory(there)) {
    refuse("it is a folder; name a file in it");
  }
  if (fs::exists(there) && !fs::is_regular_file(there)) {
    return;
  }
  const fs::path target = fs::exists(there) ? fs::canonical(path, status) : fs::path{path};
  const std::string folder = target.has_parent_path() ? target.parent_path().string() : ".";
  if (!fs::is_directory(folder, status)) {
    refuse("there is no folder " + quoted(folder) + "; make it first or name another");
  }
  // Written beside and renamed, so that it is the folder that must allow it.
  if (access(folder.c_str(), W_OK | X_OK) != 0) {
    refuse("the folder " + quoted(folder) + " may not be written to; name another");
  }
}

}  // namespace headroom
