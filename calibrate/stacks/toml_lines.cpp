// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/stacks/toml_lines.hpp>
#include <headroom/core/config_reader.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

namespace headroom {

TomlLines::TomlLines(const std::string& whole) : ended_{whole.ends_with('\n')} {
  std::istringstream stream{whole};
  for (std::string line; std::getline(stream, line);) {
    text.push_back(line);
  }
}

std::vector<std::string>::iterator TomlLines::find(const std::vector<std::string>& headers, std::string_view key) {
  bool inside = headers.front().empty();
  for (auto line = text.begin(); line != text.end(); ++line) {
    if (line->starts_with("[")) {
      inside = std::find(headers.begin(), headers.end(), *line) != headers.end();
    } else if (inside && line->starts_with(key) && line->find_first_not_of(' ', key.size()) == line->find('=')) {
      return line;
    }
  }
  return text.end();
}

std::string TomlLines::whole() const {
  std::string all;
  for (const std::string& line : text) {
    all += line + "\n";
  }
  if (!ended_ && !all.empty()) {
    all.pop_back();
  }
  return all;
}

std::string comment_of(const std::string& line) {
  const std::size_t hash = line.find('#');
  if (hash == std::string::npos) {
    return {};
  }
  return line.substr(line.find_last_not_of(" \t", hash - 1) + 1);
}

std::string sources_text(const std::map<std::string, std::size_t>& sources, std::size_t named) {
  std::string names;
  for (const auto& [source, rows] : sources) {
    if (sources.size() <= named) {
      names += (names.empty() ? ": " : "; ") + source + " (" + std::to_string(rows) + ")";
    }
  }
  std::replace(names.begin(), names.end(), '"', '\'');
  std::replace(names.begin(), names.end(), '\\', '/');
  return std::to_string(sources.size()) + " sources" + names;
}

TomlLines& lines_of(TomlFiles& files, const std::string& path) {
  const auto found = files.find(path);
  return found != files.end() ? found->second : files.emplace(path, TomlLines{read_file(path).text}).first->second;
}

std::vector<std::string> write_files(const TomlFiles& files) {
  std::vector<std::string> written;
  for (const auto& [path, lines] : files) {
    static_cast<void>(parse_toml(lines.whole(), path));
  }
  for (const auto& [path, lines] : files) {
    replace_file(path, lines.whole());
    written.push_back(path);
  }
  return written;
}

void replace_file(const std::string& path, const std::string& text) {
  const std::string half = path + ".part";
  std::ofstream stream{half, std::ios::binary};
  stream << text;
  stream.close();
  std::error_code failure;
  if (stream) {
    std::filesystem::rename(half, path, failure);
  }
  if (!stream || failure) {
    throw ConfigError{path + " cannot be written"};
  }
}

}  // namespace headroom
