// SPDX-License-Identifier: Apache-2.0
// What must hold of any attention call on any measured SKU.
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/kernels/curve_library.hpp>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include "../support/model_data.hpp"
#include <map>

using namespace headroom;

namespace {

const std::vector<std::string>& skus() {
  static const std::vector<std::string> ids{"a100-sxm-80gb",  "h100-sxm-80gb",  "h200-sxm-141gb",
                                            "b200-sxm-180gb", "b300-sxm-288gb", "gb200-nvl72",
                                            "gb300-nvl72",    "l40s",           "rtx-pro-6000-server"};
  return ids;
}

const CurveSet& set_of(const std::string& id) {
  static const Catalog catalog = Catalog::standard();
  static std::map<std::string, CurveSet> sets;
  if (sets.find(id) == sets.end()) {
    sets.emplace(id, find_curve_set(test::model_data(), catalog.device(id)));
  }
  return sets.at(id);
}

template <class Curve>
const Curve& any_of(const std::vector<Curve>& curves) {
  return curves[static_cast<std::size_t>(*rc::gen::inRange(0, static_cast<int>(curves.size())))];
}

KernelDevice limits_of(const std::string& id, const AttentionFormat& format) {
  static const Catalog catalog = Catalog::standard();
  return kernel_device(catalog.device(id), format.rate);
}

AttentionShape any_shape() {
  const auto size = [](int most) { return static_cast<double>(*rc::gen::inRange(1, most)); };
  AttentionShape s;
  s.batch = size(300);
  s.tokens = size(20000);
  s.context = s.tokens + *rc::gen::elementOf(std::vector<double>{0.0, 1.0, 1000.0, 30000.0});
  s.kv_heads = size(16);
  s.heads = s.kv_heads * size(17);
  s.head_dim = *rc::gen::elementOf(std::vector<double>{64.0, 128.0, 192.0, 256.0});
  s.window = *rc::gen::elementOf(std::vector<double>{0.0, 0.0, 128.0, 4096.0});
  return s;
}

Residency any_residency() {
  return *rc::gen::elementOf(std::vector<Residency>{Residency::memory, Residency::benchmark});
}

PrefillModel any_prefill() {
  const std::string id = *rc::gen::elementOf(skus());
  const FittedPrefill& curve = any_of(set_of(id).prefill);
  const AttentionFormat& format = *find_attention_format(curve.provenance.format);
  return {curve.values, limits_of(id, format), format, any_residency()};
}

DecodeModel any_decode() {
  const std::string id = *rc::gen::elementOf(skus());
  const FittedDecode& curve = any_of(set_of(id).decode);
  const AttentionFormat& format = *find_attention_format(curve.provenance.format);
  return {curve.values, limits_of(id, format), format, any_residency()};
}

constexpr double slack = 1.0 - 1e-9;

}  // namespace

TEST_CASE("no attention call is faster than its products or its bytes") {
  CHECK(rc::check([] {
    const AttentionShape s = any_shape();
    const PrefillModel prefill = any_prefill();
    RC_ASSERT(prefill.time(s) >= prefill.bound(s) * slack);
    AttentionShape one = s;
    one.tokens = 1.0;
    const DecodeModel decode = any_decode();
    RC_ASSERT(decode.time(one) >= decode.bound(one) * slack);
  }));
}

TEST_CASE("more prompts, tokens, prefix or heads take no less time") {
  CHECK(rc::check([] {
    AttentionShape s = any_shape();
    // Whole tiles, so that a larger one does not merely fill what a smaller one wasted.
    const double prefix = 128.0 * std::ceil((s.context - s.tokens) / 128.0);
    s.tokens = 128.0 * std::ceil(s.tokens / 128.0);
    s.context = s.tokens + prefix;
    const PrefillModel model = any_prefill();
    // A benchmark's smaller operands may lie in L2 as its larger ones do not, never the other way round.
    const Seconds time = model.time(s);
    AttentionShape more = s;
    more.batch *= 2.0;
    RC_ASSERT(model.time(more) >= time * slack);
    more = s;
    more.tokens += 128.0;
    more.context += 128.0;
    RC_ASSERT(model.time(more) >= time * slack);
    more = s;
    more.context += 128.0;
    RC_ASSERT(model.time(more) >= time * slack);
    more = s;
    more.heads *= 2.0;
    RC_ASSERT(model.time(more) >= time * slack);
  }));
}

TEST_CASE("a longer cache or a doubled batch takes no less time within one kernel's regime") {
  CHECK(rc::check([] {
    AttentionShape s = any_shape();
    s.tokens = 1.0;
    s.window = 0.0;
    const DecodeModel model = any_decode();
    const DecodeTime time = model.explain(s);
    AttentionShape more = s;
    more.context *= 2.0;
    const DecodeTime longer = model.explain(more);
    // A longer cache may open a kernel or a split that was closed to the shorter one: that is faster, and measured so.
    if (longer.grouped == time.grouped && longer.split <= time.split) {
      RC_ASSERT(longer.total >= time.total * slack);
    }
    more = s;
    more.batch *= 2.0;
    const DecodeTime wider = model.explain(more);
    if (wider.grouped == time.grouped) {
      RC_ASSERT(wider.total >= time.total * slack * (wider.split < time.split ? 0.5 : 1.0));
    }
  }));
}
