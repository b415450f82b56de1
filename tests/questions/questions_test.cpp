// SPDX-License-Identifier: Apache-2.0
// Questions that people ask of the command line, each with what somebody else has published or can compute. NN.toml
// says what is asked, what must be answered and where that comes from; open.txt lists those that are not answered yet,
// and is wrong as soon as one of them is.
#include <headroom/core/config_reader.hpp>
#include <headroom/core/json_reader.hpp>

#include <doctest/doctest.h>

#include "../cli/run_headroom.hpp"
#include <algorithm>
#include <array>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace headroom;
using headroom::test::read_text;
using headroom::test::Run;
using headroom::test::run_headroom;
using headroom::test::ScratchFolder;

namespace {

constexpr std::size_t questions = 86;
constexpr std::array<std::string_view, 5> owners{"", "batch", "sharing", "diagnosis", "post-training"};
const std::filesystem::path root{HEADROOM_SOURCE_DIR};

/// One thing that an answer must have. `path` and `spread` are members of the JSON document, `spread` being the high
/// over the low end of one; `match` is a pattern whose group is a number; `says` and `silent` are patterns of the text,
/// or of `file` in the scratch folder.
struct Expectation {
  std::string path, spread, match, says, silent, file;
  std::optional<int> exit;
  double low = 0.0, high = 0.0;
};

struct Asked {
  std::string question, source, waits;
  std::string document;  ///< of the command's {scratch}/question.toml; empty: it has none
  std::vector<std::string> command;
  std::filesystem::path data;
  bool takes_long = false;
  std::vector<Expectation> expected;
};

std::string numbered(std::size_t number) {
  std::ostringstream text;
  text << std::setw(2) << std::setfill('0') << number;
  return text.str();
}

Expectation read_expectation(ConfigTable& table) {
  Expectation read;
  const std::array named{std::pair{"path", &read.path},     std::pair{"spread", &read.spread},
                         std::pair{"match", &read.match},   std::pair{"says", &read.says},
                         std::pair{"silent", &read.silent}, std::pair{"file", &read.file}};
  for (const auto& [key, value] : named) {
    *value = table.maybe_text(key).value_or("");
  }
  if (const auto code = table.maybe_integer("exit", not_negative)) {
    read.exit = static_cast<int>(*code);
  }
  if (!read.path.empty() || !read.spread.empty() || !read.match.empty()) {
    read.low = table.number("low", {});
    read.high = table.number("high", {});
  }
  table.finish();
  return read;
}

Asked read_question(const std::filesystem::path& file) {
  const ConfigValue document = parse_toml(read_text(file), file.string());
  Diagnostics diagnostics;
  ConfigTable table{document, "", diagnostics};
  Asked asked;
  asked.question = table.text("question");
  asked.command = table.texts("command");
  asked.source = table.text("source");
  asked.waits = table.maybe_text("waits").value_or("");
  for (const std::string& line : table.texts("document")) {
    asked.document += line + "\n";
  }
  asked.takes_long = table.maybe_boolean("long").value_or(false);
  if (const auto data = table.maybe_text("data")) {
    asked.data = root / *data;
  }
  for (ConfigTable& expectation : table.tables("expect")) {
    asked.expected.push_back(read_expectation(expectation));
  }
  table.finish();
  diagnostics.throw_if_any();
  return asked;
}

Asked read_question(std::size_t number) {
  return read_question(root / "tests" / "questions" / (numbered(number) + ".toml"));
}

/// Number and reason of each question that is not answered yet.
std::map<std::size_t, std::string> open_questions() {
  std::map<std::size_t, std::string> open;
  std::istringstream lines{read_text(root / "tests" / "questions" / "open.txt")};
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty() && line.front() != '#') {
      open.emplace(std::stoul(line), line.substr(std::min(line.size(), line.find(' ') + 1)));
    }
  }
  return open;
}

std::string shell_word(const std::string& word) {
  std::string text = "'";
  for (const char c : word) {
    text += c == '\'' ? std::string{"'\\''"} : std::string{c};
  }
  return text + "' ";
}

Run ask(const Asked& asked, const ScratchFolder& scratch, const std::string& more) {
  std::string arguments;
  for (std::string word : asked.command) {
    if (const std::size_t at = word.find("{scratch}"); at != std::string::npos) {
      word.replace(at, 9, scratch.path().string());
    }
    arguments += shell_word(word);
  }
  return run_headroom(arguments + more, root, asked.data);
}

/// The member of a document at a path such as "options/0/gpus".
const ConfigValue* member(const ConfigValue& document, const std::string& path) {
  const ConfigValue* value = &document;
  std::istringstream names{path};
  for (std::string name; value != nullptr && std::getline(names, name, '/');) {
    if (value->kind == ConfigValue::Kind::array) {
      const std::size_t at = std::stoul(name);
      value = at < value->items.size() ? &value->items[at] : nullptr;
    } else {
      value = value->find(name);
    }
  }
  return value;
}

/// The value of a number; of one with a spread that of the middle.
std::optional<double> number_of(const ConfigValue* value) {
  if (value == nullptr) {
    return std::nullopt;
  }
  switch (value->kind) {
    case ConfigValue::Kind::integer: return static_cast<double>(value->integer);
    case ConfigValue::Kind::number: return value->number;
    case ConfigValue::Kind::table: return number_of(value->find("mid"));
    default: return std::nullopt;
  }
}

