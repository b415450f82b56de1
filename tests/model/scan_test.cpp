// SPDX-License-Identifier: Apache-2.0
// Scans of recurrent mixers: their work by hand, and published times of the kernels of their libraries.
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/kernels/scan.hpp>

#include <doctest/doctest.h>

#include "../support/model_data.hpp"
#include <cmath>

using namespace headroom;

namespace {

ScanShape shape(Mixer mixer,
                double sequences,
                double tokens,
                double heads,
                double groups,
                double key,
                double value,
                double chunk = 0.0) {
  return {mixer, sequences, tokens, heads, groups, key, value, chunk};
}

ScanModel model_of(const char* gpu) {
  static const Catalog catalog = Catalog::standard();
  return {test::model_data(), catalog.device(gpu), Rate::bf16};
}

}  // namespace

TEST_CASE("a scan goes by chunks of its library, or of the model, no longer than the sequence") {
  CHECK(chunk_of(shape(Mixer::mamba2, 1, 8192, 8, 1, 128, 64)) == 256.0);
  CHECK(chunk_of(shape(Mixer::mamba2, 1, 8192, 8, 1, 128, 64, 128)) == 128.0);
  CHECK(chunk_of(shape(Mixer::mamba2, 1, 100, 8, 1, 128, 64)) == 100.0);
  CHECK(chunk_of(shape(Mixer::delta_net, 1, 8192, 8, 8, 128, 128)) == 64.0);
  CHECK(chunk_of(shape(Mixer::kda, 1, 8192, 8, 8, 128, 128)) == 64.0);
  CHECK(chunk_of(shape(Mixer::mamba, 1, 8192, 1, 1, 16, 4096)) == 1.0);
}

TEST_CASE("the chunked form of Mamba-2 costs 2 T (g Q n + H (Q p + 2 n p)), a delta rule's its triangle as well") {
  // 10 sequences of 512 tokens, 24 heads of 64 in 2 groups, 128 states, chunks of 256.
  CHECK(scan_flops(shape(Mixer::mamba2, 10, 512, 24, 2, 128, 64)).raw() ==
        2.0 * 5120.0 * (2.0 * 256.0 * 128.0 + 24.0 * (256.0 * 64.0 + 2.0 * 128.0 * 64.0)));
  const double delta = 2.0 * 5120.0 * 24.0 * (3.0 * 64 * 128 + 2.0 * 64 * 128 + 3.0 * 128 * 128 + 64.0 * 64 / 3.0);
  CHECK(scan_flops(shape(Mixer::delta_net, 10, 512, 24, 24, 128, 128)).raw() == doctest::Approx(delta));
  CHECK(scan_flops(shape(Mixer::kda, 10, 512, 24, 24, 128, 128)).raw() == doctest::Approx(delta));
  CHECK(scan_flops(shape(Mixer::mamba, 10, 512, 1, 1, 16, 4096)).raw() == 0.0);
  // Twice the tokens, heads of twice the ranks: time goes along.
  const ScanModel model = model_of("h100-sxm-80gb");
  for (const Mixer mixer : {Mixer::mamba, Mixer::mamba2, Mixer::delta_net, Mixer::kda}) {
    const double once = model.forward(shape(mixer, 1, 4096, 32, 32, 128, 128)).raw();
    CHECK(model.forward(shape(mixer, 2, 4096, 32, 32, 128, 128)).raw() == doctest::Approx(2.0 * once));
    CHECK(model.forward(shape(mixer, 1, 8192, 32, 32, 128, 128)).raw() == doctest::Approx(2.0 * once));
    CHECK(model.backward(shape(mixer, 1, 4096, 32, 32, 128, 128)).raw() >= 2.0 * once);
    const double trained = model.training_forward(shape(mixer, 1, 4096, 32, 32, 128, 128)).raw();
    CHECK((mixer == Mixer::mamba2 ? trained >= once : trained == once));
  }
}

