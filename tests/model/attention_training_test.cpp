// SPDX-License-Identifier: Apache-2.0
// Attention in training: fused kernels against those that write every score.
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/kernels/curve_library.hpp>

#include <doctest/doctest.h>

#include "../support/model_data.hpp"

using namespace headroom;

namespace {

/// 16 384 tokens of width 2 048, as FlashAttention's benchmarks have them.
AttentionShape benchmark_shape(double sequence, double head_dim, bool causal) {
  const double heads = 2048.0 / head_dim;
  return {16384.0 / sequence, sequence, sequence, heads, heads, head_dim, 0.0, causal};
}

TrainingAttentionModel model_of(const Device& device, std::string_view name) {
  const AttentionImplementation& implementation = *find_attention_implementation(name);
  const CurveSet set = find_curve_set(test::model_data(), device);
  const auto chosen = choose_training_attention(set, device, implementation);
  return {chosen.curve->values, kernel_device(device, Rate::bf16), implementation.algorithm};
}

double tflops(const TrainingAttentionModel& model, const AttentionShape& s, AttentionPass pass) {
  return (training_attention_flops(s, pass) / model.time(s, pass)).raw() / 1e12;
}

}  // namespace

TEST_CASE("standard attention keeps what grows with the square of the sequence, fused attention its statistics") {
  const AttentionShape s = benchmark_shape(16384, 64, false);
  const Bytes standard = training_attention_memory(s, AttentionAlgorithm::standard);
  const Bytes fused = training_attention_memory(s, AttentionAlgorithm::fused);
  // 32 heads of 16 384 x 16 384 scores at 13 bytes: 112 GB, beyond the 80 GB on which it was published as out of
  // memory.
  CHECK(standard.raw() == doctest::Approx(32.0 * 16384 * 16384 * 13));
  CHECK(standard > Bytes{80e9});
  // Half the sequence at as many tokens is half the scores: it fits, and was measured.
  CHECK(training_attention_memory(benchmark_shape(8192, 64, false), AttentionAlgorithm::standard) < Bytes{80e9});
  CHECK(fused.raw() == 32.0 * 16384 * 4);
  const AttentionShape twice{s.batch, 2 * s.tokens, 2 * s.context, s.heads, s.kv_heads, s.head_dim, 0.0, false};
  CHECK(training_attention_memory(twice, AttentionAlgorithm::standard).raw() == doctest::Approx(4.0 * standard.raw()));
  CHECK(training_attention_memory(twice, AttentionAlgorithm::fused).raw() == doctest::Approx(2.0 * fused.raw()));
}

TEST_CASE("the backward is five products for two, a causal mask halves a fused kernel and slows a standard one") {
  const AttentionShape s = benchmark_shape(8192, 128, false);
  CHECK(training_attention_flops(s, AttentionPass::backward).raw() ==
        doctest::Approx(2.5 * training_attention_flops(s, AttentionPass::forward).raw()));
  const Catalog catalog = Catalog::standard();
  const Device& a100 = catalog.device("a100-sxm-80gb");
  const TrainingAttentionModel flash = model_of(a100, "flash2");
  const TrainingAttentionModel standard = model_of(a100, "PyTorch");
  const AttentionShape causal = benchmark_shape(8192, 128, true);
  const AttentionPass both = AttentionPass::both;
  CHECK(flash.time(causal, both) / flash.time(s, both) == doctest::Approx(0.52).epsilon(0.05));
  CHECK(standard.time(causal, both) > standard.time(s, both));
  CHECK(flash.time(s, both) == flash.time(s, AttentionPass::forward) + flash.time(s, AttentionPass::backward));
}

TEST_CASE("what the standard kernels cost against the fused ones, as published") {
  const Catalog catalog = Catalog::standard();
  // FlashAttention's published benchmarks, causal, 8 192 tokens, head_dim 128: A100 forward and backward 182 against
  // 34 TFLOP/s; H100 forward 602 (FlashAttention-3).
  const AttentionShape s = benchmark_shape(8192, 128, true);
  const Device& a100 = catalog.device("a100-sxm-80gb");
  CHECK(tflops(model_of(a100, "flash2"), s, AttentionPass::both) == doctest::Approx(182).epsilon(0.12));
  CHECK(tflops(model_of(a100, "standard"), s, AttentionPass::both) == doctest::Approx(34).epsilon(0.12));
  const Device& h100 = catalog.device("h100-sxm-80gb");
  CHECK(tflops(model_of(h100, "flash3"), s, AttentionPass::forward) == doctest::Approx(602).epsilon(0.12));
  CHECK(tflops(model_of(h100, "flash2"), s, AttentionPass::forward) == doctest::Approx(333).epsilon(0.12));
  // Standard attention forward at 2 048 tokens, causal: 34.
  CHECK(tflops(model_of(h100, "standard"), benchmark_shape(2048, 128, true), AttentionPass::forward) ==
        doctest::Approx(34).epsilon(0.12));
}

TEST_CASE("an implementation that was not measured on the generation is refused by name") {
  const Catalog catalog = Catalog::standard();
  const Device& a100 = catalog.device("a100-sxm-80gb");
  const CurveSet set = find_curve_set(test::model_data(), a100);
  CHECK_THROWS_WITH_AS(
      static_cast<void>(choose_training_attention(set, a100, *find_attention_implementation("FlashAttention-3"))),
      doctest::Contains("there are flash1 bf16, flash2 bf16"), ConfigError);
  CHECK(find_attention_implementation("flash9") == nullptr);
}
