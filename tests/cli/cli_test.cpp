// SPDX-License-Identifier: Apache-2.0
// What scripts rely on: exit codes, valid JSON, the same bytes every time, and no half answers.
#include <headroom/core/json_reader.hpp>
#include <headroom/core/version.hpp>

#include <doctest/doctest.h>

#include "run_headroom.hpp"
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

using namespace headroom;
using namespace headroom::test;

namespace {

constexpr std::array<std::string_view, 6> scenarios{
    "scenarios/train/llama3-70b-512xh100.toml",   "scenarios/train/llama2-7b-8xa100.toml",
    "scenarios/train/gpt3-175b-selene.toml",      "scenarios/serve/llama3-70b.toml",
    "scenarios/train/perception-2b-64xa100.toml", "scenarios/train/llama3-8b-beside-the-plan.toml"};
constexpr std::string_view quick_form =
    "plan --model llama3-70b --gpu h100-sxm-80gb --gpus 512 --tp 8 --pp 4 --seq-len 8192 --global-batch 1024";

std::string text_at(const ConfigValue& root, std::string_view key) {
  const ConfigValue* found = root.find(key);
  return found == nullptr ? "(missing)" : found->text;
}

}  // namespace

TEST_CASE("every scenario's JSON is valid and names its schema, answered or not") {
  for (const std::string_view scenario : scenarios) {
    CAPTURE(scenario);
    for (const std::string_view change : {"", " --set hardware.gpus=1"}) {
      const Run run = run_headroom("plan " + std::string{scenario} + " --format json" + std::string{change});
      CHECK((run.code == 0 || run.code == 1));
      CHECK(run.err.empty());
      CHECK(text_at(parse_json(run.out, "stdout"), "schema") == "headroom.plan/1");
    }
  }
}

TEST_CASE("what may not fit is answered, and said in the first words of the verdict") {
  const std::string tight = "plan " + std::string{scenarios[0]} + " --set strategy.pp=2 --set strategy.micro_batch=2";
  const Run text = run_headroom(tight);
  CHECK(text.code == 0);
  CHECK(text.out.find("\nmay not fit: ") != std::string::npos);
  CHECK(text.out.find("\nif it fits:\n") != std::string::npos);
  const Run json = run_headroom(tight + " --format json");
  CHECK(json.code == 0);
  const ConfigValue answer = parse_json(json.out, "stdout");
  CHECK(text_at(answer, "verdict") == "may_not_fit");
  REQUIRE(answer.find("remedies") != nullptr);
  CHECK_FALSE(answer.find("remedies")->items.empty());
  CHECK(run_headroom(tight + " --set strategy.micro_batch=8").code == 1);
}

TEST_CASE("a served model that does not fit has no KV pool, in bytes from 0 on, and its verdict says what is missing") {
  const Run run = run_headroom(
      "plan --model llama3-70b --gpu h100-sxm-80gb --gpus 1 --isl 1024 --osl 256 --concurrency 8 --format json");
  CHECK(run.code == 1);
  const ConfigValue answer = parse_json(run.out, "stdout");
  CHECK(text_at(answer, "verdict") == "out_of_memory");
  CHECK(text_at(answer, "verdict_text").find("does not fit: needs ") != std::string::npos);
  for (const std::string_view key : {"kv_pool_bytes", "kv_bytes_per_sequence", "capacity_bytes"}) {
    const ConfigValue* found = answer.find(key);
    REQUIRE(found != nullptr);
    CHECK((found->kind == ConfigValue::Kind::integer ? static_cast<double>(found->integer) : found->number) >= 0.0);
  }
}

TEST_CASE("memory alone needs no price: a list without an offer for the SKU is no obstacle") {
  const std::string asked =
      "plan --model llama3-8b --gpu a100-sxm-80gb --gpus 8 --seq-len 4096 --global-batch 64 --set "
      "money.prices=lambda-2026-08";
  CHECK(run_headroom(asked).code == 2);
  CHECK(run_headroom(asked + " --only memory").code == 0);
}

TEST_CASE("explain of memory alone tells no time") {
  const Run run = run_headroom("explain " + std::string{scenarios[0]} + " --only memory");
  CHECK(run.code == 0);
  CHECK(run.out.find("\nweights = ") != std::string::npos);
  CHECK(run.out.find("gemm") == std::string::npos);
  CHECK(run.out.find("\nstep = ") == std::string::npos);
}

TEST_CASE("explain answers with JSON of the same schema") {
  const Run run = run_headroom("explain " + std::string{scenarios[0]} + " --format json");
  CHECK(run.code == 0);
  CHECK(text_at(parse_json(run.out, "stdout"), "schema") == "headroom.plan/1");
}

