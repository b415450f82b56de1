// SPDX-License-Identifier: Apache-2.0
// Replaces numbers in a file that people edit, and keeps everything else with its comments.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// Lines of a document; unchanged lines stay byte for byte.
class TomlLines {
 public:
  explicit TomlLines(const std::string& whole);
  std::vector<std::string> text;

  /// Line of `key` in the table under one of `headers` ("" is the root); the end when there is none.
  [[nodiscard]] std::vector<std::string>::iterator find(const std::vector<std::string>& headers, std::string_view key);
  [[nodiscard]] std::string whole() const;

 private:
  bool ended_ = true;  ///< whether the last line ends in a line feed
};

/// Comment after a number or a time on its line; the value itself contains no '#'.
[[nodiscard]] std::string comment_of(const std::string& line);

/// "3 sources: A (12); B (4); C (1)" of rows by source, for a string of TOML; more than `named` are counted alone.
[[nodiscard]] std::string sources_text(const std::map<std::string, std::size_t>& sources, std::size_t named);

/// Files with lines replaced, by path.
using TomlFiles = std::map<std::string, TomlLines>;
/// The lines of a file, read when it is first asked for.
[[nodiscard]] TomlLines& lines_of(TomlFiles& files, const std::string& path);
/// Writes every file once all of them are read back without a problem; their paths.
std::vector<std::string> write_files(const TomlFiles& files);

/// Whole, or not at all. ConfigError when the file cannot be written.
void replace_file(const std::string& path, const std::string& text);

}  // namespace headroom
