// SPDX-License-Identifier: Apache-2.0
// The GEMM model: what tiles, waves, splits and formats must do to a time, and which curve answers for which SKU.
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/kernels/curve_library.hpp>
#include <headroom/model/kernels/roofline.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include "../support/model_data.hpp"
#include <cmath>

using namespace headroom;
using headroom::test::near;

namespace {

GemmCurve plain_curve() {
  GemmCurve curve{};
  for (std::size_t i = 0; i < curve.size(); ++i) {
    curve[i] = gemm_parameters()[i].prior;
  }
  return curve;
}

void set(GemmCurve& curve, GemmParameter parameter, double value) {
  curve[static_cast<std::size_t>(parameter)] = value;
}

/// 100 SMs of 10 TFLOP/s on 1 TB/s with 50 MB of L2: round numbers to reckon with.
KernelDevice round_device() {
  return {FlopsPerSecond{1e15}, BytesPerSecond{1e12}, 100.0, Bytes{50e6}};
}

const GemmFormat& bf16() {
  return *find_gemm_format("bf16");
}

}  // namespace

TEST_CASE("a large product runs at the sustained share of the peak, a thin one at the share of the bandwidth") {
  GemmCurve curve = plain_curve();
  set(curve, GemmParameter::compute, 0.8);
  set(curve, GemmParameter::bandwidth, 0.9);
  set(curve, GemmParameter::droop, 1e-6);
  set(curve, GemmParameter::l2_rate, 50.0);
  const GemmModel model{curve, round_device(), bf16()};
  // 32 768 x 32 768 outputs: 16 384 tiles of 256 x 256 over 100 SMs, so that waves no longer matter.
  const GemmShape large{32768, 32768, 32768};
  const double ideal = gemm_flops(32768, 32768, 32768).raw() / (0.8 * 1e15);
  CHECK(model.time(large).raw() == near(ideal, 0.03));
  CHECK(model.time(large).raw() > ideal);
  // One row against 32 768 x 32 768 weights of 2 bytes: 2.147 GB at 0.9 TB/s.
  const double stream = 2.0 * 32768.0 * 32768.0 / 0.9e12;
  CHECK(model.time({1, 32768, 32768}).raw() == near(stream, 0.03));
  CHECK(model.explain(large).bound == GemmBound::compute);
  CHECK(model.explain({1, 32768, 32768}).bound == GemmBound::memory);
}

TEST_CASE("a second wave begins with the first tile beyond the SMs, as far as waves are whole") {
  GemmCurve curve = plain_curve();
  set(curve, GemmParameter::wave, 1.0);
  set(curve, GemmParameter::fill, 1.0);
  set(curve, GemmParameter::l2_rate, 50.0);
  const GemmModel model{curve, round_device(), bf16()};
  // 10 x 10 tiles of 256 x 256 fill the device once.
  const GemmTime full = model.explain({2560, 2560, 16384});
  CHECK(full.tile_m * full.tile_n == 256 * 256);
  CHECK(full.waves == doctest::Approx(1.0));
  // A column more: whichever tile is best then, the time rises by more than the hundredth of work that came on top.
  const double more = model.time({2560, 2576, 16384}) / full.total;
  CHECK(more > 1.05);
}

TEST_CASE("few tiles and a deep K are split, and the split pays its reduction") {
  const GemmModel model{plain_curve(), round_device(), bf16()};
  const GemmTime deep = model.explain({64, 256, 65536});
  CHECK(deep.split > 1);
  CHECK(deep.reduce > Seconds{});
  const GemmTime shallow = model.explain({4096, 4096, 4096});
  CHECK(shallow.split == 1);
  CHECK(shallow.reduce == Seconds{});
}

TEST_CASE("a chain of K bounds one small tile whatever the peak") {
  GemmCurve curve = plain_curve();
  set(curve, GemmParameter::chain, 4e-9);
  KernelDevice device = round_device();
  const GemmShape shape{64, 64, 128};  // too shallow to split
  const Seconds once = GemmModel{curve, device, bf16()}.time(shape);
  device.peak *= 100.0;
  const Seconds faster = GemmModel{curve, device, bf16()}.time(shape);
  CHECK(faster / once == doctest::Approx(1.0).epsilon(0.01));
  CHECK(GemmModel{curve, device, bf16()}.explain(shape).bound != GemmBound::compute);
}

TEST_CASE("a benchmark that reuses small operands is faster than a step that reads them from memory") {
  const GemmShape small{16, 4096, 2048};  // 17 MB of weights
  const GemmModel step{plain_curve(), round_device(), bf16()};
  const GemmModel once{plain_curve(), round_device(), bf16(), Residency::benchmark, 1.0};
  const GemmModel rotated{plain_curve(), round_device(), bf16(), Residency::benchmark, 1000.0};
  CHECK(once.time(small) < step.time(small));
  CHECK(rotated.time(small).raw() == near(step.time(small).raw()));
  CHECK(once.explain(small).hit > 0.5);
  CHECK(step.explain(small).hit == 0.0);
}

