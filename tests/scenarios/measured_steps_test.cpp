// SPDX-License-Identifier: Apache-2.0
// Published steps that must come out whatever the fitted parameters are, by the way of a measured row.
#include <headroom/model/train/software/memory_stack.hpp>
#include <headroom/scenarios/measured/training_row.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include <string>
#include <vector>

using namespace headroom;
using headroom::test::near;

TEST_CASE("tensor groups on two hosts: three steps of GPT 3.4B on 64 A100 with tp 16, each within 10 %") {
  // Bang et al. 2024 (vTrain), data/ground_truth_multi.csv, lines 25 to 27: 30 layers of 3,072, 512 sequences of 2,048,
  // full recomputation, no gradients beside the backward pass, 800 Gb/s a host of eight.
  RunConfiguration run;
  run.model = "GPT-3.4B";
  run.arch = "dense";
  run.gpu = "A100-SXM4-80GB";
  run.precision = "fp16";
  run.recompute = "full";
  run.framework = "Megatron-DeepSpeed 2022";
  run.layers = 30;
  run.hidden = 3072;
  run.heads = run.kv_heads = 32;
  run.head_dim = 96;
  run.ffn_hidden = 12288;
  run.seq_len = 2048;
  run.gated_mlp = run.flash_attn = run.seq_parallel = run.zero = 0;
  run.gpus = 64;
  run.gpus_per_node = 8;
  run.inter_gbps_per_gpu = 100.0;
  run.dp = 4;
  run.tp = 16;
  run.pp = run.vpp = run.cp = run.ep = 1;
  run.global_batch = 512;
  run.options = {{"overlap", "none"}, {"schedule", "1f1b"}};
  struct Row {
    std::int64_t micro_batch;
    double seconds;
  };
  static const Sources sources = Sources::standard();
  TrainingRowModel model{sources};
  for (const Row& row : {Row{8, 10.894}, Row{4, 11.9601}, Row{2, 13.4722}}) {
    CAPTURE(row.micro_batch);
    run.micro_batch = row.micro_batch;
    const RowPrediction answer = model.predict(run, "step_time_s", "s");
    REQUIRE(answer.status == RowStatus::ok);
    CHECK(answer.predicted == near(row.seconds, 0.10));
  }
}

namespace {

/// Llama 2 70B, LoRA, 8,192 tokens a sequence.
RunConfiguration lora_run() {
  RunConfiguration run;
  run.model = "Llama2-70B-LoRA";
  run.arch = "dense";
  run.gpu = "H100-SXM5-80GB";
  run.precision = "fp8";
  run.framework = "NeMo/Megatron";
  run.layers = 80;
  run.hidden = 8192;
  run.heads = 64;
  run.kv_heads = 8;
  run.head_dim = 128;
  run.ffn_hidden = 28672;
  run.vocab = 32000;
  run.gated_mlp = run.flash_attn = 1;
  run.seq_len = 8192;
  run.gpus = run.gpus_per_node = 8;
  run.dp = 2;
  run.tp = 4;
  run.pp = run.cp = run.ep = run.seq_parallel = 1;
  run.micro_batch = 1;
  run.global_batch = 8;
  run.options = {{"method", "lora"}};
  return run;
}

double step_of(const RunConfiguration& run) {
  static const Sources sources = Sources::standard();
  TrainingRowModel model{sources};
  const RowPrediction answer = model.predict(run, "step_time_s", "s");
  INFO(answer.why);
  REQUIRE(answer.status == RowStatus::ok);
  return answer.predicted;
}

}  // namespace

