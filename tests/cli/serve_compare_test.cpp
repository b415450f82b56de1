// SPDX-License-Identifier: Apache-2.0
// `headroom compare` of served plans: its numbers are those of `headroom plan` under the same names.
#include <headroom/core/json_reader.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include "../support/says.hpp"
#include "run_headroom.hpp"
#include <string>
#include <string_view>

using namespace headroom;
using namespace headroom::test;

namespace {

const std::string plain = "scenarios/serve/llama3-70b.toml";
const std::string drafted = "scenarios/serve/llama3-70b-speculative.toml";

const ConfigValue& at(const ConfigValue& object, std::string_view key) {
  const ConfigValue* value = object.find(key);
  REQUIRE_MESSAGE(value != nullptr, std::string{key});
  return *value;
}

ConfigValue json_of(const std::string& arguments) {
  const Run run = run_headroom(arguments + " --format json");
  REQUIRE_MESSAGE(run.code == 0, run.err);
  return parse_json(run.out, "answer");
}

/// The row of a table that begins so; empty when none does.
std::string row_of(const std::string& text, const std::string& name) {
  const std::size_t start = text.find("\n  " + name);
  return start == std::string::npos ? std::string{} : text.substr(start + 1, text.find('\n', start + 1) - start - 1);
}

}  // namespace

TEST_CASE("a comparison says of how many requests its time to the first token is, as the plan does") {
  const ConfigValue plan = json_of("plan " + plain);
  const ConfigValue compared = json_of("compare " + plain + " " + drafted);
  const ConfigValue& first = at(compared, "plans").items.front();
  CHECK(at(first, "ttft_s").number == near(at(at(plan, "ttft_s"), "mid").number));
  CHECK(at(first, "prompt_alone_s").number == near(at(plan, "prompt_alone_s").number));
  CHECK(at(first, "prompt_alone_s").number < at(first, "ttft_s").number);  // 64 wait for each other

  // the plan's own text of the two numbers stands in the comparison's column
  const std::string text = run_headroom("plan " + plain).out;
  const std::string table = run_headroom("compare " + plain + " " + plain).out;
  for (const std::string name : {"TTFT, 64 in flight", "TTFT, one prompt alone"}) {
    const std::string row = row_of(text, name);
    const std::size_t number = row.find_first_not_of(' ', 2 + name.size());
    REQUIRE(number != std::string::npos);
    const std::string value = row.substr(number, row.find("  ", number) - number);
    CHECK_MESSAGE(says(row_of(table, name), value), name, value);
  }
  // of unlike numbers in flight neither plan's stands for both
  CHECK_FALSE(row_of(run_headroom("compare " + plain + " " + drafted).out, "TTFT, each plan's own in flight").empty());
}

TEST_CASE("weights that no measured kernel multiplies are compared in neither time nor price, and not ranked") {
  const ScratchFolder folder;
  std::string files = "compare";
  for (const std::string gpu : {"h100-sxm-80gb", "mi300x"}) {
    const std::string file = (folder.path() / (gpu + ".toml")).string();
    std::ofstream{file} << "schema = 1\nkind = \"serve\"\nmodel = \"llama3-70b\"\n[hardware]\ngpu = \"" << gpu
                        << "\"\ngpus = 8\n[serving]\nisl = 2048\nosl = 256\nconcurrency = 64\nweights = \""
                        << (gpu == "mi300x" ? "mxfp4" : "bf16") << "\"\n"
                        << "[strategy]\ntp = 8\n[money]\nprice = \"3 $/h\"\ndate = \"2026-08\"\n";
    files += " '" + file + "'";
  }
  const Run run = run_headroom(files);
  CHECK_MESSAGE(run.code == 0, run.err);
  CHECK(says(run.out, "B is compared by its memory alone, in neither time nor price: "));
  CHECK_FALSE(says(run.out, "larger than past errors"));
  CHECK_FALSE(says(run.out, "indistinguishable"));
  const ConfigValue json = json_of(files);
  const ConfigValue& other = at(json, "plans").items.back();
  CHECK(other.find("ttft_s") == nullptr);
  CHECK(other.find("output_tokens_per_s") == nullptr);
  CHECK(other.find("against_reference") == nullptr);
  CHECK(says(at(other, "untimed").text, "mxfp4"));
}
