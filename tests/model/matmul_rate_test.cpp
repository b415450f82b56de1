// SPDX-License-Identifier: Apache-2.0
// The most that a product reaches on each SKU, which nobody fitted, against what the curves give at their best shape.
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/kernels/curve_library.hpp>
#include <headroom/model/kernels/roofline.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include "../support/model_data.hpp"
#include <algorithm>

using namespace headroom;
using headroom::test::near;

namespace {

/// Maximum achievable matmul FLOPS, bf16 (stas00/ml-engineering @ 744d01e, compute/accelerator/README.md, mean of 100
/// iterations; H200's is H100's there), and the engine whose kernels come nearest.
struct Published {
  std::string_view gpu;
  double tflops;
  std::string_view engine;
};
constexpr std::array published{
    Published{"a100-sxm-80gb", 271.2, "sglang"},  Published{"h100-sxm-80gb", 794.5, "trtllm"},
    Published{"h200-sxm-141gb", 794.5, "trtllm"}, Published{"b200-sxm-180gb", 1745.0, "vllm"},
    Published{"b300-sxm-288gb", 1769.0, "vllm"},  Published{"gb200-nvl72", 1822.0, "vllm"},
};

/// The best of every product with sizes in multiples of 1 024 up to 20 480, as the publication searched.
double best_tflops(const GemmModel& model) {
  constexpr int step = 1024;
  constexpr int largest = 20480;
  FlopsPerSecond best{};
  for (int m = step; m <= largest; m += step) {
    for (int n = step; n <= largest; n += step) {
      for (int k = step; k <= largest; k += step) {
        const GemmShape shape{static_cast<double>(m), static_cast<double>(n), static_cast<double>(k)};
        best = std::max(best, gemm_flops(shape.m, shape.n, shape.k) / model.time(shape));
      }
    }
  }
  return best.raw() / 1e12;
}

double best_tflops(const Device& device, std::string_view engine) {
  const GemmFormat& bf16 = *find_gemm_format("bf16");
  const CurveSet set = find_curve_set(test::model_data(), device);
  const auto chosen = choose_gemm(set, device, bf16, engine);
  return best_tflops(GemmModel{chosen.curve->values, kernel_device(device, bf16.rate), bf16});
}

}  // namespace

TEST_CASE("the best product of each SKU is within 6 % of the published maximum") {
  const Catalog catalog = Catalog::standard();
  for (const Published& p : published) {
    CAPTURE(p.gpu);
    const Device& device = catalog.device(p.gpu);
    const double reached = best_tflops(device, p.engine);
    CHECK(reached == near(p.tflops, 0.06));
    CHECK(reached < device.peak_of(Rate::bf16).raw() / 1e12);
  }
}
