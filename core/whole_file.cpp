// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/whole_file.hpp>

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

}  // namespace headroom
