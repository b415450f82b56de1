// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/embedded.hpp>
#include <headroom/core/fingerprint.hpp>
#include <headroom/scenarios/search/checkpoint.hpp>
#include <headroom/scenarios/search/ranks/rank_messages.hpp>

#include <algorithm>
#include <filesystem>
#include <sstream>

namespace headroom {
namespace {

/// Rises with every change of a message.
constexpr std::string_view form = "headroom-ranks-1";

[[noreturn]] void refuse(const std::string& why) {
  throw ConfigError{"a message between ranks " + why + "; every rank has to run the same build"};
}

// A text is its length, a blank and its bytes.

void write_text(std::ostream& out, std::string_view text) {
  out << ' ' << text.size() << ' ' << text;
}

std::string read_text(std::istream& in) {
  constexpr std::size_t most = 64U << 20U;
  std::size_t size = 0;
  if (!(in >> size) || size > most || in.get() != ' ') {
    refuse("is cut off");
  }
  std::string text(size, '\0');
  if (!in.read(text.data(), static_cast<std::streamsize>(size))) {
    refuse("is cut off");
  }
  return text;
}

void write_place(std::ostream& out, Position at) {
  out << ' ' << at.line << ' ' << at.column;
}

Position read_place(std::istream& in) {
  Position at;
  in >> at.line >> at.column;
  return at;
}

/// The tree with its places, so that messages name them as rank 0 would.
void write_value(std::ostream& out, const ConfigValue& value) {
  out << ' ' << static_cast<int>(value.kind) << ' ' << value.boolean << ' ' << value.integer << ' '
      << exact_text(value.number);
  write_text(out, value.text);
  write_text(out, value.file ? *value.file : std::string{});
  write_place(out, value.at);
  write_place(out, value.key_at);
  out << ' ' << value.items.size();
  for (const ConfigValue& item : value.items) {
    write_value(out, item);
  }
  out << ' ' << value.entries.size();
  for (const ConfigEntry& entry : value.entries) {
    write_text(out, entry.key);
    write_value(out, entry.value);
  }
}

ConfigValue read_value(std::istream& in) {
  ConfigValue value;
  int kind = 0;
  in >> kind >> value.boolean >> value.integer;
  value.kind = static_cast<ConfigValue::Kind>(kind);
  if (!read_exact(in, value.number)) {
    refuse("is cut off");
  }
  value.text = read_text(in);
  if (std::string file = read_text(in); !file.empty()) {
    value.file = std::make_shared<const std::string>(std::move(file));
  }
  value.at = read_place(in);
  value.key_at = read_place(in);
  std::size_t items = 0;
  for (in >> items; in && items > 0; --items) {
    value.items.push_back(read_value(in));
  }
  std::size_t entries = 0;
  for (in >> entries; in && entries > 0; --entries) {
    std::string key = read_text(in);
    value.entries.push_back({std::move(key), read_value(in)});
  }
  return value;
}

void write_bound(std::ostream& out, const LayoutBound& bound) {
  out << ' ' << exact_text(bound.goal) << ' ' << exact_text(bound.step.raw());
}

bool read_bound(std::istream& in, LayoutBound& bound) {
  double step = 0.0;
  const bool good = read_exact(in, bound.goal) && read_exact(in, step);
  bound.step = Seconds{step};
  return good;
}

/// The lines of a message behind its first, each given to `read` with its first word.
template <class Read>
void read_lines(std::istream& text, Read read) {
  std::string line;
  while (std::getline(text, line)) {
    std::istringstream words{line};
    std::string word;
    words >> word;
    if (!read(word, words)) {
      refuse("holds " + quoted(word));
    }
  }
}

/// The head, whose line ends with it.
std::istringstream head_of(std::string_view message) {
  return std::istringstream{std::string{rest_of(message)}};
}

void end_head(std::istream& in) {
  if (!in || in.get() != '\n') {
    refuse("is cut off");
  }
}

/// Files of the user's own data folders, which come before the program's.
std::uint64_t user_data(std::uint64_t sum) {
  for (const std::string& folder : DataStore::user_folders()) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator{folder}) {
      if (entry.is_regular_file() && entry.path().extension() == ".toml") {
        files.push_back(entry.path());
      }
    }
    std::sort(files.begin(), files.end());
    for (const std::filesystem::path& file : files) {
      const std::string text = file.lexically_relative(folder).string() + "\n" + read_file(file.string()).text;
      sum = fingerprint(sum, text.data(), text.size());
    }
  }
  return sum;
}

}  // namespace

std::string_view first_word(std::string_view message) noexcept {
  return message.substr(0, message.find(' '));
}

