// SPDX-License-Identifier: Apache-2.0
// What a user sees: each tests/golden/*.transcript is run again and compared, fitted numbers by their form and within a
// factor of two (golden_text.hpp), so that a refit rewrites none. After a change of words, tables or answers:
// HEADROOM_UPDATE_GOLDEN=1 test_cli -tc='*transcript*,README shows*', then read the difference.
#include <doctest/doctest.h>

#include "../support/golden_text.hpp"
#include "run_headroom.hpp"
#include <algorithm>
#include <string_view>
#include <vector>

using namespace headroom::test;
namespace fs = std::filesystem;

namespace {

constexpr std::string_view prompt = "$ headroom";

/// Without the line of what a search took, which is the machine's.
std::string without_effort(const std::string& err) {
  std::string kept;
  std::istringstream lines{err};
  for (std::string line; std::getline(lines, line);) {
    if (line.find("searched ") == std::string::npos || line.find(" strategies in ") == std::string::npos) {
      kept += line + "\n";
    }
  }
  return kept;
}

/// The commands run anew: "$ headroom ARGUMENTS", what it prints (stderr first), "? N" when N is not 0.
std::string replayed(std::string_view transcript) {
  std::string text;
  std::istringstream lines{std::string{transcript}};
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(prompt)) {
      continue;
    }
    const Run run = run_headroom(line.substr(prompt.size()));
    text += line + "\n" + without_effort(run.err) + run.out;
    if (!text.ends_with('\n')) {
      text += '\n';
    }
    if (run.code != 0) {
      text += "? " + std::to_string(run.code) + "\n";
    }
  }
  return text;
}

}  // namespace

TEST_CASE("every transcript is what the binary prints") {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator{fs::path{HEADROOM_SOURCE_DIR} / "tests/golden"}) {
    if (entry.path().extension() == ".transcript") {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  CHECK(files.size() >= 8);
  for (const fs::path& file : files) {
    CAPTURE(file.filename().string());
    const std::string text = read_text(file);
    std::string_view expected = text;
    const GoldenMarks marks = take_marks(expected);
    CHECK(expected.starts_with(prompt));
    const std::string actual = replayed(expected);
    if (std::getenv("HEADROOM_UPDATE_GOLDEN") != nullptr) {
      std::ofstream{file, std::ios::binary} << text.substr(0, text.size() - expected.size()) << actual;
    } else {
      const std::string difference = golden_difference(expected, actual, marks);
      CHECK_MESSAGE(difference.empty(), difference);
    }
  }
}

TEST_CASE("README shows what the binary prints") {
  const fs::path page = fs::path{HEADROOM_SOURCE_DIR} / "README.md";
  std::string readme = read_text(page);
  std::size_t examples = 0;
  for (std::size_t open = readme.find("```\n$ headroom "); open != std::string::npos;
       open = readme.find("```\n$ headroom ", open)) {
    open += 4;
    std::size_t close = readme.find("```", open);
    REQUIRE(close != std::string::npos);
    std::string shown = readme.substr(open, close - open);
    const std::string command = shown.substr(0, shown.find('\n'));
    CAPTURE(command);
    const Run run = run_headroom(command.substr(std::string_view{"$ headroom "}.size()));
    CHECK((run.code == 0 || run.code == 1));  // 1: the verdict is no
    if (std::getenv("HEADROOM_UPDATE_GOLDEN") != nullptr) {
      shown = command + "\n" + golden_rewritten(shown.substr(command.size() + 1), run.out);
      readme.replace(open, close - open, shown);
      close = open + shown.size();
    }
    const std::string difference = golden_difference(shown.substr(command.size() + 1), run.out);
    CHECK_MESSAGE(difference.empty(), difference);
    ++examples;
    open = close;
  }
  if (std::getenv("HEADROOM_UPDATE_GOLDEN") != nullptr) {
    std::ofstream{page, std::ios::binary} << readme;
  }
  CHECK(examples >= 5);
}
