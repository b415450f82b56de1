// SPDX-License-Identifier: Apache-2.0
// What large and endless inputs cost, and how they are refused: memory and time follow what is asked, not what is
// named.
#include <headroom/core/json_reader.hpp>

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "run_headroom.hpp"
#include <algorithm>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

using namespace headroom::test;
namespace fs = std::filesystem;

namespace {

constexpr std::size_t megabyte = 1'000'000;

constexpr const char* header =
    "id,source,model,arch,layers,hidden,heads,gpu,gpus,dp,tp,pp,cp,seq_len,global_batch,precision,framework,options,"
    "metric,value,unit,notes\n";

/// Rows of a run that its notes doubt, so that none is predicted.
std::string doubted_rows(int count, const std::string& value = "22521") {
  std::string text = header;
  for (int i = 0; i < count; ++i) {
    text += "run-" + std::to_string(i) +
            ",a source of measurements,GPT3-5B,dense,24,4096,32,H100-SXM5-80GB,64,64,1,1,1,2048,2048,fp8,"
            "Megatron-Bridge / NeMo,release=nemo24.07-0814,tokens_per_s_per_gpu," +
            value + ",tokens/s/gpu,CHECK\n";
  }
  return text;
}

/// Runs of jobs that all differ in their batch: each is predicted, and a question of its own.
std::string training_rows(int count) {
  std::string text = header;
  for (int i = 0; i < count; ++i) {
    text += "run-" + std::to_string(i) +
            ",a source of measurements,GPT3-5B,dense,24,4096,32,H100-SXM5-80GB,64,64,1,1,1,2048," +
            std::to_string(64 * (i + 1)) +
            ",fp8,Megatron-Bridge / NeMo,release=nemo24.07-0814,tokens_per_s_per_gpu,9000,tokens/s/gpu,\n";
  }
  return text;
}

/// The same of servers, by their prompts.
std::string serving_rows(int count) {
  std::string text =
      "id,source,model,layers,hidden,heads,kv_heads,head_dim,ffn_hidden,vocab,gpu,gpus,tp,weight_dtype,kv_dtype,isl,"
      "osl,concurrency,engine,engine_version,options,metric,value,unit\n";
  for (int i = 0; i < count; ++i) {
    text += "run-" + std::to_string(i) +
            ",a source of measurements,Llama-3.1-8B,32,4096,32,8,128,14336,128256,H100-SXM5-80GB,2,2,bf16,bf16," +
            std::to_string(1000 + i) + ",128,16,vLLM,0.8.0,scenario=closed,output_tokens_per_s,900,tokens/s\n";
  }
  return text;
}

void write(const fs::path& path, const std::string& text) {
  std::ofstream{path, std::ios::binary} << text;
}

}  // namespace

TEST_CASE("a plan costs the same on eight million GPUs as on eighty thousand") {
  const auto of_fixed_batch = [](const std::string& gpus) {
    return "plan scenarios/train/llama3-405b-54-days.toml --set hardware.gpus=" + gpus;
  };
  const auto of_grown_batch = [](const std::string& gpus) {
    return "plan scenarios/train/llama2-7b-8xa100.toml --set training.global_batch=" + gpus +
           " --set hardware.gpus=" + gpus;
  };
  for (const auto& [first, second] : {std::pair{of_fixed_batch("81920"), of_fixed_batch("8192000")},
                                      {of_grown_batch("81920"), of_grown_batch("8192000")}}) {
    CAPTURE(second);
    const Run small = run_headroom(first);
    const Run large = run_headroom(second);
    CHECK(small.code == large.code);
    CHECK(!large.out.empty());
    CHECK(large.processor_seconds < 4.0 * small.processor_seconds + 0.05);
    if (memory_is_measured) {
      CHECK(large.peak_memory < small.peak_memory + 20 * megabyte);
    }
  }
}

TEST_CASE(
    "a fabric costs the same on four million GPUs as on four thousand, and its halves are as much further joined") {
  const auto of = [](const std::string& host, const std::string& gpus) {
    return run_headroom("fabric show " + host + " --format json --gpus " + gpus);
  };
  for (const auto& [host, few, many] : {std::tuple{"gaudi2-8", "4096", "4194304"},
                                        {"dgx-h100", "4096", "4194304"},
                                        {"gb200-nvl72-tray", "4608", "4128768"}}) {
    CAPTURE(host);
    const Run small = of(host, few);
    const Run large = of(host, many);
    REQUIRE(small.code == 0);
    REQUIRE(large.code == 0);
    CHECK(large.processor_seconds < 4.0 * small.processor_seconds + 0.1);
    const auto bisection = [](const Run& run) {
      const headroom::ConfigValue fabric = headroom::parse_json(run.out, "fabric.json");
      const headroom::ConfigValue* const rate = fabric.find("bisection_bytes_per_s");
      REQUIRE(rate != nullptr);
      const bool whole = rate->kind == headroom::ConfigValue::Kind::integer;
      return whole ? static_cast<double>(rate->integer) : rate->number;
    };
    CHECK(bisection(large) / bisection(small) == doctest::Approx(std::stod(many) / std::stod(few)));
  }
}

TEST_CASE("the network of twenty thousand GPUs under one switch is laid out and halved in seconds") {
  const Run run = run_headroom("fabric show aws-p5-efa --format json");
  REQUIRE(run.code == 0);
  CHECK(run.processor_seconds < 5.0);  // 0.3 s where nothing is instrumented; a flow of host by host takes a minute
  const headroom::ConfigValue fabric = headroom::parse_json(run.out, "fabric.json");
  const headroom::ConfigValue* const rate = fabric.find("bisection_bytes_per_s");
  REQUIRE(rate != nullptr);
  const bool whole = rate->kind == headroom::ConfigValue::Kind::integer;
  CHECK((whole ? static_cast<double>(rate->integer) : rate->number) == doctest::Approx(1250.0 * 32 * 12.5e9));
}

