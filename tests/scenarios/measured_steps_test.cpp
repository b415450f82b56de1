// SPDX-License-Identifier: Apache-2.0
// Published steps that must come out whatever the fitted parameters are, by the way of a measured row.
#include <headroom/scenarios/measured/training_row.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"

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
