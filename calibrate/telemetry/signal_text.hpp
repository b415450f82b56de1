// SPDX-License-Identifier: Apache-2.0
// Lines, words, numbers and times of telemetry as text.
#pragma once

#include <headroom/calibrate/telemetry/signals.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/quantity.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// The whole file, unpacked where it is gzip. ConfigError where it cannot be read or holds more than 64 MiB of text.
[[nodiscard]] std::string telemetry_text(const std::string& file);

/// The lines of a text without their ends; the text must outlive the reader.
class TextLines {
 public:
  explicit TextLines(std::string_view text) : rest_{text} {}
  /// Advances to the next line; false at the end.
  bool next() noexcept;
  [[nodiscard]] std::string_view line() const noexcept { return line_; }
  [[nodiscard]] int number() const noexcept { return number_; }
  /// 1-based column of a part of the line.
  [[nodiscard]] Position at(std::string_view part) const noexcept;

 private:
  std::string_view rest_, line_;
  int number_ = 0;
};

[[nodiscard]] std::string_view trimmed(std::string_view text) noexcept;
/// Parts between blanks.
[[nodiscard]] std::vector<std::string_view> words_of_line(std::string_view line);
/// ASCII letters as small ones.
[[nodiscard]] std::string in_small(std::string_view text);
/// Whether the text holds the part, letters of either case alike. `part` is in small letters.
[[nodiscard]] bool mentions(std::string_view text, std::string_view part) noexcept;
/// The number that stands directly behind `before` in a text, blanks skipped; nullopt: there is none.
[[nodiscard]] std::optional<double> reading_behind(std::string_view text, std::string_view before) noexcept;
/// The text up to its first line's end.
[[nodiscard]] std::string_view first_line_of(std::string_view text) noexcept;

/// "2026/11/20 10:00:00.123", "2026-11-20T10:00:00Z", "10:00:00" or seconds since any moment, as seconds. The date
/// counts from 1970 (proleptic Gregorian, no zone).
[[nodiscard]] std::optional<Seconds> time_of_stamp(std::string_view text) noexcept;

/// Whether a tool writes this for a value that it does not have: "-", "N/A", "[Not Supported]", "".
[[nodiscard]] bool is_untold(std::string_view text) noexcept;

/// A value of a file, checked: shares 0 to 1 (a little above is rounding of the tool), all else 0 or more. Untold ones
/// leave `kept` as it is.
struct ToldValue {
  std::string_view name;  ///< for messages
  std::string_view text;  ///< a number, perhaps with an unit behind a blank
  double factor = 1.0;    ///< to raw SI
  bool share = false;
};
void take_value(
    std::optional<double>& kept, const ToldValue& told, Diagnostics& problems, const std::string& file, Position at);

/// Whether the signal is a share of 1.
[[nodiscard]] bool is_share(Signal signal) noexcept;

/// Adds what was read of a file to the signals. ConfigError with all problems: a clock that goes back, and, where there
/// are no others, that there is no sample (`remedy`: how to come by one).
void keep_series(std::vector<GpuSignals> read,
                 const std::string& file,
                 std::string_view remedy,
                 Diagnostics& problems,
                 Signals& signals);

/// The series of a GPU among those of a file, a new one where there is none. References hold until the next call.
GpuSignals& series_of(std::vector<GpuSignals>& all, const std::string& file, std::string_view gpu);

}  // namespace headroom
