// SPDX-License-Identifier: Apache-2.0
// Rows of training of networks, and rows that describe a workload in words.
#include <headroom/scenarios/validation/validation.hpp>

#include <doctest/doctest.h>

#include "../support/sources.hpp"
#include <sstream>
#include <string>
#include <vector>

using namespace headroom;
using headroom::test::sources;

namespace {

std::vector<ScoredRow> scored(const std::string& text) {
  std::istringstream stream{text};
  Diagnostics diagnostics;
  const std::vector<RunFile> files{read_runs(stream, "n.csv", diagnostics)};
  diagnostics.throw_if_any();
  return validate(files, {}, sources()).rows;
}

std::vector<ScoredRow> trained(const std::string& rows) {
  return scored("id,source,source_ref,model,gpu,gpus,gpus_per_node,intra_link,seq_len,micro_batch,global_batch," +
                std::string{"precision,framework,metric,value,unit,notes\n"} + rows);
}

std::string resnet(const std::string& gpus, const std::string& precision) {
  return "r,s,t,PyTorch/resnet50v1.5,A100-SXM4-80GB," + gpus + "," + gpus + ",,,,," + precision +
         ",PyTorch,samples_per_s,1000,samples/s,\n";
}

std::vector<ScoredRow> worded(const std::string& rows) {
  return scored("source,source_ref,workload,config,hardware,metric,value,unit,notes\n" + rows);
}

}  // namespace

TEST_CASE("network training: eight GPUs train nearly eight times as fast as one, and half precision over twice") {
  const std::vector<ScoredRow> rows = trained(resnet("1", "tf32") + resnet("1", "fp16") + resnet("8", "fp16"));
  REQUIRE(rows.size() == 3);
  for (const ScoredRow& row : rows) {
    INFO(row.prediction.why);
    REQUIRE(row.prediction.status == RowStatus::ok);
    CHECK(row.prediction.of_network);
    CHECK(row.prediction.low < row.prediction.predicted);
    CHECK(row.prediction.assumed.find("batch not published") != std::string::npos);
  }
  CHECK(rows[1].prediction.predicted > 1.7 * rows[0].prediction.predicted);
  CHECK(rows[2].prediction.predicted < 8.0 * rows[1].prediction.predicted);
  CHECK(rows[2].prediction.predicted > 6.0 * rows[1].prediction.predicted);
}

TEST_CASE("network training: accumulated calls before an update are taken from the table, padding is dropped") {
  const auto bert = [](const std::string& micro, const std::string& calls) {
    return trained("r,s,Pre-training,PyTorch/BERT,A100-SXM4-80GB,1,1,,128," + micro + ",8192,fp16,PyTorch," +
                   "samples_per_s,500,samples/s,gradient accumulation " + calls + "\n")
        .front()
        .prediction;
  };
  REQUIRE(bert("256", "32").status == RowStatus::ok);
  CHECK(bert("256", "32").predicted > bert("8", "1024").predicted);
  CHECK(bert("256", "32").assumed.find("95 of 128") != std::string::npos);
}

TEST_CASE("network training: MLPerf's time follows from its reference convergence and the rate") {
  const auto run = [](const std::string& metric) {
    return trained("r,s,t,ResNet-50 v1.5 (MLPerf),H100-SXM5-80GB,8,8,,,408,3264,,MXNet," + metric + ",1,s,\n")
        .front()
        .prediction;
  };
  REQUIRE(run("time_to_train_s").status == RowStatus::ok);
  CHECK(run("time_to_train_s").predicted == doctest::Approx(4.51e7 / run("samples_per_s").predicted));
  CHECK(run("step_time_s").predicted == doctest::Approx(3264.0 / run("samples_per_s").predicted));
  CHECK(run("memory_gib_per_gpu").status == RowStatus::unsupported);
}

TEST_CASE("network training: what no log says of its format is FP8 where the GPU has its units") {
  const auto rate = [](const std::string& gpu) {
    return trained("r,s,t,BERT-large (MLPerf)," + gpu + ",8,8,,512,48,384,,PyTorch,samples_per_s,1,samples/s,\n")
        .front()
        .prediction;
  };
  const RowPrediction ampere = rate("A100-SXM4-80GB");
  const RowPrediction hopper = rate("H100-SXM5-80GB");
  REQUIRE(hopper.status == RowStatus::ok);
  CHECK(hopper.predicted > 2.2 * ampere.predicted);
  CHECK(hopper.assumed.find("FP8") != std::string::npos);
}

TEST_CASE("network training: a network that is not built says so") {
  const RowPrediction answer =
      trained("r,s,t,TensorFlow2/SIM,A100-SXM4-80GB,1,1,,,,,tf32,TensorFlow2,samples_per_s,1,samples/s,\n")
          .front()
          .prediction;
  CHECK(answer.status == RowStatus::unsupported);
  CHECK(answer.why.find("is not built") != std::string::npos);
}

TEST_CASE("workload rows: words of a benchmark are a call, its words of other things are not") {
  const std::vector<ScoredRow> rows = worded(
      "s,r,image_cls_infer,resnet50; 224px; batch=256; amp nhwc; eager; pt2.4.0; 4.09 GMAC,RTX 4090,images_per_s,1,,\n"
      "s,r,image_cls_infer,resnet50; 288px; batch=256; amp nhwc; eager; pt2.4.0; 4.09 GMAC,RTX 4090,images_per_s,1,,\n"
      "s,r,bert_infer,MLPerf Inference v1.1 closed; bert-99; Offline,A100-PCIe-80GBx8_TRT,samples_per_s,1,,\n"
      "s,r,mig_bert_infer,MLPerf Inference v1.1 closed; bert-99; Offline,DGX-A100_A100-SXM-80GB-MIG_56x1g.10gb_TRT,"
      "samples_per_s,1,,\n"
      "s,r,nbody,big; fp64,RTX 3090,ns_per_day,11,s,\n"
      "s,r,image_cls_train,resnet18; 224px; batch=512; params=11.69M; AMP fwd+bwd+opt,RTX 3090,images_per_s,1,,\n");
  REQUIRE(rows.size() == 6);
  for (const std::size_t answered : {0, 1, 2, 3, 5}) {
    INFO(rows[answered].prediction.why);
    CHECK(rows[answered].prediction.status == RowStatus::ok);
  }
  CHECK(rows[1].prediction.predicted < 0.75 * rows[0].prediction.predicted);
  // 56 slices of 14 multiprocessors against 8 cards of 108.
  CHECK(rows[3].prediction.predicted > 0.7 * rows[2].prediction.predicted);
  CHECK(rows[4].prediction.status == RowStatus::unsupported);
  CHECK(rows[4].prediction.why.find("nbody") != std::string::npos);
}
