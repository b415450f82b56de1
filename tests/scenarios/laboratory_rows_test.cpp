// SPDX-License-Identifier: Apache-2.0
// Rows that describe launches, copies, slices and calls in words.
#include <headroom/scenarios/measured/words/copy_row.hpp>
#include <headroom/scenarios/measured/words/launch_row.hpp>
#include <headroom/scenarios/measured/words/slice_row.hpp>
#include <headroom/scenarios/measured/words/workload_row.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include "../support/sources.hpp"
#include <sstream>
#include <string>

using namespace headroom;
using test::near;

namespace {

RunFile row_in_words(const std::string& source,
                     const std::string& workload,
                     const std::string& config,
                     const std::string& hardware,
                     const std::string& metric) {
  std::istringstream stream{"source,source_ref,workload,config,hardware,metric,value,unit,notes\n" + source + ",y," +
                            workload + "," + config + "," + hardware + "," + metric + ",1,-,\n"};
  Diagnostics diagnostics;
  RunFile file = read_runs(stream, "rows.csv", diagnostics);
  diagnostics.throw_if_any();
  REQUIRE(file.rows.size() == 1);
  return file;
}

RowPrediction launch(const std::string& source,
                     const std::string& config,
                     const std::string& hardware,
                     const std::string& metric) {
  const RunFile file = row_in_words(source, "kernel_launch", config, hardware, metric);
  REQUIRE(launch_row(test::sources().data, file, file.rows.front()));
  return predict_launch(test::sources().data, file, file.rows.front());
}

RowPrediction copied(const std::string& config, const std::string& hardware, const std::string& metric) {
  const RunFile file = row_in_words("x", "h2d_d2h", config, hardware, metric);
  REQUIRE(copy_row(file, file.rows.front()));
  return predict_copy(test::sources().data, file, file.rows.front());
}

}  // namespace

TEST_CASE("rows in words: a chain of empty kernels is told by its length, its host and what is timed") {
  const std::string chain = "chain of 117 no-op kernels; WSL2; CUDA 13.3";
  // ahrefs/ocannl issue 488, the longest chain, which fitted no number: 735.4, 82.9, 6.29 and 2.62 us.
  const auto of = [&](const std::string& metric) { return launch("z", chain, "RTX 5070 Ti Laptop", metric); };
  const RowPrediction one_by_one = of("stream_launch_plus_sync_us");
  REQUIRE(one_by_one.status == RowStatus::ok);
  CHECK(one_by_one.predicted == near(735.4, 0.08));
  CHECK(one_by_one.low < one_by_one.predicted);
  CHECK(one_by_one.high > one_by_one.predicted);
  CHECK(of("graph_replay_plus_sync_us").predicted == near(82.9, 0.08));
  CHECK(of("per_launch_us").predicted == near(one_by_one.predicted / 117.0));
  CHECK(of("async_enqueue_per_launch_us").predicted == near(2.62, 0.08));
  CHECK(of("launches_per_s").why == "metric launches_per_s of launches is not answered");
}

TEST_CASE("rows in words: software between a program and its driver adds to a launch, and a call to its first one") {
  // meta-pytorch/tritonbench PR 1017: 3.0, 5.6 and 44.3 us.
  const auto of = [&](const std::string& config) {
    return launch("z", config, "GB200", "launch_overhead_us").predicted;
  };
  CHECK(of("cuLaunchKernel; 0 args") == near(3.0, 0.08));
  CHECK(of("triton CompiledKernel.run; 19 args") == near(5.6, 0.08));
  CHECK(of("inductor full e2e; 0 args") == near(44.3, 0.08));
  CHECK(of("inductor per kernel; 19 args") > of("inductor per kernel; 0 args"));
}

