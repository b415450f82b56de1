// SPDX-License-Identifier: Apache-2.0
// One iteration of a replica: which products and bytes it holds, how they shrink over ranks, what an engine adds, and
// that nothing is faster than the datasheet.
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/kernels/curve_library.hpp>
#include <headroom/model/serve/engine/serving_stack.hpp>
#include <headroom/model/serve/replica/engine_terms.hpp>
#include <headroom/model/serve/replica/least_iteration.hpp>
#include <headroom/model/serve/replica/replica.hpp>
#include <headroom/model/serve/replica/replica_formats.hpp>
#include <headroom/model/workload/model_library.hpp>
#include <headroom/model/workload/parameters.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include "../support/catalog.hpp"
#include "../support/model_data.hpp"
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace headroom;
using headroom::test::catalog;
using test::near;
using T = IterationTerm;

namespace {

constexpr ReplicaFormats bf16{};
constexpr ReplicaFormats fp8{Precision::fp8, Precision::fp8, Precision::fp8};

Architecture model(std::string_view id) {
  static const ModelLibrary standard = ModelLibrary::standard();
  return standard.find(id);
}
const Device& device(std::string_view id = "h100-sxm-80gb") {
  return catalog().device(id);
}

Replica replica(const Architecture& arch,
                const ServingLayout& layout = {},
                const ReplicaFormats& formats = bf16,
                const Device& on = device(),
                const MoeRouting& routing = {Routing::power_law, 1.2}) {
  return {test::model_data(), arch, on, catalog().reference_node(on), {"vllm", routing}, layout, formats};
}

IterationMix decodes(double sequences, double keys) {
  IterationMix mix;
  mix.decodes = sequences;
  mix.keys = keys;
  return mix;
}
IterationMix prompt(double tokens, double count = 1.0) {
  IterationMix mix;
  mix.chunks = mix.ending = count;
  mix.chunk_tokens = mix.chunk_keys = tokens;
  return mix;
}

struct Shape {
  double m, n, k, times = 1.0;
};
/// The products' own curve, asked shape by shape.
double products(const std::vector<Shape>& shapes) {
  const CurveSet set = find_curve_set(test::model_data(), device());
  const GemmFormat& format = *find_gemm_format("bf16");
  const GemmModel gemm{choose_gemm(set, device(), format, "vllm").curve->values, kernel_device(device(), format.rate),
                       format};
  double sum = 0.0;
  for (const Shape& s : shapes) {
    sum += s.times * gemm.time({s.m, s.n, s.k}).raw();
  }
  return sum;
}

double decode_attention(const AttentionShape& shape) {
  const CurveSet set = find_curve_set(test::model_data(), device());
  const AttentionFormat& format = *find_attention_format("bf16/bf16");
  return DecodeModel{choose_decode(set, device(), format, "vllm").curve->values, kernel_device(device(), Rate::bf16),
                     format}
      .time(shape)
      .raw();
}

}  // namespace

TEST_CASE("the same chip on a board of less power multiplies slower, and reads as fast") {
  const Architecture arch = model("llama3.1-8b");
  const Device& own = device("h100-nvl-94gb");  // 400 W, with the kernels of the 700 W board
  Device full = own;
  full.power.tdp->value = Watts{700.0};
  const auto terms = [&](const Device& on, const IterationMix& mix) { return replica(arch, {}, bf16, on).terms(mix); };
  const double slower = std::pow(700.0 / 400.0, 0.4);
  CHECK(terms(own, prompt(4096))[T::products] == near(slower * terms(full, prompt(4096))[T::products], 0.02));
  CHECK(terms(own, decodes(1, 1000))[T::products] == near(terms(full, decodes(1, 1000))[T::products], 0.01));
  // Measured kernels have their board's power in them.
  Device less = device();
  less.power.tdp->value = Watts{400.0};
  CHECK(terms(less, prompt(4096))[T::products] == terms(device(), prompt(4096))[T::products]);
}

TEST_CASE("dense products: four a layer, with the sizes of the published configuration, divided over tensor ranks") {
  // Llama 3 8B: 32 layers, 4096 wide, 32 heads and 8 KV heads of 128, gated feed-forward of 14 336
  const Architecture llama = model("llama3-8b");
  for (const double m : {1.0, 48.0, 600.0}) {
    CAPTURE(m);
    const double one = products({{m, 6144, 4096, 32}, {m, 4096, 4096, 32}, {m, 28672, 4096, 32}, {m, 4096, 14336, 32}});
    const double four = products({{m, 1536, 4096, 32}, {m, 4096, 1024, 32}, {m, 7168, 4096, 32}, {m, 4096, 3584, 32}});
    CHECK(replica(llama).terms(decodes(m, 1000))[T::products] == near(one));
    CHECK(replica(llama, {4, 1, 1}).terms(decodes(m, 1000))[T::products] == near(four));
    CHECK(replica(llama).terms(prompt(m))[T::products] == near(one));
  }
  // sixteen ranks share eight KV heads: each keeps a whole one
  const double shared = products({{8, 512, 4096, 32}, {8, 4096, 256, 32}, {8, 1792, 4096, 32}, {8, 4096, 896, 32}});
  CHECK(replica(llama, {16, 1, 1}).terms(decodes(8, 1000))[T::products] == near(shared));
}

