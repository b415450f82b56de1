// SPDX-License-Identifier: Apache-2.0
// Loads of experts and the pieces of a mixture-of-experts layer.
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/kernels/curve_library.hpp>

#include <doctest/doctest.h>

#include "../support/model_data.hpp"

using namespace headroom;
using doctest::Approx;

namespace {

MoeShape deepseek(double tokens, double ep) {
  return {tokens, 7168, 2048, 8, 256, 1, ep, true};
}

}  // namespace

TEST_CASE("routing names") {
  CHECK(parse_routing("balanced")->kind == Routing::balanced);
  CHECK(parse_routing("uniform")->kind == Routing::uniform);
  CHECK(parse_routing("power_law_1.2")->alpha == Approx(1.2));
  for (const std::string_view wrong : {"", "power_law_", "power_law_x", "power_law_1.2x", "power_law_-1", "Balanced"}) {
    CHECK_FALSE(parse_routing(wrong).has_value());
  }
}

TEST_CASE("a balanced router spreads few tokens over as many experts, many over all") {
  const ExpertLoad few = expert_load(deepseek(4, 8), {});
  CHECK(few.rows == Approx(4.0));
  CHECK(few.active == Approx(4.0));
  CHECK(few.tiles(64) == Approx(4.0));
  const ExpertLoad many = expert_load(deepseek(4096, 8), {});
  CHECK(many.rows == Approx(4096.0));
  CHECK(many.active == Approx(32.0));
  CHECK(many.tiles(64) == Approx(64.0));
  CHECK(many.tiles(256) == Approx(32.0));
  CHECK(expert_load(deepseek(1, 256), {}).active == 1.0);
}

TEST_CASE("a random router leaves experts without work: E (1 - (1 - k / E)^T) of them have some") {
  const ExpertLoad load = expert_load(deepseek(32, 1), {Routing::uniform, 0.0});
  CHECK(load.active == Approx(256.0 * (1.0 - std::pow(1.0 - 8.0 / 256.0, 32.0))));
  CHECK(load.rows == Approx(256.0));
  CHECK(load.active < expert_load(deepseek(32, 1), {}).active);
}

TEST_CASE("the hottest rank of a power law: means of 100 draws of the collector's generator") {
  // Tokens, experts, top-k, alpha, ep; rows and active experts of the hottest rank, by simulation.
  struct Drawn {
    double tokens, experts, topk, alpha, ep, rows, active;
  };
  for (const Drawn& d : {Drawn{1024, 256, 8, 1.2, 1, 8192, 248}, Drawn{1024, 256, 8, 1.2, 8, 1591, 31.2},
                         Drawn{1024, 256, 8, 1.2, 32, 733, 7.8}, Drawn{64, 128, 8, 1.2, 8, 93, 15.3},
                         Drawn{16384, 256, 8, 1.2, 128, 11889, 2}, Drawn{1024, 128, 8, 1.01, 32, 773, 4},
                         Drawn{64, 128, 1, 1.01, 8, 12.2, 8.6}, Drawn{4096, 8, 2, 1.2, 2, 5776, 4}}) {
    CAPTURE(d.tokens);
    CAPTURE(d.ep);
    const MoeShape shape{d.tokens, 1, 1, d.topk, d.experts, 1, d.ep, true};
    const ExpertLoad load = expert_load(shape, {Routing::power_law, d.alpha});
    CHECK(load.rows == Approx(d.rows).epsilon(0.15));
    CHECK(load.active == Approx(d.active).epsilon(0.25));
  }
}

TEST_CASE("a layer's pieces add up, and its weights are those of the active experts") {
  const Catalog catalog = Catalog::standard();
  const Device& h200 = catalog.device("h200-sxm-141gb");
  const CurveSet set = find_curve_set(test::model_data(), h200);
  const GemmFormat& format = *find_gemm_format("fp8_block");
  const ChosenCurve chosen = choose_moe(set, h200, format);
  CHECK(chosen.curve->provenance.routing == "balanced");
  CHECK(chosen.why.find("cutlass") != std::string::npos);
  const MoeModel model{chosen.curve->values, kernel_device(h200, format.rate), format};
  const MoeShape shape = deepseek(4096, 8);
  const ExpertLoad load = expert_load(shape, {});
  const MoeTime t = model.explain(shape, load);
  CHECK((t.launch + t.up + t.down + t.passes + t.experts + t.routing) == t.total);
  CHECK(model.time(shape) == t.total);
  CHECK(t.weights.raw() == Approx(32.0 * 3 * 7168 * 2048));
  CHECK(t.hit == 0.0);
  MoeShape plain = shape;
  plain.gated = false;
  CHECK(model.explain(plain, load).weights.raw() == Approx(32.0 * 2 * 7168 * 2048));
  // The hottest rank of uneven routing takes longer.
  CHECK(model.time(shape, {Routing::power_law, 1.2}) > t.total);
}

TEST_CASE("a curve of a layer is chosen by format, routing, engine and kernel, and what stands in is said") {
  const Catalog catalog = Catalog::standard();
  const Device& a100 = catalog.device("a100-sxm-80gb");
  const CurveSet of_a100 = find_curve_set(test::model_data(), a100);
  const ChosenCurve law = choose_moe(of_a100, a100, *find_gemm_format("bf16"));
  CHECK(law.curve->provenance.routing == "power-law");
  CHECK(law.why.find("power-law routing alone") != std::string::npos);
  const ChosenCurve fp16 = choose_moe(of_a100, a100, *find_gemm_format("fp16"), Routing::power_law, "vllm");
  CHECK(fp16.curve->provenance.kernel == "triton");
  CHECK(fp16.why.find("none in fp16") != std::string::npos);
  CHECK_THROWS_WITH_AS((void)choose_moe(of_a100, a100, *find_gemm_format("nvfp4")),
                       doctest::Contains("there are trtllm default bf16 power-law"), ConfigError);
  const Device& h100 = catalog.device("h100-sxm-80gb");
  const CurveSet of_h100 = find_curve_set(test::model_data(), h100);
  const ChosenCurve triton =
      choose_moe(of_h100, h100, *find_gemm_format("fp8_block"), Routing::balanced, "vllm", "triton");
  CHECK(triton.curve->provenance.kernel == "triton");
}

TEST_CASE("a pass over memory takes its own curve, else the plain cast's, else the products' bandwidth") {
  const Catalog catalog = Catalog::standard();
  const Device& h100 = catalog.device("h100-sxm-80gb");
  const CurveSet set = find_curve_set(test::model_data(), h100);
  CHECK(choose_memory(set, h100).why.find("trtllm") != std::string::npos);
  CHECK(choose_memory(set, h100, "scale_matrix", "vllm").why.find("vllm") != std::string::npos);
  CHECK(choose_memory(set, h100, "layer_norm").why.find("no layer_norm was measured") != std::string::npos);
  const Device& a100 = catalog.device("a100-sxm-80gb");
  const CurveSet none = find_curve_set(test::model_data(), a100);
  const ChosenMemory chosen = choose_memory(none, a100);
  CHECK(chosen.why.find("matrix products") != std::string::npos);
  CHECK(chosen.values[static_cast<std::size_t>(MemoryParameter::bandwidth)] ==
        none.gemm.front().values[static_cast<std::size_t>(GemmParameter::bandwidth)]);
}
