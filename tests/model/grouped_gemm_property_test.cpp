// SPDX-License-Identifier: Apache-2.0
// What must hold of any layer and any pass: more tokens never take less, nothing beats peak or bandwidth.
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/kernels/curve_library.hpp>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "../support/model_data.hpp"
#include <algorithm>
#include <string>
#include <vector>

using namespace headroom;

namespace {

const std::vector<std::string>& measured() {
  static const std::vector<std::string> ids{"a100-sxm-80gb", "h100-sxm-80gb", "b200-sxm-180gb", "l40s",
                                            "rtx-pro-6000-server"};
  return ids;
}

struct Layer {
  const Device* device = nullptr;
  const FittedMoe* curve = nullptr;
  const GemmFormat* format = nullptr;
  KernelDevice limits;
  MoeShape shape;
};

/// Any committed curve on its own device, and a layer.
Layer draw_layer() {
  static const Catalog catalog = Catalog::standard();
  static const std::vector<CurveSet> sets = [] {
    std::vector<CurveSet> all;
    for (const std::string& id : measured()) {
      all.push_back(find_curve_set(test::model_data(), catalog.device(id)));
    }
    return all;
  }();
  Layer layer;
  const CurveSet& set = sets[*rc::gen::inRange<std::size_t>(0, sets.size())];
  layer.device = &catalog.device(set.id);
  layer.curve = &set.moe[*rc::gen::inRange<std::size_t>(0, set.moe.size())];
  layer.format = find_gemm_format(layer.curve->provenance.format);
  layer.limits = kernel_device(*layer.device, layer.format->rate);
  MoeShape& s = layer.shape;
  s.tokens = *rc::gen::inRange(1, 20000);
  s.hidden = 128 * *rc::gen::inRange(1, 64);
  s.inter = 128 * *rc::gen::inRange(1, 64);
  s.experts = *rc::gen::elementOf(std::vector<double>{8, 64, 128, 256, 384});
  s.topk = *rc::gen::elementOf(std::vector<double>{1, 2, 6, 8});
  s.tp = *rc::gen::elementOf(std::vector<double>{1, 2, 4});
  s.ep = *rc::gen::elementOf(std::vector<double>{1, 2, 8, 64});
  s.gated = *rc::gen::arbitrary<bool>();
  return layer;
}

MoeRouting draw_routing() {
  return {static_cast<Routing>(*rc::gen::inRange(0, 3)), *rc::gen::elementOf(std::vector<double>{0.8, 1.0, 1.01, 1.5})};
}

}  // namespace

TEST_CASE("a layer never beats its peak nor the bandwidth of its active experts") {
  CHECK(rc::check([] {
    const Layer layer = draw_layer();
    const MoeModel model{layer.curve->values, layer.limits, *layer.format};
    const ExpertLoad load = expert_load(layer.shape, draw_routing());
    const MoeTime t = model.explain(layer.shape, load);
    const double matrices = layer.shape.gated ? 3.0 : 2.0;
    const double flop = 2.0 * load.rows * matrices * layer.shape.hidden * layer.shape.inter / layer.shape.tp;
    RC_ASSERT(std::isfinite(t.total.raw()));
    RC_ASSERT(t.up + t.down >= Flops{flop} / layer.limits.peak);
    RC_ASSERT(t.up + t.down >= t.weights / layer.limits.bandwidth);
    RC_ASSERT(load.active <= layer.shape.held() * (1.0 + 1e-9));
    RC_ASSERT(load.rows >= load.active * (1.0 - 1e-9));
    RC_ASSERT(load.rows <= layer.shape.tokens * std::min(layer.shape.topk, layer.shape.held()) * (1.0 + 1e-9) + 1.0);
  }));
}

TEST_CASE("with even routing one token more never takes less, nor do more columns or fewer ranks") {
  CHECK(rc::check([] {
    const Layer layer = draw_layer();
    const MoeModel model{layer.curve->values, layer.limits, *layer.format};
    const MoeRouting routing{*rc::gen::arbitrary<bool>() ? Routing::balanced : Routing::uniform, 0.0};
    const Seconds time = model.time(layer.shape, routing);
    const auto least = (1.0 - 1e-12) * time;
    MoeShape more = layer.shape;
    more.tokens += 1;
    // Whole experts for the tile padding: a random router's mean rows an expert may shrink as more experts wake up.
    RC_ASSERT(model.time(more, routing) >= (routing.kind == Routing::balanced ? least : 0.97 * time));
    more = layer.shape;
    more.inter += 128;
    RC_ASSERT(model.time(more, routing) >= least);
    more = layer.shape;
    more.ep = 1;
    RC_ASSERT(model.time(more, routing) >= least);
  }));
}

TEST_CASE("a benchmark that finds its operands in L2 is never slower than a model's step") {
  CHECK(rc::check([] {
    const Layer layer = draw_layer();
    const ExpertLoad load = expert_load(layer.shape, draw_routing());
    const MoeModel step{layer.curve->values, layer.limits, *layer.format};
    const MoeModel benchmark{layer.curve->values, layer.limits, *layer.format, Residency::benchmark};
    // What a huge layer finds in L2 is below the last digit: rounding may then go either way.
    RC_ASSERT(benchmark.time(layer.shape, load) <= (1.0 + 1e-12) * step.time(layer.shape, load));
  }));
}

TEST_CASE("a pass over memory never beats the bandwidth, grows with its bytes, and gains from fusion") {
  static const Catalog catalog = Catalog::standard();
  CHECK(rc::check([] {
    const Device& device = catalog.device(*rc::gen::elementOf(measured()));
    const CurveSet set = find_curve_set(test::model_data(), device);
    const MemoryModel model{choose_memory(set, device).values, kernel_device(device, Rate::bf16)};
    const double rows = *rc::gen::inRange(1, 100000);
    const double width = *rc::gen::inRange(1, 20000);
    const std::vector<MemoryOp> chain{norm(rows, width, 2), elementwise(rows * width, 1, 2),
                                      quantise(rows, width, 2, 1)};
    Seconds apart{};
    for (const MemoryOp& op : chain) {
      RC_ASSERT(model.time(op) >= op.moved() / device.bandwidth());
      apart += model.time(op);
    }
    RC_ASSERT(fused(chain).moved() < moved(chain));
    RC_ASSERT(model.time(fused(chain)) < apart);
    // Twice the bytes: a few more may bring one CTA more, which draws faster than it adds.
    const MemoryOp longer = elementwise(2 * rows * width, 1, 2);
    RC_ASSERT(model.time(longer) >= model.time(chain[1]));
  }));
}