TEST_CASE("attention reads the cache of its KV heads, in groups of queries, and of a window no more than it") {
  const Architecture llama = model("llama3-8b");
  const IterationMix mix = decodes(16, 2000);
  CHECK(replica(llama).terms(mix)[T::decode_attention] == near(32 * decode_attention({16, 1, 2000, 32, 8, 128})));
  CHECK(replica(llama, {4, 1, 1}).terms(mix)[T::decode_attention] ==
        near(32 * decode_attention({16, 1, 2000, 8, 2, 128})));
  CHECK(replica(llama).terms(prompt(512))[T::decode_attention] == 0.0);
  CHECK(replica(llama).terms(mix)[T::prefill_attention] == 0.0);

  const Architecture windowed = model("mistral-7b");
  REQUIRE(windowed.window == 4096);
  const Replica bounded = replica(windowed);
  CHECK(bounded.terms(decodes(16, 30000))[T::decode_attention] ==
        near(bounded.terms(decodes(16, 4096))[T::decode_attention]));
  CHECK(bounded.terms(decodes(16, 4096))[T::decode_attention] >
        1.5 * bounded.terms(decodes(16, 1024))[T::decode_attention]);
}

TEST_CASE("latent attention: decode absorbs the up-projections and reads 576 numbers a key, on every rank") {
  // DeepSeek-V2-Lite: 27 layers, 2048 wide, 16 heads of 128 + 64, values of 128, latents of 512 + 64, queries whole;
  // the first feed-forward is dense, 10 944; then a router of 64 experts and two shared ones of 1408
  const Architecture lite = model("deepseek-v2-lite");
  const double m = 32;
  const std::vector<Shape> attention{
      {m, 16 * 192 + 576, 2048, 27}, {16 * m, 512, 128, 27}, {16 * m, 128, 512, 27}, {m, 2048, 16 * 128, 27}};
  const std::vector<Shape> rest{
      {m, 21888, 2048}, {m, 2048, 10944}, {m, 64, 2048, 26}, {m, 5632, 2048, 26}, {m, 2048, 2816, 26}};
  CHECK(replica(lite).terms(decodes(m, 1000))[T::products] == near(products(attention) + products(rest)));
  // prompts form keys and values again
  const std::vector<Shape> formed{{m, 16 * 192 + 576, 2048, 27}, {m, 16 * 256, 512, 27}, {m, 2048, 16 * 128, 27}};
  CHECK(replica(lite).terms(prompt(m))[T::products] == near(products(formed) + products(rest)));

  const double keys = 20000;
  const double bytes = 64 * keys * 576 * 2.0 * 27;
  for (const std::int64_t tp : {1, 4}) {
    const double took = replica(lite, {tp, 1, 1}).terms(decodes(64, keys))[T::decode_attention];
    CAPTURE(tp);
    CHECK(took > bytes / device().bandwidth().raw());
    CHECK(took < 2.0 * bytes / device().bandwidth().raw());  // keys and values apart would be twice as many
  }
}

TEST_CASE("experts: a full batch reads all of them, a single token few, and expert ranks hold their part") {
  const Architecture mixtral = model("mixtral-8x7b");
  const MoeRouting even{Routing::balanced, 0.0};
  const double layer = 8 * 3 * 4096.0 * 14336 * 2;  // bytes of eight experts, three matrices each
  const double all = 32 * layer / device().bandwidth().raw();
  const auto experts = [&](const ServingLayout& layout, double tokens) {
    return replica(mixtral, layout, bf16, device(), even).terms(decodes(tokens, 100))[T::experts];
  };
  CHECK(experts({}, 64) > all);
  CHECK(experts({}, 64) < 1.5 * all);
  CHECK(experts({}, 1) > 0.25 * all);  // two of eight
  CHECK(experts({}, 1) < 0.5 * all);
  for (const ServingLayout& half : {ServingLayout{2, 1, 1}, ServingLayout{2, 1, 2}}) {
    CHECK(experts(half, 64) > 0.5 * all);
    CHECK(experts(half, 64) < 0.75 * all);
  }
  // at many tokens the arithmetic: 2 of 8 experts of each, 2 x 3 x h x f
  const double flops = 32 * 8192 * 2 * 6 * 4096.0 * 14336 / device().peak_of(Rate::bf16).raw();
  CHECK(experts({}, 8192) > flops);
  CHECK(experts({}, 8192) < 3 * flops);
  // the hottest rank of skewed routing waits longer than any of an even one
  CHECK(replica(mixtral, {8, 1, 8}).terms(decodes(4096, 100))[T::experts] > 1.05 * experts({8, 1, 8}, 4096));
  CHECK(replica(mixtral).expert_layers() == 32);
  CHECK(replica(model("llama3-8b")).expert_layers() == 0);
  CHECK(replica(model("llama3-8b")).terms(decodes(8, 100))[T::experts] == 0.0);
}

