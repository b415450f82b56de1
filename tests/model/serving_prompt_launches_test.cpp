// SPDX-License-Identifier: Apache-2.0
// What lies between the kernels of an iteration: gaps of a graph, and the launches of prompts that no graph replays.
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/serve/engine/serving_stack.hpp>
#include <headroom/model/serve/replica/engine_terms.hpp>
#include <headroom/model/serve/tables/make_tables.hpp>
#include <headroom/model/workload/model_library.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include "../support/catalog.hpp"
#include "../support/model_data.hpp"
#include <algorithm>
#include <cmath>
#include <string_view>

using namespace headroom;
using headroom::test::catalog;
using test::near;
using T = IterationTerm;

namespace {

constexpr ReplicaFormats bf16{};
constexpr ReplicaFormats fp8{Precision::fp8, Precision::fp8, Precision::fp8};

Replica replica(std::string_view model, const ServingLayout& layout = {}, const ReplicaFormats& formats = bf16) {
  const Device& device = catalog().device("h100-sxm-80gb");
  return {test::model_data(),
          ModelLibrary::standard().find(model),
          device,
          catalog().reference_node(device),
          {"vllm", {Routing::power_law, 1.2}},
          layout,
          formats};
}

IterationMix decodes(double sequences) {
  IterationMix mix;
  mix.decodes = sequences;
  mix.keys = 100;
  return mix;
}
IterationMix prompt(double tokens, double count = 1.0) {
  IterationMix mix;
  mix.chunks = mix.ending = count;
  mix.chunk_tokens = mix.chunk_keys = tokens;
  return mix;
}

const ServingStack& stack(std::string_view id) {
  const auto& all = serving_stacks(test::model_data());
  return *std::find_if(all.begin(), all.end(), [&](const ServingStack& s) { return s.id == id; });
}

}  // namespace

TEST_CASE("an engine's gaps: between the layers of a graph, and what launches of prompts take beyond their kernels") {
  const Replica r = replica("llama3-8b");
  IterationTerms kernels;
  kernels[T::products] = 10e-3;
  IterationStack stack;
  stack.layer = Seconds{20e-6};
  stack.prompt_layer = Seconds{480e-6};  // of 12 kernels
  stack.expert_layer = Seconds{7e-6};
  stack.step = Seconds{1e-3};
  stack.sequence = Seconds{4e-6};
  IterationPhysics physics;
  const auto terms = [&](const IterationMix& mix, const Replica& of) {
    return engine_terms(of, mix, kernels, stack, physics);
  };
  CHECK(terms(decodes(10), r)[T::gaps] == near(32 * 20e-6));
  CHECK(terms(decodes(10), r)[T::host] == near(1e-3 + 40e-6));
  CHECK(terms(prompt(100, 3), r)[T::host] == near(1e-3 + 12e-6));
  // one rank reduces nothing: 10 kernels a layer, 40 us each
  CHECK(terms(prompt(100, 3), r)[T::gaps] == near(32 * 10 * 40e-6));
  physics.overlap = 0.5;  // 12.8 ms of launches beside 10 ms of kernels
  CHECK(terms(prompt(100), r)[T::gaps] == near(12.8e-3 - 5e-3));
  CHECK(terms(decodes(10), r)[T::gaps] == near(32 * 20e-6));  // a graph hides nothing
  physics.overlap = 1.0;
  CHECK(terms(prompt(100), r)[T::gaps] == near(2.8e-3));
  kernels[T::products] = 100e-3;  // hides all launches, but not what lies between kernels
  CHECK(terms(prompt(100), r)[T::gaps] == near(32 * 20e-6));
  const Replica experts = replica("mixtral-8x7b");
  kernels[T::products] = 1e-3;
  CHECK(terms(decodes(10), experts)[T::gaps] == near(32 * 27e-6));
  CHECK(terms(prompt(100), experts)[T::gaps] == near(32 * 16 * 40e-6 - 1e-3));  // 6 of attention, 10 of experts
}

