// SPDX-License-Identifier: Apache-2.0
// Attention of serving engines: what tiles, masks, splits and caches must do to a time, and which curve answers.
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/kernels/attention_tiles.hpp>
#include <headroom/model/kernels/curve_library.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include "../support/model_data.hpp"
#include <cmath>

using namespace headroom;
using headroom::test::near;

namespace {

PrefillCurve prefill_curve() {
  PrefillCurve curve{};
  for (std::size_t i = 0; i < curve.size(); ++i) {
    curve[i] = prefill_parameters()[i].prior;
  }
  return curve;
}
DecodeCurve decode_curve() {
  DecodeCurve curve{};
  for (std::size_t i = 0; i < curve.size(); ++i) {
    curve[i] = decode_parameters()[i].prior;
  }
  return curve;
}
void set(PrefillCurve& curve, PrefillParameter parameter, double value) {
  curve[static_cast<std::size_t>(parameter)] = value;
}
void set(DecodeCurve& curve, DecodeParameter parameter, double value) {
  curve[static_cast<std::size_t>(parameter)] = value;
}

/// 100 SMs of 10 TFLOP/s on 1 TB/s with 50 MB of L2: round numbers to reckon with.
KernelDevice round_device() {
  return {FlopsPerSecond{1e15}, BytesPerSecond{1e12}, 100.0, Bytes{50e6}};
}
const AttentionFormat& bf16() {
  return *find_attention_format("bf16/bf16");
}
AttentionShape prompt(double batch, double tokens, double heads, double kv_heads) {
  return {batch, tokens, tokens, heads, kv_heads, 128.0, 0.0, true};
}
AttentionShape step(double batch, double context, double heads, double kv_heads) {
  return {batch, 1.0, context, heads, kv_heads, 128.0, 0.0, true};
}

/// Pairs by going through every token.
double counted_pairs(const AttentionShape& s) {
  double pairs = 0.0;
  for (double i = 1.0; i <= s.tokens; ++i) {
    const double seen = s.causal ? s.context - s.tokens + i : s.context;
    pairs += s.window > 0.0 ? std::min(seen, s.window) : seen;
  }
  return pairs;
}

}  // namespace

TEST_CASE("pairs of queries and keys are those that the mask leaves") {
  for (const AttentionShape& s :
       {AttentionShape{1, 7, 7, 1, 1, 64, 0, true}, AttentionShape{1, 7, 20, 1, 1, 64, 0, true},
        AttentionShape{1, 7, 20, 1, 1, 64, 5, true}, AttentionShape{1, 20, 20, 1, 1, 64, 5, true},
        AttentionShape{1, 20, 23, 1, 1, 64, 8, true}, AttentionShape{1, 7, 20, 1, 1, 64, 0, false}}) {
    CHECK(attention_pairs(s) == counted_pairs(s));
  }
}

TEST_CASE("blocks of keys are those that tiles of queries visit") {
  for (const double prefix : {0.0, 640.0}) {
    for (const double window : {0.0, 1024.0}) {
      const AttentionShape s{1, 4096, 4096 + prefix, 1, 1, 128, window, true};
      double all = 0.0;
      for (double last = 128.0; last <= 4096.0; last += 128.0) {
        const double first = window > 0.0 ? std::max(0.0, prefix + last - 128.0 - window + 1.0) : 0.0;
        all += std::ceil((prefix + last - first) / block_keys);
      }
      const AttentionBlocks b = attention_blocks(s, 32.0, 128.0);
      // A window cuts blocks in the middle: there the form is a mean over where the cut falls.
      CHECK(b.all == doctest::Approx(all).epsilon(window > 0.0 ? 0.04 : 1e-12));
    }
  }
  // Tiles of half a block cross the diagonal's block twice: half a block more for every other tile.
  CHECK(attention_blocks({1, 256, 256, 1, 1, 128, 0, true}, 8.0, 32.0).all == doctest::Approx(20.0).epsilon(0.02));
}

TEST_CASE("a long prompt's loop runs at the norm of the tensor cores' and the exponentials' time") {
  PrefillCurve curve = prefill_curve();
  set(curve, PrefillParameter::compute, 0.8);
  set(curve, PrefillParameter::exponential, 1e-12);
  set(curve, PrefillParameter::l2_rate, 50.0);
  const AttentionShape long_prompt = prompt(4, 32768, 32, 8);
  const double flop_time = attention_flops(long_prompt).raw() / (0.8 * 1e15);
  const PrefillModel compute{curve, round_device(), bf16()};
  CHECK(compute.explain(long_prompt).loop.raw() == near(flop_time, 0.02));
  CHECK(compute.explain(long_prompt).bound == AttentionBound::compute);
  // 0.1 ns a score and SM, one SM in a hundred: 1 ps a score against 0.64 ps of products.
  set(curve, PrefillParameter::exponential, 0.1e-9);
  const double scores = 4.0 * 32.0 * attention_pairs(long_prompt);
  const PrefillModel both{curve, round_device(), bf16()};
  CHECK(both.explain(long_prompt).loop.raw() == near(norm3(flop_time, 1e-12 * scores), 0.02));
  CHECK(both.explain(long_prompt).bound == AttentionBound::softmax);
}