std::string_view rest_of(std::string_view message) noexcept {
  const std::size_t blank = message.find(' ');
  return blank == std::string_view::npos ? std::string_view{} : message.substr(blank + 1);
}

std::string message_of(const RankSearch& search) {
  std::ostringstream out;
  out << rank_words::search << ' ' << form << ' ' << search.serial << ' ' << search.bounded << ' ' << search.threads;
  for (std::size_t term = 0; term < term_count; ++term) {
    out << ' ' << search.without.has(static_cast<Term>(term));
  }
  write_text(out, search.file);
  write_value(out, search.document);
  return out.str();
}

RankSearch read_rank_search(std::string_view message) {
  std::istringstream in = head_of(message);
  std::string version;
  in >> version;
  if (version != form) {
    refuse("is of another version");
  }
  RankSearch search;
  in >> search.serial >> search.bounded >> search.threads;
  for (std::size_t term = 0; term < term_count; ++term) {
    bool left_out = false;
    in >> left_out;
    if (left_out) {
      search.without.add(static_cast<Term>(term));
    }
  }
  search.file = read_text(in);
  search.document = read_value(in);
  if (!in) {
    refuse("is cut off");
  }
  return search;
}

std::uint64_t rank_fingerprint(const SearchQuestion& question) {
  std::uint64_t sum = user_data(fingerprint(question));
  // Of some bounds of the first job, so that ranks whose model gives other numbers are told.
  constexpr std::size_t some = 8;
  const SearchSetting setting = setting_of(question, true, 1);
  const JobSearch search{setting, 0};
  if (search.can_be()) {
    const LayoutRounds rounds{search.bounds(0, std::max<std::size_t>(1, search.layouts() / some)), true};
    const std::uint64_t numbers = rounds.numbers();
    sum = fingerprint(sum, &numbers, sizeof numbers);
  }
  return sum;
}

std::string start_text(const Incumbents& start) {
  std::ostringstream out;
  write_findings(out, findings_of(start, std::nullopt));
  return out.str();
}

std::string message_of(const SearchUnit& unit, std::string_view start) {
  std::ostringstream out;
  out << rank_words::unit << ' ' << unit.serial << ' ' << unit.id << ' ' << unit.turn << ' '
      << static_cast<int>(unit.kind) << ' ' << unit.part << ' ' << unit.parts << ' ' << unit.earlier.layouts << ' '
      << unit.earlier.numbers << '\n';
  for (const BoundedLayout& layout : unit.layouts) {
    out << "layout " << layout.layout;
    write_bound(out, layout.bound);
    out << '\n';
  }
  if (unit.earlier.layouts > 0) {
    write_findings(out, unit.earlier.findings);
  }
  out << "start\n" << start;
  return out.str();
}

SearchUnit read_unit(std::string_view message, const SearchQuestion& question, Incumbents& start) {
  std::istringstream in = head_of(message);
  SearchUnit unit;
  int kind = 0;
  in >> unit.serial >> unit.id >> unit.turn >> kind >> unit.part >> unit.parts >> unit.earlier.layouts >>
      unit.earlier.numbers;
  unit.kind = static_cast<SearchUnit::Kind>(kind);
  end_head(in);
  Findings known;
  Findings* section = &unit.earlier.findings;
  read_lines(in, [&](const std::string& word, std::istream& rest) {
    if (word == "start") {
      section = &known;
      return true;
    }
    if (word == "layout") {
      BoundedLayout& layout = unit.layouts.emplace_back();
      return static_cast<bool>(rest >> layout.layout) && read_bound(rest, layout.bound);
    }
    return read_finding(word, rest, *section);
  });
  complete(known, question);
  complete(unit.earlier.findings, question);
  merge_into(start, known);
  return unit;
}

std::string message_of(const UnitResult& result) {
  std::ostringstream out;
  out << rank_words::result << ' ' << result.serial << ' ' << result.id << ' ' << result.done << ' '
      << result.progress.layouts << ' ' << result.progress.numbers << '\n';
  write_findings(out, result.progress.findings);
  for (const LayoutBound& bound : result.bounds) {
    out << "bound";
    write_bound(out, bound);
    out << '\n';
  }
  return out.str();
}

UnitResult read_result(std::string_view message, const SearchQuestion& question) {
  std::istringstream in = head_of(message);
  UnitResult result;
  in >> result.serial >> result.id >> result.done >> result.progress.layouts >> result.progress.numbers;
  end_head(in);
  read_lines(in, [&](const std::string& word, std::istream& rest) {
    return word == "bound" ? read_bound(rest, result.bounds.emplace_back())
                           : read_finding(word, rest, result.progress.findings);
  });
  complete(result.progress.findings, question);
  return result;
}

}  // namespace headroom
