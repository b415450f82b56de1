// SPDX-License-Identifier: Apache-2.0
// Measured collectives: read, planted and found again, scored.
#include <headroom/calibrate/kernels/collective_problem.hpp>
#include <headroom/calibrate/kernels/score_collectives.hpp>

#include <doctest/doctest.h>

#include "../support/model_data.hpp"
#include <cmath>
#include <sstream>
#include <string>

using namespace headroom;

namespace {

KernelFile read(const std::string& text, Diagnostics& diagnostics) {
  std::istringstream stream{text};
  return read_kernel_rows(stream, "mine.csv", std::nullopt, diagnostics);
}

/// Rows of one op on H100s, timed by the committed curves with one parameter changed.
KernelFile planted(const std::string& op, RingParameter changed, double factor) {
  const Catalog catalog = Catalog::standard();
  const Device& device = catalog.device("h100-sxm-80gb");
  CollectiveCurves curves = find_collective_set(test::model_data(), device.id).curves();
  curves.all_gather[static_cast<std::size_t>(changed)] *= factor;
  KernelFile file{"planted.csv", KernelKind::nccl, {}};
  int line = 2;
  for (const std::int64_t gpus : {2, 4, 8}) {
    const GroupView view = hosts_view(device, catalog.reference_node(device), gpus);
    const GroupCollectives group{curves, NetworkCurve{}, view};
    for (int power = 9; power <= 29; ++power) {
      KernelRow row;
      row.engine = "nccl";
      row.version = "2.29.2";
      row.format = op;
      row.variant = "half";
      row.shape = {static_cast<double>(gpus), std::exp2(power)};
      row.latency = group.time(Collective::all_gather, Bytes{row.shape[1]}).time;
      row.line = line++;
      file.rows.push_back(row);
    }
  }
  return file;
}

}  // namespace

TEST_CASE("files of collectives are known by their columns, and empty cells of an exchange mean none") {
  Diagnostics diagnostics;
  const KernelFile nccl =
      read("nccl_version,op,gpus,dtype,bytes,latency_us\n2.29.2,all_gather,2,half,1024,5.24\n", diagnostics);
  CHECK(nccl.kind == KernelKind::nccl);
  REQUIRE(nccl.rows.size() == 1);
  CHECK(nccl.rows[0].engine == "nccl");
  CHECK(nccl.rows[0].format == "all_gather");
  CHECK(nccl.rows[0].shape[0] == 2.0);
  CHECK(nccl.rows[0].shape[1] == 1024.0);
  CHECK(nccl.rows[0].latency.raw() == doctest::Approx(5.24e-6));
  const KernelFile custom =
      read("engine,version,implementation,gpus,dtype,bytes,latency_us\nvllm,1,graph,4,bfloat16,256,4\n", diagnostics);
  CHECK(custom.kind == KernelKind::custom_all_reduce);
  CHECK(custom.rows.at(0).format == "graph");
  const KernelFile exchange = read(
      "engine,version,op,nodes,ep,hidden,tokens,topk,experts,sms,latency_us\n"
      "sglang,1,deepep_ll_combine,1,,2048,16,8,128,,11\ntrtllm,1,x,,16,7168,1,8,256,,26\n",
      diagnostics);
  CHECK(exchange.kind == KernelKind::moe_all_to_all);
  REQUIRE(exchange.rows.size() == 2);
  CHECK(exchange.rows[0].shape[1] == 0.0);
  CHECK(exchange.rows[0].shape[6] == 0.0);
  CHECK(exchange.rows[1].shape[0] == 0.0);
  CHECK(exchange.rows[1].shape[1] == 16.0);
  CHECK(diagnostics.empty());
}

TEST_CASE("a planted latency and a planted share are found again") {
  const Catalog catalog = Catalog::standard();
  const Device& device = catalog.device("h100-sxm-80gb");
  const CollectiveCurves committed = find_collective_set(test::model_data(), device.id).curves();
  for (const auto& [parameter, factor] :
       {std::pair{RingParameter::launch, 1.5}, std::pair{RingParameter::share_8, 0.7}}) {
    const KernelFile file = planted("all_gather", parameter, factor);
    const std::vector<KernelGroup> groups = group_kernels({&file, 1});
    REQUIRE(groups.size() == 1);
    const CurveProblem problem = curve_problem(test::model_data(), groups[0], device, catalog.reference_node(device));
    const CurveFit fit = fit_curve(problem, 5);
    CHECK(fit.held_out.mape < 0.03);
    const auto at = static_cast<std::size_t>(parameter);
    CHECK(fit.values()[at] == doctest::Approx(factor * committed.all_gather[at]).epsilon(0.08));
  }
}

TEST_CASE("rows that no curve serves say why and are not skipped") {
  const Catalog catalog = Catalog::standard();
  const Device& device = catalog.device("h100-sxm-80gb");
  Diagnostics diagnostics;
  const KernelFile file = read(
      "nccl_version,op,gpus,dtype,bytes,latency_us\n2.29.2,all_gather,2,half,1024,5.24\n"
      "2.29.2,gather,2,half,1024,5.24\n2.29.2,all_reduce,16,half,1024,5.24\n",
      diagnostics);
  const Validation v = score_collectives(test::model_data(), {&file, 1}, device, catalog.reference_node(device));
  REQUIRE(v.rows.size() == 3);
  CHECK(v.rows[0].prediction.status == RowStatus::ok);
  CHECK(v.rows[0].id == "mine.csv:2");
  CHECK(v.rows[1].prediction.status == RowStatus::unsupported);
  CHECK(v.rows[1].prediction.why.find("gather of nccl has no curve") != std::string::npos);
  CHECK(v.rows[2].prediction.status == RowStatus::unsupported);
  CHECK(v.rows[2].prediction.why.find("do not fit one domain") != std::string::npos);
}