TEST_CASE("launches of prompts grow with the kind of layer") {
  const ServingLayout ranks{8, 1, 1};
  const auto each = [&](std::string_view model, const ReplicaFormats& formats) {
    const Replica r = replica(model, ranks, formats);
    return r.prompt_launches().kernels / r.layers();
  };
  CHECK(each("llama3-70b", bf16) == near(12.0));
  CHECK(each("llama3-70b", fp8) == near(12.0));  // one scale a tensor: casts are fused with the passes before
  CHECK(each("qwen3-32b", bf16) == near(14.0));  // norms of queries and keys
  CHECK(each("qwen3-32b", fp8) == near(18.0));   // blocks: a cast before each of four products
  // latent attention of 16 kernels with three casts; experts of 20 with four, or a feed-forward of 7 with two
  CHECK(each("deepseek-v3", fp8) == near((61 * 16 + 58 * 20 + 3 * 7) / 61.0));
  CHECK(replica("deepseek-v3", ranks, fp8).prompt_launches().latent);
  CHECK(each("glm-5", fp8) > each("deepseek-v3", fp8) + 12.0);  // its indexer
}

TEST_CASE("DeepSeek-V3's forward pass over one token without graphs: as long as SGLang measured its launches") {
  // 82.6 ms (sgl-project/sglang, pull request 12160); the time of a launch was not fitted to it
  const Replica r = replica("deepseek-v3", {8, 1, 1}, fp8);
  IterationPhysics physics;
  physics.overlap = 1.0;
  const double seconds = engine_terms(r, prompt(1), r.terms(prompt(1)), stack("sglang").time, physics).total();
  CHECK(seconds > 0.85 * 82.6e-3);
  CHECK(seconds < 1.15 * 82.6e-3);
}

TEST_CASE("prompts in pieces of a graph: what stands between pieces is launched, up to the tokens that were captured") {
  IterationStack stack;
  stack.prompt_layer = Seconds{480e-6};
  stack.prompt_graphs = 512;
  stack.prompt_graphs_latent = 256;
  IterationPhysics physics;
  const auto gaps = [&](const Replica& of, const IterationMix& mix) {
    return engine_terms(of, mix, {}, stack, physics)[T::gaps];
  };
  const Replica dense = replica("llama3-8b");
  IterationMix full = prompt(500);
  full.decodes = 12;
  full.keys = 100;
  CHECK(gaps(dense, full) == near(32 * 3 * 40e-6));
  full.decodes = 13;
  CHECK(gaps(dense, full) == near(32 * 10 * 40e-6));
  const Replica latent = replica("deepseek-v3", {8, 1, 1}, fp8);
  CHECK(gaps(latent, prompt(256)) == near(61 * 6 * 40e-6));  // and three that make keys and values of latents
  CHECK(gaps(latent, prompt(257)) > 61 * 30 * 40e-6);
  // a launch says how many itself
  const Replica captured = replica("deepseek-v3", {.tp = 8, .prompt_graphs = 8192}, fp8);
  CHECK(gaps(captured, prompt(8192)) == near(61 * 6 * 40e-6));
  const Replica eager = replica("llama3-8b", {.prompt_graphs = 0});
  CHECK(gaps(eager, prompt(100)) == near(32 * 10 * 40e-6));
}

TEST_CASE("tables hide launches behind all kernels of their iteration, as the terms do") {
  IterationStack stack;
  stack.prompt_layer = Seconds{480e-6};
  stack.layer = Seconds{20e-6};
  stack.prompt_graphs = 512;
  IterationPhysics physics;
  physics.overlap = 1.0;
  const Replica r = replica("llama3-8b");
  const IterationTables tables = make_iteration_tables(r, stack, physics, {});
  const auto by_terms = [&](const IterationMix& mix) {
    return engine_terms(r, mix, r.terms(mix), stack, physics).total();
  };
  IterationMix beside = prompt(768);
  beside.decodes = 256;  // at knots: 1,024 tokens, 256 sequences of 2,048 keys
  beside.keys = 2048;
  CHECK(table_seconds(tables, beside) == near(by_terms(beside), 1e-2));
  CHECK(by_terms(prompt(768)) > 32 * 10 * 40e-6);  // launches bind
  for (const double tokens : {256.0, 512.0, 768.0, 4096.0}) {
    CHECK(table_seconds(tables, prompt(tokens)) == near(by_terms(prompt(tokens)), 1e-6));
  }
}
