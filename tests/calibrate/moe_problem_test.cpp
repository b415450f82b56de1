// SPDX-License-Identifier: Apache-2.0
// Measured layers and passes: which share a curve, what is left out, and that a fit finds the curve it was made with.
#include <headroom/calibrate/kernels/moe_problem.hpp>
#include <headroom/calibrate/kernels/score_kernels.hpp>
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/kernels/curve_library.hpp>

#include <doctest/doctest.h>

#include "../support/model_data.hpp"
#include <sstream>

using namespace headroom;
using doctest::Approx;

namespace {

KernelFile read(const std::string& text, Diagnostics& diagnostics) {
  std::istringstream stream{text};
  return read_kernel_rows(stream, "kernels.csv", std::nullopt, diagnostics);
}

constexpr const char* moe_header =
    "engine,version,kernel,dtype,tokens,hidden,inter,topk,experts,tp,ep,distribution,latency_us\n";
constexpr const char* quantise_header = "engine,version,op,kernel,dtype,m,k,latency_us\n";

}  // namespace

TEST_CASE("families of measured kernel names") {
  CHECK(moe_family("moe_torch_flow_cutlass") == "cutlass");
  CHECK(moe_family("moe_torch_flow_nongated") == "cutlass");
  CHECK(moe_family("moe_torch_flow") == "default");
  CHECK(moe_family("moe_torch_flow_min_latency") == "min-latency");
  CHECK(moe_family("moe_torch_flow_triton_fp8_block") == "triton");
  CHECK(moe_family("deepgemm") == "deepgemm");
  CHECK(moe_family("vllm_fp8moe_flashinfer_trtllm_trtllmfp8expertsmodular") == "trtllm-gen");
  CHECK(moe_family("vllm_modeloptfp8moe_flashinfer_cutlass_flashinferexperts") == "cutlass");
  CHECK(moe_family("vllm_gptossmxfp4moe_marlin_marlinexperts") == "marlin");
  CHECK(moe_family("vllm_unquantizedfusedmoe_triton_tritonexperts") == "triton");
  CHECK(moe_family("something else") == "something else");
  CHECK(moe_routing_class("power_law_1.01") == "power-law");
  CHECK(moe_routing_class("balanced") == "balanced");
}

TEST_CASE("layers share a curve by engine, family, format and routing, a layer without gate joins its family") {
  Diagnostics diagnostics;
  const std::string text = std::string{moe_header} +
                           "trtllm,1,moe_torch_flow_cutlass,bfloat16,8,4096,2048,8,128,1,8,balanced,50\n"
                           "trtllm,1,moe_torch_flow_nongated,bfloat16,8,4096,2048,6,128,1,8,balanced,40\n"
                           "trtllm,1,moe_torch_flow_cutlass,bfloat16,8,4096,2048,8,128,1,8,power_law_1.2,60\n"
                           "vllm,1,vllm_unquantizedfusedmoe_triton_tritonexperts,bfloat16,8,4096,2048,8,128,1,8,"
                           "balanced,70\n";
  const std::vector<KernelFile> files{read(text, diagnostics)};
  CHECK(diagnostics.size() == 0);
  const std::vector<KernelGroup> groups = group_kernels(files);
  REQUIRE(groups.size() == 3);
  CHECK(groups[0].routing == "balanced");
  CHECK(groups[0].rows.size() == 2);
  CHECK(groups[1].routing == "power-law");
  CHECK(groups[2].kernel == "triton");
  // The layer without gate has two thirds of the weights.
  CHECK(groups[0].gateless.size() == 1);
  const Catalog catalog = Catalog::standard();
  const CurveProblem problem = curve_problem(test::model_data(), groups[0], catalog.device("h100-sxm-80gb"));
  std::vector<double> values;
  for (const CurveParameter& p : problem.parameters) {
    values.push_back(p.prior);
  }
  const std::vector<std::size_t> both{0, 1};
  std::vector<double> seconds(2);
  problem.predict(values, both, seconds);
  CHECK(seconds[1] < seconds[0]);
}

TEST_CASE("a model whose layers one engine names as without gate has none in another's kernels") {
  Diagnostics diagnostics;
  const std::string vllm =
      "vllm,1,vllm_unquantizedfusedmoe_triton_tritonexperts,bfloat16,64,2048,5120,22,512,1,2,balanced,2440\n";
  const std::string trtllm = "trtllm,1,moe_torch_flow_nongated,bfloat16,8,2048,5120,22,512,1,8,balanced,600\n";
  const std::vector<KernelFile> alone{read(moe_header + vllm, diagnostics)};
  const std::vector<KernelFile> together{read(moe_header + trtllm + vllm, diagnostics)};
  const std::vector<KernelGroup> one = group_kernels(alone);
  const std::vector<KernelGroup> two = group_kernels(together);
  REQUIRE(two.size() == 2);
  const Catalog catalog = Catalog::standard();
  const Device& h200 = catalog.device("h200-sxm-141gb");
  const Seconds gated = curve_problem(test::model_data(), one[0], h200).roofline[0];
  const Seconds plain = curve_problem(test::model_data(), two[1], h200).roofline[0];
  CHECK(1e6 * gated.raw() > 2440);  // faster than the datasheet allows: it cannot have a gate
  CHECK(1e6 * plain.raw() < 2440);
  CHECK(plain / gated == Approx(2.0 / 3.0).epsilon(0.01));
}

