// SPDX-License-Identifier: Apache-2.0
// Rows of networks: what columns hide is told by titles and the order of tables, servers by their queue.
#include <headroom/scenarios/measured/network_row.hpp>
#include <headroom/scenarios/measured/network_server.hpp>
#include <headroom/scenarios/measured/power_limits.hpp>
#include <headroom/scenarios/measured/words/workload_row.hpp>

#include <doctest/doctest.h>

#include "../support/sources.hpp"
#include <cmath>
#include <optional>
#include <sstream>
#include <string>

using namespace headroom;
using headroom::test::sources;

namespace {

RunFile parsed(const std::string& text) {
  std::istringstream stream{
      "id,source,source_ref,model,gpu,gpus,weight_dtype,isl,concurrency,request_rate,engine,engine_version,options,"
      "metric,"
      "value,unit,notes\n" +
      text};
  Diagnostics diagnostics;
  RunFile file = read_runs(stream, "n.csv", diagnostics);
  diagnostics.throw_if_any();
  return file;
}

std::string tensorflow(const std::string& title, const std::string& network) {
  return "r,s," + title + "," + network +
         ",V100-SXM2-16GB,1,fp16,,8,,TensorFlow (native framework),NGC 20.06,,images_per_s,100,images/s,\n";
}

std::string mlperf(const std::string& scenario, const std::string& metric, const std::string& rate) {
  return "m,s,t,bert,A100-SXM4-80GB,1,int8,,," + rate + ",TensorRT (MLPerf harness),,scenario=" + scenario + "," +
         metric + ",1000,samples/s,\n";
}

/// Of a row in words.
RowPrediction worded(const std::string& config, const std::string& hardware, const std::string& metric) {
  std::istringstream stream{"source,source_ref,workload,config,hardware,metric,value,unit,notes\ns,r,w_infer," +
                            config + "," + hardware + "," + metric + ",1,u,\n"};
  Diagnostics diagnostics;
  const RunFile file = read_runs(stream, "o.csv", diagnostics);
  diagnostics.throw_if_any();
  std::string why;
  const std::optional<RunRow> meant = workload_row(sources().data, file, file.rows.front(), why);
  NetworkRowModel model{sources()};
  return meant ? model.predict(*meant) : unsupported(why);
}

RowPrediction predicted(const RunRow& row) {
  NetworkRowModel model{sources()};
  return model.predict(row);
}

}  // namespace

TEST_CASE("network rows: equal rows under one title are counted in the file's order") {
  const std::string network = "TensorFlow/resnet50v1.5";
  const RunFile file = parsed(tensorflow("one", network) + tensorflow("one", "TensorFlow/resnext101-32x4d") +
                              tensorflow("one", network) + tensorflow("two", network));
  REQUIRE(file.rows.size() == 4);
  CHECK(file.rows[0].table == 1);
  CHECK(file.rows[1].table == 1);
  CHECK(file.rows[2].table == 2);
  CHECK(file.rows[3].table == 1);
}

TEST_CASE("network rows: the second table of TensorFlow's ResNets is XLA, and the answer says so") {
  const std::string network = "TensorFlow/resnet50v1.5";
  const RunFile file = parsed(tensorflow("one", network) + tensorflow("one", network));
  const RowPrediction plain = predicted(file.rows[0]);
  const RowPrediction compiled = predicted(file.rows[1]);
  REQUIRE(plain.status == RowStatus::ok);
  REQUIRE(compiled.status == RowStatus::ok);
  CHECK(plain.assumed.empty());
  CHECK(compiled.assumed.find("XLA") != std::string::npos);
  CHECK(compiled.predicted != plain.predicted);
}