TEST_CASE("attention-DP: each group attends and multiplies for its own sequences, experts see those of all") {
  const Architecture lite = model("deepseek-v2-lite");
  const Replica lone = replica(lite);
  const Replica groups = replica(lite, {1, 1, 8});
  const IterationTerms own = lone.terms(decodes(16, 1500));
  const IterationTerms t = groups.terms(decodes(8 * 16, 1500));
  CHECK(t[T::products] == near(own[T::products]));
  CHECK(t[T::decode_attention] == near(own[T::decode_attention]));
  CHECK(t[T::head] == near(own[T::head]));
  CHECK(t[T::all_reduce] == 0.0);
  CHECK(own[T::exchange] == 0.0);
  // 26 layers gather 128 tokens of 2048 numbers and give them back, at least at the link's rate
  const double sent = 26 * 2 * 7.0 / 8 * 128 * 2048 * 2 / device().scale_up.per_gpu->value.raw();
  CHECK(t[T::exchange] > sent);
  // of many tokens the bytes are the time: both ways count
  const double many = groups.terms(decodes(512 * 128, 1500))[T::exchange];
  CHECK(many > 512 * sent);
  CHECK(many < 2 * 512 * sent);
  CHECK(t[T::experts] < lone.terms(decodes(8 * 16, 1500))[T::experts]);
}

namespace {

const std::vector<AllToAllRule> deepep_over_nics{{ExchangeOver::hosts,
                                                  0,
                                                  false,
                                                  "",
                                                  "",
                                                  {"deepep_ll_dispatch", "deepep_ll_combine"},
                                                  {"deepep_normal_dispatch", "deepep_normal_combine"},
                                                  20.0,
                                                  "deepep",
                                                  "deepep",
                                                  "test"}};

Replica wide(const ServingLayout& layout,
             const Device& on,
             std::vector<AllToAllRule> rules = deepep_over_nics,
             const ReplicaFormats& formats = fp8) {
  return {test::model_data(),
          model("deepseek-v3"),
          on,
          catalog().reference_node(on),
          {"vllm", {Routing::power_law, 1.2}, {}, rules},
          layout,
          formats};
}

bool says(const Replica& replica, std::string_view text) {
  return std::any_of(replica.sources().begin(), replica.sources().end(),
                     [&](const std::string& s) { return s.find(text) != std::string::npos; });
}

}  // namespace

TEST_CASE("over NICs a rank sends its own tokens to the ranks of their experts, whatever the others have") {
  const Device& h200 = device("h200-sxm-141gb");
  const Replica gathers = wide({1, 1, 64}, h200, {});
  const Replica sends = wide({1, 1, 64}, h200);
  CHECK(says(gathers, "all-gather"));
  CHECK(says(sends, "deepep_ll_dispatch"));
  CHECK(says(sends, "on h100-sxm-80gb"));  // of Hopper's, measured across hosts there alone
  CHECK_FALSE(gathers.dispatches(false));
  CHECK(sends.dispatches(false));
  CHECK(sends.dispatches(true));
  // 32 tokens of each rank to 8 experts and back in 1 and 2 bytes, 7 of 8 of them over a NIC of 50 GB/s, 58 layers
  const double bytes = 58 * 32 * 8 * 7168 * 3.0 * 7 / 8;
  const double sent = sends.terms(decodes(64 * 32, 2000))[T::exchange];
  CHECK(sent > bytes / 50e9);
  CHECK(sent < 2.5 * bytes / 50e9);
  // twice the ranks with as many tokens each: as long, where the gathered tokens are twice as many
  const double more = wide({1, 1, 128}, h200).terms(decodes(128 * 32, 2000))[T::exchange];
  CHECK(more < 1.3 * sent);
  const double gathered = gathers.terms(decodes(64 * 256, 2000))[T::exchange];
  const double twice = wide({1, 1, 128}, h200, {}).terms(decodes(128 * 256, 2000))[T::exchange];
  CHECK(twice > 1.7 * gathered);
  CHECK(wide({1, 1, 128}, h200).terms(decodes(128 * 256, 2000))[T::exchange] < 0.5 * twice);
}

