// SPDX-License-Identifier: Apache-2.0
// Rows of networks: what columns hide is told by titles and the order of tables, servers by their queue.
#include <headroom/scenarios/measured/network_row.hpp>
#include <headroom/scenarios/measured/network_server.hpp>

#include <doctest/doctest.h>

#include "../support/sources.hpp"
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

TEST_CASE("network rows: a server stays below its offline rate and within its limit, whatever rate a row states") {
  const RowPrediction offline = predicted(parsed(mlperf("offline", "requests_per_s", "inf")).rows.front());
  const RowPrediction server = predicted(parsed(mlperf("server", "requests_per_s", "1000")).rows.front());
  const RowPrediction other = predicted(parsed(mlperf("server", "requests_per_s", "2000")).rows.front());
  const RowPrediction p99 = predicted(parsed(mlperf("server", "latency_ms_p99", "1000")).rows.front());
  REQUIRE(offline.status == RowStatus::ok);
  REQUIRE(server.status == RowStatus::ok);
  CHECK(server.predicted < offline.predicted);
  CHECK(server.predicted > 0.6 * offline.predicted);
  CHECK(server.predicted == other.predicted);
  CHECK(p99.predicted <= 130.0);
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
  // 14 of 108 multiprocessors and an eighth of the memory; a small GPU is filled better.
  CHECK(one.predicted > 0.12 * card.predicted);
  CHECK(one.predicted < 0.17 * card.predicted);
  CHECK(seven.predicted == doctest::Approx(7.0 * one.predicted));
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