TEST_CASE("rows in words: what is no launch that is known says so") {
  CHECK(launch("z", "rocket", "GB200", "launch_overhead_us").why ==
        "the words 'rocket' tell no launch that launch-rows.toml knows");
  CHECK(launch("z", "cuLaunchKernel; 0 args", "Vega 20", "launch_overhead_us").why ==
        "hardware 'Vega 20' is no GPU that launch-rows.toml names");
  // A program is known by its publication: "grid.sync" of another one says nothing of blocks and bytes.
  const RunFile other = row_in_words("z", "cuda_graph", "same; cooperative groups grid.sync", "GV100", "time_ms");
  CHECK_FALSE(launch_row(test::sources().data, other, other.rows.front()));
  const RowPrediction hopper = launch("z", "cuLaunchKernel; 0 args", "H100", "launch_overhead_us");
  CHECK(hopper.assumed.find("generation hopper") != std::string::npos);
}

TEST_CASE("rows in words: a copy's memory, way, size and direction") {
  std::string why;
  const HostCopy small = *written_copy("D2H pinned time for 128kB", why);
  CHECK(small.bytes.raw() == 131072.0);
  CHECK(small.pinned);
  CHECK_FALSE(small.to_device);
  const HostCopy far = *written_copy("H2D pinned 32 MB remote NUMA", why);
  CHECK(far.remote);
  CHECK(far.bytes.raw() == 32e6);
  const HostCopy kernel = *written_copy("host_to_device_memcpy_sm; buffer 10 GiB", why);
  CHECK(kernel.kernel);
  CHECK(kernel.bytes.raw() == 10.0 * 1073741824.0);
  CHECK_FALSE(written_copy("without pinned memory", why)->pinned);
  CHECK(written_copy("alloc + H2D pageable 1 GiB", why)->allocates);
  CHECK(written_copy("host_to_device_bidirectional_memcpy_ce", why)->both);
  CHECK_FALSE(written_copy("H2D 1 GiB", why));
  CHECK(why == "the words do not say whether the host's memory is pinned");
}

TEST_CASE("rows in words: copies in the row's unit, and ranges as the ends of the interval") {
  const RowPrediction rate = copied("H2D pinned 1 GiB", "PCIe gen3 GPU", "bandwidth_gb_s");
  REQUIRE(rate.status == RowStatus::ok);
  CHECK(copied("H2D pinned 1 GiB", "PCIe gen3 GPU", "bandwidth_gib_s").predicted == near(rate.predicted / 1.073741824));
  CHECK(copied("H2D pinned 1 GiB", "PCIe gen3 GPU", "bandwidth_gb_s_low").predicted == near(rate.low));
  CHECK(copied("H2D pinned 1 GiB", "PCIe gen3 GPU", "bandwidth_gb_s_high").predicted == near(rate.high));
  CHECK(copied("H2D pinned 1 GiB", "PCIe gen3 GPU", "time_ms").predicted == near(1073.741824 / rate.predicted));
  CHECK(copied("H2D pinned 1 GiB", "8-GPU system (model not named)", "bandwidth_gb_s").why ==
        "hardware '8-GPU system (model not named)' does not say which link its copies cross");
  CHECK(copied("pinned numpy copy via RMM; 800 MB", "Azure V100", "bandwidth_gb_s").status == RowStatus::unsupported);
}

TEST_CASE("rows in words: seven slices leave ten of an A100's 108 multiprocessors, and products follow the rest") {
  const auto of = [&](const std::string& config, const std::string& metric) {
    const RunFile file = row_in_words("x", "mig", config, "A100 80GB", metric);
    REQUIRE(slice_row(file, file.rows.front()));
    return predict_slice(test::sources().catalog, test::sources().data, file, file.rows.front());
  };
  CHECK(of("SMs lost by enabling MIG: 108 -> 98", "sm_loss_pct").predicted == near(1000.0 / 108.0));
  const RowPrediction whole = of("PyTorch GEMM FP16 peak; full 80GB (108 SMs)", "tflops");
  // stas00/ml-engineering: 271.2 TFLOP/s are the most of an A100.
  CHECK(whole.predicted == near(271.2, 0.08));
  const RowPrediction small = of("PyTorch GEMM FP16 peak; 1g.10gb (14 SMs)", "tflops");
  CHECK(small.predicted / whole.predicted == near(14.0 / 108.0, 0.12));
  const RunFile other = row_in_words("x", "mig", "Qwen 1.5B QLoRA fine-tune; 1g.10gb", "A100 80GB", "tokens_per_s");
  CHECK_FALSE(slice_row(other, other.rows.front()));
}

