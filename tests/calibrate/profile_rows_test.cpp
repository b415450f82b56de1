// SPDX-License-Identifier: Apache-2.0
// Profiles of a model's ops, read as the kernels that they time.
#include <headroom/calibrate/kernels/chosen_curve.hpp>
#include <headroom/calibrate/kernels/fit_curve.hpp>
#include <headroom/calibrate/kernels/profile_rows.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/workload/model_data.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include <sstream>

using namespace headroom;
using headroom::test::near;

namespace {

std::vector<KernelFile> read(const std::string& text, std::string_view id, std::string* problems = nullptr) {
  std::istringstream stream{text};
  Diagnostics diagnostics;
  std::vector<KernelFile> files = read_kernel_tables(stream, "profile.csv", std::nullopt, id, diagnostics);
  if (problems != nullptr) {
    for (const Diagnostic& problem : diagnostics.sorted()) {
      *problems += problem.text() + "\n";
    }
  } else {
    diagnostics.throw_if_any();
  }
  return files;
}

const std::string linear_header =
    "gpu,model,file,op,measurement,precision,quant,tokens,tp,hidden,ffn,heads,kv_heads,vocab,gated,latency_us,min_us\n";
/// Llama-2-7B's sizes: 32 heads of 128, an inner width of 11008.
std::string llama(const std::string& op, const std::string& measurement, const std::string& us) {
  return "a800_sxm,Llama-2-7b,mlp.csv," + op + "," + measurement + ",,,64,2,4096,11008,32,32,32000,1," + us + ",1\n";
}

}  // namespace

TEST_CASE("a profile's name of a GPU is an id or its first words") {
  CHECK(names_device("a800_sxm", "a800-sxm-80gb"));
  CHECK(names_device("A800", "a800-sxm-80gb"));
  CHECK(names_device("a40", "a40"));
  CHECK_FALSE(names_device("a80", "a800-sxm-80gb"));
  CHECK_FALSE(names_device("a800_sxm_80gb_x", "a800-sxm-80gb"));
  CHECK_FALSE(names_device("", "a40"));
}

TEST_CASE("the ops of a layer become products and passes of one rank") {
  const std::vector<KernelFile> files =
      read(linear_header + llama("attn_pre_proj", "KERNEL_ONLY", "20") + llama("mlp_up_proj", "KERNEL_ONLY", "30") +
               llama("mlp_down_proj", "KERNEL_ONLY", "15") + llama("attn_post_proj", "KERNEL_ONLY", "9") +
               llama("mlp_act", "KERNEL_ONLY", "4") + llama("share_expert_act", "KERNEL_ONLY", "4") +
               "h800_sxm,Llama-2-7b,mlp.csv,emb,KERNEL_ONLY,,,1,1,4096,11008,32,32,32000,1,3,3\n",
           "a800-sxm-80gb");
  REQUIRE(files.size() == 2);
  const std::vector<KernelRow>& products = files[0].rows;
  REQUIRE(products.size() == 4);
  using Shape = std::array<double, KernelRow::most_sizes>;
  // Half of 3 x 4096 columns; half of two times 11008; half of the depth.
  CHECK(products[0].shape == Shape{64, 6144, 4096});
  CHECK(products[1].shape == Shape{64, 11008, 4096});
  CHECK(products[2].shape == Shape{64, 4096, 5504});
  CHECK(products[3].shape == Shape{64, 4096, 2048});
  CHECK(products[0].latency.raw() == near(20e-6));
  // Between two calls all four weights pass: 6144 + 11008 + 5504 + 2048 columns of 4096 over 2048 of them.
  CHECK(products[3].copies == doctest::Approx(24704.0 / 2048.0));
  // SiLU reads two halves of 5504 elements for each of 64 tokens and writes one, in 16 bit.
  REQUIRE(files[1].kind == KernelKind::pass);
  // Threads take its elements one by one.
  CHECK(files[1].rows.front().shape == Shape{64.0 * 2 * 5504 * 2, 64.0 * 5504 * 2, 64, 64.0 * 3 * 5504});
  CHECK(files[0].passed_over.at("share_expert_act") == 1);
}

