// SPDX-License-Identifier: Apache-2.0
// How wide an answer is, and its short form.
#include <headroom/answers/markup/fitted.hpp>
#include <headroom/answers/markup/table.hpp>

#include <doctest/doctest.h>

#include "../support/says.hpp"
#include "run_headroom.hpp"
#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

using namespace headroom;
using namespace headroom::test;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream{text};
  for (std::string line; std::getline(stream, line);) {
    lines.push_back(line);
  }
  return lines;
}

std::size_t widest(const std::string& text) {
  std::size_t width = 0;
  for (const std::string& line : lines_of(text)) {
    width = std::max(width, shown_width(line));
  }
  return width;
}

std::string words_of(const std::string& text) {
  std::istringstream stream{text};
  std::string words;
  for (std::string word; stream >> word;) {
    words += word + " ";
  }
  return words;
}

const std::string scenarios = std::string{HEADROOM_SOURCE_DIR} + "/scenarios/";

/// The same with COLUMNS as it is stated; "": nobody says.
Run with_columns(const std::string& columns, const std::string& arguments) {
  const ScratchFolder folder;
  const std::string command = "env -u COLUMNS -u HEADROOM_DATA_DIR -u XDG_CONFIG_HOME HOME=/nonexistent " +
                              (columns.empty() ? "" : "COLUMNS=" + columns) + " '" HEADROOM_BINARY "' " + arguments +
                              " >'" + (folder.path() / "out").string() + "' 2>'" + (folder.path() / "err").string() +
                              "'";
  const int status = std::system(command.c_str());
  return Run{WEXITSTATUS(status), read_text(folder.path() / "out"), read_text(folder.path() / "err")};
}

const std::vector<std::string>& answers() {
  static const std::vector<std::string> all{
      "plan " + scenarios + "train/llama3-70b-512xh100.toml",
      "plan " + scenarios + "train/llama3-70b-search.toml",
      "plan " + scenarios + "serve/llama3-70b.toml",
      "plan " + scenarios + "serve/llama3-70b-fleet.toml --set traffic.requests=2000",
      "simulate " + scenarios + "serve/llama3-70b-traffic.toml --set traffic.requests=2000",
      "compare " + scenarios + "train/llama3-70b-512xh100.toml " + scenarios + "train/llama3-70b-256xh200.toml",
      "scale " + scenarios + "train/llama3-70b-512xh100.toml --to 1024",
  };
  return all;
}

}  // namespace

TEST_CASE("an answer is a hundred columns wide where nobody says more, as wide as COLUMNS says where it does") {
  for (const std::string& asked : answers()) {
    CAPTURE(asked);
    const Run usual = with_columns("", asked);
    CHECK(widest(usual.out) <= 100);
    CHECK(widest(usual.out) > 60);
    const Run narrow = with_columns("72", asked);
    CHECK(widest(narrow.out) <= 72);
    const Run wide = with_columns("100000", asked);
    CHECK(words_of(usual.out) == words_of(wide.out));  // nothing is lost
    CHECK(words_of(narrow.out) == words_of(wide.out));
  }
  // Wide tables too, and every help.
  for (const std::string asked : {"validate", "catalog list gpus", "catalog diff h100-sxm-80gb h200-sxm-141gb",
                                  "schema --answers", "plan --help", "roofline llama3.1-8b --gpu h100-sxm-80gb"}) {
    CAPTURE(asked);
    const Run usual = with_columns("", asked);
    CHECK(usual.code == 0);
    const std::vector<std::string> lines = lines_of(usual.out);
    CHECK(std::all_of(lines.begin(), lines.end(), [](const std::string& line) {
      return shown_width(line) <= 100 || line.starts_with("  headroom ");  // commands stay whole
    }));
    CHECK(words_of(usual.out) == words_of(with_columns("100000", asked).out));
  }
  // What programs read is not broken.
  const std::string json = answers().front() + " --format json";
  CHECK(with_columns("40", json).out == with_columns("", json).out);
}

TEST_CASE("lines go on under their last column, numbers keep their thousands and units, commands stay whole") {
  CHECK(fitted("short\n", 40) == "short\n");
  CHECK(fitted("", 40).empty());
  CHECK(fitted("  key   a value of several words that goes on and on\n", 30) ==
        "  key   a value of several\n"
        "        words that goes on and\n"
        "        on\n");
  CHECK(fitted("  a sentence of some words, 19 936 tokens and 25.6 GiB", 28) ==
        "  a sentence of some words,\n    19 936 tokens and\n    25.6 GiB");
  const std::string command = "  headroom plan scenario.toml --set strategy.tp=8 --set strategy.pp=4\n";
  CHECK(fitted(command, 30) == command);
  CHECK(fitted("https://example.com/a/word/that/is/longer/than/a/line\n", 20) ==
        "https://example.com/a/word/that/is/longer/than/a/line\n");
}

TEST_CASE("--brief is the verdict and the numbers that a planner needs first, of each kind of question") {
  for (const std::string& asked : answers()) {
    CAPTURE(asked);
    const Run whole = with_columns("100000", asked);
    const Run brief = with_columns("100000", asked + " --brief");
    CHECK(brief.code == whole.code);
    const std::vector<std::string> lines = lines_of(brief.out);
    CHECK(lines.size() >= 3);
    CHECK(lines.size() <= 9);
  }
  const std::string trained = with_columns("", answers()[0] + " --brief").out;
  for (const std::string_view part : {"fits", "memory per GPU", " of 79.2 GiB", "time of the run", "cost of the run",
                                      "tokens/s per GPU", "expected within"}) {
    CAPTURE(part);
    CHECK(says(trained, part));
  }
  CHECK(says(trained, "with probability"));
  const std::string compared = with_columns("100000", answers()[5] + " --brief").out;
  CHECK(says(compared, "against the reference: throughput "));
  CHECK((says(compared, "indistinguishable") || says(compared, "larger than past errors")));
  CHECK(says(compared, "fits, with probability"));
  CHECK(says(with_columns("100000", answers()[6] + " --brief").out, "fits with probability"));
  const std::string fleet = with_columns("", answers()[3] + " --brief").out;
  for (const std::string_view part : {"take ", "GPUs", "TTFT p95", "TPOT p95", "cost per M output tokens"}) {
    CAPTURE(part);
    CHECK(says(fleet, part));
  }
  const std::vector<std::string> rows = lines_of(fleet);
  const auto first =
      std::find_if(rows.begin(), rows.end(), [](const std::string& row) { return says(row, "TTFT p95"); });
  REQUIRE(first != rows.end());
  CHECK(says(*first, " to "));  // with its interval
  CHECK(says(with_columns("", answers()[1] + " --brief").out, "take 256 x b200-sxm-180gb: "));
  const Run refused = with_columns("", answers()[0] + " --brief --format json");
  CHECK(refused.code == 2);
  CHECK(says(refused.err, "--brief has no part beside --format json; leave one out"));
}
