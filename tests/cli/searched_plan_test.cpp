// SPDX-License-Identifier: Apache-2.0
// Scenarios that search, given to the verbs that answer one plan.
#include <doctest/doctest.h>

#include "run_headroom.hpp"
#include <string_view>

using namespace headroom::test;
namespace fs = std::filesystem;

namespace {

/// Llama 3 8B on 8 or 16 H100, the layout free.
constexpr const char* small = R"(schema = 1
kind = "train"
name = "small"
model = "llama3-8b"
[hardware]
gpu = "h100-sxm-80gb"
[training]
seq_len = 8192
global_batch = 64
precision = "bf16"
software = "megatron-core-te"
[strategy]
zero = 1
[search]
gpus = [8, 16]
tp = [1, 2, 4]
pp = [1, 2]
)";

/// The same with nothing left to search: what `plan` says makes the scenario the plan taken.
constexpr const char* taken_alone = R"(schema = 1
kind = "train"
name = "small"
model = "llama3-8b"
[hardware]
gpu = "h100-sxm-80gb"
[training]
seq_len = 8192
global_batch = 64
precision = "bf16"
software = "megatron-core-te"
)";

std::string write(const ScratchFolder& folder, const char* name, const std::string& text) {
  const fs::path file = folder.path() / name;
  std::ofstream{file} << text;
  return file.string();
}

/// "--set hardware.gpus=16 --set strategy.tp=1 ...", from the last lines of the searched plan.
std::string taken_keys(const std::string& plan) {
  constexpr std::string_view before = "without [search] and [objective] and with\n ";
  const std::size_t from = plan.find(before);
  REQUIRE(from != std::string::npos);
  std::istringstream line{plan.substr(from + before.size(), plan.find('\n', from + before.size()) - from)};
  std::string keys;
  for (std::string assignment; std::getline(line, assignment, ',');) {
    assignment = assignment.substr(assignment.find_first_not_of(" \n"));
    keys += " --set '" + assignment.substr(0, assignment.find('\n')) + "'";
  }
  return keys;
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("export of a search writes the plan taken, and says which on stderr") {
  const ScratchFolder folder;
  const std::string searched = write(folder, "searched.toml", small);
  const Run plan = run_headroom("plan " + searched);
  REQUIRE(plan.code == 0);
  const std::string keys = taken_keys(plan.out);
  const Run launch = run_headroom("export " + searched + " --to slurm");
  CHECK(launch.code == 0);
  CHECK(holds(launch.err, "\ntaken: "));
  const Run alone = run_headroom("export " + write(folder, "alone.toml", taken_alone) + " --to slurm" + keys);
  CHECK(alone.code == 0);
  CHECK(launch.out == alone.out);
  // The same search from the option.
  const std::string fixed = write(folder, "fixed.toml", std::string{taken_alone} + "[strategy]\nzero = 1\n");
  const Run option =
      run_headroom("export " + fixed + " --to slurm --search gpus=[8,16] --search tp=[1,2,4] --search pp=[1,2]");
  CHECK(option.out == launch.out);
}

TEST_CASE("export of a search without a plan writes nothing and says what emptied it") {
  const ScratchFolder folder;
  const std::string searched =
      write(folder, "searched.toml", std::string{small} + "[objective]\ndeadline = \"1 min\"\n");
  const fs::path file = folder.path() / "run.sbatch";
  std::ofstream{file} << "mine\n";
  const Run run = run_headroom("export " + searched + " --set training.tokens=1e12 --to slurm -o " + file.string());
  CHECK(run.code == 1);
  CHECK(run.out.empty());
  CHECK(holds(run.err, "not written: no plan: none of the strategies keeps every limit"));
  CHECK(holds(run.err, "miss the deadline; closest: "));
  CHECK(read_text(file) == "mine\n");
}

TEST_CASE("explain of a search explains the plan taken") {
  const ScratchFolder folder;
  const std::string searched = write(folder, "searched.toml", small);
  const std::string keys = taken_keys(run_headroom("plan " + searched).out);
  const Run explained = run_headroom("explain " + searched);
  CHECK(explained.code == 0);
  CHECK(explained.out.starts_with("taken: "));
  const Run alone = run_headroom("explain " + write(folder, "alone.toml", taken_alone) + keys);
  REQUIRE(alone.code == 0);
  const auto terms = [](const std::string& text) {
    const std::size_t from = text.find("how each number came about");
    REQUIRE(from != std::string::npos);
    return text.substr(from);
  };
  CHECK(terms(explained.out) == terms(alone.out));
}

TEST_CASE("compare searches each scenario that asks for it and compares the plans taken") {
  const ScratchFolder folder;
  const std::string searched = write(folder, "searched.toml", small);
  const std::string fixed =
      write(folder, "fixed.toml", std::string{taken_alone} + "[strategy]\ntp = 4\npp = 2\nzero = 1\n");
  const std::string keys = taken_keys(run_headroom("plan " + searched).out);
  const Run both = run_headroom("compare " + searched + " " + fixed + " --set-each hardware.node=dgx-h100");
  CHECK(both.code == 2);  // the other one states no GPUs
  CHECK(holds(both.err, "missing key 'gpus'"));
  const std::string sixteen =
      write(folder, "sixteen.toml", "base = \"fixed.toml\"\n[hardware]\ngpu = \"h100-sxm-80gb\"\ngpus = 16\n");
  const Run run = run_headroom("compare " + searched + " " + sixteen);
  CHECK(run.code == 0);
  CHECK(holds(run.err, searched + ": taken: "));
  const std::size_t step = run.out.find("\n  step ");
  REQUIRE(step != std::string::npos);
  const Run alone = run_headroom("plan " + write(folder, "alone.toml", taken_alone) + keys);
  const std::size_t own = alone.out.find("\n  step ");
  std::istringstream left{run.out.substr(step + 8, 60)};
  std::istringstream right{alone.out.substr(own + 8, 60)};
  std::string a, b;
  left >> a;
  right >> b;
  CHECK(a == b);
}

TEST_CASE("compare with a search that takes nothing says why and compares nothing") {
  const ScratchFolder folder;
  const std::string searched =
      write(folder, "searched.toml", std::string{small} + "[objective]\ndeadline = \"1 min\"\n");
  const Run run = run_headroom("compare " + searched + " " + searched + " --set-each training.tokens=1e12");
  CHECK(run.code == 1);
  CHECK(run.out.empty());
  CHECK(holds(run.err, searched + ": no plan: none of the strategies keeps every limit"));
}