std::optional<double> found_number(const Expectation& expected, const ConfigValue& document, const std::string& text) {
  if (!expected.path.empty()) {
    return number_of(member(document, expected.path));
  }
  if (!expected.spread.empty()) {
    const auto low = number_of(member(document, expected.spread + "/low"));
    const auto high = number_of(member(document, expected.spread + "/high"));
    return low && high ? std::optional{*high / *low} : std::nullopt;
  }
  std::smatch groups;
  if (!std::regex_search(text, groups, std::regex{expected.match, std::regex::icase})) {
    return std::nullopt;
  }
  const auto group = std::find_if(groups.begin() + 1, groups.end(), [](const auto& g) { return g.matched; });
  std::string digits = group == groups.end() ? std::string{} : group->str();
  digits.erase(std::remove(digits.begin(), digits.end(), ' '), digits.end());
  return digits.empty() ? std::nullopt : std::optional{std::stod(digits)};
}

bool says(const std::string& text, const std::string& pattern) {
  return std::regex_search(text, std::regex{pattern, std::regex::icase});
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

/// What an answer lacks of what is expected of it, a line each.
std::string lacks_of(const Asked& asked) {
  const auto is_member = [](const Expectation& e) { return !e.path.empty() || !e.spread.empty(); };
  const bool wants_members = std::any_of(asked.expected.begin(), asked.expected.end(), is_member);
  const bool wants_text = !std::all_of(asked.expected.begin(), asked.expected.end(), is_member);
  const ScratchFolder scratch;
  if (!asked.document.empty()) {
    std::ofstream{scratch.path() / "question.toml"} << asked.document;
  }
  ConfigValue document;
  std::ostringstream lacks;
  if (wants_members) {
    const Run run = ask(asked, scratch, "--format json");
    try {
      document = parse_json(run.out, "answer");
    } catch (const ConfigError& error) {
      return "no JSON but: " + first_line(run.err) + "; " + error.what() + "\n";
    }
  }
  const Run run = wants_text ? ask(asked, scratch, "") : Run{};
  const std::string text = run.out + "\n" + run.err;
  for (const Expectation& expected : asked.expected) {
    if (expected.exit) {
      if (run.code != *expected.exit) {
        lacks << "exit code " << run.code << ", not " << *expected.exit << ": " << first_line(run.err) << '\n';
      }
      continue;
    }
    const std::string& held = expected.file.empty() ? text : read_text(scratch.path() / expected.file);
    if (!expected.says.empty()) {
      if (!says(held, expected.says)) {
        lacks << "does not say \"" << expected.says << "\": " << first_line(run.err.empty() ? run.out : run.err)
              << '\n';
      }
      continue;
    }
    if (!expected.silent.empty()) {
      if (says(held, expected.silent)) {
        lacks << "says \"" << expected.silent << "\"\n";
      }
      continue;
    }
    const std::string what = expected.path + expected.spread + expected.match;
    const std::optional<double> found = found_number(expected, document, text);
    if (!found) {
      lacks << "has no number at \"" << what << "\": " << first_line(run.err) << '\n';
    } else if (!(*found >= expected.low && *found <= expected.high)) {
      lacks << '"' << what << "\" is " << *found << ", not from " << expected.low << " to " << expected.high << '\n';
    }
  }
  return lacks.str();
}

void ask_all(bool long_ones) {
  const std::map<std::size_t, std::string> open = open_questions();
  for (std::size_t number = 1; number <= questions; ++number) {
    const Asked asked = read_question(number);
    if (asked.takes_long != long_ones) {
      continue;
    }
    const std::string lacks = lacks_of(asked);
    const auto listed = open.find(number);
    INFO("question ", numbered(number), ": ", asked.question, "\nexpected from: ", asked.source);
    if (listed == open.end()) {
      CHECK(lacks == "");
    } else {
      MESSAGE("open ", numbered(number), ": ", lacks);
      CHECK_MESSAGE(!lacks.empty(), "it is answered: take it off tests/questions/open.txt");
    }
  }
}

}  // namespace

TEST_CASE("every question names its source, what it waits for, and expects something") {
  const std::map<std::size_t, std::string> open = open_questions();
  for (std::size_t number = 1; number <= questions; ++number) {
    CAPTURE(number);
    const Asked asked = read_question(number);
    CHECK(asked.question.ends_with('?'));
    CHECK(asked.source.size() > 20);
    CHECK_FALSE(asked.command.empty());
    CHECK_FALSE(asked.expected.empty());
    CHECK(std::find(owners.begin(), owners.end(), asked.waits) != owners.end());
    for (const Expectation& expected : asked.expected) {
      CHECK(expected.low <= expected.high);
    }
  }
  for (const auto& [number, reason] : open) {
    CAPTURE(number);
    CHECK(number >= 1);
    CHECK(number <= questions);
    CHECK(reason.size() > 10);
  }
}

TEST_CASE("what is asked is answered within what others publish, but for the questions of open.txt") {
  ask_all(false);
}

TEST_CASE("what planners ask about calls, batches and jobs is answered with the numbers that they know") {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator{root / "tests" / "questions" / "seeds"}) {
    files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  CHECK(files.size() >= 10);
  for (const std::filesystem::path& file : files) {
    const Asked asked = read_question(file);
    CHECK(asked.source.size() > 10);
    CHECK_FALSE(asked.expected.empty());
    INFO(file.filename().string(), ": ", asked.question, "\nexpected from: ", asked.source);
    CHECK(lacks_of(asked) == "");
  }
}

TEST_CASE("long: questions that take minutes are answered within what others publish, but for those of open.txt") {
  ask_all(true);
}