TEST_CASE("fp8 queries halve the products, not the exponentials") {
  PrefillCurve curve = prefill_curve();
  set(curve, PrefillParameter::exponential, 0.1e-9);
  set(curve, PrefillParameter::l2_rate, 50.0);
  KernelDevice fast = round_device();
  fast.peak = FlopsPerSecond{2e15};
  const AttentionShape s = prompt(4, 32768, 32, 8);
  const Seconds wide = PrefillModel{curve, round_device(), bf16()}.time(s);
  const Seconds narrow = PrefillModel{curve, fast, *find_attention_format("fp8/fp8")}.time(s);
  CHECK(narrow < wide);
  CHECK(narrow.raw() > 0.1e-9 / 100.0 * 4.0 * 32.0 * attention_pairs(s));
}

TEST_CASE("one CTA's blocks are the critical path until every SM has one") {
  PrefillCurve curve = prefill_curve();
  set(curve, PrefillParameter::l2_rate, 50.0);
  const PrefillModel model{curve, round_device(), bf16()};
  const PrefillTime one = model.explain(prompt(1, 8192, 1, 1));
  // 64 tiles of 128 queries: the longest visits 128 blocks, and the others wait for it.
  CHECK(one.waves == doctest::Approx(0.64));
  const double block = norm3(4.0 * 128 * 64 * 128 * 100 / (0.7 * 1e15), 0.045e-9 * 128 * 64);
  CHECK(one.loop.raw() >= 128.0 * block);
  CHECK(one.loop.raw() < 128.0 * block * 1.1);
  // Half the keys, half the path; a batch that still fits costs nothing more.
  CHECK(model.explain(prompt(1, 4096, 1, 1)).loop.raw() == near(0.5 * one.loop.raw(), 0.1));
  CHECK(model.explain(prompt(3, 4096, 1, 1)).loop.raw() == near(model.explain(prompt(1, 4096, 1, 1)).loop.raw(), 0.1));
}

TEST_CASE("a cached prefix costs its pairs and its bytes, a window saves them") {
  const PrefillModel model{prefill_curve(), round_device(), bf16()};
  AttentionShape s = prompt(8, 2048, 32, 8);
  const Seconds fresh = model.time(s);
  s.context += 8192;
  const Seconds cached = model.time(s);
  const double pairs = attention_pairs(s) / attention_pairs(prompt(8, 2048, 32, 8));
  CHECK(cached.raw() > 0.6 * pairs * fresh.raw());
  CHECK(cached.raw() < pairs * fresh.raw());
  // The whole prompt anew costs more than its last part over the cache.
  CHECK(model.time(prompt(8, 10240, 32, 8)) > cached);
  s.window = 1024;
  CHECK(model.time(s) < cached);
}

TEST_CASE("packed query heads fill a CTA that few tokens leave empty") {
  PrefillCurve curve = prefill_curve();
  set(curve, PrefillParameter::cta, 3e-6);
  const AttentionShape few = prompt(256, 16, 64, 8);
  const PrefillModel apart{curve, round_device(), bf16()};
  set(curve, PrefillParameter::packing, 3.0);
  const PrefillModel packed{curve, round_device(), bf16()};
  CHECK(apart.explain(few).waves == doctest::Approx(8.0 * packed.explain(few).waves));
  CHECK(packed.time(few) < apart.time(few));
  // Packing of steps of one token alone leaves sixteen tokens as they are.
  set(curve, PrefillParameter::packing, 2.0);
  const PrefillModel single{curve, round_device(), bf16()};
  CHECK(single.time(few) == apart.time(few));
  CHECK(single.time(prompt(256, 1, 64, 8)) == packed.time(prompt(256, 1, 64, 8)));
}

TEST_CASE("the bound is the larger of products and bytes over the launch") {
  const PrefillModel model{prefill_curve(), round_device(), bf16()};
  const AttentionShape s = prompt(4, 2048, 32, 32);
  const double products = attention_flops(s).raw() / (0.7 * 1e15);
  const double bytes = attention_bytes(s, bf16()).raw() / (0.85 * 1e12);
  CHECK(model.bound(s).raw() == near(12e-6 + std::max(products, bytes)));
  // Queries, keys, values and output of two bytes each; in fp8 the output alone keeps its two.
  CHECK(attention_bytes(s, bf16()).raw() == 4.0 * 2048 * 128 * 32 * 8);
  CHECK(attention_bytes(s, *find_attention_format("fp8/fp8")).raw() == 4.0 * 2048 * 128 * 32 * 5);
}