TEST_CASE("network rows: a size that only a table's title states is taken from there") {
  const auto row = [](const std::string& title) {
    return parsed("r,s," + title +
                  ",PyTorch/Transformer-XL,V100-SXM2-16GB,1,fp16,,8,,PyTorch (native framework),NGC 20.06,,"
                  "requests_per_s,100,samples/s,\n")
        .rows.front();
  };
  const RowPrediction base = predicted(row("Base model"));
  const RowPrediction large = predicted(row("Large model"));
  const RowPrediction open = predicted(row("no size"));
  REQUIRE(base.status == RowStatus::ok);
  CHECK(base.predicted > open.predicted);
  CHECK(open.predicted > large.predicted);
  CHECK(open.assumed.find("leave open which of 2 networks") != std::string::npos);
}

TEST_CASE("network rows: a server's rate stays below the offline one, whatever rate a row states") {
  const RowPrediction offline = predicted(parsed(mlperf("offline", "requests_per_s", "inf")).rows.front());
  const RowPrediction server = predicted(parsed(mlperf("server", "requests_per_s", "1000")).rows.front());
  const RowPrediction other = predicted(parsed(mlperf("server", "requests_per_s", "2000")).rows.front());
  REQUIRE(offline.status == RowStatus::ok);
  REQUIRE(server.status == RowStatus::ok);
  CHECK(server.predicted < offline.predicted);
  CHECK(server.predicted > 0.6 * offline.predicted);
  CHECK(server.predicted == other.predicted);
}

TEST_CASE("network rows: a server's latencies are those at the rate that its clients ask for, within its limit") {
  const RowPrediction server = predicted(parsed(mlperf("server", "requests_per_s", "1000")).rows.front());
  const auto at = [&](const std::string& metric, double share) {
    return predicted(parsed(mlperf("server", metric, std::to_string(share * server.predicted))).rows.front());
  };
  const RowPrediction calm = at("latency_ms_mean", 0.8);
  const RowPrediction busy = at("latency_ms_mean", 1.05);
  const RowPrediction tail = at("latency_ms_p99", 1.05);
  REQUIRE(calm.status == RowStatus::ok);
  CHECK(calm.low < calm.predicted);
  CHECK(calm.predicted < calm.high);
  CHECK(busy.predicted / busy.low > 1.4);
  CHECK(tail.predicted > busy.predicted);
  CHECK(tail.high <= 130.0);
}

TEST_CASE("network rows: requests that a harness leaves to the end of its run count in the mean alone") {
  const auto row = [](const std::string& reference, const std::string& metric) {
    return predicted(parsed("m,s,mlcommons/inference_results_" + reference +
                            ",bert,A100-SXM4-80GB,8,int8,,,25000,TensorRT (MLPerf harness),,scenario=server," + metric +
                            ",1000,ms,\n")
                         .rows.front());
  };
  const RowPrediction late = row("v2.0/DGX-A100x8_TRT", "latency_ms_mean");
  REQUIRE(late.status == RowStatus::ok);
  // 1 % of them wait for half of 600 s.
  CHECK(late.predicted > 3000.0);
  CHECK(late.predicted < 3100.0);
  CHECK(row("v2.0/DGX-A100x8_TRT", "latency_ms_p99").predicted < 130.0);
  CHECK(row("v2.0/DGX-A100x8_TRT_Triton", "latency_ms_mean").predicted < 100.0);
}

TEST_CASE("network rows: a host that passes on fewer requests than its GPUs serve sets the rate and the latencies") {
  const auto row = [](const std::string& reference, const std::string& metric) {
    return predicted(parsed("m,s," + reference +
                            ",dlrm,A100-SXM4-80GB,8,int8,,,600000,TensorRT (MLPerf harness),,scenario=server," +
                            metric + ",1000,ms,\n")
                         .rows.front());
  };
  CHECK(row("x8_TRT", "requests_per_s").predicted > 1.5e6);
  CHECK(row("x8_TRT_Triton", "requests_per_s").predicted == doctest::Approx(650e3));
  const double mean = row("x8_TRT_Triton", "latency_ms_mean").predicted;
  CHECK(mean > 4.0);
  CHECK(row("x8_TRT_Triton", "latency_ms_p99").predicted == doctest::Approx(mean * std::log(100.0)));
}