TEST_CASE("within a host ranks gather all tokens, over NVLink that spans hosts they send beyond top-k ranks") {
  const Device& h200 = device("h200-sxm-141gb");
  CHECK(says(wide({1, 1, 8}, h200), "all-gather"));
  const std::vector<AllToAllRule>& rules = find_serving_stack(test::model_data(), Engine::tensorrt_llm).all_to_all;
  const Device& nvl72 = device("gb200-nvl72");
  CHECK(says(wide({1, 1, 8}, nvl72, rules), "all-gather"));
  CHECK(says(wide({1, 1, 32}, nvl72, rules), "alltoall_dispatch_NVLinkTwoSided_fp8"));
  CHECK(wide({1, 1, 32}, nvl72, rules).dispatches(false));
  // one-sided kernels, which were measured with 4-bit activations alone, where those are
  const Replica narrow = wide({1, 1, 32}, nvl72, rules, {Precision::nvfp4, Precision::nvfp4, Precision::fp8});
  CHECK(says(narrow, "alltoall_dispatch_NVLinkOneSided_nvfp4"));
  // GB300 has the same kernels over the same links
  const Device& ultra = device("gb300-nvl72");
  const Replica borrowed = wide({1, 1, 32}, ultra, rules);
  CHECK(says(borrowed, "alltoall_dispatch_NVLinkTwoSided_fp8"));
  CHECK(says(borrowed, "on gb200-nvl72"));
  CHECK(borrowed.dispatches(false));
  const double gathered = wide({1, 1, 32}, ultra, {}).terms(decodes(32 * 256, 2000))[T::exchange];
  CHECK(borrowed.terms(decodes(32 * 256, 2000))[T::exchange] < 0.5 * gathered);
  // nobody measured them on Hopper: the bytes of a dispatch over its links
  std::vector<AllToAllRule> anywhere = rules;
  for (AllToAllRule& rule : anywhere) {
    rule.domain_above = 0;
    rule.beyond_top_k = false;
  }
  const Replica unmeasured = wide({1, 1, 8}, h200, anywhere);
  CHECK(says(unmeasured, "nobody measured alltoall_prepare_NVLinkTwoSided_fp8 on h200-sxm-141gb"));
  CHECK_FALSE(unmeasured.dispatches(false));
}

TEST_CASE("kernels of a dispatch that nobody measured between hosts count as exchanges of bytes there") {
  // Blackwell's were measured within a host alone: the network is at its prior
  const Device& b200 = device("b200-sxm-180gb");
  const Replica borrowed = wide({1, 1, 16}, b200);
  CHECK(says(borrowed, "which nobody measured between hosts"));
  CHECK_FALSE(borrowed.dispatches(false));
  CHECK_FALSE(borrowed.dispatches(true));
  // the factor of exchanges, and not that of measured dispatches
  IterationPhysics physics;
  physics.exchange = 3.0;
  physics.all_to_all = 2.0;
  const auto factor = [&](const Replica& r) {
    const IterationTerms t = r.terms(decodes(256, 1000));
    return engine_terms(r, decodes(256, 1000), t, {}, physics)[T::exchange] / t[T::exchange];
  };
  CHECK(factor(borrowed) == near(3.0));
  CHECK(factor(wide({1, 1, 16}, device("h100-sxm-80gb"))) == near(2.0));
}

TEST_CASE("under attention-DP each rank's host schedules its own sequences") {
  IterationStack stack;
  stack.step = Seconds{1e-3};
  stack.sequence = Seconds{1e-5};
  const Architecture lite = model("deepseek-v2-lite");
  const auto host = [&](const ServingLayout& layout, const IterationMix& mix) {
    const Replica r = replica(lite, layout);
    return engine_terms(r, mix, r.terms(mix), stack, IterationPhysics{})[T::host];
  };
  CHECK(host({1, 1, 1}, decodes(800, 100)) == near(1e-3 + 800e-5));
  CHECK(host({1, 1, 8}, decodes(800, 100)) == near(1e-3 + 100e-5));
  CHECK(host({1, 1, 8}, decodes(3, 100)) == near(1e-3 + 1e-5));      // a rank has one or none
  CHECK(host({1, 1, 8}, decodes(9, 100)) == near(1e-3 + 2e-5));      // the rank with two holds up the others
  CHECK(host({1, 1, 8}, decodes(8.5, 100)) == near(1e-3 + 1.5e-5));  // a mean of eight and nine
  CHECK(host({1, 1, 8}, decodes(0.5, 100)) == near(1e-3 + 0.5e-5));
  IterationMix mixed = decodes(800, 100);
  mixed.chunks = 1.0;
  mixed.chunk_tokens = mixed.chunk_keys = 100.0;
  CHECK(host({1, 1, 8}, mixed) == near(1e-3 + 101e-5));
}

