// SPDX-License-Identifier: Apache-2.0
// What planners ask of single kernels, with hand arithmetic.
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/kernels/convolution.hpp>
#include <headroom/model/kernels/curve_library.hpp>
#include <headroom/model/kernels/roofline.hpp>
#include <headroom/model/kernels/tensor_path.hpp>

#include <doctest/doctest.h>

#include "../support/model_data.hpp"
#include <cmath>
#include <vector>

using namespace headroom;
using doctest::Approx;

namespace {

const Device& a100() {
  static const Catalog catalog = Catalog::standard();
  return catalog.device("a100-sxm-80gb");
}

/// Microseconds: Approx compares numbers well below one with an absolute tolerance.
double us(Seconds time) {
  return 1e6 * time.raw();
}

}  // namespace

TEST_CASE(
    "156 TFLOP/s at 1000 FLOP/B leaves 2.0x under A100's flat roof, 1 TFLOP/s at 1 FLOP/B 2.04x under the slope") {
  const FlopsPerSecond peak = a100().peak_of(Rate::bf16);
  const RoofGap flat = roof_gap(FlopsPerSecond{156e12}, FlopsPerByte{1000}, peak, a100().bandwidth());
  CHECK_FALSE(flat.memory_bound);
  CHECK(flat.headroom == Approx(2.0));
  CHECK(flat.remedies.find("shapes") != std::string_view::npos);
  CHECK(flat.remedies.find("occupancy") != std::string_view::npos);
  const RoofGap slope = roof_gap(FlopsPerSecond{1e12}, FlopsPerByte{1}, peak, a100().bandwidth());
  CHECK(slope.memory_bound);
  CHECK(slope.headroom == Approx(2.04).epsilon(0.001));
  CHECK(slope.roof.raw() == Approx(2.039e12).epsilon(0.001));
  CHECK(slope.remedies.find("fusion") != std::string_view::npos);
}

TEST_CASE("an FP32 product has no tensor path, 19.5 against 312 TFLOP/s, k = 4095 is padded at 0.02 %") {
  const GemmShape odd{4096, 4096, 4095};
  const TensorPath fp32 = tensor_path(odd, *find_gemm_format("fp32"));
  CHECK_FALSE(fp32.tensor);
  CHECK(fp32.work == 1.0);
  CHECK(a100().peak_of(find_gemm_format("fp32")->rate).raw() == Approx(19.5e12));
  CHECK(a100().peak_of(find_gemm_format("bf16")->rate).raw() == Approx(312e12));
  const TensorPath bf16 = tensor_path(odd, *find_gemm_format("bf16"));
  CHECK(bf16.tensor);
  CHECK_FALSE(bf16.aligned);
  CHECK(bf16.padded.k == 4096.0);
  CHECK(100.0 * (bf16.work - 1.0) == Approx(0.0244).epsilon(0.01));
  CHECK(tensor_path({4095, 4096, 4096}, *find_gemm_format("bf16")).aligned);
  CHECK_FALSE(tensor_path({1, 4088, 4096}, *find_gemm_format("fp8")).aligned);
  CHECK(tensor_path({1, 4088, 4096}, *find_gemm_format("bf16")).aligned);
}

TEST_CASE(
    "rows of odd k start at 2 bytes: tiles take 1.5 to 6.9 times as long, 8 bits and vector units are left alone") {
  const GemmFormat& bf16 = *find_gemm_format("bf16");
  const UnalignedTiles odd = unaligned_tiles({4096, 4096, 4095}, bf16);
  CHECK(odd.bytes == 2);
  CHECK(odd.low == Approx(1.48));
  CHECK(odd.mid == Approx(5.54));
  CHECK(odd.high == Approx(6.91));
  // A multiple of 4 halves once of three times; the worse of n and k counts, m does not.
  const UnalignedTiles four = unaligned_tiles({4096, 4096, 4092}, bf16);
  CHECK(four.bytes == 8);
  CHECK(std::pow(four.mid, 3.0) == Approx(odd.mid));
  CHECK(unaligned_tiles({4096, 4095, 4092}, bf16).mid == odd.mid);
  CHECK(unaligned_tiles({4095, 4096, 4096}, bf16).mid == 1.0);
  CHECK(unaligned_tiles({1, 4096, 4095}, *find_gemm_format("fp8")).mid == 1.0);
  CHECK(unaligned_tiles({1, 4096, 4095}, *find_gemm_format("fp32")).mid == 1.0);
}