TEST_CASE("replay answers with JSON of its own schema, 0 when the trace fits and 1 when it does not") {
  const Run refused = run_headroom("replay scenarios/traces/fragmented-40gib.csv --memory '40 GiB' --format json");
  CHECK(refused.code == 1);
  CHECK(text_at(parse_json(refused.out, "stdout"), "schema") == "headroom.replay/1");
  CHECK(run_headroom("replay scenarios/traces/fragmented-40gib.csv --gpu a100-sxm-80gb").code == 0);
}

TEST_CASE("validate answers with JSON of its own schema") {
  const Run run = run_headroom("validate scenarios/published/nemo.csv --format json");
  CHECK(run.code == 0);
  const ConfigValue answer = parse_json(run.out, "stdout");
  CHECK(text_at(answer, "schema") == "headroom.validate/1");
  REQUIRE(answer.find("sweeps") != nullptr);
  CHECK(answer.find("sweeps")->find("groups") != nullptr);
  CHECK(answer.find("sweeps")->find("sweeps") != nullptr);
}

TEST_CASE("validate writes the accuracy page of the rows that ship") {
  const Run run = run_headroom("validate --format markdown");
  CHECK(run.code == 0);
  CHECK(run.out.starts_with("# Accuracy\n\nWritten by `headroom validate --format markdown`"));
  for (const std::string_view heading :
       {"\n## Bars\n", "\n### By source\n", "\n### By GPUs\n", "\n## Other predictors\n", "\n## Furthest off\n",
        "\n## Training memory\n", "\n## Serving capacity\n"}) {
    CHECK(run.out.find(heading) != std::string::npos);
  }
}

TEST_CASE("the same question gets the same bytes") {
  for (const std::string& arguments :
       {std::string{quick_form}, "explain " + std::string{scenarios[0]},
        "plan " + std::string{scenarios[3]} + " --format json", std::string{"catalog list"}, std::string{"validate"}}) {
    CAPTURE(arguments);
    const Run first = run_headroom(arguments);
    const Run second = run_headroom(arguments);
    CHECK(first.code == 0);
    CHECK(!first.out.empty());
    CHECK(first.out == second.out);
  }
}

TEST_CASE("-o writes to a file what stdout would have got, and nothing to stdout") {
  const ScratchFolder folder;
  const std::string file = (folder.path() / "answer.txt").string();
  for (const std::string& verb : {std::string{quick_form}, "plan " + std::string{scenarios[1]} + " --format json"}) {
    CAPTURE(verb);
    const Run plain = run_headroom(verb);
    const Run written = run_headroom(verb + " -o '" + file + "'");
    CHECK(written.code == plain.code);
    CHECK(written.out.empty());
    CHECK(read_text(file) == plain.out);
  }
}

TEST_CASE("-o leaves an existing file alone when there is no answer") {
  const ScratchFolder folder;
  const std::filesystem::path file = folder.path() / "answer.txt";
  std::ofstream{file} << "yesterday's answer\n";
  CHECK(run_headroom("plan nobody.toml -o '" + file.string() + "'").code == 2);
  CHECK(read_text(file) == "yesterday's answer\n");
}

TEST_CASE("an imported config.json tells its parameters, those active for a token, and the format of its weights") {
  const Run experts = run_headroom("catalog import tests/questions/files/glm-4.5/config.json");
  REQUIRE(experts.code == 0);
  CHECK(experts.out.starts_with("# 352.8 billion parameters, "));
  CHECK(experts.out.find(" billion of them active for a token, in 92 layers; ") != std::string::npos);
  CHECK(experts.out.find("\n# weights of 16 bits: 706 GB\nschema = 1\n") != std::string::npos);
  const Run quantised = run_headroom("catalog import tests/questions/files/qwen2.5-7b-awq/config.json");
  REQUIRE(quantised.code == 0);
  CHECK(
      quantised.out.starts_with("# 7.616 billion parameters, in 28 layers\n# weights in int4 as awq stores them, 4."));
}

TEST_CASE("capacity means the same in both kinds, and no sentinel is printed for what has no bound") {
  const auto number = [](const std::string& arguments, std::string_view key) {
    const ConfigValue root = parse_json(run_headroom(arguments + " --format json").out, "stdout");
    const ConfigValue* found = root.find(key);
    REQUIRE(found != nullptr);
    return found->kind == ConfigValue::Kind::integer ? static_cast<double>(found->integer) : found->number;
  };
  const std::string train = "plan scenarios/train/llama3-70b-512xh100.toml";
  const std::string serve = "plan scenarios/serve/llama3-70b.toml";
  CHECK(number(serve, "capacity_bytes") == number(train, "capacity_bytes"));
  CHECK(number(serve, "nameplate_bytes") > number(serve, "capacity_bytes"));
  for (const std::string_view model : {"mistral-7b", "mamba-1.4b"}) {
    const std::string asked =
        "plan --model " + std::string{model} + " --gpu h100-sxm-80gb --gpus 1 --isl 1024 --osl 256 --concurrency 64";
    CHECK(text_at(parse_json(run_headroom(asked + " --format json").out, "stdout"), "longest_sequence_tokens") ==
          "unbounded");
    CHECK(run_headroom(asked).out.find("unbounded: the cache stops growing") != std::string::npos);
  }
  const std::string none =
      "plan --model llama3-8b --gpu h100-sxm-80gb --gpus 1 --isl 1024 --osl 256 --concurrency 64 --set "
      "'model={base=\"llama3-8b\",id=\"x\",mixer=\"none\"}'";
  CHECK(run_headroom(none).out.find("unbounded: no layer keeps a cache") != std::string::npos);
  CHECK(text_at(parse_json(run_headroom(none + " --format json").out, "stdout"), "kv_capacity_sequences") ==
        "unbounded");
}

