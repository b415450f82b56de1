// SPDX-License-Identifier: Apache-2.0
// Counts that no run has are refused at their place by every importer, however large, and nothing overflows before.
#include <headroom/scenarios/launch/launch.hpp>

#include <doctest/doctest.h>

#include "../support/sources.hpp"
#include <string>
#include <vector>

using namespace headroom;
using headroom::test::sources;

namespace {

std::string problems(const std::string& text, std::vector<std::string> assignments = {}) {
  assignments.insert(assignments.begin(), "hardware.gpu=h100-sxm-80gb");
  try {
    static_cast<void>(import_launch({"run", text}, {std::nullopt, std::move(assignments), false}, sources()));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "none";
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

const std::vector<std::string> sized{"model=llama3-8b", "hardware.gpus=16", "training.seq_len=4096"};

std::string titan(const std::string& training, const std::string& parallelism = "") {
  return problems("[training]\nseq_len = 4096\n" + training + "\n[parallelism]\n" + parallelism + "\n",
                  {"model=llama3-8b", "hardware.gpus=16"});
}

/// Megatron-LM's arguments of a Llama 3 8B with others behind, on one line.
std::string megatron(const std::string& more) {
  return problems(
      "--num-layers 32 --hidden-size 4096 --num-attention-heads 32 --seq-length 4096 --micro-batch-size 1 "
      "--global-batch-size 64 --vocab-size 1000 --max-position-embeddings 4096 --bf16 " +
          more + "\n",
      {"hardware.gpus=16"});
}

}  // namespace

TEST_CASE("torchtitan: steps, batches and degrees below one are refused at their place") {
  CHECK(titan("local_batch_size = 1\nsteps = 100") == "none");
  CHECK(titan("local_batch_size = 1\nsteps = -5") == "run:4:9: error: 'training.steps' is -5; it must be at least 1");
  CHECK(
      holds(titan("local_batch_size = 1\nsteps = 0"), "run:4:9: error: 'training.steps' is 0; it must be at least 1"));
  CHECK(holds(titan("local_batch_size = -9223372036854775808"),
              "run:3:20: error: 'training.local_batch_size' is -9223372036854775808; it must be 1 to 100000000"));
  CHECK(holds(titan("local_batch_size = 9223372036854775807"), "'training.local_batch_size' is 9223372036854775807"));
  CHECK(holds(titan("global_batch_size = 0"), "'training.global_batch_size' is 0; it must be at least 1, or -1"));
  CHECK(holds(titan("global_batch_size = -7"), "'training.global_batch_size' is -7"));
  CHECK(titan("local_batch_size = 1\nglobal_batch_size = -1") == "none");
  CHECK(holds(titan("", "data_parallel_replicate_degree = -2"), "run:5:34: error: "));
  CHECK(holds(titan("", "data_parallel_shard_degree = 0"), "run:5:30: error: "));
  CHECK(holds(titan("", "data_parallel_shard_degree = 9223372036854775807"), "run:5:30: error: "));
  CHECK(holds(titan("", "pipeline_parallel_degree = 2\npipeline_parallel_microbatch_size = -1"), "run:6:37: error: "));
  CHECK(holds(titan("", "pipeline_parallel_degree = 2\npipeline_parallel_layers_per_stage = 0"), "run:6:38: error: "));
  CHECK(holds(titan("", "tensor_parallel_degree = -8"), "run:5:26: error: 'tp' is -8"));
}

TEST_CASE("Megatron-LM: runs and copies below one, and numbers that are none, are refused at their place") {
  CHECK(megatron("--train-iters 10") == "none");
  for (const char* flag : {"--train-iters", "--train-samples", "--num-distributed-optimizer-instances",
                           "--num-layers-per-virtual-pipeline-stage", "--tensor-model-parallel-size"}) {
    for (const char* value : {"-5", "0", "-9223372036854775808"}) {
      const std::string said = megatron(std::string{flag} + " " + value);
      CHECK_MESSAGE(said.starts_with("run:1:"), flag, " ", value, ": ", said);
      CHECK_MESSAGE(holds(said, std::string{" is "} + value), flag, " ", value, ": ", said);
    }
  }
  for (const char* value : {"nan", "-0.5", "inf", "1e308"}) {
    CHECK(megatron(std::string{"--hidden-dropout "} + value).starts_with("run:1:"));
    CHECK(megatron(std::string{"--norm-epsilon "} + value).starts_with("run:1:"));
  }
  // Products of what is stated do not wrap before they are judged.
  CHECK(megatron("--tensor-model-parallel-size 9223372036854775807 --pipeline-model-parallel-size 9223372036854775807 "
                 "--num-layers-per-virtual-pipeline-stage 2")
            .starts_with("run:1:"));
  CHECK(problems("--num-layers 9223372036854775807 --hidden-size 9223372036854775807 --num-attention-heads 1 "
                 "--seq-length 1 --micro-batch-size 9223372036854775807 --vocab-size 1 --bf16 --swiglu\n",
                 {"hardware.gpus=16"})
            .starts_with("run:1:"));
}

TEST_CASE("NeMo, DeepSpeed, torchrun and Slurm refuse machines and passes below one at their place") {
  CHECK(
      holds(problems("trainer.num_nodes=-4\ntrainer.devices=8\n", sized), "run:1:1: error: 'trainer.num_nodes' is -4"));
  CHECK(holds(problems("train.train_iters=0\nmodel.tensor_model_parallel_size=1\n", sized),
              "run:1:1: error: 'train.train_iters' is 0; it must be at least 1"));
  const std::string json = R"({"train_micro_batch_size_per_gpu": 1, "gradient_accumulation_steps": )";
  CHECK(holds(problems(json + "-2}\n", sized), "run:1:70: error: 'gradient_accumulation_steps' is -2"));
  CHECK(holds(problems(R"({"train_batch_size": -64, "train_micro_batch_size_per_gpu": 1})"
                       "\n",
                       sized),
              "run:1:22: error: "));
  CHECK(holds(problems(R"({"train_batch_size": 64, "zero_optimization": {"stage": 3, "mics_shard_size": -4}})"
                       "\n",
                       sized),
              "'zero_optimization.mics_shard_size' is -4"));
  const std::string line = " pretrain_gpt.py --num-layers 32 --bf16 --micro-batch-size 1\n";
  CHECK(holds(problems("torchrun --nnodes -2 --nproc-per-node 8" + line, sized), "'--nnodes' is -2"));
  CHECK(holds(problems("torchrun --nnodes 2 --nproc-per-node 0" + line, sized), "'--nproc-per-node' is 0"));
  for (const char* directive :
       {"--nodes=-2", "--gpus-per-node=0", "--gpus=-16", "--ntasks-per-node=-1", "--nodes=9223372036854775807"}) {
    const std::string said =
        problems("#SBATCH " + std::string{directive} + "\nsrun torchrun --nnodes 2 --nproc-per-node 8" + line,
                 {"model=llama3-8b"});
    CHECK_MESSAGE(said.starts_with("run:1:"), directive, ": ", said);
  }
}

TEST_CASE("serving lines refuse ranks, limits and loads below one at their place") {
  const std::vector<std::string> load{"serving.isl=100", "serving.osl=10", "serving.concurrency=8"};
  const std::string vllm = "vllm serve Qwen/Qwen3-32B -q fp8 ";
  const std::string sglang = "python -m sglang.launch_server --model Qwen/Qwen3-32B --quantization fp8 ";
  CHECK(problems(vllm + "-tp 2\n", load) == "none");
  for (const char* flags : {"-tp -2", "-dp 0", "-dp 9223372036854775807", "--max-num-seqs 0", "--max-model-len -1",
                            "--gpu-memory-utilization nan", "--gpu-memory-utilization -0.9"}) {
    const std::string said = problems(vllm + flags + "\n", load);
    CHECK_MESSAGE(said.starts_with("run:1:"), flags, ": ", said);
  }
  for (const char* flags : {"--tp -2", "--dp 0", "--tp 9223372036854775807", "--max-running-requests -1",
                            "--chunked-prefill-size -2", "--mem-fraction-static inf"}) {
    const std::string said = problems(sglang + flags + "\n", load);
    CHECK_MESSAGE(said.starts_with("run:1:"), flags, ": ", said);
  }
  const std::string bench = vllm + "\nvllm bench serve --random-output-len 10 ";
  for (const char* flags :
       {"--random-input-len 0", "--random-input-len 10 --max-concurrency -1", "--random-input-len 10 --request-rate -3",
        "--random-input-len 10 --request-rate nan", "--random-input-len 10 --request-rate 3 --burstiness 0",
        "--random-input-len 10 --random-range-ratio 2"}) {
    const std::string said = problems(bench + flags + "\n");
    CHECK_MESSAGE(said.find("run:2:") != std::string::npos, flags, ": ", said);
  }
}