TEST_CASE("a large cache streams at the share of the bandwidth, in 8 bits in half the time") {
  DecodeCurve curve = decode_curve();
  set(curve, DecodeParameter::cta, 1e-7);
  const DecodeModel model{curve, round_device(), bf16()};
  const AttentionShape s = step(128, 8192, 64, 8);
  const double cache = 2.0 * 128 * 8 * 8192 * 128 * 2;
  CHECK(model.explain(s).memory.raw() == near(cache / 0.9e12, 0.01));
  CHECK(model.time(s).raw() == near(cache / 0.9e12, 0.05));
  const DecodeModel half{curve, round_device(), *find_attention_format("bf16/fp8")};
  CHECK(half.time(s).raw() == near(0.5 * model.time(s).raw(), 0.02));
  // Query heads share the keys of their KV head: twice as many cost their own queries alone.
  CHECK(model.time(step(128, 8192, 128, 8)).raw() == near(model.time(s).raw(), 0.02));
}

TEST_CASE("splits fill the SMs that a small batch leaves idle") {
  DecodeCurve curve = decode_curve();
  set(curve, DecodeParameter::fill, 1.0);
  const DecodeModel model{curve, round_device(), bf16()};
  const DecodeTime alone = model.explain(step(1, 32768, 32, 8));
  CHECK(alone.split == doctest::Approx(100.0 / 8.0));
  set(curve, DecodeParameter::chunk, 1e6);
  const DecodeTime whole = DecodeModel{curve, round_device(), bf16()}.explain(step(1, 32768, 32, 8));
  CHECK(whole.split == 1.0);
  CHECK(whole.total > 2.0 * alone.total);
  CHECK(whole.bound == AttentionBound::latency);
}

TEST_CASE("TensorRT-LLM's rule takes one query head a CTA where the blocks of keys are few") {
  DecodeCurve curve = decode_curve();
  set(curve, DecodeParameter::dispatch, 2.0);
  const DecodeModel model{curve, round_device(), bf16()};
  // 4 batch kv max(1, L / 128) against 100 SMs.
  CHECK_FALSE(model.explain(step(3, 64, 32, 8)).grouped);
  CHECK(model.explain(step(4, 64, 32, 8)).grouped);
  CHECK(model.explain(step(3, 256, 32, 8)).grouped);
  CHECK_FALSE(model.explain(step(64, 4096, 8, 8)).grouped);
  // 32 blocks: the root of 8 x 32; 128 KV heads would be 20 waves of it, more than eight.
  CHECK(model.explain(step(1, 4096, 32, 8)).split == 16.0);
  CHECK(model.explain(step(16, 4096, 32, 8)).split == 6.0);
}

TEST_CASE("a benchmark finds a small cache in L2, a model's step never") {
  const DecodeCurve curve = decode_curve();
  const DecodeModel benchmark{curve, round_device(), bf16(), Residency::benchmark};
  const DecodeModel model{curve, round_device(), bf16()};
  const AttentionShape small = step(16, 256, 32, 8);
  CHECK(benchmark.explain(small).hit > 0.5);
  CHECK(model.explain(small).hit == 0.0);
  CHECK(benchmark.time(small) < model.time(small));
  const AttentionShape large = step(512, 8192, 32, 8);
  CHECK(benchmark.time(large).raw() == near(model.time(large).raw(), 1e-6));
}

TEST_CASE("attention's curves are read, chosen and borrowed") {
  const Catalog catalog = Catalog::standard();
  const Device& h100 = catalog.device("h100-sxm-80gb");
  const Device& h200 = catalog.device("h200-sxm-141gb");
  const CurveSet set = find_curve_set(test::model_data(), h100);
  const auto own = choose_decode(set, h100, bf16(), "vllm");
  CHECK(own.why.find("off when held out") != std::string::npos);
  const auto borrowed = choose_decode(set, h200, bf16(), "vllm");
  CHECK(borrowed.curve == own.curve);
  CHECK(borrowed.why.find("with the datasheet of h200-sxm-141gb") != std::string::npos);
  // More bandwidth alone: a step that streams its cache gains what the datasheets say.
  const AttentionShape s = step(256, 8192, 64, 8);
  const DecodeModel here{own.curve->values, kernel_device(h100, Rate::bf16), bf16()};
  const DecodeModel there{own.curve->values, kernel_device(h200, Rate::bf16), bf16()};
  CHECK(here.time(s) / there.time(s) == doctest::Approx(4.8 / 3.35).epsilon(0.05));
  // fp8 queries were not measured in decode: the cache's type decides.
  const auto nearest = choose_decode(set, h100, *find_attention_format("fp8/fp8"), "vllm");
  CHECK(nearest.curve->provenance.format == "bf16/fp8");
  CHECK(nearest.why.find("none in fp8/fp8 was measured") != std::string::npos);
  CHECK_THROWS_WITH_AS(static_cast<void>(choose_prefill(set, h100, bf16(), "sglang")),
                       doctest::Contains("there are trtllm bf16/bf16"), ConfigError);
}