TEST_CASE("exit codes: 0 answered, 1 no feasible plan or a missed budget, 2 usage or input") {
  CHECK(run_headroom(std::string{quick_form}).code == 0);
  CHECK(run_headroom(std::string{quick_form} + " --set strategy.pp=512").code == 1);
  const ScratchFolder folder;
  std::ofstream{folder.path() / "strict.toml"} << "[[bar]]\ngroup = \"all\"\nmape = 0.0\n";
  std::ofstream{folder.path() / "loose.toml"} << "[[bar]]\ngroup = \"all\"\ncoverage = 0.0\n";
  const std::string validate = "validate scenarios/published/nemo.csv --budget '" + folder.path().string();
  CHECK(run_headroom(validate + "/strict.toml'").code == 1);
  CHECK(run_headroom(validate + "/loose.toml'").code == 0);
  CHECK(run_headroom("").code == 2);
  CHECK(run_headroom("plan").code == 2);
  CHECK(run_headroom("plan --nonsense").code == 2);
  CHECK(run_headroom(std::string{quick_form} + " --set strategy.tp=none").code == 2);
}

TEST_CASE("stdout stays empty until there is an answer") {
  for (const std::string_view arguments :
       {"", "plan", "plan scenarios/train/llama3-70b-512xh100.toml --set strategy.tp=none", "explain nobody.toml",
        "validate nobody.csv", "catalog show nobody", "fit nobody.csv"}) {
    CAPTURE(arguments);
    const Run run = run_headroom(std::string{arguments});
    CHECK(run.code == 2);
    CHECK(run.out.empty());
    CHECK(!run.err.empty());
  }
}

TEST_CASE("help and version go to stdout and succeed") {
  for (const std::string_view arguments : {"--help", "plan --help", "validate -h", "catalog --help", "--version"}) {
    CAPTURE(arguments);
    const Run run = run_headroom(std::string{arguments});
    CHECK(run.code == 0);
    CHECK(!run.out.empty());
    CHECK(run.err.empty());
  }
}

TEST_CASE("an answer that cannot be written is a failure, not a silent success") {
  const Run file = run_headroom(std::string{quick_form} + " -o no/such/folder/answer.txt");
  CHECK(file.code == 2);
  CHECK(
      file.err ==
      "no/such/folder/answer.txt: error: cannot be written: there is no folder 'no/such/folder'; make it first or name "
      "another\n");
  if (std::filesystem::exists("/dev/full")) {
    CHECK(std::system(("'" HEADROOM_BINARY "' " + std::string{quick_form} + " >/dev/full 2>/dev/null").c_str()) != 0);
  }
}

TEST_CASE("a reader that stops early is no failure") {
  // The pipe's reader is gone before the answer comes.
  const ScratchFolder folder;
  const std::string code = (folder.path() / "code").string();
  const std::string err = (folder.path() / "err").string();
  REQUIRE(
      std::system(("{ sleep 0.1; '" HEADROOM_BINARY "' catalog list 2>'" + err + "'; echo $? >'" + code + "'; } | true")
                      .c_str()) == 0);
  CHECK(read_text(code) == "0\n");
  CHECK(read_text(err).empty());
}

TEST_CASE("the version tells the newest date of the price lists that ship") {
  const Run run = run_headroom("--version");
  REQUIRE(run.code == 0);
  const std::string begin = "Headroom " + std::string{headroom::version_number()} + ", data of ";
  REQUIRE(run.out.starts_with(begin));
  const std::string told = run.out.substr(begin.size(), run.out.size() - begin.size() - 1);
  std::string newest;
  for (const auto& entry : std::filesystem::directory_iterator{HEADROOM_SOURCE_DIR "/hardware/catalog/prices"}) {
    std::ifstream file{entry.path()};
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with("date = \"")) {
        newest = std::max(newest, line.substr(8, line.rfind('"') - 8));
      }
    }
  }
  // Sources in the catalog may have been read later than its newest price list.
  CHECK(told >= newest);
  CHECK(told.starts_with("20"));
}
