// SPDX-License-Identifier: Apache-2.0
// `headroom export` and `headroom import` as a user runs them.
#include <headroom/core/json_reader.hpp>

#include <doctest/doctest.h>

#include "run_headroom.hpp"

using namespace headroom::test;
namespace fs = std::filesystem;

namespace {

constexpr const char* scenario = "scenarios/train/llama3-70b-512xh100.toml";

/// The lines of a plan that do not name the scenario or its price.
std::string priced(const std::string& text) {
  const std::size_t from = text.find("fits:");
  return text.substr(from, text.find("  memory of the fullest GPU") - from);
}

}  // namespace

TEST_CASE("a plan that went through a Slurm script is the same plan") {
  const ScratchFolder scratch;
  const std::string script = (scratch.path() / "run.sbatch").string();
  const std::string back = (scratch.path() / "back.toml").string();
  const std::string more =
      " --set strategy.pp=8 --set strategy.vpp=5 --set strategy.dp=8 --set training.tokens=8388608e6";
  CHECK(run_headroom("export " + std::string{scenario} + " --to slurm -o " + script + more).code == 0);
  const Run imported = run_headroom("import " + script + " --gpu h100-sxm-80gb -o " + back);
  CHECK(imported.code == 0);
  CHECK(imported.out.empty());
  const Run there = run_headroom("plan " + std::string{scenario} + more + " --set money.market=on-demand");
  const Run again = run_headroom("plan " + back + " --prices lambda-2026-08");
  CHECK(there.code == 0);
  CHECK_FALSE(priced(there.out).empty());
  CHECK(priced(there.out) == priced(again.out));
}

TEST_CASE("the script is one that a shell reads") {
  const ScratchFolder scratch;
  const std::string script = (scratch.path() / "run.sbatch").string();
  CHECK(run_headroom("export " + std::string{scenario} + " --to slurm -o " + script).code == 0);
  CHECK(std::system(("bash -n '" + script + "'").c_str()) == 0);
  const std::string args = (scratch.path() / "args").string();
  CHECK(run_headroom("export " + std::string{scenario} + " --to megatron -o " + args).code == 0);
  const std::string count = (scratch.path() / "count").string();
  CHECK(std::system(
            ("bash -c 'source " + args + "; echo ${MEGATRON_ARGS[1]} ${MEGATRON_ARGS[-1]}' > " + count).c_str()) == 0);
  CHECK(read_text(count) == "80 0.0\n");
}

TEST_CASE("a plan that does not fit writes nothing and leaves what was there") {
  const ScratchFolder scratch;
  const fs::path file = scratch.path() / "run.sbatch";
  std::ofstream{file} << "mine\n";
  const Run run = run_headroom("export " + std::string{scenario} +
                               " --to slurm --set hardware.gpus=8 --set strategy.pp=1 -o " + file.string());
  CHECK(run.code == 1);
  CHECK(run.out.empty());
  CHECK(run.err.starts_with("not written: does not fit"));
  CHECK(read_text(file) == "mine\n");
  const Run broken = run_headroom("import " + file.string() + " -o " + (scratch.path() / "x.toml").string());
  CHECK(broken.code == 2);
  CHECK_FALSE(fs::exists(scratch.path() / "x.toml"));
}