TEST_CASE("names of softwares land on theirs whatever stands before and behind them") {
  static const Sources sources = Sources::standard();
  TrainingRowModel model{sources};
  const auto software = [&](const char* framework, const char* release = "") {
    RunConfiguration run;
    run.framework = framework;
    run.options = {{"release", release}};
    return model.software_of(run).id;
  };
  CHECK(software("NeMo/Megatron-Bridge 26.04") == "nemo-megatron");
  CHECK(software("NeMo/Megatron (Cisco)") == "nemo-megatron");
  CHECK(software("NeMo 25.09") == "nemo-megatron");
  CHECK(software("NeMo (v5.0 code)") == "nemo-megatron");
  CHECK(software("NeMo AutoModel (PyTorch FSDP2)") == "nemo-automodel");
  CHECK(software("NeMo/Megatron-Core", "24.03") == "megatron-core-2024");
  CHECK(software("NeMo/Megatron-Core", "25.04") == "megatron-core");
  // Every release that a stack lists behind a name, as a row states it in a column of its own.
  int releases = 0;
  for (const MemoryStack& stack : memory_stacks(sources.data).all()) {
    for (const std::string& listed : stack.frameworks) {
      const std::size_t blank = listed.rfind(' ');
      if (blank == std::string::npos || listed.find_first_of("0123456789", blank) == std::string::npos) {
        continue;
      }
      CAPTURE(listed);
      CHECK(software(listed.substr(0, blank).c_str(), listed.substr(blank + 1).c_str()) == stack.id);
      ++releases;
    }
  }
  CHECK(releases >= 3);
  CHECK(software("Megatron-Bridge / NeMo", "mb26.08") == "megatron-bridge-2026");
  CHECK(software("Primus (AMD)") == "primus");
  CHECK(software("Hugging Face Trainer 4.57") == "pytorch-fsdp");
  CHECK(software("LLaMA-Factory") == "trl");
}

TEST_CASE("a row in mxfp4 is answered where the SKU multiplies in 4 bit, faster than in mxfp8") {
  RunConfiguration run = lora_run();
  run.gpu = "MI350X";
  run.framework = "Primus (AMD)";
  run.tp = 1;
  run.dp = 8;
  run.precision = "mxfp8";
  const double eight = step_of(run);
  run.precision = "mxfp4";
  CHECK(step_of(run) < eight);
  run.gpu = "MI325X";
  static const Sources sources = Sources::standard();
  TrainingRowModel model{sources};
  CHECK(model.predict(run, "step_time_s", "s").status == RowStatus::unsupported);  // no fp4 peak
}

TEST_CASE("what joins the cards of a host: PCIe where the row says so, four superchips by NVLink") {
  RunConfiguration run = lora_run();
  const double switched = step_of(run);
  run.gpu = "GH200-96GB";
  run.gpus_per_node = 4;
  run.intra_link = "NVLink4 (4-GPU node)";
  CHECK(step_of(run) < 1.6 * switched);  // 150 GB/s to each peer, and not over 25 GB/s of network
  run.gpu = "A100-PCIe-80GB";
  run.precision = "bf16";
  run.gpus_per_node = 8;
  run.tp = 8;
  run.dp = 1;
  run.intra_link = "NVLink3 bridge";
  const double bridged = step_of(run);
  run.intra_link = "PCIe4";
  CHECK(step_of(run) > 1.5 * bridged);
}

TEST_CASE("what AutoModel checkpoints runs whole again: a blank recomputation is none or full, never a part") {
  RunConfiguration run = lora_run();
  run.framework = "NeMo AutoModel (PyTorch FSDP2)";
  run.precision = "bf16";
  run.seq_len = 4096;
  run.tp = 2;
  run.dp = 4;
  run.zero = 3;
  run.micro_batch = 2;
  run.global_batch = 32;
  const double blank = step_of(run);
  run.recompute = "full";
  CHECK(step_of(run) == blank);  // without it 160 GiB
  run.recompute = "selective";
  CHECK(step_of(run) < 0.95 * blank);
}