TEST_CASE("kernels that train Mamba-2 reach their share of the 16-bit peak, on Blackwell that of the vector units") {
  const ScanShape mamba = shape(Mixer::mamba2, 1, 8192, 64, 8, 128, 64, 128);
  const ScanModel a100 = model_of("a100-sxm-80gb");
  const ScanModel h100 = model_of("h100-sxm-80gb");
  const ScanModel b200 = model_of("b200-sxm-180gb");
  const double bytes = scan_bytes(mamba).raw();
  // 16-bit peaks of 989.4 and 312 TFLOP/s and vector units of 80 TFLOP/s (data sheets).
  const double flops = scan_flops(mamba).raw();
  CHECK(h100.training_forward(mamba).raw() ==
        doctest::Approx(flops / (h100.numbers().mamba2_rate * 989.4e12)).epsilon(0.001));
  CHECK(a100.training_forward(mamba) / h100.training_forward(mamba) == doctest::Approx(989.4 / 312).epsilon(0.001));
  CHECK(b200.training_forward(mamba).raw() == doctest::Approx(bytes * b200.numbers().mamba2_vector / 80e12));
  CHECK(h100.forward(mamba) / b200.forward(mamba) == doctest::Approx(8.0 / 3.35));
  // Its own backward pass, not the delta rules'.
  CHECK(h100.backward(mamba) / h100.training_forward(mamba) == doctest::Approx(h100.numbers().mamba2_backward));
  const ScanShape delta = shape(Mixer::delta_net, 1, 8192, 64, 64, 128, 128);
  CHECK(h100.backward(delta) / h100.training_forward(delta) == doctest::Approx(h100.numbers().backward));
}

TEST_CASE("the scans of a published trace of Nemotron 3 Nano on H100 come out within 15 %, at three lengths") {
  // GiscardBiamby/Automodel-scalingai-f26, mfu/results/*_nsys/nsys_breakdown.md: category mamba, 23 layers, less the
  // convolutions, whose 0.53 ms forward and 0.97 backward of 32,768 tokens grow with them.
  const ScanModel h100 = model_of("h100-sxm-80gb");
  struct Traced {
    double tokens, milliseconds, forwards;
  };
  for (const Traced& run : {Traced{8192, 51.8, 1}, Traced{12288, 71.5, 1}, Traced{32768, 258.8, 2}}) {
    const double share = run.tokens / 32768;
    const double measured = run.milliseconds / 23 - share * ((run.forwards + 1) * 0.532 + 0.97);
    const ScanShape mamba = shape(Mixer::mamba2, run.tokens / 4096, 4096, 64, 8, 128, 64, 128);
    const double ours = run.forwards * h100.training_forward(mamba).raw() + h100.backward(mamba).raw();
    CHECK(ours / (1e-3 * measured) == doctest::Approx(1.0).epsilon(0.15));
  }
}

TEST_CASE("scans take what published measurements of their kernels took, within 40 %") {
  const auto off = [](Seconds predicted, double milliseconds) {
    return std::abs(predicted.raw() / (1e-3 * milliseconds) - 1.0);
  };
  // vllm-project/vllm pull 27299, kernels as they were: 12.92 million tokens a second, 128 heads of 64, 1 group.
  CHECK(off(model_of("h100-sxm-80gb").forward(shape(Mixer::mamba2, 1, 16384, 128, 1, 128, 64)), 16384 / 12924.4) < 0.4);
  // pytorch/helion, examples/linear/BENCHMARKS.md, columns of FLA: one sequence of 8,192 tokens by 96 heads of 128, and
  // four of 4,096 by 64.
  const ScanModel b200 = model_of("b200-sxm-180gb");
  const ScanShape delta = shape(Mixer::delta_net, 1, 8192, 96, 96, 128, 128);
  CHECK(off(b200.forward(delta), 1.204) < 0.4);
  CHECK(off(b200.backward(delta), 5.388 - 1.204) < 0.4);
  CHECK(off(b200.forward(shape(Mixer::delta_net, 4, 4096, 64, 64, 128, 128)), 1.517) < 0.4);
  const ScanShape kda = shape(Mixer::kda, 1, 8192, 96, 96, 128, 128);
  CHECK(off(b200.forward(kda), 2.241) < 0.4);
  CHECK(off(b200.backward(kda), 11.204 - 2.241) < 0.4);
  CHECK(off(b200.forward(shape(Mixer::kda, 4, 4096, 64, 64, 128, 128)), 2.925) < 0.4);
}