TEST_CASE("network rows: samples of different sizes have the percentiles of their sizes, equal ones those of calls") {
  const auto ratio = [](const std::string& network) {
    const auto one = [&](const std::string& metric) {
      return predicted(parsed("m,s,t," + network +
                              ",A100-SXM4-80GB,1,int8,,1,,TensorRT (MLPerf harness),,"
                              "scenario=singlestream," +
                              metric + ",1000,ms,\n")
                           .rows.front())
          .predicted;
    };
    return one("latency_ms_p99") / one("latency_ms_mean");
  };
  CHECK(ratio("3d-unet") == doctest::Approx(2.24));
  CHECK(ratio("resnet50") == doctest::Approx(1.05));
}

TEST_CASE("network rows: a harness that calls one image at a time on one GPU gains nothing from more") {
  const auto yolo = [](const std::string& gpus, const std::string& samples, const std::string& scenario,
                       const std::string& metric) {
    return predicted(parsed("m,s,t,yolo,L40S," + gpus + ",fp16,," + samples +
                            ",,TensorRT (MLPerf harness),,scenario=" + scenario + "," + metric + ",1000,ms,\n")
                         .rows.front())
        .predicted;
  };
  const double one = yolo("1", "1", "singlestream", "latency_ms_mean");
  CHECK(yolo("8", "8", "multistream", "latency_ms_mean") == doctest::Approx(8.0 * one));
  CHECK(yolo("8", "", "offline", "images_per_s") == doctest::Approx(1e3 / one));
}

TEST_CASE("network rows: GPUs that evaluate with and without the prompt beside each other halve a video's time") {
  const auto video = [](const std::string& cfg) {
    return predicted(
               parsed("m,s,t,wan-2.2-t2v-a14b,B200-SXM,8,fp8,,1,,MLPerf TensorRT,,scenario=singlestream;ulysses=4;"
                      "cfg=" +
                      cfg + ";steps=20,latency_ms_mean,1000,ms,\n")
                   .rows.front())
        .predicted;
  };
  CHECK(video("2") == doctest::Approx(0.5 * video("1")).epsilon(0.02));
}

TEST_CASE("network rows: BERT in 16 bit ran in FP8 from Hopper on") {
  const auto offline = [](const std::string& gpu, const std::string& format) {
    return predicted(parsed("m,s,t,bert," + gpu + ",1," + format +
                            ",,,inf,TensorRT (MLPerf harness),,scenario=offline,requests_per_s,1000,samples/s,\n")
                         .rows.front())
        .predicted;
  };
  CHECK(offline("H100-SXM5-80GB", "fp16") == offline("H100-SXM5-80GB", "int8"));
  CHECK(offline("A100-SXM4-80GB", "fp16") < 0.8 * offline("A100-SXM4-80GB", "int8"));
  CHECK(offline("L4", "fp16") < 0.8 * offline("L4", "int8"));
}

TEST_CASE("network rows: ranks in a ring merge what ranks in columns do not, and pixels are decoded on one rank") {
  const auto picture = [](const std::string& model, const std::string& columns, const std::string& ring) {
    return predicted(parsed("d,s,t," + model +
                            ",B200-SXM,8,bf16,,8,,xDiT,0.4.5,steps=50;height=1024;width=1024;ulysses=" + columns +
                            ";ring=" + ring + ",latency_ms_mean,5000,ms,\n")
                         .rows.front())
        .predicted;
  };
  CHECK(picture("FLUX.1-dev", "1", "8") > 1.03 * picture("FLUX.1-dev", "8", "1"));
  // Eight ranks are less than eight times as fast: the decoder runs on one.
  CHECK(8.0 * picture("FLUX.1-dev", "8", "1") > 1.02 * picture("FLUX.1-dev", "1", "1"));
}