TEST_CASE("an engine's script serves, and with 'bench' loads it, both as a shell runs them") {
  const ScratchFolder scratch;
  const fs::path folder = scratch.path();
  const std::string bare = "export scenarios/serve/llama3-70b.toml";
  for (const char* name : {"vllm", "python", "trtllm-serve", "trtllm-bench"}) {
    std::ofstream{folder / name} << "#!/bin/sh\necho \"" << name << " $*\"\n";  // says what it was called with
    fs::permissions(folder / name, fs::perms::owner_all);
  }
  const auto run = [&](const std::string& engine, const std::string& argument) {
    const std::string script = (folder / (engine + ".sh")).string();
    CHECK(run_headroom(bare + " --to " + engine + " --set serving.engine=" + engine +
                       " --set serving.memory_fraction=0.8"
                       " -o " +
                       script)
              .code == 0);
    const std::string said = (folder / "said").string();
    const std::string command =
        "cd '" + folder.string() + "' && PATH=\"$PWD:$PATH\" bash " + script + " " + argument + " > " + said;
    CHECK(std::system(command.c_str()) == 0);
    return read_text(said);
  };
  CHECK(run("vllm", "") ==
        "vllm serve meta-llama/Meta-Llama-3-70B --dtype bfloat16 --gpu-memory-utilization 0.8 --tensor-parallel-size 8 "
        "--max-model-len 2304 --max-num-seqs 256 --max-num-batched-tokens 8192\n");
  CHECK(run("vllm", "bench").starts_with("vllm bench serve --backend vllm --model meta-llama/Meta-Llama-3-70B "));
  CHECK(run("sglang", "").starts_with("python -m sglang.launch_server --model-path meta-llama/Meta-Llama-3-70B "));
  CHECK(run("sglang", "bench").starts_with("python -m sglang.bench_serving --backend sglang "));
  CHECK(run("tensorrt-llm", "").starts_with("trtllm-serve meta-llama/Meta-Llama-3-70B --tp_size 8 "));
  CHECK(read_text(folder / "trtllm.yaml") == "kv_cache_config:\n  free_gpu_memory_fraction: 0.8\n");
  const std::string bench = run("tensorrt-llm", "bench");
  CHECK(bench.starts_with("trtllm-bench --model meta-llama/Meta-Llama-3-70B prepare-dataset --output dataset.jsonl "));
  CHECK(bench.find("\ntrtllm-bench --model meta-llama/Meta-Llama-3-70B throughput ") != std::string::npos);
}

TEST_CASE("a served plan that went through its launch script is the same plan") {
  const ScratchFolder scratch;
  const std::string script = (scratch.path() / "serve.sh").string();
  const std::string back = (scratch.path() / "back.toml").string();
  const std::string more = " --set strategy.tp=4 --set serving.kv_cache=fp8 --set serving.max_num_seqs=100";
  CHECK(run_headroom("export scenarios/serve/llama3-70b.toml --to vllm -o " + script + more).code == 0);
  CHECK(run_headroom("import " + script + " --gpu h100-sxm-80gb -o " + back).code == 0);
  const auto memory = [](const Run& run) {
    CHECK(run.code == 0);
    return run.out.substr(0, run.out.find("assumed"));
  };
  CHECK(memory(run_headroom("plan scenarios/serve/llama3-70b.toml --only memory" + more)) ==
        memory(run_headroom("plan " + back + " --only memory")));
}

TEST_CASE("a fleet is launched as its plan answers it, and not where no fleet keeps what is promised") {
  const std::string fleet = "scenarios/serve/llama3-70b-fleet.toml";
  const Run planned = run_headroom("plan " + fleet);
  const Run launched = run_headroom("export " + fleet + " --to vllm");
  CHECK(launched.code == 0);
  const std::string taken = launched.err.substr(0, launched.err.find('\n'));
  CHECK(taken.starts_with("take "));
  CHECK(planned.out.find(taken) != std::string::npos);
  CHECK(launched.out.find("--max-model-len 18432 ") != std::string::npos);  // its longest request
  CHECK(launched.out.find("--request-rate ") != std::string::npos);
  // Layouts that [search] leaves open are those of the plan too.
  const Run searched = run_headroom("export " + fleet + " --to vllm --set 'strategy={}' --set search.tp=[2,8]");
  CHECK(searched.code == 0);
  CHECK(searched.err.find("strategy.tp=") != std::string::npos);
  const Run missed = run_headroom("export " + fleet + " --to vllm --set 'slo.ttft_p95=1 ms'");
  CHECK(missed.code == 1);
  CHECK(missed.out.empty());
  CHECK(missed.err.starts_with("not written: "));
}

