// SPDX-License-Identifier: Apache-2.0
// The roofline of a step, by hand.
#include <headroom/model/train/evaluate/least_step.hpp>

#include <doctest/doctest.h>

using namespace headroom;

namespace {

template <class T>
Sourced<T> sourced(T value) {
  Sourced<T> result;
  result.value = value;
  return result;
}

/// Products of 1,000 weights a layer, 10 layers, a head of 500; scores of 80 FLOP a token and layer.
CompiledTraining work() {
  CompiledTraining c;
  c.layers = 10;
  c.seq_len = 8;
  c.gemm_per_token = Flops{2000};
  c.head_per_token = Flops{1000};
  c.score_flops = Flops{80};
  c.gemm_backward = 2.0;
  c.work.precision = Precision::bf16;
  c.work.shape = {4, 8, 16};
  return c;
}

Device device() {
  Device d;
  d.peak[static_cast<std::size_t>(Rate::bf16)] = sourced(FlopsPerSecond{1000.0});
  d.peak[static_cast<std::size_t>(Rate::fp8)] = sourced(FlopsPerSecond{2000.0});
  d.peak[static_cast<std::size_t>(Rate::tf32)] = sourced(FlopsPerSecond{500.0});
  d.peak[static_cast<std::size_t>(Rate::fp32_vector)] = sourced(FlopsPerSecond{100.0});
  d.memory.bandwidth = sourced(BytesPerSecond{1e9});
  return d;
}

}  // namespace

TEST_CASE("arithmetic: tokens of a GPU, forward and backward, at the peak of the narrowest format") {
  CompiledTraining c = work();
  // 16 x 8 tokens on 4 GPUs; a token 3 x 21,000 of products and 3 x 10 x 80 / 2 of causal scores.
  CHECK(least_step(c, device(), {}).arithmetic.raw() == doctest::Approx(32.0 * (63'000 + 1200) / 1000));
  c.architecture.kind = ArchitectureKind::encoder;
  CHECK(least_step(c, device(), {}).arithmetic.raw() == doctest::Approx(32.0 * (63'000 + 2400) / 1000));
  c.gemm_backward = 1.0;  // frozen weights
  CHECK(least_step(c, device(), {}).arithmetic.raw() == doctest::Approx(32.0 * (42'000 + 2400) / 1000));
  c.work.precision = Precision::fp8;
  CHECK(least_step(c, device(), {}).arithmetic.raw() == doctest::Approx(32.0 * (42'000 + 2400) / 2000));
  c.work.precision = Precision::fp32;  // a framework's fp32 may be tf32
  CHECK(least_step(c, device(), {}).arithmetic.raw() == doctest::Approx(32.0 * (42'000 + 2400) / 500));
}

TEST_CASE("traffic: a rank's weights twice, less what the L2 keeps of the second time") {
  const CompiledTraining c = work();
  Strategy s;
  s.tp = 2;
  s.pp = 5;
  Device d = device();
  d.memory.bandwidth = sourced(BytesPerSecond{10.0});
  // 10,500 weights / 10 ranks x 2 bytes
  CHECK(least_step(c, d, s).traffic.raw() == doctest::Approx(2 * 2100.0 / 10));
  CHECK(least_step(c, d, s).time() == least_step(c, d, s).arithmetic);
  d.memory.l2 = sourced(Bytes{600.0});
  CHECK(least_step(c, d, s).traffic.raw() == doctest::Approx((2 * 2100.0 - 600) / 10));
  d.memory.l2 = sourced(Bytes{1e6});
  CHECK(least_step(c, d, s).traffic.raw() == doctest::Approx(2100.0 / 10));
}

TEST_CASE("a SKU without the peak of the recipe has no bound") {
  CompiledTraining c = work();
  c.work.precision = Precision::nvfp4;
  CHECK_THROWS_AS(static_cast<void>(least_step(c, device(), {})), ConfigError);
}
