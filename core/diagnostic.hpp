// SPDX-License-Identifier: Apache-2.0
// What is wrong with the user's input: every problem with its place and the way out, in GNU format.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
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
  /// The same with "warning": of what stops nothing.
  [[nodiscard]] std::string warning() const;
};

/// How many problems are told one by one; of those that come later in the text their number.
inline constexpr std::size_t most_problems_told = 100;

class ConfigError;

/// Collects the problems of an input before anything is thrown: the first `most_problems_told` in the order of the text
/// with their words, of the others their number, so that a million bad rows take no more memory than a hundred.
class Diagnostics {
 public:
  void add(std::string_view file, Position at, std::string message);
  /// The same with words that are made only where they may be told: for messages that cost something to word.
  template <class Make>
  requires std::is_invocable_r_v<std::string, Make>
  void add(std::string_view file, Position at, Make make) {
    if (is_told(file, at)) {
      add(file, at, std::string{make()});
    } else {
      pass_over(1);
    }
  }
  /// Those of an error that was caught, or that were collected apart; told and untold.
  void add(const ConfigError& error);
  void add(const Diagnostics& others);
  /// So many more than were added, whose words were dropped elsewhere.
  void pass_over(std::size_t problems) noexcept;

  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
  /// All of them; equal ones count as often as they were added.
  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  /// Those that are told, ordered by file of first mention, line and column; equal ones once.
  [[nodiscard]] std::vector<Diagnostic> sorted() const;
  /// Those that are not: they come after the last that is told.
  [[nodiscard]] std::size_t untold() const;
  /// Throws ConfigError when there is at least one problem.
  void throw_if_any() const;

 private:
  struct Place {
    std::size_t file = 0;  ///< in the order of first mention
    Position at;
  };
  struct Item {
    Place place;
    std::string message;
  };
  [[nodiscard]] static bool before(const Place& a, const Place& b) noexcept;
  [[nodiscard]] std::size_t number_of(std::string_view file);
  [[nodiscard]] bool is_told(std::string_view file, Position at);
  void keep_first();

  std::map<std::string, std::size_t, std::less<>> files_;
  std::vector<Item> items_;
  std::optional<Place> last_;  ///< of those told, once others were dropped: nothing behind it is told any more
  std::size_t count_ = 0;
  std::size_t dropped_ = 0;
};

/// What the user wrote cannot be used. what() is all problems, one a line.
class ConfigError : public std::runtime_error {
 public:
  /// `untold`: so many problems more than are told one by one.
  explicit ConfigError(std::vector<Diagnostic> diagnostics, std::size_t untold = 0);
  /// One problem without a position in a file, such as an unknown id on the command line.
  explicit ConfigError(const std::string& message);
  [[nodiscard]] std::span<const Diagnostic> diagnostics() const noexcept { return diagnostics_; }
  [[nodiscard]] std::size_t untold() const noexcept { return untold_; }

 private:
  std::vector<Diagnostic> diagnostics_;
  std::size_t untold_ = 0;
};

/// "999,900 more problems follow these": the line below those that are told; empty for none.
[[nodiscard]] std::string untold_text(std::size_t untold);

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