TEST_CASE("an unknown distribution names its line") {
  Diagnostics diagnostics;
  const std::vector<KernelFile> files{
      read(std::string{moe_header} + "trtllm,1,moe_torch_flow,bfloat16,8,4096,2048,8,128,1,8,zipf,50\n", diagnostics)};
  const std::vector<KernelGroup> groups = group_kernels(files);
  const Catalog catalog = Catalog::standard();
  CHECK_THROWS_WITH_AS((void)curve_problem(test::model_data(), groups[0], catalog.device("h100-sxm-80gb")),
                       doctest::Contains("line 2: distribution 'zipf'"), ConfigError);
}

TEST_CASE("a pass measured as a difference may come out as zero: counted, not fitted, below zero is an error") {
  Diagnostics diagnostics;
  const KernelFile file = read(std::string{quantise_header} +
                                   "sglang,1,computescale,sglang,fp8,1,256,0\n"
                                   "sglang,1,computescale,sglang,fp8,1,512,1.5\n",
                               diagnostics);
  CHECK(diagnostics.size() == 0);
  CHECK(file.rows.size() == 1);
  CHECK(file.below_noise == 1);
  (void)read(std::string{quantise_header} + "sglang,1,computescale,sglang,fp8,1,256,-1\n", diagnostics);
  CHECK(diagnostics.size() == 1);
  // Layers are timed, not subtracted: there zero is a mistake.
  (void)read(std::string{moe_header} + "trtllm,1,moe_torch_flow,bfloat16,8,4096,2048,8,128,1,8,balanced,0\n",
             diagnostics);
  CHECK(diagnostics.size() == 2);
}

TEST_CASE("a fit finds the curve that made the passes") {
  const Catalog catalog = Catalog::standard();
  const Device& device = catalog.device("h200-sxm-141gb");
  const MemoryCurve truth{1.5e-6, 0.8, 3.0, 1e-7, 0.6, 4.0};
  const MemoryModel model{truth, kernel_device(device, Rate::bf16), Residency::benchmark};
  std::string text = quantise_header;
  for (const double m : {1.0, 16.0, 100.0, 400.0, 1000.0, 4000.0, 16000.0}) {
    for (const double k : {256.0, 1024.0, 4096.0, 16384.0}) {
      const double us = 1e6 * model.time(quantise(m, k, 2.0, 1.0)).raw();
      text += "trtllm,1,scale_matrix,torch_ops,fp8," + std::to_string(static_cast<int>(m)) + "," +
              std::to_string(static_cast<int>(k)) + "," + std::to_string(us) + "\n";
    }
  }
  Diagnostics diagnostics;
  const std::vector<KernelFile> files{read(text, diagnostics)};
  const std::vector<KernelGroup> groups = group_kernels(files);
  const CurveFit fit = fit_curve(curve_problem(test::model_data(), groups.front(), device), 5);
  CHECK(fit.held_out.mape < 0.01);
  CHECK(1e6 * fit.values()[0] == Approx(1e6 * truth[0]).epsilon(0.02));
  CHECK(fit.values()[1] == Approx(truth[1]).epsilon(0.02));
}

TEST_CASE("measured layers and passes are scored by the curve of their engine, kernel and routing") {
  Diagnostics diagnostics;
  std::vector<KernelFile> files;
  files.push_back(read(std::string{moe_header} +
                           "trtllm,1,moe_torch_flow_cutlass,fp8_block,1024,7168,2048,8,256,2,1,balanced,1988.3\n"
                           "trtllm,1,moe_torch_flow_cutlass,fp8_block,1024,7168,2048,8,256,2,1,power_law_1.2,1900\n",
                       diagnostics));
  files.push_back(read(std::string{quantise_header} + "trtllm,1,scale_matrix,torch_ops,fp8,4096,8192,26.041\n"
                                                      "trtllm,1,layer_norm,torch_ops,fp8,4096,8192,30\n",
                       diagnostics));
  const Catalog catalog = Catalog::standard();
  const Validation v = score_kernels(test::model_data(), files, catalog.device("h200-sxm-141gb"));
  REQUIRE(v.rows.size() == 4);
  CHECK(v.rows[0].prediction.status == RowStatus::ok);
  CHECK(v.rows[0].prediction.predicted == Approx(1988.3).epsilon(0.2));
  CHECK(v.rows[1].prediction.predicted != v.rows[0].prediction.predicted);
  CHECK(v.rows[2].prediction.predicted == Approx(26.041).epsilon(0.1));
  CHECK(v.rows[3].prediction.status == RowStatus::unsupported);
  CHECK(v.rows[3].prediction.why.find("no curve") != std::string::npos);
}