TEST_CASE("a server is not written whose cache cannot hold the longest request, whatever the fleet keeps") {
  const std::string fleet = "scenarios/serve/llama3-70b-fleet.toml --set fleet.replicas=9";
  CHECK(run_headroom("export " + fleet + " --to vllm").code == 0);
  const std::string narrow =
      " --set serving.memory_fraction=0.3 --set traffic.prompt.most=120000 --set traffic.prompt.cv=6.0";
  CHECK(run_headroom("plan " + fleet + narrow).code == 0);  // those that it refuses are few
  for (const std::string open : {"", " --set fleet.spare=0"}) {
    const Run run = run_headroom("export " + fleet + " --to vllm" + narrow + open);
    CHECK(run.code == 1);
    CHECK(run.out.empty());
    CHECK(run.err.starts_with("not written: "));
    CHECK(run.err.find("but not one sequence: its KV cache takes") != std::string::npos);
  }
}

TEST_CASE("a fleet that misses is not written, also where tp and replicas are stated: as its plan says it") {
  const ScratchFolder scratch;
  const std::string fleet =
      "scenarios/serve/llama3-70b-fleet.toml --set fleet.replicas=1 --set 'traffic.rate=100 req/s'";
  const std::string file = (scratch.path() / "serve.sh").string();
  const Run planned = run_headroom("plan " + fleet);
  CHECK(planned.code == 1);
  const Run run = run_headroom("export " + fleet + " --to vllm -o " + file);
  CHECK(run.code == 1);
  CHECK(run.out.empty());
  CHECK_FALSE(fs::exists(file));
  std::istringstream lines{run.err};
  std::string line;
  REQUIRE(std::getline(lines, line));
  CHECK(line.starts_with("not written: overloaded, misses what is promised: "));
  CHECK(planned.out.find("\n" + line.substr(13) + "\n") != std::string::npos);
  REQUIRE(std::getline(lines, line));
  CHECK(line.ends_with("would keep it"));
  CHECK(planned.out.find("\n" + line.substr(2) + "\n") != std::string::npos);
  // A replica that holds nothing is told by its memory.
  const Run full = run_headroom("export " + fleet + " --to vllm --set strategy.tp=1");
  CHECK(full.code == 1);
  CHECK(full.err.find("does not fit: needs ") != std::string::npos);
}

TEST_CASE("a fleet that prefills apart is written with the replicas that its plan found for the prompts") {
  const std::string fleet =
      "scenarios/serve/llama3-70b-fleet.toml --set fleet.spare=0 --set fleet.replicas=2 --set fleet.prefill.tp=4 --set "
      "'fleet.prefill.link=50 GB/s'";
  const Run planned = run_headroom("plan " + fleet);
  REQUIRE_MESSAGE(planned.code == 0, planned.out);
  const std::string words = "prompts apart on ";
  const std::size_t at = planned.out.find(words);
  REQUIRE(at != std::string::npos);
  const int replicas = std::stoi(planned.out.substr(at + words.size()));
  const Run run = run_headroom("export " + fleet + " --to vllm");
  CHECK(run.code == 0);
  CHECK(run.out.find("# not expressed: fleet.prefill = \"" + std::to_string(replicas) + " replica") !=
        std::string::npos);
  CHECK(run.out.find(" of tp 4, " + std::to_string(4 * replicas) + " GPUs\" (servers of their own") !=
        std::string::npos);
  CHECK(run.out.find("loads it as the plan does") == std::string::npos);
}

TEST_CASE("a question without a file is exported as its plan, also one that searches") {
  const std::string served =
      "--model llama3-70b --gpu h100-sxm-80gb --gpus 8 --tp 8 --isl 1024 --osl 256 --concurrency 64";
  const Run script = run_headroom("export " + served + " --to vllm");
  CHECK(script.code == 0);
  CHECK(script.out.find("--max-model-len 1280 ") != std::string::npos);
  const std::string trained = "--model llama3-8b --gpu h100-sxm-80gb --gpus 64 --seq-len 8192 --global-batch 256";
  const Run searched = run_headroom("export " + trained + " --search any --to megatron");
  CHECK(searched.code == 0);
  CHECK(searched.err.find("taken: ") != std::string::npos);
  const Run fleet = run_headroom(
      "export --model llama3-70b --gpu h100-sxm-80gb --isl 1024 --osl 256 --rate '4 req/s' --tp 8 --set "
      "'slo.ttft_p95=2 "
      "s' --to kubernetes");
  CHECK(fleet.code == 0);
  CHECK(fleet.err.starts_with("take "));
  CHECK(fleet.out.find("kind: Deployment\n") != std::string::npos);
  const Run wrong = run_headroom("export --model llama3-70b --gpu h100-sxm-80gb --gpus many --to megatron");
  CHECK(wrong.code == 2);
  CHECK(wrong.err.find("--gpus many: error: ") != std::string::npos);
  CHECK(run_headroom("export --to megatron").code == 2);
}