TEST_CASE("formats differ by their bytes, their rate and the pass that makes them") {
  const GemmFormat& fp8 = *find_gemm_format("fp8");
  CHECK(find_gemm_format("bfloat16") == &bf16());
  CHECK(find_gemm_format("sq")->name == "int8");
  CHECK(find_gemm_format("e3m4") == nullptr);
  const GemmShape thin{1, 16384, 16384};
  const GemmModel wide{plain_curve(), round_device(), bf16()};
  const GemmModel narrow{plain_curve(), round_device(), fp8};
  CHECK(wide.time(thin) / narrow.time(thin) == doctest::Approx(2.0).epsilon(0.05));
  CHECK(narrow.explain({4096, 4096, 4096}).quantise > Seconds{});
  CHECK(wide.explain({4096, 4096, 4096}).quantise == Seconds{});
}

TEST_CASE("explain adds up to the time that time() gives") {
  const GemmModel model{plain_curve(), round_device(), *find_gemm_format("fp8")};
  for (const GemmShape& s : {GemmShape{1, 128, 64}, GemmShape{64, 256, 65536}, GemmShape{4096, 4096, 4096}}) {
    const GemmTime t = model.explain(s);
    CHECK(t.total.raw() == model.time(s).raw());
    const double parts = t.launch.raw() + t.quantise.raw() + norm3(t.loop.raw(), t.memory.raw()) + t.reduce.raw();
    CHECK(t.total.raw() == near(parts, 1e-12));
  }
}

TEST_CASE("each measured SKU has curves of its own, and every SKU that names a set finds it") {
  const Catalog catalog = Catalog::standard();
  for (const char* id : {"a100-sxm-80gb", "h100-sxm-80gb", "h200-sxm-141gb", "b200-sxm-180gb", "b300-sxm-288gb",
                         "gb200-nvl72", "gb300-nvl72", "l40s", "rtx-pro-6000-server"}) {
    CAPTURE(id);
    const Device& device = catalog.device(id);
    const CurveSet own = find_curve_set(test::model_data(), device);
    CHECK(own.id == id);
    const auto chosen = choose_gemm(own, device, bf16());
    CHECK(chosen.curve->provenance.engine == "trtllm");
    CHECK(chosen.curve->provenance.rows > 1000);
    for (const FittedGemm& curve : own.gemm) {
      for (std::size_t i = 0; i < gemm_parameter_count; ++i) {
        CAPTURE(gemm_parameters()[i].name);
        CHECK(curve.values[i] >= 0.999 * gemm_parameters()[i].low);
        CHECK(curve.values[i] <= 1.001 * gemm_parameters()[i].high);
      }
    }
  }
  for (const std::string& id : catalog.store().ids("gpus")) {
    const Device& device = catalog.device(id);
    if (!device.curves.empty()) {
      CAPTURE(id);
      CHECK(find_curve_set(test::model_data(), device).id == device.curves);
    }
  }
}

TEST_CASE("a borrowed curve says whose it is, a missing one what there is") {
  const Catalog catalog = Catalog::standard();
  const Device& pcie = catalog.device("h100-pcie-80gb");
  const CurveSet lent = find_curve_set(test::model_data(), pcie);
  CHECK(choose_gemm(lent, pcie, bf16()).why.find("no kernel of its own") != std::string::npos);
  const Device& own = catalog.device("h100-sxm-80gb");
  const CurveSet set = find_curve_set(test::model_data(), own);
  CHECK(choose_gemm(set, own, *find_gemm_format("fp16")).why.find("none in fp16") != std::string::npos);
  CHECK_THROWS_WITH_AS(static_cast<void>(find_curve_set(test::model_data(), catalog.device("mi300x"))),
                       doctest::Contains("cdna3"), ConfigError);
  CHECK_THROWS_AS(static_cast<void>(choose_gemm(set, own, bf16(), "nobody")), ConfigError);
  CHECK_THROWS_WITH_AS(static_cast<void>(kernel_device(own, Rate::fp4)), doctest::Contains("fp4"), ConfigError);
}

namespace {

/// Whether every choice from a set of this value category compiles.
template <class Set>
concept chooses_any = requires(Set&& set, const Device& device, const GemmFormat& format) {
  choose_gemm(std::forward<Set>(set), device, format);
}
|| requires(Set&& set, const Device& device, const GemmFormat& format) {
  choose_moe(std::forward<Set>(set), device, format);
}
|| requires(Set&& set, const Device& device, const AttentionFormat& format) {
  choose_prefill(std::forward<Set>(set), device, format);
}
|| requires(Set&& set, const Device& device, const AttentionFormat& format) {
  choose_decode(std::forward<Set>(set), device, format);
}
|| requires(Set&& set, const Device& device, const AttentionImplementation& implementation) {
  choose_training_attention(std::forward<Set>(set), device, implementation);
};

}  // namespace

TEST_CASE("no curve outlives its set") {
  static_assert(chooses_any<const CurveSet&>);
  static_assert(chooses_any<CurveSet&>);
  static_assert(!chooses_any<CurveSet>);
}
