// SPDX-License-Identifier: Apache-2.0
// Cost of one call of a fitted product, with and without the search over tiles.
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/kernels/curve_library.hpp>

#include <benchmark/benchmark.h>

#include "model_data.hpp"

using namespace headroom;

namespace {

const GemmModel& model() {
  static const GemmModel made = [] {
    const Catalog catalog = Catalog::standard();
    const Device& device = catalog.device("h100-sxm-80gb");
    const CurveSet set = find_curve_set(model_data(), device);
    const GemmFormat& format = *find_gemm_format("bf16");
    return GemmModel{choose_gemm(set, device, format).curve->values, kernel_device(device, format.rate), format};
  }();
  return made;
}

/// Products of a 70B's layer on eight GPUs, from one token to a long prompt.
constexpr std::array<GemmShape, 8> shapes{{{1, 1280, 8192},
                                           {16, 8192, 1024},
                                           {64, 7168, 8192},
                                           {512, 8192, 3584},
                                           {4096, 1280, 8192},
                                           {16384, 7168, 8192},
                                           {1, 7168, 8192},
                                           {2048, 8192, 3584}}};

void gemm_fitted(benchmark::State& state) {
  std::size_t i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(model().time(shapes[i]));
    i = (i + 1) % 8;
  }
}
BENCHMARK(gemm_fitted);

void gemm_closed_form(benchmark::State& state) {
  std::size_t i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(model().bound(shapes[i]));
    i = (i + 1) % 8;
  }
}
BENCHMARK(gemm_closed_form);

}  // namespace