TEST_CASE("tensor ranks: no all-reduce alone, two a layer together, and more ranks shrink products") {
  const Architecture llama = model("llama3-70b");
  const IterationMix mix = prompt(4096);
  double before = 1e9;
  for (const std::int64_t tp : {1, 2, 4, 8}) {
    CAPTURE(tp);
    const IterationTerms t = replica(llama, {tp, 1, 1}).terms(mix);
    CHECK(t[T::products] < 0.6 * before);
    before = t[T::products];
    // 80 layers send 2 x 4096 x 8192 x 2 bytes through each rank's link
    const double sent = 160.0 * 4096 * 8192 * 2 / device().scale_up.per_gpu->value.raw();
    CHECK((tp == 1 ? t[T::all_reduce] == 0.0 : t[T::all_reduce] > 0.95 * sent));
    CHECK(t[T::all_reduce] < 3.0 * sent);
  }
  Architecture half = llama;
  half.layers = 40;
  CHECK(replica(half, {8, 1, 1}).terms(mix)[T::all_reduce] ==
        near(0.5 * replica(llama, {8, 1, 1}).terms(mix)[T::all_reduce]));
  CHECK(replica(llama, {2, 1, 1}).terms(mix)[T::stages] == 0.0);
  CHECK(replica(llama, {2, 4, 1}).terms(mix)[T::stages] > 3 * 10e-6);
  CHECK(replica(llama, {2, 4, 1}).terms(mix)[T::products] == near(replica(llama, {2, 1, 1}).terms(mix)[T::products]));
}

TEST_CASE("formats: narrow weights multiply as they are where the chip can, else they are unpacked on the way") {
  const Architecture llama = model("llama3-8b");
  const auto product = [](const Architecture& arch, std::string_view on, Precision weights, Precision activations) {
    return kernel_formats(arch, device(on), {weights, activations, Precision::bf16}).product->name;
  };
  CHECK(product(llama, "h100-sxm-80gb", Precision::bf16, Precision::bf16) == "bf16");
  CHECK(product(llama, "h100-sxm-80gb", Precision::fp8, Precision::fp8) == "fp8");
  CHECK(product(llama, "h100-sxm-80gb", Precision::fp8, Precision::bf16) == "int8_wo");
  CHECK(product(llama, "a100-sxm-80gb", Precision::fp8, Precision::fp8) == "int8_wo");
  CHECK(product(llama, "a100-sxm-80gb", Precision::int8, Precision::int8) == "int8");
  CHECK(product(llama, "h100-sxm-80gb", Precision::nvfp4, Precision::nvfp4) == "int4_wo");
  CHECK(product(llama, "b200-sxm-180gb", Precision::nvfp4, Precision::nvfp4) == "nvfp4");
  CHECK(product(llama, "h100-sxm-80gb", Precision::int4, Precision::bf16) == "int4_wo");
  // Of a dense model in mxfp4: on units for 4 bits where activations have 4 bits too, else unpacked.
  CHECK(product(llama, "mi355x", Precision::mxfp4, Precision::mxfp4) == "nvfp4");
  CHECK(product(llama, "b200-sxm-180gb", Precision::mxfp4, Precision::bf16) == "int4_wo");
  CHECK(product(llama, "h100-sxm-80gb", Precision::mxfp4, Precision::mxfp4) == "int4_wo");
  Architecture scaled = llama;  // as a checkpoint with a scale a block says of itself
  scaled.weights.emplace().method = "fp8";
  CHECK(product(scaled, "h100-sxm-80gb", Precision::fp8, Precision::fp8) == "fp8_block");
  const KernelFormats gpt = kernel_formats(model("gpt-oss-120b"), device("b200-sxm-180gb"),
                                           {Precision::mxfp4, Precision::bf16, Precision::bf16});
  CHECK(gpt.product->name == "bf16");  // mxfp4 holds the experts alone
  REQUIRE(gpt.experts.size() == 2);
  CHECK(gpt.experts[0]->name == "w4a16_mxfp4");
  CHECK(gpt.experts[1]->name == "w4a8_mxfp4_mxfp8");
  CHECK(kernel_formats(model("gpt-oss-120b"), device(), {Precision::mxfp4, Precision::bf16, Precision::bf16})
            .experts.size() == 1);
}

