// SPDX-License-Identifier: Apache-2.0
// Activations against the closed forms of Korthikanti et al. 2022.
#include <headroom/model/train/evaluate/training.hpp>

#include <doctest/doctest.h>

using namespace headroom;

namespace {

/// GPT-style layer: f = 4h, dropout masks, unfused scores.
ActivationShape gpt(double b, double s, double h, double a) {
  ActivationShape shape;
  shape.micro_batch = b;
  shape.seq_len = s;
  shape.hidden = h;
  shape.queries = shape.keys = shape.values = shape.output = h;
  shape.heads = a;
  shape.ffn = 4 * h;
  shape.flash_attention = false;
  shape.dropout = true;
  return shape;
}

}  // namespace

TEST_CASE("a layer keeps sbh(34 + 5 a s/h) bytes without recomputation (equation 1)") {
  const double s = 2048, h = 4096, a = 32;
  CHECK(layer_activations(gpt(1, s, h, a)).raw() == doctest::Approx(s * h * (34 + 5 * a * s / h)));
  CHECK(32 * layer_activations(gpt(1, s, h, a)).raw() == doctest::Approx(30.60e9).epsilon(1e-3));
}

TEST_CASE("selective recomputation keeps 34 sbh, full recomputation 2 sbh (sections 5 and 6)") {
  const double s = 2048, h = 4096;
  ActivationShape shape = gpt(1, s, h, 32);
  shape.recompute = Recompute::selective;
  CHECK(layer_activations(shape).raw() == doctest::Approx(34 * s * h));
  shape.recompute = Recompute::full;
  CHECK(layer_activations(shape).raw() == doctest::Approx(2 * s * h));
}

TEST_CASE("tensor parallelism leaves sbh(10 + 24/t + 5 a s/(h t)), sequence parallelism shards all of it") {
  const double s = 2048, h = 6144, a = 64, t = 8;
  ActivationShape shape = gpt(1, s, h, a);
  shape.tp = t;
  CHECK(layer_activations(shape).raw() == doctest::Approx(s * h * (10 + 24 / t + 5 * a * s / (h * t))));  // equation 2
  shape.sequence_parallel = true;
  CHECK(layer_activations(shape).raw() == doctest::Approx(s * h / t * (34 + 5 * a * s / h)));  // equation 4
}

TEST_CASE("a fused kernel keeps the softmax's log-sum instead of the scores") {
  ActivationShape shape = gpt(1, 32768, 4096, 32);
  const double unfused = layer_activations(shape).raw();
  shape.flash_attention = true;
  const double fused = layer_activations(shape).raw();
  CHECK(fused - 34.0 * 32768 * 4096 == doctest::Approx(4.0 * 32 * 32768));  // 4.2 MB
  CHECK(unfused - 34.0 * 32768 * 4096 == doctest::Approx(5.0 * 32 * 32768.0 * 32768.0));
}

TEST_CASE("context parallelism divides a rank's tokens") {
  ActivationShape shape = gpt(1, 8192, 4096, 32);
  shape.flash_attention = true;
  const double whole = layer_activations(shape).raw();
  shape.cp = 4;
  CHECK(layer_activations(shape).raw() == doctest::Approx(whole / 4));
}
