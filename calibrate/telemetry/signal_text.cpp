// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/telemetry/signal_text.hpp>
#include <headroom/calibrate/traces/trace_text.hpp>
#include <headroom/core/input_file.hpp>
#include <headroom/core/real_text.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>

namespace headroom {
namespace {

constexpr std::string_view blanks = " \t\r";

char small(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// A whole number of exactly `digits` digits at the start of a text, taken off it.
std::optional<int> take_digits(std::string_view& text, std::size_t digits) noexcept {
  if (text.size() < digits) {
    return std::nullopt;
  }
  int value = 0;
  for (std::size_t i = 0; i < digits; ++i) {
    if (text[i] < '0' || text[i] > '9') {
      return std::nullopt;
    }
    value = 10 * value + (text[i] - '0');
  }
  text.remove_prefix(digits);
  return value;
}

bool take_mark(std::string_view& text, std::string_view marks) noexcept {
  if (text.empty() || marks.find(text.front()) == std::string_view::npos) {
    return false;
  }
  text.remove_prefix(1);
  return true;
}

/// "10:00:00.123" or "10:00:00,123", and nothing behind it but a zone.
std::optional<Seconds> time_of_day(std::string_view text) noexcept {
  const std::optional<int> hours = take_digits(text, 2);
  const bool first = hours && take_mark(text, ":");
  const std::optional<int> minutes = first ? take_digits(text, 2) : std::nullopt;
  const bool second = minutes && take_mark(text, ":");
  const std::optional<int> seconds = second ? take_digits(text, 2) : std::nullopt;
  if (!seconds || *hours > 23 || *minutes > 59 || *seconds > 60) {
    return std::nullopt;
  }
  double fraction = 0.0;
  if (take_mark(text, ".,")) {
    double digit = 0.1;
    while (!text.empty() && text.front() >= '0' && text.front() <= '9') {
      fraction += digit * (text.front() - '0');
      digit *= 0.1;
      text.remove_prefix(1);
    }
  }
  if (!text.empty() && text.front() != 'Z' && text.front() != '+' && text.front() != '-') {
    return std::nullopt;
  }
  return Seconds{3600.0 * *hours + 60.0 * *minutes + *seconds + fraction};
}

/// A problem where the clock of a series goes back.
void check_order(const GpuSignals& series, Diagnostics& problems) {
  const GpuSample* before = nullptr;
  for (const GpuSample& sample : series.samples) {
    if (before != nullptr && sample.time && before->time && *sample.time < *before->time) {
      problems.add(series.file, {sample.line, 1},
                   "the clock of GPU " + quoted(series.gpu) + " goes back from line " + std::to_string(before->line) +
                       "; sort the rows by time, or give diagnose each run's file by itself");
      return;
    }
    before = &sample;
  }
}

}  // namespace

std::string telemetry_text(const std::string& file) {
  TraceText pieces{file};
  std::string text;
  for (std::string_view piece = pieces.next(); !piece.empty(); piece = pieces.next()) {
    if (text.size() + piece.size() > most_text) {
      throw ConfigError{
          {Diagnostic{file, {}, "holds more than 64 MiB of text; give diagnose the part of the run that is slow"}}};
    }
    text.append(piece);
  }
  return text;
}

bool TextLines::next() noexcept {
  if (rest_.empty()) {
    return false;
  }
  const std::size_t end = std::min(rest_.find('\n'), rest_.size());
  line_ = rest_.substr(0, end);
  if (!line_.empty() && line_.back() == '\r') {
    line_.remove_suffix(1);
  }
  rest_.remove_prefix(std::min(end + 1, rest_.size()));
  ++number_;
  return true;
}

Position TextLines::at(std::string_view part) const noexcept {
  const bool within = part.data() >= line_.data() && part.data() <= line_.data() + line_.size();
  return {number_, within ? static_cast<int>(part.data() - line_.data()) + 1 : 1};
}

std::string_view trimmed(std::string_view text) noexcept {
  const std::size_t begin = std::min(text.find_first_not_of(blanks), text.size());
  text.remove_prefix(begin);
  return text.substr(0, text.find_last_not_of(blanks) + 1);
}

std::vector<std::string_view> words_of_line(std::string_view line) {
  std::vector<std::string_view> words;
  for (line = trimmed(line); !line.empty(); line = trimmed(line)) {
    const std::size_t end = std::min(line.find_first_of(blanks), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
  return words;
}

std::string in_small(std::string_view text) {
  std::string letters{text};
  std::transform(letters.begin(), letters.end(), letters.begin(), small);
  return letters;
}

bool mentions(std::string_view text, std::string_view part) noexcept {
  return std::search(text.begin(), text.end(), part.begin(), part.end(),
                     [](char a, char b) { return small(a) == b; }) != text.end();
}

std::optional<double> reading_behind(std::string_view text, std::string_view before) noexcept {
  const std::size_t at = text.find(before);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  text.remove_prefix(at + before.size());
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  const RealRead read = read_real(text);
  return read.good() && std::isfinite(read.value) ? std::optional{read.value} : std::nullopt;
}

std::string_view first_line_of(std::string_view text) noexcept {
  return text.substr(0, std::min(text.find('\n'), text.size()));
}

std::optional<Seconds> time_of_stamp(std::string_view text) noexcept {
  text = trimmed(text);
  if (const std::optional<double> seconds = whole_real(text)) {
    return std::isfinite(*seconds) ? std::optional{Seconds{*seconds}} : std::nullopt;
  }
  if (const std::optional<Seconds> day_time = time_of_day(text)) {
    return day_time;
  }
  const std::optional<int> year = take_digits(text, 4);
  const bool first = year && take_mark(text, "-/");
  const std::optional<int> month = first ? take_digits(text, 2) : std::nullopt;
  const bool second = month && take_mark(text, "-/");
  const std::optional<int> of_month = second ? take_digits(text, 2) : std::nullopt;
  if (!of_month || !take_mark(text, " T")) {
    return std::nullopt;
  }
  const std::optional<Seconds> time = time_of_day(text);
  const std::chrono::year_month_day date{std::chrono::year{*year}, std::chrono::month{static_cast<unsigned>(*month)},
                                         std::chrono::day{static_cast<unsigned>(*of_month)}};
  if (!time || !date.ok()) {
    return std::nullopt;
  }
  const auto days = std::chrono::sys_days{date}.time_since_epoch().count();
  return static_cast<double>(days) * day + *time;
}

bool is_untold(std::string_view text) noexcept {
  text = trimmed(text);
  constexpr std::array<std::string_view, 10> words{"",      "-",   "N/A", "n/a",           "[N/A]",
                                                   "[n/a]", "nan", "NaN", "Not Supported", "Requested functionality"};
  return std::find(words.begin(), words.end(), text) != words.end() || text.starts_with("[Not Supported") ||
         text.starts_with("[Not Found") || text.starts_with("[Insufficient") || text.starts_with("[Unknown Error") ||
         text.starts_with("[GPU is lost") || text.starts_with("[Requested");
}

bool is_share(Signal signal) noexcept {
  return signal == Signal::busy || signal == Signal::engine_active || signal == Signal::memory_busy ||
         signal == Signal::sm_active || signal == Signal::occupancy || signal == Signal::tensor_active ||
         signal == Signal::memory_active || signal == Signal::power_violation;
}

void take_value(
    std::optional<double>& kept, const ToldValue& told, Diagnostics& problems, const std::string& file, Position at) {
  const std::string_view text = trimmed(told.text);
  if (is_untold(text)) {
    return;
  }
  const std::string_view digits = text.substr(0, std::min(text.find(' '), text.size()));
  const std::optional<double> number = whole_real(digits);
  if (!number || !std::isfinite(*number) || *number < 0.0) {
    problems.add(file, at,
                 quoted(told.name) + " is " + quoted(text) +
                     "; it must be a number, 0 or more; take the row out where the tool broke off");
    return;
  }
  const double raw = *number * told.factor;
  constexpr double most_share = 1.05;  // tools round, and sample clocks apart
  if (!std::isfinite(raw) || (told.share && raw > most_share)) {
    problems.add(file, at,
                 quoted(told.name) + " is " + quoted(text) + "; it must be " +
                     (told.share ? told.factor == 1.0 ? "0 to 1" : "0 to 100 %" : "finite"));
    return;
  }
  kept = told.share ? std::min(raw, 1.0) : raw;
}

GpuSignals& series_of(std::vector<GpuSignals>& all, const std::string& file, std::string_view gpu) {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const GpuSignals& s) { return s.file == file && s.gpu == gpu; });
  if (found != all.end()) {
    return *found;
  }
  all.push_back({file, std::string{gpu}, {}, {}, {}});
  return all.back();
}

void keep_series(std::vector<GpuSignals> read,
                 const std::string& file,
                 std::string_view remedy,
                 Diagnostics& problems,
                 Signals& signals) {
  if (problems.empty() && read.empty()) {
    problems.add(file, {}, "holds a header and no sample; " + std::string{remedy});
  }
  for (const GpuSignals& series : read) {
    check_order(series, problems);
  }
  problems.throw_if_any();
  std::move(read.begin(), read.end(), std::back_inserter(signals.gpus));
}

}  // namespace headroom
