// SPDX-License-Identifier: Apache-2.0
// Problems of the user's input: each has a place and a way out, and prints in GNU format.
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
#include <utility>
#include <vector>

namespace headroom {

/// 1-based line and column; 0 means the file as a whole.
struct Position {
  int line = 0;
  int column = 0;
};

/// One problem. `file` may also be a command-line source such as "--set".
struct Diagnostic {
  std::string file;
  Position at;
  std::string message;
  std::string missing{};  ///< name of the key whose absence is the problem; empty: another problem

  /// "file:line:col: error: message", without the unknown parts of the place. Control characters in a file name or a
  /// message are escaped as \xNN.
  [[nodiscard]] std::string text() const;
  /// "file:line:col: warning: message", for a problem that does not stop the program.
  [[nodiscard]] std::string warning() const;
};

/// Upper bound on the problems that are printed one by one; later ones in the text are only counted.
inline constexpr std::size_t most_problems_told = 100;

class ConfigError;

/// Collects the problems of an input before anything is thrown. Messages of the first `most_problems_told` in text
/// order are stored, the others counted, so that a million bad rows take no more memory than a hundred.
class Diagnostics {
 public:
  void add(std::string_view file, Position at, std::string message) {
    add(Diagnostic{std::string{file}, at, std::move(message)});
  }
  void add(Diagnostic problem);
  /// Adds a problem whose message is expensive to word: `make` runs only if the message may be printed.
  template <class Make>
  requires std::is_invocable_r_v<std::string, Make>
  void add(std::string_view file, Position at, Make make) {
    if (is_told(file, at)) {
      add(file, at, std::string{make()});
    } else {
      pass_over(1);
    }
  }
  /// Adds all problems of a caught error or of another collection, stored and counted ones.
  void add(const ConfigError& error);
  void add(const Diagnostics& others);
  /// Counts `problems` further problems whose messages were dropped elsewhere.
  void pass_over(std::size_t problems) noexcept;

  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
  /// Number of all problems; equal ones count as often as they were added.
  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  /// The stored problems, ordered by file of first mention, then line and column; equal ones appear once.
  [[nodiscard]] std::vector<Diagnostic> sorted() const;
  /// Number of problems that are counted but not stored; they follow the last stored one in the text.
  [[nodiscard]] std::size_t untold() const;
  /// Throws ConfigError when there is at least one problem.
  void throw_if_any() const;

 private:
  struct Place {
    std::size_t file = 0;  ///< index of the file in the order of first mention
    Position at;
  };
  struct Item {
    Place place;
    std::string message;
    std::string missing;
  };
  [[nodiscard]] static bool before(const Place& a, const Place& b) noexcept;
  [[nodiscard]] std::size_t number_of(std::string_view file);
  [[nodiscard]] bool is_told(std::string_view file, Position at);
  void keep_first();

  std::map<std::string, std::size_t, std::less<>> files_;
  std::vector<Item> items_;
  /// Place of the last stored problem, set once a problem was dropped: later places are only counted.
  std::optional<Place> last_;
  std::size_t count_ = 0;
  std::size_t dropped_ = 0;
};

/// The user's input cannot be used. what() holds all problems, one a line.
class ConfigError : public std::runtime_error {
 public:
  /// `untold`: number of problems beyond those in `diagnostics`.
  explicit ConfigError(std::vector<Diagnostic> diagnostics, std::size_t untold = 0);
  /// One problem without a position in a file, such as an unknown id on the command line.
  explicit ConfigError(const std::string& message);
  [[nodiscard]] std::span<const Diagnostic> diagnostics() const noexcept { return diagnostics_; }
  [[nodiscard]] std::size_t untold() const noexcept { return untold_; }

 private:
  std::vector<Diagnostic> diagnostics_;
  std::size_t untold_ = 0;
};

/// The line after the printed problems: "999,900 more problems follow these"; empty if `untold` is 0.
[[nodiscard]] std::string untold_text(std::size_t untold);

/// Optimal string alignment distance (Boytsov 2011, section 2.1.2): insertions, deletions, substitutions and swaps of
/// neighbours each cost 1.
[[nodiscard]] int edit_distance(std::string_view a, std::string_view b);

/// The candidate nearest to `word`, if its distance is at most max(2, length/3). Ties go to a candidate with the same
/// first letter, then to the first in order.
[[nodiscard]] std::optional<std::string> closest(std::string_view word, std::span<const std::string_view> candidates);

/// "; did you mean 'x'?", or an empty string if no candidate is near.
[[nodiscard]] std::string suggestion(std::string_view word, std::span<const std::string_view> candidates);

/// The user's text in quotes, cut at 60 characters, on one line and escaped as by shown().
[[nodiscard]] std::string quoted(std::string_view text);
/// Overloads for std::string: without them argument-dependent lookup would select std::quoted.
[[nodiscard]] inline std::string quoted(const std::string& text) {
  return quoted(std::string_view{text});
}
[[nodiscard]] inline std::string quoted(std::string& text) {
  return quoted(std::string_view{text});
}

}  // namespace headroom
