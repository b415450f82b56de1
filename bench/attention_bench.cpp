// SPDX-License-Identifier: Apache-2.0
// Cost of one call of a fitted attention curve.
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/kernels/curve_library.hpp>

#include <benchmark/benchmark.h>

#include "model_data.hpp"

using namespace headroom;

namespace {

const Device& h100() {
  static const Catalog catalog = Catalog::standard();
  return catalog.device("h100-sxm-80gb");
}
const CurveSet& curves() {
  static const CurveSet set = find_curve_set(model_data(), h100());
  return set;
}

/// 1 to 256 sequences of 1 to 32,768 keys, for a 70B's heads on eight GPUs.
AttentionShape shape(std::size_t i, bool decode) {
  AttentionShape s;
  s.batch = static_cast<double>(1U << (i % 4 * 2));
  s.context = static_cast<double>(128U << (i % 8));
  s.tokens = decode ? 1.0 : s.context;
  s.heads = 8.0;
  return s;
}

void prefill(benchmark::State& state) {
  const AttentionFormat& format = *find_attention_format("bf16/bf16");
  const PrefillModel model{choose_prefill(curves(), h100(), format).curve->values, kernel_device(h100(), format.rate),
                           format};
  std::size_t i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(model.time(shape(i++, false)));
  }
}
BENCHMARK(prefill);

void decode(benchmark::State& state) {
  const AttentionFormat& format = *find_attention_format("bf16/bf16");
  const std::string engine = state.range(0) == 0 ? "trtllm" : "vllm";
  const DecodeModel model{choose_decode(curves(), h100(), format, engine).curve->values,
                          kernel_device(h100(), format.rate), format};
  std::size_t i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(model.time(shape(i++, true)));
  }
}
BENCHMARK(decode)->Arg(0)->Arg(1);

void training(benchmark::State& state) {
  const AttentionImplementation& flash = *find_attention_implementation("flash3");
  const TrainingAttentionModel model{choose_training_attention(curves(), h100(), flash).curve->values,
                                     kernel_device(h100(), Rate::bf16), flash.algorithm};
  std::size_t i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(model.time(shape(i++, false), AttentionPass::both));
  }
}
BENCHMARK(training);

}  // namespace