TEST_CASE("the chosen point of a curve is exported with the knobs that its plan says") {
  const std::string asked =
      " --model llama3-8b --gpu h100-sxm-80gb --gpus 4 --isl 512 --osl 128 --search 'max_num_seqs=[16, 48]' --search "
      "'max_num_tokens=[2048, 4096]' --search 'memory_fraction=[0.7, 0.8]' --concurrency ";
  const Run plan = run_headroom("plan" + asked + "16,64 --format json");
  REQUIRE_MESSAGE(plan.code == 0, plan.err);
  const headroom::ConfigValue curve = headroom::parse_json(plan.out, "curve");
  const auto taken = static_cast<std::size_t>(curve.find("taken")->integer);
  std::string command = "export --model llama3-8b --gpu h100-sxm-80gb --gpus 4 --isl 512 --osl 128 --to vllm";
  const Run launch = run_headroom("export" + asked + "16,64 --to vllm");
  CHECK_MESSAGE(launch.code == 0, launch.err);
  CHECK(launch.err.starts_with("take "));
  for (const headroom::ConfigValue& change : curve.find("points")->items.at(taken).find("changes")->items) {
    command += " --set '" + change.text + "'";
    CHECK(launch.err.find("  " + change.text + "\n") != std::string::npos);
  }
  const Run alone = run_headroom(command);
  CHECK_MESSAGE(alone.code == 0, alone.err);
  CHECK(launch.out == alone.out);
  for (const char* knob : {"--max-num-seqs ", "--max-num-batched-tokens ", "--gpu-memory-utilization "}) {
    CHECK(launch.out.find(knob) != std::string::npos);
  }
  const Run none = run_headroom("export" + asked + "16,64 --set slo.tpot_mean=1us --to vllm");
  CHECK(none.code == 1);
  CHECK(none.out.empty());
  CHECK(none.err.starts_with("not written: no load that was tried keeps what is promised"));
}

TEST_CASE("a question whose layout is open is exported as its plan answers it") {
  const Run served = run_headroom(
      "export --model llama3-70b --gpu h100-sxm-80gb --gpus 8 --isl 1024 --osl 256 --concurrency 64 --to vllm");
  CHECK_MESSAGE(served.code == 0, served.err);
  CHECK(served.err.starts_with("take "));
  CHECK(served.out.find("--tensor-parallel-size ") != std::string::npos);
  const Run trained = run_headroom(
      "export --model llama3-70b --gpu h100-sxm-80gb --gpus 512 --seq-len 8192 --global-batch 1024 --to megatron");
  CHECK_MESSAGE(trained.code == 0, trained.err);
  CHECK(trained.err.find("taken: ") != std::string::npos);
  CHECK(trained.out.find("--tensor-model-parallel-size ") != std::string::npos);
}

TEST_CASE("words for what has no form of its own are answered with the form to take") {
  const std::string bare = "export scenarios/serve/llama3-70b.toml --to ";
  const Run helm = run_headroom(bare + "helm");
  CHECK(helm.code == 2);
  CHECK(helm.err.find("--to kubernetes writes a Deployment") != std::string::npos);
  CHECK(run_headroom(bare + "lws").err.find("take --to leaderworkerset") != std::string::npos);
  CHECK(run_headroom(bare + "vlm").err.find("did you mean 'vllm'?") != std::string::npos);
}
