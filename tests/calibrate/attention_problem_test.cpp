// SPDX-License-Identifier: Apache-2.0
// Measured attention as problems to fit: which rows count, and whether a fit finds what made them.
#include <headroom/calibrate/kernels/curve_problem.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/kernels/curve_library.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include "../support/model_data.hpp"
#include <cmath>
#include <sstream>

using namespace headroom;
using headroom::test::near;

namespace {

const Device& h100() {
  static const Catalog catalog = Catalog::standard();
  return catalog.device("h100-sxm-80gb");
}

KernelFile read(const std::string& text, const std::string& path) {
  std::istringstream stream{text};
  Diagnostics diagnostics;
  KernelFile file = read_kernel_rows(stream, path, std::nullopt, diagnostics);
  diagnostics.throw_if_any();
  return file;
}

/// Kernels of a grid of shapes; the caller times them. Exponentials and products differ by head_dim alone.
KernelFile grid(KernelKind kind) {
  KernelFile file{"made", kind, {}};
  for (const double batch : {1.0, 8.0, 64.0, 256.0}) {
    for (const double seq : {1.0, 16.0, 128.0, 1024.0, 8192.0}) {
      for (const double heads : {8.0, 32.0, 64.0}) {
        for (const double kv : {1.0, 8.0}) {
          for (const double head_dim : {64.0, 128.0, 256.0}) {
            KernelRow row;
            row.engine = "made";
            row.version = "1";
            row.format = "bfloat16/bfloat16";
            row.shape = {batch, seq, heads, kv, head_dim, 0.0};
            file.rows.push_back(row);
          }
        }
      }
    }
  }
  return file;
}

/// Gives every kernel in range the time that `values` predict, off by up to 2 % either way.
void set_times(KernelFile& file, const std::vector<double>& values) {
  for (const KernelGroup& group : group_kernels(std::span{&file, 1})) {
    const CurveProblem problem = curve_problem(test::model_data(), group, h100());
    for (std::size_t i = 0; i < group.rows.size(); ++i) {
      double seconds = 0.0;
      problem.predict(values, std::array{i}, std::span{&seconds, 1});
      const double noise = 1.0 + 0.02 * std::sin(12.9898 * static_cast<double>(i));
      file.rows[static_cast<std::size_t>(group.rows[i] - file.rows.data())].latency = Seconds{seconds * noise};
    }
  }
}

}  // namespace

TEST_CASE("kernels beyond the range stand apart") {
  const KernelFile file = read(
      "engine,version,attn_dtype,kv_dtype,batch,seq,heads,kv_heads,head_dim,window,latency_us\n"
      "vllm,1,bfloat16,bfloat16,1,128,8,8,128,0,10\n"
      "vllm,1,bfloat16,bfloat16,1,128,8,8,512,0,10\n"
      "vllm,1,bfloat16,bfloat16,1,128,8,8,128,64,10\n"
      "vllm,1,bfloat16,bfloat16,1,128,64,2,128,0,10\n",
      "attn_context.csv");
  const std::vector<KernelGroup> groups = group_kernels(std::span{&file, 1});
  REQUIRE(groups.size() == 1);
  CHECK(groups[0].format == "bf16/bf16");
  CHECK(groups[0].rows.size() == 1);
  CHECK(groups[0].outside.size() == 3);
  const KernelGroup outside = outside_of(groups[0]);
  CHECK(outside.rows.size() == 3);
  CHECK(outside.outside.empty());
}

TEST_CASE("training attention is a kind of its own, folded by sequence") {
  const KernelFile file = read(
      "engine,version,pass,dtype,batch,seq,heads,kv_heads,head_dim,causal,latency_us\n"
      "FlashAttention-2,1,forward,bf16,16,1024,16,16,128,1,500\n"
      "FlashAttention-2,1,forward+backward,bf16,16,1024,16,16,128,0,3000\n"
      "FlashAttention-2,1,forward,bf16,8,2048,16,16,128,0,1500\n",
      "mine.csv");
  CHECK(file.kind == KernelKind::training_attention);
  const std::vector<KernelGroup> groups = group_kernels(std::span{&file, 1});
  REQUIRE(groups.size() == 1);
  const CurveProblem problem = curve_problem(test::model_data(), groups[0], h100());
  CHECK(problem.shapes[0] == problem.shapes[1]);
  CHECK(problem.shapes[0] != problem.shapes[2]);
  // Scores never leave a fused kernel: what passes over them has no part.
  CHECK(problem.fixed[static_cast<std::size_t>(TrainingAttentionParameter::mask)]);
  CHECK_FALSE(problem.fixed[static_cast<std::size_t>(TrainingAttentionParameter::exponential)]);
}

