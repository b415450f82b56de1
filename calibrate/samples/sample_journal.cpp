// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/probe/nvml.hpp>
#include <headroom/calibrate/samples/csv_columns.hpp>
#include <headroom/calibrate/samples/csv_lines.hpp>
#include <headroom/calibrate/samples/sample_journal.hpp>
#include <headroom/core/input_file.hpp>
#include <headroom/core/number_words.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <sstream>

namespace headroom {
namespace {

constexpr std::array<std::string_view, 17> header{
    "probe",    "round",  "latency_us",   "fastest_us", "slowest_us", "spans",   "launches", "algorithms",  "first_us",
    "lasted_s", "took_s", "sm_clock_mhz", "power_w",    "throttle",   "refused", "told_us",  "predicted_us"};
enum Column : std::size_t {  // NOLINT(performance-enum-size): an index
  probe,
  round,
  latency,
  fastest,
  slowest,
  spans,
  launches,
  algorithms,
  first,
  lasted,
  took,
  sm_clock,
  power,
  throttle,
  refused,
  told,
  predicted
};

/// Shortest digits that read back exactly; empty for zero, which means "not known".
std::string exact_digits(double value) {
  if (value == 0.0) {
    return {};
  }
  std::array<char, 40> text{};
  const auto [end, status] = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), end};
}

std::string exact_micros(Seconds value) {
  return exact_digits(value.raw() / micro);
}

std::string told_text(const std::vector<Seconds>& spans) {
  const std::string text = joined(
      spans, [&](const Seconds span) { return exact_micros(span); }, " ");
  return text;
}

std::string throttle_text(std::uint64_t reasons) {
  std::array<char, 24> text{};
  const auto [end, status] = std::to_chars(text.data(), text.data() + text.size(), reasons, 16);
  return reasons == 0 ? std::string{} : "0x" + std::string{text.data(), end};
}

std::string header_line() {
  return joined(header, std::identity{}, ",") + "\n";
}

std::string line_of(const JournalEntry& e) {
  const Sample& s = e.sample;
  const std::array<std::string, header.size()> cells{
      e.key,
      std::to_string(e.round),
      exact_micros(s.latency),
      exact_micros(s.fastest),
      exact_micros(s.slowest),
      std::to_string(s.spans),
      std::to_string(s.launches),
      std::to_string(s.algorithms),
      exact_micros(s.first),
      exact_digits(s.lasted.raw()),
      exact_digits(e.took.raw()),
      s.sm_clock ? exact_digits(s.sm_clock->raw() / mega) : std::string{},
      s.power ? exact_digits(s.power->raw()) : std::string{},
      throttle_text(e.throttle),
      e.refused,
      told_text(s.told),
      exact_micros(s.predicted),
  };
  std::string line;
  for (const std::string& cell : cells) {
    line += (&cell == cells.data() ? "" : ",") + csv_field(cell);
  }
  // A driver's message may contain line breaks, but an entry is one line.
  for (char& c : line) {
    c = c == '\n' || c == '\r' ? ' ' : c;
  }
  return line + "\n";
}

std::vector<Seconds> told_of(CsvColumns& columns) {
  std::vector<Seconds> spans;
  std::istringstream words{columns.maybe_text(Column::told)};
  for (std::string word; words >> word;) {
    double value = 0.0;
    const auto [end, status] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (status != std::errc{} || end != word.data() + word.size() || !(value > 0.0)) {
      columns.refuse(Column::told, "holds " + quoted(word) + ", which is no positive number");
      break;
    }
    spans.emplace_back(value * micro);
  }
  return spans;
}

std::uint64_t throttle_of(CsvColumns& columns) {
  const std::string& text = columns.maybe_text(Column::throttle);
  std::uint64_t reasons = 0;
  if (!text.empty()) {
    const bool hex = text.starts_with("0x");
    const char* begin = text.data() + (hex ? 2 : 0);
    const char* end = text.data() + text.size();
    if (!hex || std::from_chars(begin, end, reasons, 16).ptr != end) {
      columns.refuse(Column::throttle, "is " + quoted(text) + "; it must be hexadecimal, such as 0x4");
    }
  }
  return reasons;
}