TEST_CASE(
    "formats: a lone decode reads its weights, so that their bytes are its time, and prompts gain from rates alone") {
  const Architecture llama = model("llama3-8b");
  const Replica wide = replica(llama);
  const Replica eight = replica(llama, {}, fp8);
  const Replica four = replica(llama, {}, {Precision::int4, Precision::bf16, Precision::bf16});
  CHECK_FALSE(wide.weight_only());
  CHECK_FALSE(eight.weight_only());
  const auto lone = [](const Replica& r) { return r.terms(decodes(1, 500))[T::products]; };
  // 7 of 8 billion parameters are in the layers' products
  const double floor = 6.98e9 * 2 / device().bandwidth().raw();
  CHECK(lone(wide) > floor);
  CHECK(lone(eight) > 0.5 * floor);
  CHECK(lone(eight) < 0.7 * lone(wide));
  CHECK(lone(four) > 0.25 * floor);
  CHECK(lone(four) < 0.6 * lone(wide));
  const auto many = [](const Replica& r) { return r.terms(prompt(8192))[T::products]; };
  CHECK(many(eight) < 0.9 * many(wide));
  CHECK(many(eight) > 2 * 6.98e9 * 8192 / device().peak_of(Rate::fp8).raw());
  CHECK(many(four) > 0.9 * many(wide));  // unpacked, multiplied in 16 bit
  const IterationMix mix = decodes(64, 8000);
  CHECK(eight.terms(mix)[T::decode_attention] < 0.7 * wide.terms(mix)[T::decode_attention]);
}

TEST_CASE("the head is asked once for each sampled token, not for the rest of a prompt") {
  const Replica r = replica(model("llama3-8b"));
  const double four = r.terms(decodes(4, 100))[T::head];
  CHECK(r.terms(prompt(2000, 4))[T::head] == near(four));
  IterationMix middle = prompt(2000);
  middle.ending = 0;
  CHECK(r.terms(middle)[T::head] == 0.0);
  const double reads = 128256 * 4096.0 * 2 / device().bandwidth().raw();
  CHECK(four > reads);
  CHECK(four < 2 * reads);
}

TEST_CASE("an engine's factors multiply their own kind of kernel and nothing else") {
  const Replica r = replica(model("llama3-8b"), {2, 1, 1});
  IterationTerms kernels;
  for (std::size_t i = 0; i < iteration_term_count; ++i) {
    kernels.seconds[i] = 1e-3 * static_cast<double>(i + 1);
  }
  const IterationMix mix = decodes(10, 100);
  IterationStack stack;
  stack.products = 2.0;
  stack.experts = 3.0;
  IterationPhysics physics;
  physics.decode_attention = 5.0;
  physics.prefill_attention = 7.0;
  physics.all_reduce = 11.0;
  physics.exchange = 13.0;
  physics.passes = 17.0;
  physics.weight_only = 19.0;  // no part of bf16
  const IterationTerms t = engine_terms(r, mix, kernels, stack, physics);
  const std::array<double, iteration_term_count> factor{2, 3, 5, 7, 11, 13, 17, 1, 1, 0, 0, 1};
  for (std::size_t i = 0; i < iteration_term_count; ++i) {
    CAPTURE(iteration_term_names[i]);
    CHECK(1.0 + t.seconds[i] == near(1.0 + factor[i] * kernels.seconds[i], 1e-12));
  }
  // decode attention on vector units: norm3 of both
  stack.vector = 2.0;
  kernels.decode_on_vector_units = 4e-3;
  CHECK(engine_terms(r, mix, kernels, stack, physics)[T::decode_attention] ==
        near(std::cbrt(15. * 15 * 15 + 8 * 8 * 8) * 1e-3));
}