TEST_CASE("a pass, an implementation or a format that nobody knows is refused by name") {
  const std::string header = "engine,version,pass,dtype,batch,seq,heads,kv_heads,head_dim,causal,latency_us\n";
  const KernelFile sideways = read(header + "flash2,1,sideways,bf16,16,1024,16,16,128,1,500\n", "mine.csv");
  CHECK_THROWS_WITH_AS(
      static_cast<void>(curve_problem(test::model_data(), group_kernels(std::span{&sideways, 1})[0], h100())),
      doctest::Contains("forward+backward"), ConfigError);
  const KernelFile unknown = read(header + "flash9,1,forward,bf16,16,1024,16,16,128,1,500\n", "mine.csv");
  CHECK_THROWS_WITH_AS(
      static_cast<void>(curve_problem(test::model_data(), group_kernels(std::span{&unknown, 1})[0], h100())),
      doctest::Contains("known are standard, flash1, flash2"), ConfigError);
  const KernelFile format = read(
      "engine,version,attn_dtype,kv_dtype,batch,seq,heads,kv_heads,head_dim,window,latency_us\n"
      "vllm,1,bfloat16,int3,1,128,8,8,128,0,10\n",
      "attn_context.csv");
  CHECK_THROWS_WITH_AS(
      static_cast<void>(curve_problem(test::model_data(), group_kernels(std::span{&format, 1})[0], h100())),
      doctest::Contains("bf16/bf16, bf16/fp8, fp8/fp8"), ConfigError);
}

TEST_CASE("a fit of prefill finds the tile, the packing and the times that made the kernels") {
  KernelFile file = grid(KernelKind::prefill);
  std::vector<double> made;
  for (const CurveParameter& p : prefill_parameters()) {
    made.push_back(p.prior);
  }
  const auto at = [](PrefillParameter p) { return static_cast<std::size_t>(p); };
  made[at(PrefillParameter::rows)] = 64.0;
  made[at(PrefillParameter::packing)] = 2.0;
  made[at(PrefillParameter::compute)] = 0.6;
  made[at(PrefillParameter::launch)] = 7e-6;
  made[at(PrefillParameter::exponential)] = 0.06e-9;
  set_times(file, made);
  const std::vector<KernelGroup> groups = group_kernels(std::span{&file, 1});
  const CurveFit fit = fit_curve(curve_problem(test::model_data(), groups[0], h100()), 5);
  CHECK(fit.held_out.mape < 0.03);
  const std::vector<double> found = fit.values();
  CHECK(found[at(PrefillParameter::rows)] == doctest::Approx(64.0));
  CHECK(found[at(PrefillParameter::packing)] == doctest::Approx(2.0));
  CHECK(found[at(PrefillParameter::launch)] == near(7e-6, 0.1));
  CHECK(found[at(PrefillParameter::exponential)] == near(0.06e-9, 0.15));
}

TEST_CASE("a fit of decode finds the engine's rule and the times that made the kernels") {
  KernelFile file = grid(KernelKind::decode);
  std::vector<double> made;
  for (const CurveParameter& p : decode_parameters()) {
    made.push_back(p.prior);
  }
  const auto at = [](DecodeParameter p) { return static_cast<std::size_t>(p); };
  made[at(DecodeParameter::dispatch)] = 2.0;
  made[at(DecodeParameter::launch)] = 5e-6;
  made[at(DecodeParameter::cta)] = 4e-6;
  set_times(file, made);
  const std::vector<KernelGroup> groups = group_kernels(std::span{&file, 1});
  const CurveFit fit = fit_curve(curve_problem(test::model_data(), groups[0], h100()), 5);
  CHECK(fit.held_out.mape < 0.03);
  const std::vector<double> found = fit.values();
  CHECK(found[at(DecodeParameter::dispatch)] == doctest::Approx(2.0));
  CHECK(found[at(DecodeParameter::launch)] == near(5e-6, 0.1));
  CHECK(found[at(DecodeParameter::cta)] == near(4e-6, 0.15));
}