JournalEntry entry_of(CsvColumns& columns) {
  const auto seconds = [&](Column column, double unit) { return Seconds{columns.maybe(column).value_or(0.0) * unit}; };
  JournalEntry e;
  e.key = columns.text(Column::probe);
  e.round = columns.count(Column::round);
  e.refused = columns.maybe_text(Column::refused);
  Sample& s = e.sample;
  s.latency = seconds(Column::latency, micro);
  if (e.refused.empty() && s.latency <= Seconds{}) {
    columns.refuse(Column::latency, "is empty; a measurement has a time, or says in 'refused' why it has none");
  }
  s.fastest = seconds(Column::fastest, micro);
  s.slowest = seconds(Column::slowest, micro);
  s.spans = columns.count(Column::spans);
  s.launches = columns.count(Column::launches);
  s.algorithms = columns.count(Column::algorithms);
  s.first = seconds(Column::first, micro);
  s.lasted = seconds(Column::lasted, 1.0);
  e.took = seconds(Column::took, 1.0);
  if (const std::optional<double> mhz = columns.maybe(Column::sm_clock)) {
    s.sm_clock = Hertz{*mhz * mega};
  }
  if (const std::optional<double> watts = columns.maybe(Column::power)) {
    s.power = Watts{*watts};
  }
  e.throttle = throttle_of(columns);
  s.told = told_of(columns);
  s.predicted = seconds(Column::predicted, micro);
  return e;
}

[[noreturn]] void cannot(const std::string& path, const std::string& what) {
  throw ConfigError{quoted(path) + " cannot be " + what + ": " + std::strerror(errno)};
}

std::string whole_text(int file, const std::string& path) {
  struct stat status {};
  if (fstat(file, &status) != 0) {
    cannot(path, "read");
  }
  if (!S_ISREG(status.st_mode) || static_cast<std::uint64_t>(status.st_size) > most_text) {
    throw ConfigError{quoted(path) + " is no journal: a plain file of at most " + std::to_string(most_text >> 20U) +
                      " MiB; take it away, or choose another folder with -o"};
  }
  std::string text;
  std::array<char, 65536> part{};
  for (;;) {
    const ssize_t got = read(file, part.data(), part.size());
    if (got < 0) {
      cannot(path, "read");
    }
    if (got == 0) {
      return text;
    }
    text.append(part.data(), static_cast<std::size_t>(got));
  }
}

/// Remedy for an unreadable line. Entries are independent, so without it the probe counts as measured once less.
std::string_view way_out(Position at) {
  return at.line > 1 ? "delete the line, and 'headroom calibrate --resume' measures again what it held"
                     : "take the file away, and 'headroom calibrate --resume' measures everything again";
}

void write_line(int file, const std::string& path, const std::string& line) {
  // A single call with O_APPEND: a killed process has written the whole line or nothing.
  const ssize_t written = write(file, line.data(), line.size());
  if (written != static_cast<ssize_t>(line.size()) || fdatasync(file) != 0) {
    cannot(path, "written");
  }
}

}  // namespace

std::vector<JournalEntry> read_journal(std::string_view text,
                                       const std::string& file,
                                       Diagnostics& diagnostics,
                                       std::size_t& torn) {
  const std::size_t end = text.find_last_of('\n');
  const std::size_t whole = end == std::string_view::npos ? 0 : end + 1;
  torn = text.size() - whole;
  std::istringstream stream{std::string{text.substr(0, whole)}};
  std::vector<JournalEntry> entries;
  if (whole == 0) {
    return entries;
  }
  Diagnostics found;
  CsvReader csv{stream, file, found};
  CsvColumns columns{csv, header};
  while (columns.next()) {
    JournalEntry entry = entry_of(columns);
    if (columns.row_good()) {
      entries.push_back(std::move(entry));
    }
  }
  for (const Diagnostic& problem : found.sorted()) {
    diagnostics.add(problem.file, problem.at, problem.message + "; " + std::string{way_out(problem.at)});
  }
  diagnostics.pass_over(found.untold());
  return entries;
}

SampleJournal::SampleJournal(const std::string& folder) : path_{folder + "/" + std::string{file_name}} {
  file_ = open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0666);
  if (file_ < 0) {
    cannot(path_, "opened");
  }
  try {
    if (flock(file_, LOCK_EX | LOCK_NB) != 0) {
      throw ConfigError{quoted(path_) + " is held by another process; wait for it, or choose another folder with -o"};
    }
    const std::string text = whole_text(file_, path_);
    Diagnostics diagnostics;
    entries_ = read_journal(text, path_, diagnostics, torn_);
    diagnostics.throw_if_any();
    if (torn_ > 0 && ftruncate(file_, static_cast<off_t>(text.size() - torn_)) != 0) {
      cannot(path_, "written");
    }
    if (text.size() == torn_) {
      write_line(file_, path_, header_line());
    }
  } catch (...) {
    close(file_);
    throw;
  }
}

SampleJournal::~SampleJournal() {
  close(file_);
}

void SampleJournal::append(const JournalEntry& entry) {
  const std::string line = line_of(entry);
  write_line(file_, path_, line);
  // Keeps what a later reader will see, so that a resumed run gives the same result to the last bit.
  Diagnostics diagnostics;
  std::size_t torn = 0;
  std::vector<JournalEntry> back = read_journal(header_line() + line, path_, diagnostics, torn);
  diagnostics.throw_if_any();
  entries_.push_back(std::move(back.front()));
}

}  // namespace headroom
