// SPDX-License-Identifier: Apache-2.0
// What the pages say of the program is what the program is: classes of errors, folders, verbs, files, exit codes.
#include <headroom/cli/frame/data_folder.hpp>
#include <headroom/cli/frame/verb.hpp>
#include <headroom/core/embedded.hpp>
#include <headroom/core/real_text.hpp>
#include <headroom/model/serve/engine/serving_confidence.hpp>
#include <headroom/model/train/errors/confidence.hpp>
#include <headroom/model/train/errors/posterior.hpp>
#include <headroom/scenarios/plan/nearest_runs.hpp>

#include <doctest/doctest.h>

#include "../support/model_data.hpp"
#include "run_headroom.hpp"
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom::embedded {
EmbeddedIndex embedded_catalog();
EmbeddedIndex embedded_models();
}  // namespace headroom::embedded

using namespace headroom;
using namespace headroom::test;
namespace fs = std::filesystem;

namespace {

const fs::path& root() {
  static const fs::path folder{HEADROOM_SOURCE_DIR};
  return folder;
}

/// README.md and every page below docs/, by path from the root.
std::vector<std::string> pages() {
  std::vector<std::string> found{"README.md"};
  for (const auto& entry : fs::recursive_directory_iterator{root() / "docs"}) {
    if (entry.path().extension() == ".md") {
      found.push_back(fs::relative(entry.path(), root()).string());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

bool holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string fixed(double value, int digits) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return text.data();
}

/// All captures of `pattern` in `text`.
std::set<std::string> captures(const std::string& text, const std::regex& pattern) {
  std::set<std::string> found;
  for (std::sregex_iterator match{text.begin(), text.end(), pattern}, end; match != end; ++match) {
    found.insert((*match)[1]);
  }
  return found;
}

/// "a/{b,c}.toml": "a/b.toml", "a/c.toml".
std::vector<std::string> expanded(const std::string& path) {
  const std::size_t open = path.find('{');
  const std::size_t close = path.find('}', open == std::string::npos ? 0 : open);
  if (open == std::string::npos || close == std::string::npos) {
    return {path};
  }
  std::vector<std::string> paths;
  std::istringstream choices{path.substr(open + 1, close - open - 1)};
  for (std::string choice; std::getline(choices, choice, ',');) {
    for (std::string& rest : expanded(path.substr(0, open) + choice + path.substr(close + 1))) {
      paths.push_back(std::move(rest));
    }
  }
  return paths;
}

/// Whether a file's name is `wanted`, in which a star stands for anything.
bool named(const std::string& name, const std::string& wanted) {
  std::string pattern;
  for (const char c : wanted) {
    pattern += c == '*' ? ".*" : std::string(holds(".[]()+?^$|\\", std::string(1, c)) ? "\\" : "") + c;
  }
  return std::regex_match(name, std::regex{pattern});
}

/// Whether something below `folder` is meant by the names from `first` on, the last of which may leave its ending out.
bool stands(const fs::path& folder, const std::vector<std::string>& names, std::size_t first) {
  if (first == names.size()) {
    return true;
  }
  const bool last = first + 1 == names.size();
  std::error_code status;
  for (const auto& entry : fs::directory_iterator{folder, status}) {
    const bool fits = named(entry.path().filename().string(), names[first]) ||
                      (last && named(entry.path().stem().string(), names[first]));
    if (fits && (last || stands(entry.path(), names, first + 1))) {
      return true;
    }
  }
  return false;
}

/// Whether a path of a page stands in the tree; ID, ENGINE and FLOOR are anybody's.
bool exists(const std::string& path) {
  std::vector<std::string> names;
  std::istringstream parts{path};
  for (std::string part; std::getline(parts, part, '/');) {
    for (const std::string_view word : {"ID", "ENGINE", "FLOOR"}) {
      if (const std::size_t at = part.find(word); at != std::string::npos) {
        part.replace(at, word.size(), "*");
      }
    }
    names.push_back(std::move(part));
  }
  return stands(root(), names, 0);
}

/// Names of the tests in the sources of a floor: the texts of TEST_CASE("...").
const std::set<std::string>& test_names(const std::string& floor) {
  static std::map<std::string, std::set<std::string>> known;
  const auto [found, fresh] = known.try_emplace(floor);
  if (fresh && fs::is_directory(root() / "tests" / floor)) {
    const std::regex name{R"re(TEST_CASE\(\s*"((?:[^"\\]|\\.)*)")re"};
    for (const auto& entry : fs::directory_iterator{root() / "tests" / floor}) {
      if (entry.path().extension() == ".cpp") {
        found->second.merge(captures(read_text(entry.path()), name));
      }
    }
  }
  return found->second;
}

/// "cli: name of a case", "bad_input/name", "golden/name", "house.name": whether there is such a test.
bool is_test(const std::string& reference) {
  static const std::string listed = read_text(root() / "tests/CMakeLists.txt");
  if (const std::size_t colon = reference.find(": "); colon != std::string::npos) {
    return test_names(reference.substr(0, colon)).contains(reference.substr(colon + 2));
  }
  if (reference.starts_with("bad_input/")) {
    return fs::exists(root() / "tests" / (reference + ".case"));
  }
  if (reference.starts_with("golden/")) {
    return fs::exists(root() / "tests" / (reference + ".transcript"));
  }
  return holds(listed, "add_test(NAME " + reference + "\n") || holds(listed, "add_test(NAME " + reference + " ");
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream{text};
  std::vector<std::string> words;
  for (std::string word; stream >> word;) {
    words.push_back(word);
  }
  return words;
}

/// Whether two words are alike: the same, or numbers less than 2 % apart, as other compilers round them.
bool alike(const std::string& a, const std::string& b) {
  const auto number = [](std::string_view word) { return whole_real(word.substr(word.starts_with('+') ? 1 : 0)); };
  const std::optional<double> x = number(a);
  const std::optional<double> y = number(b);
  return a == b || (x && y && std::abs(*x - *y) <= 0.02 * std::max(std::abs(*x), std::abs(*y)));
}

}  // namespace

TEST_CASE("documents: no test is named with a semicolon, at which a list of tests breaks and runs none of them") {
  for (const std::string floor : {"core", "hardware", "model", "scenarios", "answers", "calibrate", "cli"}) {
    const std::set<std::string>& names = test_names(floor);
    CHECK(names.size() > 10);
    for (const std::string& name : names) {
      CAPTURE(name);
      CHECK(name.find(';') == std::string::npos);
    }
  }
}

TEST_CASE("the page of published accuracy is what the program says of the rows that ship") {
  const fs::path page = root() / "docs/accuracy-published.md";
  const Run run = run_headroom("validate --format markdown");
  REQUIRE(run.code == 0);
  if (std::getenv("HEADROOM_UPDATE_GOLDEN") != nullptr) {
    std::ofstream{page, std::ios::binary} << run.out;
  }
  std::istringstream told{read_text(page)};
  std::istringstream said{run.out};
  std::string a, b;
  int line = 1;
  for (; std::getline(told, a) && std::getline(said, b); ++line) {
    const std::vector<std::string> x = words_of(a);
    const std::vector<std::string> y = words_of(b);
    CHECK_MESSAGE(std::equal(x.begin(), x.end(), y.begin(), y.end(), alike),
                  "line " << line << " of the page: " << a << "\nthe program: " << b);
  }
  CHECK(words_of(read_text(page)).size() == words_of(run.out).size());
}

/// With HEADROOM_UPDATE_GOLDEN `told` takes the place of what the page has from `first` to the end of `last`.
void tell(std::string& page, const std::string& first, const std::string& last, const std::string& told) {
  const std::size_t begin = page.find(first);
  if (std::getenv("HEADROOM_UPDATE_GOLDEN") != nullptr && begin != std::string::npos) {
    page.replace(begin, page.find(last, begin + 1) + last.size() - begin, told);
  }
}

/// The same of the row of a table whose first cell is the row's.
void tell_row(std::string& page, const std::string& row) {
  tell(page, "\n" + row.substr(0, row.find('|', 1) + 1), "\n", "\n" + row);
}

void keep(const std::string& page) {
  if (std::getenv("HEADROOM_UPDATE_GOLDEN") != nullptr) {
    std::ofstream{root() / "docs/confidence.md", std::ios::binary} << page;
  }
}

TEST_CASE("the page of confidence tells the classes of the fit") {
  std::string page = read_text(root() / "docs/confidence.md");
  const Confidence& table = step_confidence(test::model_data());
  for (std::size_t i = 0; i < run_class_count; ++i) {
    const ClassErrors& errors = table.classes[i];
    const std::string row = "| " + std::string{run_class_names[i]} + " | " + fixed(100.0 * errors.width_50, 1) + " / " +
                            fixed(100.0 * errors.width_80, 1) + " / " + fixed(100.0 * errors.width_90, 1) + " | " +
                            fixed(errors.level, 3) + ", " + fixed(errors.shape, 3) + " | " +
                            std::to_string(errors.rows) + " rows of " + std::to_string(errors.sources) + " sources, " +
                            errors.source + " |\n";
    CAPTURE(row);
    tell_row(page, row);
    CHECK(holds(page, row));
  }
  const ClassErrors& dense = table[RunClass::dense];
  const auto noise = [](StepKind kind) { return fixed(step_posterior(test::model_data()).run_noise(kind), 3); };
  const std::string noises = "s is " + noise(StepKind::dense) + " for dense networks, " + noise(StepKind::experts) +
                             " with experts, " + noise(StepKind::adapters) + " for adapters.";
  tell(page, "s is 0.", " for adapters.", noises);
  CHECK(holds(page, noises));
  const auto alike = [](const ClassErrors& errors) {
    return fixed(100.0 * (std::exp(1.2816 * std::sqrt(2.0) * errors.shape) - 1.0), 0);
  };
  const auto apart = [](const ClassErrors& errors) {
    return fixed(100.0 * (std::pow(1.0 + errors.width_80, std::sqrt(2.0)) - 1.0), 0);
  };
  const ClassErrors& experts = table[RunClass::experts];
  const std::string apart_by = "For the dense class that is " + alike(dense) + " % and " + apart(dense) +
                               " %, for experts " + alike(experts) + " % and " + apart(experts) + " %.";
  tell(page, "For the dense class that is ", " %.", apart_by);
  CHECK(holds(page, apart_by));
  keep(page);
}

TEST_CASE("the page of confidence tells the widths of each engine's quantities") {
  std::string page = read_text(root() / "docs/confidence.md");
  const ServingConfidence& table = serving_confidence(test::model_data());
  std::map<std::pair<std::string, bool>, std::map<ServingQuantity, std::string>> rows;
  for (const ServingErrors& errors : table.classes()) {
    const auto end = [](double factor) { return (factor > 1.0 ? "+" : "") + fixed(100.0 * (factor - 1.0), 0); };
    rows[{errors.stack, errors.experts}][errors.quantity] = end(errors.low) + " to " + end(errors.high);
  }
  for (const auto& [owner, cells] : rows) {
    std::string row = "| " + owner.first + ", " + (owner.second ? "experts" : "dense") + " |";
    for (std::size_t quantity = 0; quantity < serving_quantity_names.size(); ++quantity) {
      const auto cell = cells.find(static_cast<ServingQuantity>(quantity));
      row += " " + (cell == cells.end() ? std::string{} : cell->second) + " |";
    }
    row += "\n";
    CAPTURE(row);
    tell_row(page, row);
    CHECK(holds(page, "\n" + row));
  }
  keep(page);
}

TEST_CASE("the page of confidence tells what a difference in kind counts among the nearest runs") {
  const std::string page = read_text(root() / "docs/confidence.md");
  const auto counts = [](auto change) {
    JobFeatures job{1e9, 8.0, 1e6, 4096.0, "h100", "hopper", "nemo", "bf16", RunClass::dense};
    const JobFeatures other = job;
    change(job);
    const std::string text = fixed(job_distance(job, other), 2);
    return text.substr(0, text.find_last_not_of("0.") + 1);
  };
  const std::string told =
      "penalties are " + counts([](JobFeatures& j) { j.sku = "h200"; }) + " for another SKU of the generation, " +
      counts([](JobFeatures& j) { j.sku = "b200", j.generation = "blackwell"; }) + " for another generation, " +
      counts([](JobFeatures& j) { j.software = "torchtitan"; }) + " for another software, " +
      counts([](JobFeatures& j) { j.precision = "fp8"; }) + " for another precision, " +
      counts([](JobFeatures& j) { j.run_class = RunClass::experts; }) + " for another class";
  CAPTURE(told);
  std::string line;
  for (const std::string& word : words_of(page)) {
    line += word + " ";
  }
  CHECK(holds(line, told));
}

TEST_CASE("pages and manual tell one layout of a data folder, which is what is read") {
  std::set<std::string_view> embedded;
  for (const EmbeddedIndex& index : {embedded::embedded_catalog(), embedded::embedded_models()}) {
    for (const EmbeddedFile& file : index.files) {
      embedded.insert(file.kind);
    }
  }
  CHECK(embedded == std::set<std::string_view>{cli::data_kinds.begin(), cli::data_kinds.end()});
  std::string kinds;
  for (const std::string_view kind : cli::data_kinds) {
    kinds += (kinds.empty() ? "" : ",") + std::string{kind};
  }
  for (const std::string page : {"README.md", "docs/design.md"}) {
    CAPTURE(page);
    CHECK(holds(read_text(root() / page), "`{" + kinds + "}/ID.toml`"));
  }
}

TEST_CASE("pages name verbs that exist, and the design names them all") {
  std::set<std::string> verbs;
  for (const cli::Verb* verb : cli::all_verbs()) {
    verbs.insert(std::string{verb->name});
  }
  const std::string design = read_text(root() / "docs/design.md");
  const std::size_t line = design.find("**Verbs**:");
  REQUIRE(line != std::string::npos);
  const std::string told = design.substr(line, design.find('.', line) - line);
  CHECK(captures(told, std::regex{"`([a-z]+)`"}) == verbs);
  const std::string today = design.substr(design.find("## 8."));
  for (const std::string& verb : verbs) {
    CAPTURE(verb);
    const std::regex row{"\n\\| `[^|]*\\b" + verb + "\\b"};
    CHECK(std::regex_search(today, row));
  }
  // `./run VERB` and `headroom VERB` of a page: of code spans and of lines of code.
  const std::regex command{R"((?:^|[`\n$;] ?)(?:\./run|headroom) ([a-z]+)\b)"};
  for (const std::string& page : pages()) {
    for (const std::string& verb : captures(read_text(root() / page), command)) {
      CAPTURE(page);
      CAPTURE(verb);
      CHECK((verbs.contains(verb) || verb == "test" || verb == "fuzz" || verb == "release" || verb == "refit"));
    }
  }
}

TEST_CASE("files and folders that the pages name exist") {
  const std::regex path{
      "`((?:core|hardware|model|scenarios|answers|calibrate|cli|include|tests|bench|docs|cmake|debian)/"
      "[A-Za-z0-9_./{},*-]+)`"};
  std::size_t count = 0;
  for (const std::string& page : pages()) {
    // Of launch files the last section names files of other projects.
    const std::string text = read_text(root() / page);
    for (const std::string& named : captures(text.substr(0, text.find("\n## Sources of the names")), path)) {
      for (const std::string& one : expanded(named)) {
        CAPTURE(page);
        CAPTURE(one);
        CHECK(exists(one));
        ++count;
      }
    }
  }
  CHECK(count > 200);
}

TEST_CASE("README says what is not answered, and each of it is refused") {
  const std::string readme = read_text(root() / "README.md");
  const std::size_t begin = readme.find("## Not answered\n");
  REQUIRE(begin != std::string::npos);
  const std::string table = readme.substr(begin, readme.find("\n\n`--format json`", begin) - begin);
  const std::set<std::string> asked = captures(table, std::regex{R"(\| `\./run ([^`]+)` \| refused)"});
  CHECK(asked.size() >= 8);
  for (const std::string& question : asked) {
    CAPTURE(question);
    const Run run = run_headroom(question);
    CHECK(run.code == 2);
    CHECK(run.out.empty());
    CHECK_FALSE(run.err.empty());
  }
}

TEST_CASE("every finding of the review names its test, or what it waits for") {
  const std::string page = read_text(root() / "docs/findings.md");
  std::map<std::string, std::string> states;
  const std::regex row{R"re(\n\| ([FR][0-9]+) \| [^|\n]+ \| ([^\n]+) \|(?=\n))re"};
  for (std::sregex_iterator match{page.begin(), page.end(), row}, end; match != end; ++match) {
    CAPTURE((*match)[1].str());
    CHECK(states.try_emplace((*match)[1], (*match)[2]).second);
  }
  const std::set<std::string> works = captures(page, std::regex{"\n\\* \\*([A-Za-z :]+)\\*: "});
  const std::regex test{"`([^`]+)`"};
  const std::regex waits{"waits for \\*([A-Za-z :]+)\\*"};
  const auto check = [&](const std::string& id) {
    CAPTURE(id);
    const auto found = states.find(id);
    REQUIRE_MESSAGE(found != states.end(), "no line");
    const std::set<std::string> tests = captures(found->second, test);
    const std::set<std::string> awaited = captures(found->second, waits);
    CHECK_MESSAGE((!tests.empty() || !awaited.empty()), "neither a test nor what it waits for");
    for (const std::string& name : tests) {
      CHECK_MESSAGE(is_test(name), "no such test: " << name);
    }
    for (const std::string& work : awaited) {
      CHECK_MESSAGE(works.contains(work), "unknown work: " << work);
    }
  };
  for (int i = 1; i <= 25; ++i) {
    check("F" + std::to_string(i));
  }
  for (int i = 1; i <= 30; ++i) {
    check("R" + std::to_string(i));
  }
  CHECK(states.size() == 55);
}