TEST_CASE("three passes over 1e8 bf16 elements move 1.2 GB apart and 0.4 fused, 0.589 and 0.196 ms on A100") {
  const std::vector<MemoryOp> chain(3, elementwise(1e8, 1.0, 2.0));
  CHECK(moved(chain).raw() == Approx(1.2e9));
  const MemoryOp one = fused(chain);
  CHECK(one.moved().raw() == Approx(0.4e9));
  CHECK(us(moved(chain) / a100().bandwidth()) == Approx(589).epsilon(0.001));
  CHECK(us(one.moved() / a100().bandwidth()) == Approx(196).epsilon(0.002));
  // The model adds what a datasheet leaves out, and keeps the gain.
  const CurveSet set = find_curve_set(test::model_data(), a100());
  const MemoryModel model{choose_memory(set, a100()).values, kernel_device(a100(), Rate::bf16)};
  const Seconds apart = 3.0 * model.time(chain[0]);
  CHECK(apart > moved(chain) / a100().bandwidth());
  CHECK(apart / model.time(one) == Approx(3.0).epsilon(0.01));
  // A residual added on the way is still read.
  const std::vector<MemoryOp> residual{elementwise(1e8, 1.0, 2.0), elementwise(1e8, 2.0, 2.0)};
  CHECK(fused(residual).read.raw() == Approx(0.4e9));
}

TEST_CASE("on A100 30 MB are reused at the L2 roof and 60 MB at that of HBM, with a jump at 40 MB") {
  const CurveSet set = find_curve_set(test::model_data(), a100());
  const double rate = set.gemm.front().values[static_cast<std::size_t>(GemmParameter::l2_rate)];
  const std::array<MemoryLevel, 2> levels{MemoryLevel{a100().memory.l2->value, rate * a100().bandwidth()},
                                          MemoryLevel{a100().capacity().value, a100().bandwidth()}};
  CHECK(level_of(Bytes{30e6}, levels).rate == levels[0].rate);
  CHECK(level_of(Bytes{60e6}, levels).rate == levels[1].rate);
  const FlopsPerSecond peak = a100().peak_of(Rate::bf16);
  const auto time = [&](double bytes) { return hierarchical_time(Flops{bytes}, Bytes{bytes}, 100, peak, levels); };
  CHECK(us(time(30e6)) == Approx(us(Bytes{30e6} / a100().bandwidth() + Bytes{99 * 30e6} / levels[0].rate)));
  CHECK(us(time(60e6)) == Approx(us(Bytes{60e8} / a100().bandwidth())));
  const double capacity = levels[0].capacity.raw();
  CHECK(time(capacity * 1.001) / time(capacity) > 0.9 * rate);
}

TEST_CASE("of a set that is larger than its cache a part stays, or nothing does") {
  // Caches of 10 and 100 B at 8 and 4 B/s before a memory of 1 B/s.
  const std::array<MemoryLevel, 3> levels{MemoryLevel{Bytes{10.0}, BytesPerSecond{8.0}},
                                          MemoryLevel{Bytes{100.0}, BytesPerSecond{4.0}},
                                          MemoryLevel{Bytes{1e6}, BytesPerSecond{1.0}}};
  CHECK(pass_time(Bytes{120.0}, levels, Kept::none).raw() == Approx(120.0));
  // 20 B come from memory in 20 s, 110 from the second cache in 27.5 s, all 120 through the first in 15 s.
  CHECK(pass_time(Bytes{120.0}, levels, Kept::part).raw() == Approx(27.5));
  CHECK(pass_time(Bytes{200.0}, levels, Kept::part).raw() == Approx(100.0));
  CHECK(pass_time(Bytes{10.0}, levels, Kept::part).raw() == Approx(pass_time(Bytes{10.0}, levels, Kept::none).raw()));
  // No jump where a part stays, and never slower than where nothing does.
  for (double set = 1.0; set < 1000.0; set *= 1.01) {
    const double part = pass_time(Bytes{set}, levels, Kept::part).raw();
    CHECK(part <= pass_time(Bytes{set}, levels, Kept::none).raw() * (1.0 + 1e-12));
    CHECK(pass_time(Bytes{set * 1.001}, levels, Kept::part).raw() <= part * 1.02 + 0.2);
  }
}

TEST_CASE("a tile of 128 x 128 fp16 has 64 FLOP/B, 256 x 128 85.3, 128 x 128 x 32 twice takes 32 KiB") {
  CHECK(tile_intensity(128, 128, 2).raw() == Approx(64.0));
  CHECK(tile_intensity(256, 128, 2).raw() == Approx(85.333).epsilon(1e-4));
  CHECK(tile_shared(128, 128, 32, 2, 2).raw() == 32.0 * 1024.0);
}

TEST_CASE("2:4 sparsity lifts A100's 312 to a ceiling of 624 TFLOP/s and 140 GB of weights to 78.75") {
  CHECK((a100().peak_of(Rate::fp16) * sparse_peak).raw() == Approx(624e12));
  CHECK(sparse_weights(16) == Approx(0.5625));
  CHECK(140.0 * sparse_weights(16) == Approx(78.75));
  CHECK(sparse_weights(8) == Approx(0.625));
  // Whatever is not a sparse product keeps its time.
  CHECK(partial_gain(0.2, sparse_peak) < sparse_peak);
}