TEST_CASE("network rows: a MIG slice has its share of the card's multiprocessors and memory") {
  const auto row = [](const std::string& gpu) {
    return parsed("m,s,t,bert," + gpu + ",1,int8,,,inf,TensorRT (MLPerf harness),,scenario=offline,requests_per_s,1," +
                  "samples/s,\n")
        .rows.front();
  };
  const RowPrediction card = predicted(row("A100-SXM4-80GB"));
  const RowPrediction one = predicted(row("MIG:A100-SXM-80GB (1x1g.10gb MIG)"));
  const RowPrediction seven = predicted(row("MIG:A100-SXM-80GB (7x1g.10gb MIG)"));
  REQUIRE(card.status == RowStatus::ok);
  REQUIRE(one.status == RowStatus::ok);
  // 14 of 108 multiprocessors and an eighth of the memory; a small GPU is filled better, and one alone keeps its clock.
  CHECK(one.predicted > 0.12 * card.predicted);
  CHECK(one.predicted < 0.17 * card.predicted);
  // Seven at work share the card's power; what they leave idle are 10 of 108 multiprocessors.
  CHECK(seven.predicted < 7.0 * one.predicted);
  CHECK(seven.predicted > 0.9 * card.predicted);
  CHECK(seven.predicted < 1.05 * card.predicted);
  // Those of eight cards.
  const RowPrediction all = predicted(row("MIG:A100-SXM-80GB (56x1g.10gb MIG)"));
  CHECK(all.predicted == doctest::Approx(8.0 * seven.predicted));
  CHECK(predicted(row("MIG:T4 (1x1g.5gb MIG)")).status == RowStatus::unsupported);
}

TEST_CASE("network rows: a GPU that waits for its host draws less than one that multiplies") {
  const auto watts = [](const std::string& ranks, const std::string& images) {
    return predicted(parsed("d,s,t,stable-diffusion-3.5-medium,H100-SXM5-80GB," + ranks + ",bf16,," + images +
                            ",,xDiT,0.4.5,steps=28;height=1024;width=1024;ulysses=" + ranks +
                            ";ring=1,power_w_per_gpu,500,W,\n")
                         .rows.front());
  };
  const RowPrediction busy = watts("1", "8");
  const RowPrediction idle = watts("8", "1");
  REQUIRE(busy.status == RowStatus::ok);
  REQUIRE(idle.status == RowStatus::ok);
  CHECK(busy.predicted > 550.0);
  CHECK(busy.predicted <= 700.0);
  CHECK(idle.predicted < 0.7 * busy.predicted);
}

TEST_CASE("network rows: words of a Triton server mean its one client or its clients") {
  const std::string served = "ResNet50 ONNX-TRT FP16 Triton; ";
  const RowPrediction one = worded(served + "static batch=1; 1 instance", "A40", "images_per_s");
  const RowPrediction many =
      worded(served + "dynamic batching max 128; 2 instances; concurrency=64", "A40", "images_per_s");
  REQUIRE(one.status == RowStatus::ok);
  REQUIRE(many.status == RowStatus::ok);
  CHECK(many.predicted > 3.0 * one.predicted);
}

TEST_CASE("network rows: graphs save launches of small batches, and rates without their exponent say nothing") {
  const auto dlrm = [](const std::string& batch, const std::string& graphs) {
    return worded("DLRM small; batch=" + batch + "; TF32; CUDA graphs " + graphs, "A100 80GB", "latency_ms_mean");
  };
  REQUIRE(dlrm("2", "ON").status == RowStatus::ok);
  CHECK(dlrm("2", "ON").predicted < 0.5 * dlrm("2", "OFF").predicted);
  CHECK(dlrm("32768", "ON").predicted > 0.8 * dlrm("32768", "OFF").predicted);
  const std::string offline = "MLPerf Inference v2.0 closed; dlrm-99; Offline";
  CHECK(worded(offline, "A30x8_TRT", "samples_per_s").status == RowStatus::unsupported);
  CHECK(worded(offline, "A30x1_TRT", "samples_per_s").status == RowStatus::ok);
}