TEST_CASE("a row that states nothing of its layout takes the fastest that fits, with a wider interval") {
  static const Sources sources = Sources::standard();
  TrainingRowModel model{sources};
  RunConfiguration run = lora_run();
  run.micro_batch.reset();
  const RowPrediction stated = model.predict(run, "step_time_s", "s");
  run.dp = run.tp = run.pp = run.cp = std::nullopt;
  const RowPrediction open = model.predict(run, "step_time_s", "s");
  REQUIRE(open.status == RowStatus::ok);
  CHECK(open.predicted <= stated.predicted);
  CHECK(open.predicted > 0.6 * stated.predicted);
  CHECK(open.high / open.predicted > 1.02 * stated.high / stated.predicted);
  CHECK(model.predict(run, "memory_gib_per_gpu", "GiB").why == "not published: dp, tp, pp, cp");
  CHECK_FALSE(model.job_of(run));  // no fit sees it
  run.tp = 4;                      // part of a layout is none
  CHECK(model.predict(run, "step_time_s", "s").why == "not published: dp, pp, cp");
  run.tp.reset();
  run.cp = 1;  // a run that splits no sequence is open in the rest
  const RowPrediction whole = model.predict(run, "step_time_s", "s");
  REQUIRE(whole.status == RowStatus::ok);
  CHECK(whole.predicted >= open.predicted);
  run.cp.reset();
  run.gpus = 1;  // nothing holds 70B at 8 bit beside what training takes
  CHECK(model.predict(run, "step_time_s", "s").status == RowStatus::unsupported);
}

TEST_CASE("a row that does not state its format takes that of its software's recipes, with a wider interval") {
  static const Sources sources = Sources::standard();
  TrainingRowModel model{sources};
  RunConfiguration run = lora_run();
  run.precision = "fp8";
  const RowPrediction stated = model.predict(run, "step_time_s", "s");
  run.precision.clear();
  const RowPrediction blank = model.predict(run, "step_time_s", "s");
  REQUIRE(blank.status == RowStatus::ok);
  CHECK(blank.predicted == stated.predicted);
  CHECK(blank.high / blank.predicted > 1.02 * stated.high / stated.predicted);
  CHECK(model.predict(run, "memory_gib_per_gpu", "GiB").why == "not published: precision");
  CHECK_FALSE(model.job_of(run));  // no fit sees it
  run.framework = "torchtitan";    // of which no recipe says
  CHECK(model.predict(run, "step_time_s", "s").why == "not published: precision");
}

TEST_CASE("hardware FLOP of frozen weights count a third pass for full recomputation") {
  RunConfiguration run = lora_run();
  run.recompute = "full";
  static const Sources sources = Sources::standard();
  TrainingRowModel model{sources};
  const auto rate = [&](const char* metric) { return model.predict(run, metric, "TFLOP/s/gpu").predicted; };
  CHECK(rate("hardware_tflops_per_gpu") == near(1.5 * rate("model_tflops_per_gpu")));
  run.options = {};
  run.layers = 8;  // all of them fit with their moments
  CHECK(rate("model_tflops_per_gpu") > 0.0);
  CHECK(rate("hardware_tflops_per_gpu") == near(4.0 / 3.0 * rate("model_tflops_per_gpu")));
}

TEST_CASE("tuning runs of a software that packs documents spend less on attention, a stated length of them more") {
  RunConfiguration run = lora_run();
  run.framework = "Megatron-Bridge";
  const double packed = step_of(run);
  run.options["document_tokens"] = "8192";
  const double whole = step_of(run);
  CHECK(packed < whole);
  run.options["document_tokens"] = "4096";
  CHECK(step_of(run) < whole);
  CHECK(step_of(run) > packed);
  run.options = {{"method", "lora"}, {"attention", "fp8"}};
  CHECK(step_of(run) < packed);
}

TEST_CASE("a run under a power cap multiplies at the clock that holds it, and no cap below idle is believed") {
  RunConfiguration run = lora_run();
  run.gpu = "GH200-96GB";
  run.gpus_per_node = 4;
  run.options["power_cap_w"] = "900";  // its TDP
  const double free = step_of(run);
  run.options["power_cap_w"] = "660";
  const double capped = step_of(run);
  // 900 W of which 90 are idle: f (0.5 + 0.5 f)^2 = 570 / 810 at f = 0.833. Not all of a step multiplies.
  CHECK(capped > 1.05 * free);
  CHECK(capped < free / 0.833 * 1.001);
  run.options.erase("power_cap_w");
  CHECK(step_of(run) == free);
  static const Sources sources = Sources::standard();
  TrainingRowModel model{sources};
  run.options["power_cap_w"] = "50";
  const RowPrediction refused = model.predict(run, "step_time_s", "s");
  CHECK(refused.status == RowStatus::rejected);
  CHECK(refused.why.find("no more than the GPU draws with nothing to do") != std::string::npos);
}