TEST_CASE("an engine's gaps: between the layers of a graph, launches of a prompt's kernels, less what they hide") {
  const Replica r = replica(model("llama3-8b"));
  IterationTerms kernels;
  kernels[T::products] = 10e-3;
  IterationStack stack;
  stack.layer = Seconds{20e-6};
  stack.prompt_launch = Seconds{50e-6};
  stack.expert_layer = Seconds{7e-6};
  stack.step = Seconds{1e-3};
  stack.sequence = Seconds{4e-6};
  IterationPhysics physics;
  const auto terms = [&](const IterationMix& mix, const Replica& of) {
    return engine_terms(of, mix, kernels, stack, physics);
  };
  CHECK(terms(decodes(10, 100), r)[T::gaps] == near(32 * 20e-6));
  CHECK(terms(decodes(10, 100), r)[T::host] == near(1e-3 + 40e-6));
  // norms 2, products 4, rotation, the cache's writing, attention, activation
  CHECK(r.prompt_kernels() == near(32 * 10));
  CHECK(terms(prompt(100, 3), r)[T::gaps] == near(32 * 500e-6));
  CHECK(terms(prompt(100, 3), r)[T::host] == near(1e-3 + 12e-6));
  physics.overlap = 0.5;  // 16 ms of launches beside 10 ms of kernels
  CHECK(terms(prompt(100), r)[T::gaps] == near(16e-3 - 5e-3));
  CHECK(terms(decodes(10, 100), r)[T::gaps] == near(32 * 20e-6));  // a graph hides nothing
  kernels[T::products] = 100e-3;
  CHECK(terms(prompt(100), r)[T::gaps] == near(8e-3));
  const Replica experts = replica(model("mixtral-8x7b"));
  CHECK(terms(decodes(10, 100), experts)[T::gaps] == near(32 * 27e-6));
  // 9 of the experts and the router in place of a feed-forward's three
  CHECK(experts.prompt_kernels() == near(32 * 17));
  CHECK(terms(prompt(100), experts)[T::gaps] == near(32 * 857e-6 / 2));
  stack.delta_layer = stack.mxfp4_call = Seconds{1.0};  // of others' layers
  CHECK(terms(prompt(100), experts)[T::gaps] == near(32 * 857e-6 / 2));
  stack.layer = Seconds{2e-3};  // a step with prompts launches no faster than a graph replays
  CHECK(terms(prompt(100), r)[T::gaps] == near(32 * 2e-3 / 2));
}

TEST_CASE("layers that Python launches with Triton's kernels take its time with prompts: delta rules, unpacked mxfp4") {
  const Replica delta = replica(model("qwen3-next-80b-a3b"));  // 36 of 48 layers
  const ReplicaFormats mxfp4{Precision::mxfp4, Precision::bf16, Precision::bf16};
  const Replica unpacked = replica(model("gpt-oss-120b"), {}, mxfp4);  // of 36 layers, on Hopper
  const Replica native = replica(model("gpt-oss-120b"), {}, mxfp4, device("b200-sxm-180gb"));
  IterationStack stack;
  const IterationPhysics physics;
  const auto more = [&](const IterationMix& mix, const Replica& of, Seconds IterationStack::*time) {
    IterationStack with = stack;
    with.*time = Seconds{2e-3};
    return engine_terms(of, mix, {}, with, physics)[T::gaps] - engine_terms(of, mix, {}, stack, physics)[T::gaps];
  };
  stack.prompt_launch = Seconds{50e-6};
  CHECK(more(prompt(100), delta, &IterationStack::delta_layer) == near(36 * 2e-3));
  CHECK(more(decodes(10, 100), delta, &IterationStack::delta_layer) == 0.0);
  CHECK(more(prompt(100), delta, &IterationStack::mxfp4_call) == 0.0);
  CHECK(more(prompt(100), unpacked, &IterationStack::mxfp4_call) == near(36 * 2e-3));
  CHECK(more(decodes(10, 100), unpacked, &IterationStack::mxfp4_call) == 0.0);
  CHECK(more(prompt(100), unpacked, &IterationStack::delta_layer) == 0.0);
  CHECK(more(prompt(100), native, &IterationStack::mxfp4_call) == 0.0);
}

TEST_CASE("what an engine spares around its products hides nothing of their arithmetic") {
  const Replica r = replica(model("llama3-8b"));
  IterationStack stack;
  stack.products = 0.5;
  const IterationPhysics physics;
  // a prompt of 8,192 tokens: the FLOP of all layers at less than the datasheet's rate, whatever the factor says
  const IterationMix long_prompt = prompt(8192);
  const IterationTerms kernels = r.terms(long_prompt);
  const double layer = 2.0 * 4096 * (4096 + 2 * 1024 + 4096 + 3 * 14336);
  const double sheet = 32 * layer * 8192 / device().peak_of(Rate::bf16).raw();
  CHECK(kernels.sustained_products > sheet);
  CHECK(kernels.sustained_products < 1.5 * sheet);
  CHECK(engine_terms(r, long_prompt, kernels, stack, physics)[T::products] == kernels.sustained_products);
  // one sequence: nothing but bytes, which the factor halves until they meet the memory's own rate
  const IterationTerms few = r.terms(decodes(1, 100));
  CHECK(few.sustained_products < 0.01 * few[T::products]);
  CHECK(engine_terms(r, decodes(1, 100), few, stack, physics)[T::products] ==
        near(std::max(0.5 * few[T::products], few.least_products)));
}