TEST_CASE("rows that are scored are let go") {
  const ScratchFolder folder;
  constexpr int few = 500, many = 2'500;
  constexpr std::size_t row_bytes = 300;
  constexpr std::size_t noise = megabyte / 2;  // pages of the program that one run touches and another does not
  write(folder.path() / "training-few.csv", training_rows(few));
  write(folder.path() / "training-many.csv", training_rows(many));
  write(folder.path() / "serving-few.csv", serving_rows(few));
  write(folder.path() / "serving-many.csv", serving_rows(many));
  for (const auto& [kind, options] :
       {std::pair<std::string, std::string>{"training", "--format text --weight-by global_batch"},
        {"serving", "--format text"},
        {"serving", "--format csv"},
        {"serving", "--format json"}}) {
    CAPTURE(kind);
    CAPTURE(options);
    const std::string rows_of_few = "validate " + kind + "-few.csv " + options;
    const std::string rows_of_many = "validate " + kind + "-many.csv " + options;
    Run small = run_headroom(rows_of_few, folder.path());
    Run large = run_headroom(rows_of_many, folder.path());
    CHECK(small.code == 0);
    CHECK(large.code == 0);
    if (options.starts_with("--format text")) {
      CHECK(large.out.starts_with("2500 rows, 2500 scored"));
    } else {
      CHECK(std::count(large.out.begin(), large.out.end(), '\n') > many);
    }
    if (memory_is_measured) {
      // Beside the answer, which may stand in memory twice while it grows.
      const auto let_go = [&] {
        return large.peak_memory < small.peak_memory + 2 * large.out.size() + (many - few) * row_bytes + noise;
      };
      // What the kernel maps of the program around a touched page depends on what else it caches: both are run again.
      for (int again = 0; again < 3 && !let_go(); ++again) {
        small = run_headroom(rows_of_few, folder.path());
        large = run_headroom(rows_of_many, folder.path());
      }
      CHECK(large.peak_memory < small.peak_memory + 2 * large.out.size() + (many - few) * row_bytes + noise);
    }
  }
}

TEST_CASE("of many bad rows the first hundred are told in their order, of the others the number") {
  const ScratchFolder folder;
  write(folder.path() / "bad.csv", doubted_rows(20'000, "x"));
  const Run run = run_headroom("validate bad.csv", folder.path());
  CHECK(run.code == 2);
  CHECK(run.out.empty());
  std::vector<std::string> lines;
  std::istringstream err{run.err};
  for (std::string line; std::getline(err, line);) {
    lines.push_back(line);
  }
  REQUIRE(lines.size() == 101);
  CHECK(lines[0].starts_with("bad.csv:2:"));
  CHECK(lines[99].starts_with("bad.csv:101:"));
  CHECK(lines[100] == "headroom: error: 19,900 more problems follow these");
}

TEST_CASE("a device is no input, whatever reads it") {
  for (const std::string arguments :
       {"plan /dev/zero", "explain /dev/zero", "plan scenarios/train/llama3-70b-search.toml --checkpoint /dev/zero",
        "catalog import /dev/zero", "validate /dev/zero", "validate --budget /dev/zero",
        "replay /dev/zero --gpu h100-sxm-80gb", "import /dev/zero --gpu h100-sxm-80gb", "fit /dev/zero",
        "op /dev/zero --gpu h100-sxm-80gb", "collective /dev/zero --gpu h100-sxm-80gb",
        "fabric show --topo /dev/zero --gpu h100-sxm-80gb",
        "plan scenarios/train/llama3-70b-512xh100.toml --runs /dev/zero",
        "plan scenarios/train/llama3-70b-512xh100.toml --set model=/dev/zero",
        "plan scenarios/serve/llama3-70b.toml --engine-log /dev/zero",
        "compare scenarios/train/llama2-7b-8xa100.toml --harness /dev/zero",
        "simulate scenarios/serve/llama3-70b-traffic.toml --set traffic.trace=/dev/zero"}) {
    CAPTURE(arguments);
    const Run run = run_headroom(arguments);
    CHECK(run.code == 2);
    CHECK(run.out.empty());
    CHECK_MESSAGE(run.err.find("/dev/zero") != std::string::npos, run.err);
    CHECK_MESSAGE(
        run.err.find("is a device, not a file; name a file, or pipe its text in as /dev/stdin") != std::string::npos,
        run.err);
  }
}

TEST_CASE("a text may come through a pipe") {
  const std::string scenario = "scenarios/train/llama3-70b-512xh100.toml";
  const Run plain = run_headroom("plan " + scenario);
  const Run piped = run_headroom("plan /dev/stdin < " + scenario);
  CHECK(piped.code == 0);
  CHECK(piped.out == plain.out);
  const ScratchFolder folder;
  REQUIRE(mkfifo((folder.path() / "rows.csv").c_str(), 0600) == 0);
  std::thread writer{[&] { write(folder.path() / "rows.csv", doubted_rows(2'000)); }};  // waits for the reader
  const Run rows = run_headroom("validate rows.csv --format csv", folder.path());
  writer.join();
  CHECK(rows.code == 0);
  CHECK(rows.err.empty());
  CHECK(std::count(rows.out.begin(), rows.out.end(), '\n') == 2'001);
}
