// SPDX-License-Identifier: Apache-2.0
// What must hold of any product on any measured SKU.
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/kernels/curve_library.hpp>
#include <headroom/model/kernels/roofline.hpp>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "../support/model_data.hpp"
#include <cmath>
#include <map>

using namespace headroom;

namespace {

struct Drawn {
  GemmModel model;
  KernelDevice limits;
  GemmFormat format;
  GemmShape shape;
};

Drawn draw() {
  static const Catalog catalog = Catalog::standard();
  static const std::vector<std::string> skus{"a100-sxm-80gb",  "h100-sxm-80gb",  "h200-sxm-141gb",
                                             "b200-sxm-180gb", "b300-sxm-288gb", "gb200-nvl72",
                                             "gb300-nvl72",    "l40s",           "rtx-pro-6000-server"};
  static std::map<std::string, CurveSet> sets;
  const std::string id = *rc::gen::elementOf(skus);
  const Device& device = catalog.device(id);
  if (sets.find(id) == sets.end()) {
    sets.emplace(id, find_curve_set(test::model_data(), device));
  }
  const CurveSet& set = sets.at(id);
  const FittedGemm& curve = set.gemm[static_cast<std::size_t>(*rc::gen::inRange(0, static_cast<int>(set.gemm.size())))];
  const GemmFormat& format = *find_gemm_format(curve.provenance.format);
  const KernelDevice limits = kernel_device(device, format.rate);
  const auto size = [](int most) { return static_cast<double>(*rc::gen::inRange(1, most)); };
  return {GemmModel{curve.values, limits, format}, limits, format, {size(40000), size(70000), size(70000)}};
}

}  // namespace

TEST_CASE("no product is faster than its closed form, its peak or its bytes") {
  CHECK(rc::check([] {
    const Drawn d = draw();
    const GemmShape& s = d.shape;
    const Seconds time = d.model.time(s);
    RC_ASSERT(time >= d.model.bound(s) * (1.0 - 1e-12));
    RC_ASSERT(time > gemm_flops(s.m, s.n, s.k) / d.limits.peak);
    const Bytes moved{s.n * s.k * d.format.weight_bytes + s.m * s.k * d.format.activation_bytes};
    RC_ASSERT(time > moved / d.limits.bandwidth);
  }));
}

TEST_CASE("a product whose sizes all grow by whole tiles takes no less time") {
  CHECK(rc::check([] {
    const Drawn d = draw();
    const double factor = *rc::gen::elementOf(std::vector<double>{2.0, 3.0, 4.0});
    const GemmShape at{256.0 * std::ceil(d.shape.m / 256.0), 256.0 * std::ceil(d.shape.n / 256.0),
                       64.0 * std::ceil(d.shape.k / 64.0)};
    const Seconds time = d.model.time(at);
    // Filling idle SMs is free, emptying them is not: a doubling may save what one wave lost, no more.
    const double slack = 1.0 - 1e-9;
    RC_ASSERT(d.model.time({factor * at.m, at.n, at.k}) >= time * slack);
    RC_ASSERT(d.model.time({at.m, factor * at.n, at.k}) >= time * slack);
    RC_ASSERT(d.model.time({at.m, at.n, factor * at.k}) >= time * slack);
  }));
}