TEST_CASE("experts of a release that had one family of kernels: slower than the fastest, and told") {
  const auto with = [](std::vector<ExpertFamily> families) {
    const ReplicaFormats formats{Precision::mxfp4, Precision::bf16, Precision::bf16};
    return Replica{test::model_data(),
                   model("gpt-oss-20b"),
                   device(),
                   catalog().reference_node(device()),
                   {"vllm", {Routing::power_law, 1.2}, std::move(families)},
                   {},
                   formats};
  };
  const auto experts = [](const Replica& r) { return r.terms(prompt(8192))[T::experts]; };
  const auto tells = [](const Replica& r, std::string_view text) {
    return std::any_of(r.sources().begin(), r.sources().end(),
                       [&](const std::string& s) { return s.find(text) != std::string::npos; });
  };
  const Replica fastest = with({});
  const Replica marlin = with({{"w4a16_mxfp4", "hopper", "marlin"}});
  CHECK(experts(marlin) > 1.5 * experts(fastest));
  CHECK(tells(fastest, " triton "));
  CHECK_FALSE(tells(marlin, " triton "));
  CHECK(tells(marlin, " marlin "));
  // another format, another generation, a family that nobody measured: nothing changes
  for (const ExpertFamily& other :
       {ExpertFamily{"fp8", "hopper", "marlin"}, ExpertFamily{"w4a16_mxfp4", "ampere", "marlin"},
        ExpertFamily{"w4a16_mxfp4", "hopper", "no such"}}) {
    CHECK(experts(with({other})) == experts(fastest));
  }
}

TEST_CASE("nothing is faster than the datasheet: terms of any replica lie above the least iteration") {
  struct Case {
    std::string_view model;
    std::vector<ServingLayout> layouts;
  };
  const std::vector<Case> cases{
      {"llama3-8b", {{1, 1, 1}, {2, 1, 1}, {8, 1, 1}}}, {"llama3-70b", {{4, 1, 1}, {8, 1, 1}, {4, 2, 1}}},
      {"gemma3-27b", {{1, 1, 1}, {4, 1, 1}}},           {"qwen3-30b-a3b", {{1, 1, 1}, {4, 1, 4}, {2, 1, 1}, {1, 1, 4}}},
      {"mixtral-8x7b", {{2, 1, 1}, {4, 1, 2}}},         {"deepseek-v3", {{8, 1, 8}, {8, 1, 1}, {1, 1, 8}}}};
  std::size_t compared = 0;
  for (const std::string_view gpu : {"a100-sxm-80gb", "h100-sxm-80gb", "h200-sxm-141gb", "b200-sxm-180gb", "l40s"}) {
    for (const Case& c : cases) {
      const Architecture arch = model(c.model);
      for (const ServingLayout& layout : c.layouts) {
        for (const ReplicaFormats& formats : {bf16, fp8}) {
          if (gpu == "a100-sxm-80gb" && formats.activations == Precision::fp8) {
            continue;
          }
          const Replica r = replica(arch, layout, formats, device(gpu));
          const LeastIteration least{arch, device(gpu), layout, formats};
          for (const double b : {1.0, 8.0, 64.0, 512.0}) {
            for (const double keys : {64.0, 2048.0, 20000.0}) {
              const IterationMix mix = decodes(b, keys);
              INFO(gpu << " " << c.model << " tp " << layout.tp << " ep " << layout.ep << " b " << b << " keys " << keys
                       << " fp8 " << (formats.weights == Precision::fp8));
              CHECK(least.time(mix, ExpertsRead::least) <= r.terms(mix).total());
              CHECK(least.time(mix, ExpertsRead::least) <= least.time(mix, ExpertsRead::expected));
              ++compared;
            }
          }
          for (const double tokens : {64.0, 1024.0, 8192.0}) {
            INFO(gpu << " " << c.model << " tp " << layout.tp << " ep " << layout.ep << " prompt " << tokens);
            CHECK(least.time(prompt(tokens), ExpertsRead::least) <= r.terms(prompt(tokens)).total());
          }
        }
      }
    }
  }
  CHECK(compared > 1500);
}

TEST_CASE("the least iteration: bytes of weights and cache over the bandwidth, or arithmetic over the peak") {
  const Architecture llama = model("llama3-8b");
  const LeastIteration least{llama, device(), {2, 1, 1}, bf16};
  const double table = 128256 * 4096.0;
  const double stored = (8.03e9 - table) * 2 / 2;  // rows of the table of tokens are looked up, no more
  const double cache = 16 * 1000 * 131072.0 / 2;
  const IterationMix mix = decodes(16, 1000);
  CHECK(least.reads(mix));
  CHECK(least.time(mix, ExpertsRead::expected) == near((stored + cache) / device().bandwidth().raw(), 2e-3));
  CHECK_FALSE(least.reads(prompt(4096)));
  // the head multiplies what is sampled, not the prompt
  const double flops =
      (2 * (count_parameters(llama).active_matrices - table) * 4096 + 2 * table * prompt(4096).ending) / 2;
  CHECK(least.time(prompt(4096), ExpertsRead::expected) == near(flops / device().peak_of(Rate::bf16).raw()));
}