TEST_CASE("rows in words: a chip's clocks and the accelerators beside its GPU are those of its round and run") {
  const ModelData& data = test::sources().data;
  std::string why;
  const auto options = [&](const std::string& source, const std::string& config, const std::string& hardware) {
    const RunFile file = row_in_words(source, "image_cls_infer", config, hardware, "samples_per_s");
    const std::optional<RunRow> run = workload_row(data, file, file.rows.front(), why);
    return run ? run->serving.options : decltype(run->serving.options){};
  };
  // closed/NVIDIA/configs/resnet50/Offline of v2.0: 726.75 of 1300 MHz, memory at its own clock.
  const auto set =
      options("mlcommons/inference_results_v2.0@1", "MLPerf Inference v2.0 closed; resnet50; Offline", "Orin_TRT_MaxQ");
  REQUIRE(set.contains("core_clock"));
  CHECK(std::stod(set.at("core_clock")) == near(726.75 / 1300.0, 1e-3));
  CHECK(std::stod(set.at("memory_clock")) == 1.0);
  CHECK(std::stod(set.at("beside_tflops")) > 0.0);
  CHECK(options("mlcommons/inference_results_v2.0@1", "MLPerf Inference v2.0 closed; resnet50; Server", "Orin_TRT_MaxQ")
            .empty());
  CHECK(why == "the clocks that its submitter set for this run are not known");
  CHECK_FALSE(options("m", "MLPerf Inference v2.0 closed; bert-99; Offline", "Orin_TRT").contains("beside_tflops"));
}

TEST_CASE("rows in words: the time of an image of a batch is the inverse of its rate") {
  const RunFile file =
      row_in_words("u", "detection_infer", "YOLOv5s; 640px; batch=32; 16.5 GFLOP@640", "V100", "latency_ms_per_image");
  std::string why;
  const std::optional<RunRow> run = workload_row(test::sources().data, file, file.rows.front(), why);
  REQUIRE(run);
  CHECK(run->metric == "images_per_s");
  CHECK(run->measured == near(1000.0));  // 1 ms
  CHECK(run->serving.concurrency == 32.0);
  CHECK(run->serving.options.at("resolution") == "640");
  RowPrediction rate;
  rate.status = RowStatus::ok;
  rate.predicted = 1000.0;
  rate.low = 500.0;
  rate.high = 2000.0;
  const RowPrediction each = asked_of_workload(file.rows.front(), rate);
  CHECK(each.predicted == near(1.0));
  CHECK(each.low == near(0.5));
  CHECK(each.high == near(2.0));
}

TEST_CASE("rows in words: a slice beside other jobs is answered as that slice, and says what that assumes") {
  const RunFile file = row_in_words("mlcommons/inference_results_v2.0@1", "mig_bert_infer",
                                    "MLPerf Inference v2.0 closed; bert-99; Offline",
                                    "A30-MIG_1x1g.6gb_TRT_HeteroMultiUse", "samples_per_s");
  std::string why;
  const std::optional<RunRow> run = workload_row(test::sources().data, file, file.rows.front(), why);
  REQUIRE(run);
  CHECK(run->serving.gpu == "MIG:a30 (1x1g.6gb MIG)");
  CHECK(workload_assumed(test::sources().data, file, file.rows.front()) ==
        "jobs on other slices take the card's power and no more");
}