TEST_CASE("H100 goes from 989 to 1979 TFLOP/s in fp8, 1.82x when a tenth of the work stays bf16") {
  const Catalog catalog = Catalog::standard();
  const Device& h100 = catalog.device("h100-sxm-80gb");
  const FlopsPerSecond bf16 = h100.peak_of(Rate::bf16);
  const FlopsPerSecond fp8 = h100.peak_of(Rate::fp8);
  CHECK(bf16.raw() == Approx(989e12).epsilon(0.001));
  CHECK(fp8.raw() == Approx(1979e12).epsilon(0.001));
  CHECK(mixed_peak(0.1, bf16, fp8) / bf16 == Approx(1.82).epsilon(0.002));
  CHECK(mixed_peak(1.0, bf16, fp8) == bf16);
  CHECK(find_gemm_format("fp8")->weight_bytes * 2 == find_gemm_format("bf16")->weight_bytes);
}

TEST_CASE("traffic of single passes") {
  CHECK(optimizer_pass(1e9, {}).moved().raw() == Approx(30e9));
  CHECK(optimizer_pass(1e9, {8, 2, 2, 4}).moved().raw() == Approx(28e9));
  CHECK(optimizer_pass(1e9, {0, 2, 2, 0}).moved().raw() == Approx(6e9));  // SGD on 16-bit weights
  CHECK(gather(10, 3, 2).read.raw() == Approx(10 * (32 + 8)));            // a whole sector each
  CHECK(gather(10, 64, 2).moved().raw() == Approx(10 * (128 + 8 + 128)));
  CHECK(softmax_cross_entropy(8, 1000, 2, true).moved().raw() == Approx(8 * (3 * 2000 + 8 + 4)));
  CHECK(norm(8, 1000, 2).moved().raw() == Approx(17 * 2000));
  CHECK(quantise(8, 1024, 2, 1, 128).written.raw() == Approx(8 * 1024 + 8 * 8 * 4));
  CHECK(reduction(8, 1000, 2).written.raw() == Approx(16));
}

TEST_CASE("a convolution is an implicit product with the traffic of its tensors") {
  // The 3 x 3 convolution of ResNet-50's second stage: 56 x 56, 64 channels, batch 32.
  ConvShape conv;
  conv.batch = 32;
  conv.in_channels = conv.out_channels = 64;
  conv.in = {56, 56, 1};
  conv.kernel = {3, 3, 1};
  conv.padding = {1, 1, 0};
  CHECK(conv.out()[0] == 56.0);
  const GemmShape forward = conv_gemm(conv, ConvPass::forward);
  CHECK(forward.m == 32.0 * 56 * 56);
  CHECK(forward.n == 64.0);
  CHECK(forward.k == 576.0);
  for (const ConvPass pass : {ConvPass::forward, ConvPass::data_gradient, ConvPass::weight_gradient}) {
    const GemmShape g = conv_gemm(conv, pass);
    CHECK(gemm_flops(g.m, g.n, g.k).raw() == Approx(conv_flops(conv).raw()));
  }
  CHECK(conv_bytes(conv, 2).raw() == Approx(2.0 * (2 * 32 * 64 * 56 * 56 + 64 * 64 * 9)));
  CHECK(conv_bytes(conv, 2) < gemm_bytes(forward.m, forward.n, forward.k, 2));

  // The stem: 7 x 7 with stride 2 on three channels, which the tensor path pads to eight.
  ConvShape stem = conv;
  stem.in_channels = 3;
  stem.in = {224, 224, 1};
  stem.kernel = {7, 7, 1};
  stem.stride = {2, 2, 1};
  stem.padding = {3, 3, 0};
  CHECK(stem.out()[1] == 112.0);
  const GemmFormat& bf16 = *find_gemm_format("bf16");
  CHECK(conv_padded(stem, bf16).in_channels == 8.0);
  CHECK(conv_flops(conv_padded(stem, bf16)) / conv_flops(stem) == Approx(8.0 / 3.0));
  const GemmShape back = conv_gemm(stem, ConvPass::data_gradient);
  CHECK(gemm_flops(back.m, back.n, back.k).raw() == Approx(conv_flops(stem).raw()));
  ConvShape depthwise = conv;
  depthwise.groups = 64;
  CHECK(conv_padded(depthwise, bf16).in_channels == 64.0);
  CHECK(conv_flops(depthwise) / conv_flops(conv) == Approx(1.0 / 64.0));

  const CurveSet set = find_curve_set(test::model_data(), a100());
  const GemmModel model{choose_gemm(set, a100(), bf16).curve->values, kernel_device(a100(), bf16.rate), bf16};
  const Seconds time = conv_time(model, bf16, conv, ConvPass::forward);
  CHECK(time > conv_flops(conv) / a100().peak_of(Rate::bf16));
  CHECK(time > conv_bytes(conv, 2) / a100().bandwidth());
  CHECK(time < model.time(forward));
}
