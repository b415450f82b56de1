// SPDX-License-Identifier: Apache-2.0
// What is wrong with the user's input: every problem with its place and the way out, in GNU format.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// 1-based line and column; 0 means "the file as a whole".
struct Position {
  int line = 0;
  int column = 0;
};

/// One problem. `file` may also name a command-line source such as "--set".
struct Diagnostic {
  std::string file;
  Position at;
  std::string message;

  /// "file:line:col: error: message"; the parts of the place that are unknown are left out. What a terminal would obey
  /// in a file's name or a message stands there as \xNN.
  [[nodiscard]] std::string text() const;
};

/// Collects every problem of an input before anything is thrown.
class Diagnostics {
 public:
  void add(std::string_view file, Position at, std::string message);
  [[nodiscard]] bool empty() const noexcept { return items_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return items_.size(); }
  /// All problems, ordered by file of first mention, line and column; equal ones once.
  [[nodiscard]] std::vector<Diagnostic> sorted() const;
  /// Throws ConfigError when there is at least one problem.
  void throw_if_any() const;

 private:
  std::vector<Diagnostic> items_;
};

/// What the user wrote cannot be used. what() is all problems, one a line.
class ConfigError : public std::runtime_error {
 public:
  explicit ConfigError(std::vector<Diagnostic> diagnostics);
  /// One problem without a position in a file, such as an unknown id on the command line.
  explicit ConfigError(const std::string& message);
  [[nodiscard]] std::span<const Diagnostic> diagnostics() const noexcept { return diagnostics_; }

 private:
  std::vector<Diagnostic> diagnostics_;
};

/// Optimal string alignment distance (Boytsov 2011, section 2.1.2): insert, delete, substitute, swap neighbours.
[[nodiscard]] int edit_distance(std::string_view a, std::string_view b);

/// The candidate nearest to `word` when its distance is at most max(2, length/3); ties go to the one with
/// the same first letter, then to the first.
[[nodiscard]] std::optional<std::string> closest(std::string_view word, std::span<const std::string_view> candidates);

/// "; did you mean 'x'?" or an empty string.
[[nodiscard]] std::string suggestion(std::string_view word, std::span<const std::string_view> candidates);

/// The user's text in quotes, cut at 60 characters, on one line as shown() has it.
[[nodiscard]] std::string quoted(std::string_view text);
/// The same; without these a std::string, constant or not, would find std::quoted by its namespace.
[[nodiscard]] inline std::string quoted(const std::string& text) {
  return quoted(std::string_view{text});
}
[[nodiscard]] inline std::string quoted(std::string& text) {
  return quoted(std::string_view{text});
}

}  // namespace headroom