TEST_CASE("attention of a profile keeps cached tokens, and sequences of one batch may share their cache") {
  const std::string header =
      "gpu,model,op,measurement,hidden,heads,kv_heads,tp,phase,batch,new_tokens,kv_len,latency_us\n";
  const std::vector<KernelFile> files =
      read(header + "h800_sxm,x,attn_prefill,KERNEL_ONLY,4096,32,8,4,prefill,1,256,1024,20\n" +
               "h800_sxm,x,attn_decode,KERNEL_ONLY,4096,32,8,4,decode,16,1,1023,12\n" +
               "h800_sxm,x,attn_decode,unstated,4096,32,8,4,decode,16,1,1023,12\n" +
               "h800_sxm,x,attn_decode,KERNEL_ONLY,4096,32,8,4,mixed,16,1,1023,12\n",
           "h800-sxm-80gb");
  REQUIRE(files.size() == 2);
  CHECK(files[0].rows.front().shape == std::array<double, KernelRow::most_sizes>{1, 256, 8, 2, 128, 0, 1024});
  CHECK(files[1].rows[0].shape == std::array<double, KernelRow::most_sizes>{16, 1024, 8, 2, 128, 0, 16});
  CHECK(files[1].rows[1].shape[6] == 1.0);
  CHECK(files[0].passed_over.at("attn_decode") == 1);
}

TEST_CASE("collectives of a profile lie within one host") {
  const std::vector<KernelFile> files = read(
      "fabric,op,gpus,devices_per_node,bytes,latency_us_max_rank,latency_us_min_rank\n"
      "a800_pairwise_nvlink,all_reduce,4,4,1048576,60,59\n"
      "a800_pairwise_nvlink,send_recv,2,1,1048576,90,90\n",
      "a800-sxm-80gb");
  REQUIRE(files.size() == 1);
  CHECK(files[0].kind == KernelKind::nccl);
  REQUIRE(files[0].rows.size() == 1);
  CHECK(files[0].rows[0].shape[0] == 4.0);
  CHECK(files[0].passed_over.at("send_recv") == 1);
}

TEST_CASE("a profile without the asked GPU, or of unknown columns, is refused with what it has") {
  std::string problems;
  CHECK(read(linear_header + llama("mlp_act", "KERNEL_ONLY", "4"), "h100-sxm-80gb", &problems).empty());
  CHECK(problems.find("a800_sxm") != std::string::npos);
  problems.clear();
  CHECK(read("gpu,op,latency_us\na800_sxm,x,1\n", "a800-sxm-80gb", &problems).empty());
  CHECK(problems.find("(ffn)") != std::string::npos);
}

TEST_CASE("calls between events tell the host's time, which short kernels do not reach") {
  std::string text = linear_header;
  for (const char* us : {"25", "25.5", "24.5", "25", "25.2", "24.8"}) {
    text += llama("attn_rope", "CUDA_EVENT", us);
  }
  const std::vector<KernelFile> files = read(text, "a800-sxm-80gb");
  const std::vector<KernelGroup> groups = group_kernels(files);
  REQUIRE(groups.size() == 1);
  CHECK(groups[0].op == "attn_rope");
  const ModelData data = ModelData::standard();
  const Catalog catalog = Catalog::standard();
  const CurveProblem problem = call_problem(data, groups[0], catalog.device("a800-sxm-80gb"));
  const CurveFit fit = fit_curve(problem, 0);
  REQUIRE(fit.values().size() == 1);
  // The kernel moves 2 x 64 x 4096 x 2 bytes in a few microseconds, far below the call.
  CHECK(fit.values()[0] == doctest::Approx(25e-6).epsilon(0.03));
}

TEST_CASE("passes whose threads take elements one by one are bound by their instructions on wide memory") {
  // A rotary embedding of 16,384 tokens of 32 + 32 heads of 128 in 16 bit: 2 x 134,217,728 elements read and written.
  const std::string row = ",Llama-2-7b,mlp.csv,attn_rope,KERNEL_ONLY,,,16384,1,4096,11008,32,32,32000,1,100,100\n";
  const auto predicted = [&](std::string_view gpu, std::string_view id) {
    const std::vector<KernelFile> files = read(linear_header + std::string{gpu} + row, id);
    REQUIRE(files.size() == 1);
    const std::vector<KernelGroup> groups = group_kernels(files);
    const Catalog catalog = Catalog::standard();
    const Device& device = catalog.device(id);
    const ModelData data = ModelData::standard();
    const CurveProblem problem = curve_problem(data, groups.front(), device);
    const std::vector<double> values = priors_of(problem.parameters);
    const std::array<std::size_t, 1> which{0};
    std::array<double, 1> seconds{};
    problem.predict(values, which, seconds);
    return seconds[0];
  };
  // 268,435,456 elements x 34 instructions / (128 lanes x 108 SMs x 1.41 GHz) = 468 us; 537 MB at 0.8 of 2,039 GB/s,
  // the curve's prior, take 329 us: cbrt(468^3 + 329^3) = 518 us and a launch of 2.
  CHECK(predicted("a800_sxm", "a800-sxm-80gb") == near(520e-6, 0.02));
}
