// SPDX-License-Identifier: Apache-2.0
// `headroom compare` of served plans: its numbers are those of `headroom plan` under the same names.
#include <headroom/core/json_reader.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include "../support/says.hpp"
#include "run_headroom.hpp"
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

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
  const std::string table = run_headroom("compare " + plain + " --tp 8,4").out;
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

TEST_CASE("rows in which all plans are alike stand in a line above, and none of them in the table") {
  const std::string out = run_headroom("compare " + plain + " --tp 8,4").out;
  CHECK(says(out, "alike in all: memory per GPU 71.9 GiB, capacity "));
  CHECK(row_of(out, "capacity").empty());
  CHECK_FALSE(row_of(out, "TPOT").empty());
  CHECK_FALSE(row_of(out, "serving.tp").empty());
}

TEST_CASE("fleets side by side: each as its own plan answers it, and the one that keeps its promises for least first") {
  const std::string rest =
      "--model llama3-8b --gpu h100-sxm-80gb --isl 512 --osl 128 --rate '10 req/s' --price '2 $/h' ";
  const std::string set = "traffic.requests=400 ";
  const std::string slo = "'slo.ttft_p95=1 s' ";
  const std::string both = "compare " + rest + "--tp 1,2 --set-each " + set + "--set-each " + slo;
  const ConfigValue compared = json_of(both);
  CHECK(at(compared, "schema").text == "headroom.compare_fleets/1");
  const std::vector<ConfigValue>& fleets = at(compared, "fleets").items;
  REQUIRE(fleets.size() == 2);
  std::vector<double> dollars;
  for (std::size_t i = 0; i < fleets.size(); ++i) {
    const ConfigValue alone =
        json_of("plan " + rest + "--tp " + std::to_string(i + 1) + " --set " + set + "--set " + slo);
    const ConfigValue& fleet = at(fleets[i], "fleet");
    CHECK(at(fleet, "verdict_text").text == at(alone, "verdict_text").text);
    dollars.push_back(at(at(at(fleet, "options").items.front(), "usd_per_million_output_tokens"), "mid").number);
  }
  const auto first = static_cast<std::size_t>(at(at(compared, "ranking").items.front(), "fleet").integer);
  CHECK(dollars.at(first) <= dollars.at(1 - first));
  REQUIRE(at(compared, "differs").items.size() == 1);
  CHECK(at(at(compared, "differs").items.front(), "key").text == "strategy.tp");
  const std::string text = run_headroom(both).out;
  CHECK(says(text, "by dollars per million output tokens"));
  CHECK_FALSE(row_of(text, "strategy.tp").empty());
  CHECK_FALSE(row_of(text, "GPUs").empty());
  // The lists of a plan are the same comparison.
  CHECK(run_headroom("plan " + rest + "--tp 1,2 --set " + set + "--set " + slo).out == text);
}

TEST_CASE("of curves and of open layouts the plans that are taken are compared") {
  const std::string rest = "--model llama3-70b --gpu h100-sxm-80gb --gpus 8 --isl 1024 --osl 256 --concurrency 64 ";
  const ConfigValue compared = json_of("compare " + rest + "--weights bf16,fp8");
  for (std::size_t i = 0; i < 2; ++i) {
    const ConfigValue alone = json_of("plan " + rest + "--weights " + (i == 0 ? "bf16" : "fp8"));
    const ConfigValue& plan = at(alone, "schema").text == "headroom.box/1" ? at(alone, "plan") : alone;
    CHECK(at(at(compared, "plans").items.at(i), "output_tokens_per_s").number ==
          near(at(at(plan, "output_tokens_per_s"), "mid").number));
  }
}

TEST_CASE("weights that no measured kernel multiplies are compared in neither time nor price, and not ranked") {
  const ScratchFolder folder;
  std::string files = "compare";
  for (const std::string gpu : {"h100-sxm-80gb", "v100-sxm2-32gb"}) {  // no layer of experts on Volta
    const std::string file = (folder.path() / (gpu + ".toml")).string();
    std::ofstream{file} << "schema = 1\nkind = \"serve\"\nmodel = \"qwen3-30b-a3b\"\n[hardware]\ngpu = \"" << gpu
                        << "\"\ngpus = 8\n[serving]\nisl = 2048\nosl = 256\nconcurrency = 64\nweights = \""
                        << (gpu == "v100-sxm2-32gb" ? "fp16" : "bf16") << "\"\n"
                        << "[strategy]\ntp = 8\n[money]\nprice = \"3 $/h\"\ndate = \"2026-08\"\n";
    files += " '" + file + "'";
  }
  const Run run = run_headroom(files);
  CHECK_MESSAGE(run.code == 0, run.err);
  CHECK(says(run.out, "B is compared by its memory alone, in neither time nor price: "));
  CHECK_FALSE(says(run.out, "more than our usual error"));
  CHECK_FALSE(says(run.out, "cannot be told apart"));
  const ConfigValue json = json_of(files);
  const ConfigValue& other = at(json, "plans").items.back();
  CHECK(other.find("ttft_s") == nullptr);
  CHECK(other.find("output_tokens_per_s") == nullptr);
  CHECK(other.find("against_reference") == nullptr);
  CHECK(says(at(other, "untimed").text, "no layer of experts was measured"));
}
