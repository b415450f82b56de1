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

TEST_CASE("kernels that train Mamba-2 wait for their multiprocessors: memory that is 2.4 times as fast gains 1.2") {
  // Vector units of H100 67 and of B200 80 TFLOP/s, memories of 3.35 and 8 TB/s (data sheets).
  const ScanShape mamba = shape(Mixer::mamba2, 1, 8192, 64, 8, 128, 64, 128);
  const ScanModel h100 = model_of("h100-sxm-80gb");
  const ScanModel b200 = model_of("b200-sxm-180gb");
  CHECK(h100.training_forward(mamba) / b200.training_forward(mamba) == doctest::Approx(80.0 / 67.0));
  CHECK(h100.forward(mamba) / b200.forward(mamba) == doctest::Approx(8.0 / 3.35));
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
