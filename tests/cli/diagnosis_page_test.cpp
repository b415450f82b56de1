// SPDX-License-Identifier: Apache-2.0
// Commands that the page of a diagnosis tells to ask.
#include <headroom/cli/render/diagnosis_page.hpp>

#include <doctest/doctest.h>

#include "run_headroom.hpp"
#include <set>
#include <string>
#include <string_view>

using headroom::cause_count;
using headroom::CauseKind;
using headroom::cli::command_of;

TEST_CASE("diagnose: each command that its page tells is answered") {
  const auto filled = [](std::string text, std::string_view word, std::string_view by) {
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + by.size())) {
      text.replace(at, word.size(), by);
    }
    return text;
  };
  std::set<std::string> asked;
  for (std::size_t kind = 0; kind < cause_count; ++kind) {
    std::string command{command_of(static_cast<CauseKind>(kind))};
    command = filled(command, "SCENARIO.toml", "scenarios/train/llama2-7b-8xa100.toml");
    command = filled(filled(command, "SKU", "h100-sxm-80gb"), "MODEL", "llama3-8b");
    constexpr std::string_view program = "headroom ";
    REQUIRE(command.starts_with(program));
    asked.insert(command.substr(program.size()));
  }
  CHECK(asked.size() >= 10);
  for (const std::string& arguments : asked) {
    CAPTURE(arguments);
    const headroom::test::Run run = headroom::test::run_headroom(arguments);
    CHECK(run.code == 0);
  }
}
