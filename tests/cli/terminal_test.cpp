// SPDX-License-Identifier: Apache-2.0
// What a terminal gets: a line of progress that is gone when the answer comes, and a file's lines as lines.
#include <doctest/doctest.h>

#include "../support/says.hpp"
#include "run_headroom.hpp"
#include <string>
#include <string_view>

using namespace headroom::test;
namespace fs = std::filesystem;

TEST_CASE("a search on a terminal erases its line of progress, and shows nothing of how it does") {
  const ScratchFolder folder;
  const std::string erase = "\r\x1b[K";
  const Run run = run_on_terminal({"plan", "--model", "llama3-8b", "--gpu", "h100-sxm-80gb", "--gpus", "8", "--seq-len",
                                   "4096", "--global-batch", "64", "--search", "tp=any", "--threads", "1"},
                                  folder.path());
  CHECK(run.code == 0);
  CHECK(says(run.out, erase + "searched "));
  CHECK_FALSE(says(run.out, "\\x1b"));
  CHECK_FALSE(says(run.out, "\\x0d"));
  CHECK(run.out.rfind(erase) < run.out.find("searched "));  // none in the answer
}

TEST_CASE("a search that fails on a terminal leaves no progress beside what it says") {
  const ScratchFolder folder;
  const Run run = run_on_terminal({"plan", "--model", "llama3-70b", "--gpu", "h100-sxm-80gb", "--gpus", "1",
                                   "--seq-len", "4096", "--global-batch", "64", "--search", "tp=any"},
                                  folder.path());
  CHECK(run.code == 1);
  CHECK_FALSE(says(run.out, "\\x"));
  const std::size_t erased = run.out.rfind("\r\x1b[K");
  REQUIRE(erased != std::string::npos);
  CHECK_FALSE(says(run.out.substr(erased), " evaluated, "));
}

TEST_CASE("a file whose lines end in CR LF is shown on a terminal as its lines") {
  const ScratchFolder folder;
  const fs::path gpus = folder.path() / ".config/headroom/gpus";
  fs::create_directories(gpus);
  std::ofstream{gpus / "mine.toml", std::ios::binary}
      << "schema = 1\r\nid = \"mine\"\r\nbase = \"h100-sxm-80gb\"\r\nname = \"mine\"\r\n";
  const Run run = run_on_terminal({"catalog", "show", "mine"}, folder.path());
  CHECK(run.code == 0);
  CHECK(says(run.out, "id = \"mine\"\r\nbase = "));
  CHECK_FALSE(says(run.out, "\\x0d"));
}