TEST_CASE("network rows: what runs mostly in 16 bit is priced so, though its row says int8, and the answer tells") {
  const auto offline = [](const std::string& format) {
    return predicted(parsed("m,s,t,dlrm-v2,H100-SXM5-80GB,8," + format +
                            ",,,inf,TensorRT (MLPerf harness),,scenario=offline,requests_per_s,1000,samples/s,\n")
                         .rows.front());
  };
  REQUIRE(offline("int8").status == RowStatus::ok);
  CHECK(offline("int8").predicted == offline("fp16").predicted);
  CHECK(offline("int8").assumed.find("fp16") != std::string::npos);
}

TEST_CASE("power limits: a run's own by round, system, benchmark and scenario, else its system's") {
  const auto limit = [](const std::string& round, const std::string& path) {
    RunRow row;
    row.source = "MLPerf Inference " + round;
    row.source_ref = "closed/NVIDIA/results/" + path;
    const std::optional<Watts> found = published_power_limit(sources().data, row);
    return found ? found->raw() : 0.0;
  };
  CHECK(limit("v2.0", "DGX-A100_A100-SXM-80GBx8_TRT_MaxQ/bert-99/Offline/run_1") == 300.0);
  CHECK(limit("v2.0", "DGX-A100_A100-SXM-80GBx8_TRT_MaxQ/bert-99.9/Offline") == 275.0);
  CHECK(limit("v2.1", "DGX-A100_A100-SXM-80GBx8_TRT_MaxQ/bert-99/Offline") == 275.0);
  CHECK(limit("v4.0", "DGX-A100_A100-SXM-80GBx8_TRT_MaxQ/bert-99/Offline") == 0.0);
  CHECK(limit("v2.0", "DGX-A100_A100-SXM-80GBx8_TRT/bert-99/Offline") == 0.0);
  CHECK(limit("v2.0", "DGX-Station-A100_A100-SXM-80GBx4_TRT/bert-99/Offline") == 275.0);
  CHECK(limit("v2.0", "DGX-Station-A100_A100-SXM-80GBx4_TRT_MaxQ/bert-99/Offline") == 250.0);
}

TEST_CASE("power limits: under its limit a system does less and draws less, its GPUs no more than the limit") {
  const auto at = [](const std::string& system, const std::string& metric, const std::string& scenario = "Offline") {
    std::istringstream stream{
        "source,source_ref,workload,config,hardware,metric,value,unit,notes\nmlcommons/inference_results_v2.0,"
        "closed/NVIDIA/results/" +
        system + "/bert-99/" + scenario + ",energy,MLPerf Inference v2.0 power; bert-99; " + scenario + "," + system +
        "," + metric + ",1,u,\n"};
    Diagnostics diagnostics;
    const RunFile file = read_runs(stream, "o.csv", diagnostics);
    std::string why;
    const std::optional<RunRow> meant = workload_row(sources().data, file, file.rows.at(0), why);
    REQUIRE(meant);
    NetworkRowModel model{sources()};
    return model.predict(*meant).predicted;
  };
  const std::string own = "A100-PCIe-80GBx8_TRT";
  const std::string limited = own + "_MaxQ";
  const double watts = at(limited, "avg_system_power_w");
  const double less = at(own, "avg_system_power_w") - watts;
  CHECK(less > 0.9 * 8.0 * (300.0 - 225.0));
  CHECK(less < 8.0 * (300.0 - 225.0) + 1.0);
  CHECK(watts < 3000.0);
  // Between its calls a server waits.
  const std::string arm = "A100-PCIe-80GB_aarch64x4_TRT_MaxQ";
  const double offline = at(arm, "avg_system_power_w");
  CHECK(at(arm, "avg_system_power_w", "Server") < 0.99 * offline);
  CHECK(at(arm, "avg_system_power_w", "Server") > 0.7 * offline);
  // 0.79 and 0.80 were published of BERT at this limit.
  CHECK(at(limited, "samples_per_s") / at(own, "samples_per_s") == doctest::Approx(0.8).epsilon(0.1));
}
