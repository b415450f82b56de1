// SPDX-License-Identifier: Apache-2.0
// Manual pages and completions tell what the verbs' tables say, and survive the characters of three shells and of roff.
#include <headroom/cli/pages/pages.hpp>

#include <doctest/doctest.h>

#include "verbs.hpp"
#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace headroom::cli;
using namespace headroom::cli::pages;

bool holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// How often `part` begins a line of `text`.
std::size_t lines_with(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) {
    count += at == 0 || text[at - 1] == '\n' ? 1U : 0U;
  }
  return count;
}

std::string escaped(std::string_view name) {
  std::string result;
  for (const char c : name) {
    result += c == '-' ? std::string{"\\-"} : std::string(1, c);
  }
  return result;
}

constexpr std::array odd_options{
    Option{"--odd", OptionKind::one, "a|b-c", R"(it's .hidden in C:\temp [not: really])"},
    Option{"-q", OptionKind::many, "FILE.csv", "'quoted' first"},
};
const Verb odd_verb{"odd",       "what's odd: a 10 % \\ test",     "FILE", 1,
                    odd_options, "  headroom odd --odd a\n.dot\n", nullptr};
constexpr std::array odd_verbs{&odd_verb};

}  // namespace

TEST_CASE("pages: every verb and option is in the manual and in the three completions") {
  const std::string bash = bash_completion(all_verbs());
  const std::string zsh = zsh_completion(all_verbs());
  const std::string fish = fish_completion(all_verbs());
  const std::string front = front_manual(all_verbs(), "2026-11-22", "Headroom 0.1.0");
  REQUIRE(all_verbs().size() >= 15);
  for (const Verb* verb : all_verbs()) {
    CAPTURE(verb->name);
    const std::string name{verb->name};
    CHECK(holds(front, "headroom\\-" + name + " (1)"));
    CHECK(holds(zsh, "        '" + name + ":"));
    CHECK(holds(fish, "-a " + name + " -d "));
    const std::string page = verb_manual(*verb, "2026-11-22", "Headroom 0.1.0");
    CHECK(holds(page, ".SH EXAMPLES\n"));
    for (const Option& option : verb->options) {
      CAPTURE(option.name);
      CHECK(holds(page, "\\fB" + escaped(option.name) + "\\fR"));
      CHECK(holds(bash, option.kind == OptionKind::flag ? std::string{option.name}
                                                        : "'" + name + " " + std::string{option.name} + "'"));
      CHECK(holds(zsh, std::string{option.name}));
      const bool one_letter = !option.name.starts_with("--");
      CHECK(holds(fish, "'__headroom_verb " + name + "'" + (option.name == "--output" ? " -s o" : "") +
                            (one_letter ? " -s " : " -l ") + std::string{option.name.substr(one_letter ? 1 : 2)}));
    }
  }
}

TEST_CASE("pages: an option that takes an ID is completed from the catalog, or is known to be in no list of it") {
  constexpr std::array<std::string_view, 2> elsewhere{"--network", "--software"};
  for (const Verb* verb : all_verbs()) {
    for (const Option& option : verb->options) {
      if (option.value == "ID" && std::find(elsewhere.begin(), elsewhere.end(), option.name) == elsewhere.end()) {
        CAPTURE(verb->name);
        CAPTURE(option.name);
        CHECK_FALSE(completion_of(option).kinds.empty());
      }
    }
  }
}

TEST_CASE("pages: what a value may be follows from its name") {
  using Words = std::vector<std::string>;
  CHECK(completion_of({"--format", OptionKind::one, "text|json", ""}).words == Words{"text", "json"});
  CHECK(completion_of({"--gpu", OptionKind::one, "ID", ""}).kinds == Words{"gpus"});
  CHECK(completion_of({"--model", OptionKind::one, "ID", ""}).endings == Words{".json"});
  CHECK(completion_of({"--runs", OptionKind::many, "FILE.csv", ""}).endings == Words{".csv"});
  CHECK(completion_of({"--trace", OptionKind::one, "FILE", ""}).files);
  CHECK(completion_of({"--write", OptionKind::one, "FOLDER", ""}).folders);
  CHECK(completion_of({"--tp", OptionKind::one, "N", ""}).empty());
  CHECK(completion_of({"--weak", OptionKind::flag, "", ""}).empty());
  CHECK(first_positional(plan_verb).endings == Words{".toml"});
  CHECK(first_positional(probe_verb).empty());
  const Completion of_op = first_positional(op_verb);
  CHECK(std::find(of_op.words.begin(), of_op.words.end(), "gemm") != of_op.words.end());
  CHECK(of_op.endings == Words{".csv"});
}

TEST_CASE("pages: usage lines") {
  CHECK(usage_of(plan_verb) == "headroom plan [OPTIONS] [SCENARIO.toml]");
  CHECK(usage_of(compare_verb) == "headroom compare [OPTIONS] [SCENARIO.toml ...]");
  CHECK(usage_of(catalog_verb) == "headroom catalog [OPTIONS] ACTION [ID...]");
  CHECK(usage_of(probe_verb) == "headroom probe [OPTIONS]");
}

TEST_CASE("pages: no character of a table is taken for roff's or a shell's own") {
  const std::string page = verb_manual(odd_verb, "2026-11-22", "Headroom 0.1.0");
  // roff: backslashes printed, a dot or a quote that begins a line no request (man(7), groff(7)).
  CHECK(holds(page, "C:\\etemp"));
  CHECK(lines_with(page, "\\&.dot") == 1);
  CHECK(lines_with(page, "\\&'quoted' first") == 1);
  CHECK(lines_with(page, ".dot") == 0);
  CHECK(lines_with(page, "'quoted") == 0);
  // zsh: brackets end an explanation, colons a field; a quote ends the word (zshcompsys(1), _arguments).
  const std::string zsh = zsh_completion(odd_verbs);
  CHECK(holds(zsh, R"('--odd=[it'\''s .hidden in C\:\\temp \[not\: really\]]:a|b-c:{ compadd -- a b-c }')"));
  CHECK(holds(zsh, R"('*-q+['\''quoted'\'' first]:FILE.csv:{ _files -g "*.csv" }')"));
  // fish: a backslash before a quote or a backslash in single quotes.
  const std::string fish = fish_completion(odd_verbs);
  CHECK(holds(fish, R"(-l odd -x -a 'a b-c' -d 'it\'s .hidden in C:\\temp [not: really]')"));
  // bash holds names alone, no help.
  CHECK_FALSE(holds(bash_completion(odd_verbs), "hidden"));
}

TEST_CASE("pages: tables are ASCII, which every terminal and roff prints") {
  for (const Verb* verb : all_verbs()) {
    const std::string page = verb_manual(*verb, "2026-11-22", "Headroom 0.1.0");
    CAPTURE(verb->name);
    CHECK(std::all_of(page.begin(), page.end(), [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }));
  }
}
