// SPDX-License-Identifier: Apache-2.0
// Every term of a serving GPU's memory against arithmetic shown here, published sizes and measured capacities.
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/serve/memory/memory.hpp>
#include <headroom/model/workload/model_library.hpp>

#include <doctest/doctest.h>

#include "../support/catalog.hpp"
#include "../support/model_data.hpp"
#include <algorithm>
#include <cmath>
#include <random>

using namespace headroom;
using headroom::test::catalog;

namespace {

constexpr double gib = 0x1p30;

/// Two layers, 64 wide, four heads of 16 and two KV heads, a gated MLP of 128, 1000 words.
Architecture tiny() {
  Architecture arch;
  arch.layers = 2;
  arch.hidden = 64;
  arch.heads = 4;
  arch.kv_heads = 2;
  arch.head_dim = 16;
  arch.ffn_hidden = 128;
  arch.gated_mlp = true;
  arch.vocab = 1000;
  return arch;
}

Architecture qwen3_32b() {
  Architecture arch;
  arch.layers = 64;
  arch.hidden = 5120;
  arch.heads = 64;
  arch.kv_heads = 8;
  arch.head_dim = 128;
  arch.ffn_hidden = 25600;
  arch.gated_mlp = true;
  arch.vocab = 151936;
  return arch;
}

EngineMemory no_engine() {
  EngineMemory engine;
  engine.fraction_of = FractionOf::total;
  engine.block_tokens = 32;
  return engine;
}

CompiledServingMemory compiled(const Architecture& arch,
                               const ServingLayout& layout,
                               Precision weights = Precision::bf16,
                               Precision kv = Precision::bf16,
                               const EngineMemory& engine = no_engine()) {
  return compile_serving_memory(arch, catalog().device("h100-sxm-80gb"), engine, layout, weights, kv);
}

double weights_of(const Architecture& arch, const ServingLayout& layout, Precision weights) {
  return compiled(arch, layout, weights).stages[0].weights.raw();
}

}  // namespace

TEST_CASE("stored weights: fp8 has 4 bytes for 128 x 128, nvfp4 4.5 bit, mxfp4 4.25 bit, int4 with a group of 128") {
  CHECK(stored_bytes(Precision::fp8) == 1.0 + 4.0 / (128 * 128));
  CHECK(8 * stored_bytes(Precision::nvfp4) == 4.5);
  CHECK(8 * stored_bytes(Precision::mxfp4) == 4.25);
  CHECK(8 * stored_bytes(Precision::mxfp8) == 8.25);
  CHECK(8 * stored_bytes(Precision::int4) == 4.0 + (16.0 + 4.0) / 128);
  CHECK(stored_bytes(Precision::bf16) == 2.0);
}

TEST_CASE("weights: 67.7 GiB for a 70B in fp8 and 61.0 GiB for a 32B in bf16, as engines log them") {
  const Architecture llama = ModelLibrary::standard().find("llama3-70b");
  CHECK(weights_of(llama, {}, Precision::fp8) / gib == doctest::Approx(67.7).epsilon(0.001));
  CHECK(weights_of(qwen3_32b(), {}, Precision::bf16) / gib == doctest::Approx(61.0).epsilon(0.001));
}

TEST_CASE("weights of a rank: GEMMs over tp, key and value replicated beyond the KV heads, norms whole") {
  // layer: q and o 2 x 64 x 64 = 8192, k and v 2 x 64 x 32 = 4096, MLP 3 x 64 x 128 = 24 576, norms 128
  // ends: two tables of 64 000, final norm 64
  const double whole = 2.0 * (2 * (8192 + 4096 + 24576 + 128) + 128000 + 64);
  CHECK(weights_of(tiny(), {1, 1, 1}, Precision::bf16) == whole);
  const double half = 2.0 * (2 * (4096 + 2048 + 12288 + 128) + 64000 + 64);
  CHECK(weights_of(tiny(), {2, 1, 1}, Precision::bf16) == half);
  const double quarter = 2.0 * (2 * (2048 + 2048 + 6144 + 128) + 32000 + 64);  // k, v: one of two heads on each of four
  CHECK(weights_of(tiny(), {4, 1, 1}, Precision::bf16) == quarter);
}

TEST_CASE("experts go over the ranks of ep, the rest over tp, mxfp4 narrows the experts alone") {
  Architecture arch = tiny();
  Moe moe;
  moe.experts = 8;
  moe.top_k = 2;
  moe.expert_ffn_hidden = 32;
  arch.moe = moe;
  const double expert = 3 * 64 * 32;  // 6144
  const double rest = 2 * (8192 + 4096 + 128 + 64 * 8) + 128000 + 64;
  CHECK(weights_of(arch, {1, 1, 1}, Precision::bf16) == 2.0 * (rest + 2 * 8 * expert));
  // attention-DP over four: everything but the experts is whole on each rank
  CHECK(weights_of(arch, {1, 1, 4}, Precision::bf16) == 2.0 * (rest + 2 * 2 * expert));
  CHECK(weights_of(arch, {1, 1, 1}, Precision::mxfp4) == 2.0 * rest + 17.0 / 32 * 2 * 8 * expert);
  CHECK(ServingLayout{1, 1, 4}.attention_groups() == 4);
  CHECK(ServingLayout{4, 2, 4}.attention_groups() == 1);
  CHECK(ServingLayout{2, 2, 8}.gpus() == 16);
}

TEST_CASE("the cache of a sequence comes in whole blocks and is replicated when tp exceeds the KV heads") {
  // a token: 2 layers x 2 x 2 heads x 16 x 2 B = 256 B
  const auto sequence = [](std::int64_t tp, double tokens, Precision kv) {
    return compiled(tiny(), {tp, 1, 1}, Precision::bf16, kv).stages[0].sequence(tokens, 32).raw();
  };
  CHECK(sequence(1, 32, Precision::bf16) == 32 * 256.0);
  CHECK(sequence(1, 33, Precision::bf16) == 64 * 256.0);
  CHECK(sequence(2, 33, Precision::bf16) == 64 * 128.0);
  CHECK(sequence(4, 33, Precision::bf16) == 64 * 128.0);
  CHECK(sequence(1, 33, Precision::fp8) == 64 * 128.0);
  CHECK(sequence(1, 33, Precision::nvfp4) == 64 * 256.0 * 4.5 / 16);
}

TEST_CASE("the latent of MLA is 576 elements a layer on every rank (DeepSeek-V3: 70 272 B a token in bf16)") {
  Architecture arch = tiny();
  arch.layers = 61;
  arch.heads = 128;
  arch.kv_heads = 128;
  arch.mixer = Mixer::mla;
  Mla mla;
  mla.q_rank = 1536;
  mla.kv_rank = 512;
  mla.nope_dim = 128;
  mla.rope_dim = 64;
  mla.value_dim = 128;
  arch.mla = mla;
  for (const std::int64_t tp : {1, 8}) {
    CHECK(compiled(arch, {tp, 1, 1}).stages[0].cache_per_token.raw() == 61 * 576 * 2.0);
  }
}

TEST_CASE("layers with a window hold no more than the window, in whole blocks") {
  Architecture arch = tiny();
  arch.window = 100;
  arch.full_every = 2;  // the second of the two layers looks at everything
  const ServingStage stage = compiled(arch, {}).stages[0];
  CHECK(stage.cache_per_token.raw() == 128.0);
  CHECK(stage.windows[0].tokens == 100.0);
  CHECK(stage.sequence(50, 32).raw() == 64 * 128.0 + 64 * 128.0);
  CHECK(stage.sequence(1000, 32).raw() == 1024 * 128.0 + 128 * 128.0);
}

TEST_CASE("recurrent layers keep a state of constant size a sequence") {
  Architecture arch = tiny();
  arch.mixer = Mixer::mamba2;
  Recurrent r;
  r.heads = 8;
  r.head_dim = 16;
  r.groups = 1;
  r.state = 32;
  r.conv_kernel = 4;
  arch.recurrent = r;
  const ServingStage stage = compiled(arch, {}).stages[0];
  // two layers x (128 x 32 + (128 + 2 x 32) x 3) x 2 B
  CHECK(stage.state_per_sequence.raw() == 2 * (4096 + 576) * 2.0);
  CHECK(stage.sequence(10, 32).raw() == stage.sequence(100000, 32).raw());
}

TEST_CASE("pipeline stages: the embedding on the first, the head on the last, the fuller one binds") {
  const CompiledServingMemory c = compiled(tiny(), {1, 2, 1});
  const double layer = 8192 + 4096 + 24576 + 128;
  CHECK(c.stage_count == 2);
  CHECK(c.stages[0].weights.raw() == 2.0 * (layer + 64000));
  CHECK(c.stages[1].weights.raw() == 2.0 * (layer + 64000 + 64));
  CHECK(c.stages[0].cache_per_token.raw() == 128.0);
  CHECK(serving_memory(c, {0.9, 8, 8, 64}).stage == 1);
  Architecture three = tiny();
  three.layers = 3;
  CHECK(compiled(three, {1, 2, 1}).stages[0].weights.raw() == 2.0 * (2 * layer + 64000));
}

TEST_CASE("tied embeddings are stored once, and on both ends of a pipeline") {
  Architecture arch = tiny();
  arch.tied_embeddings = true;
  const double layer = 8192 + 4096 + 24576 + 128;
  CHECK(weights_of(arch, {1, 1, 1}, Precision::bf16) == 2.0 * (2 * layer + 64000 + 64));
  const CompiledServingMemory c = compiled(arch, {1, 2, 1});
  CHECK(c.stages[0].weights.raw() == 2.0 * (layer + 64000));
  CHECK(c.stages[1].weights.raw() == 2.0 * (layer + 64000 + 64));
}

TEST_CASE("embedding, head and norms stay in 16 bit under every narrow format, and in 32 bit under fp32") {
  const double gemm = 2 * (8192 + 4096 + 24576);
  const double plain = 2 * 128 + 128000 + 64;
  CHECK(weights_of(tiny(), {}, Precision::int4) == doctest::Approx(4.15625 / 8 * gemm + 2.0 * plain));
  CHECK(weights_of(tiny(), {}, Precision::nvfp4) == doctest::Approx(4.5 / 8 * gemm + 2.0 * plain));
  CHECK(weights_of(tiny(), {}, Precision::fp32) == 4.0 * (gemm + plain));
}

TEST_CASE("five kinds of windows in four places: the fifth joins the next wider one, or the layers without") {
  Architecture arch = tiny();
  arch.layers = 5;
  for (std::int64_t i = 0; i < 5; ++i) {
    LayerVariant variant;
    variant.layers = {i};
    variant.block = tiny().blocks().front();
    variant.block.window = 64 * (i + 1);
    arch.variants.push_back(variant);
  }
  const ServingStage stage = compiled(arch, {}).stages[0];
  CHECK(stage.windows[3].tokens == 256.0);
  CHECK(stage.cache_per_token.raw() == 128.0);  // 320 is wider than all four
  CHECK(stage.sequence(10000, 1).raw() == (64 + 128 + 192 + 256 + 10000) * 128.0);
}

TEST_CASE("the activation peak is the larger of the scheduled tokens' and the sampler's") {
  EngineMemory engine = no_engine();
  engine.wide_bytes = 6.0;
  engine.quantised_bytes = 20.0;
  engine.logit_bytes = 39.0;
  const auto activations = [&](Precision weights, std::int64_t tp, std::int64_t seqs, std::int64_t tokens) {
    return serving_memory(compiled(tiny(), {tp, 1, 1}, weights, Precision::bf16, engine), {0.9, seqs, tokens, 64})
        .terms[MemoryTerm::activations]
        .raw();
  };
  CHECK(activations(Precision::bf16, 2, 1, 4096) == 6.0 * 128 / 2 * 4096);
  CHECK(activations(Precision::fp8, 2, 1, 4096) == 20.0 * 128 / 2 * 4096);
  CHECK(activations(Precision::bf16, 2, 1024, 1) == 39.0 * 1000 * 1024);
}

TEST_CASE(
    "vLLM's sampler warm-up on Llama 3 is 38.9 B x 1024 x 128 256 = 5.11 GB, its non-torch share 0.55 GiB at tp 2") {
  const ServingStack vllm = find_serving_stack(test::model_data(), Engine::vllm);
  const Device& h100 = catalog().device("h100-sxm-80gb");
  CHECK(vllm.default_max_num_seqs(h100) == 1024);
  CHECK(vllm.default_max_num_seqs(catalog().device("a100-sxm-80gb")) == 256);
  CHECK(vllm.default_max_num_seqs(catalog().device("l40s")) == 256);
  const CompiledServingMemory c = compile_serving_memory(ModelLibrary::standard().find("llama3-8b"), h100, vllm.memory,
                                                         {2, 1, 1}, Precision::bf16, Precision::bf16);
  const ServingMemory m = serving_memory(c, {0.9, 1024, 8192, 2048});
  CHECK(m.terms[MemoryTerm::activations].raw() == doctest::Approx(38.9 * 1024 * 128256));
  CHECK(m.terms[MemoryTerm::framework].raw() / gib == doctest::Approx(0.55));
}

TEST_CASE(
    "vLLM start-up logs that its constants were not taken from: Qwen3-8B leaves 8.60 and 25.94 GiB for the cache") {
  // vLLM 0.10.2 on an RTX 4090 (23.53 GiB, fraction 0.8, fp8 weights) and 0.1x on an L20 (47.37 GiB, 0.9, bf16), both
  // with 256 sequences: 8.80 and 15.27 GiB of weights, 1.40 GiB of peak activation, 62 608 and 188 864 tokens.
  Architecture qwen3_8b = qwen3_32b();
  qwen3_8b.layers = 36;
  qwen3_8b.hidden = 4096;
  qwen3_8b.heads = 32;
  qwen3_8b.ffn_hidden = 12288;
  struct Log {
    double device, fraction;
    Precision weights;
    double weights_gib, pool_gib, tokens;
  };
  for (const Log& log :
       {Log{23.53, 0.8, Precision::fp8, 8.80, 8.60, 62608}, Log{47.37, 0.9, Precision::bf16, 15.27, 25.94, 188864}}) {
    CompiledServingMemory c = compiled(qwen3_8b, {}, log.weights, Precision::bf16,
                                       find_serving_stack(test::model_data(), Engine::vllm).memory);
    c.device = Bytes{log.device * gib};
    const ServingMemory m = serving_memory(c, {log.fraction, 256, 2048, 1024});
    CHECK(m.terms[MemoryTerm::weights].raw() / gib == doctest::Approx(log.weights_gib).epsilon(0.002));
    CHECK(m.terms[MemoryTerm::activations].raw() / gib == doctest::Approx(1.40).epsilon(0.01));
    CHECK(m.pool.raw() / gib == doctest::Approx(log.pool_gib).epsilon(0.015));
    CHECK(m.tokens == doctest::Approx(log.tokens).epsilon(0.015));
  }
}

TEST_CASE("the three meanings of a memory fraction") {
  CompiledServingMemory c;
  c.device = Bytes{100.0};
  c.stages[0].weights = Bytes{40.0};
  c.stages[0].cache_per_token = Bytes{1.0};
  c.engine.framework = Bytes{4.0};
  c.engine.graphs = Bytes{2.0};
  c.activation_per_token = Bytes{6.0};
  const auto pool = [&](FractionOf of) {
    c.engine.fraction_of = of;
    return serving_memory(c, {0.8, 1000, 1, 1}).pool.raw();
  };
  CHECK(pool(FractionOf::total) == doctest::Approx(0.8 * 100 - 40 - 6 - 4));
  CHECK(pool(FractionOf::free) == doctest::Approx(0.8 * (100 - 40 - 6 - 4 - 2)));
  CHECK(pool(FractionOf::fixed_share) == doctest::Approx(0.8 * (100 - 4) - 40));
}

TEST_CASE("what does not fit says the number: weights, then one sequence, then what lies beside the fraction") {
  CompiledServingMemory c;
  c.device = Bytes{100.0};
  c.stages[0].weights = Bytes{95.0};
  c.stages[0].cache_per_token = Bytes{1.0};
  ServingMemory m = serving_memory(c, {0.9, 8, 1, 10});
  CHECK(m.verdict == Verdict::out_of_memory);
  CHECK(m.broke == 95.0);
  CHECK(m.limit == 90.0);
  CHECK(m.max_sequences == 0);
  c.stages[0].weights = Bytes{85.0};
  m = serving_memory(c, {0.9, 8, 1, 10});
  CHECK(m.verdict == Verdict::kv_cache_too_small);
  CHECK(m.broke == 10.0);
  CHECK(m.limit == doctest::Approx(5.0));
  c.stages[0].weights = Bytes{75.0};
  c.engine.uncertainty = Bytes{6.0};  // the pool is 15, a sequence 10: a smaller pool holds none
  m = serving_memory(c, {0.9, 8, 1, 10});
  CHECK(m.verdict == Verdict::kv_cache_uncertain);
  CHECK(m.capacity == 1);
  CHECK(m.broke == 10.0);
  CHECK(m.limit == doctest::Approx(15.0));
  c.engine.uncertainty = Bytes{};
  c.stages[0].weights = Bytes{50.0};
  c.engine.graphs = Bytes{20.0};  // beside vLLM's fraction: 90 + 20 of 100
  m = serving_memory(c, {0.9, 8, 1, 10});
  CHECK(m.verdict == Verdict::out_of_memory);
  CHECK(m.broke == doctest::Approx(110.0));
  CHECK(m.limit == 100.0);
}

TEST_CASE("the engine's batch limit caps what runs, not what the pool holds, attention-DP multiplies both") {
  CompiledServingMemory c;
  c.device = Bytes{100.0};
  c.stages[0].cache_per_token = Bytes{1.0};
  ServingMemory m = serving_memory(c, {0.9, 4, 1, 10});
  CHECK(m.capacity == 9);
  CHECK(m.max_sequences == 4);
  CHECK(m.tokens == doctest::Approx(90.0));
  c.layout = {1, 1, 8};
  m = serving_memory(c, {0.9, 4, 1, 10});
  CHECK(m.capacity == 72);
  CHECK(m.max_sequences == 32);
  c.engine.uncertainty = Bytes{10.0};
  m = serving_memory(c, {0.9, 4, 1, 10});
  CHECK(m.capacity_low == 64);
  CHECK(m.capacity_high == 80);
}

TEST_CASE("measured TensorRT-LLM capacities are met within one sequence") {
  // ai-dynamo/aiconfigurator @ 095f58a, tests/integration/test_trtllm_kv_cache_capacity.py: Llama-3.1-8B in bf16,
  // fraction, max_seq_len, max_num_tokens, sequences
  struct Measured {
    const char* gpu;
    std::int64_t tp;
    double fraction;
    std::int64_t length, tokens, sequences;
  };
  const ServingStack stack = find_serving_stack(test::model_data(), Engine::tensorrt_llm);
  const Architecture llama = ModelLibrary::standard().find("llama3.1-8b");
  for (const Measured& row :
       {Measured{"h100-sxm-80gb", 1, 0.8, 9192, 8192, 43}, Measured{"h100-sxm-80gb", 4, 0.8, 9192, 8192, 201},
        Measured{"gb300-nvl72", 1, 0.8, 5096, 4096, 330}, Measured{"gb300-nvl72", 2, 0.9, 7144, 4096, 544},
        Measured{"gb300-nvl72", 4, 0.9, 9192, 8192, 856}}) {
    const CompiledServingMemory c = compile_serving_memory(llama, catalog().device(row.gpu), stack.memory,
                                                           {row.tp, 1, 1}, Precision::bf16, Precision::bf16);
    const ServingMemory m = serving_memory(c, {row.fraction, 2048, row.tokens, row.length});
    CHECK(std::abs(m.capacity - row.sequences) <= 1);
    CHECK(m.capacity_low <= row.sequences);
    CHECK(m.capacity_high + 1 >= row.sequences);
  }
}

TEST_CASE("the framework grows with the ranks of a replica, whichever axis brings them") {
  EngineMemory engine = no_engine();
  engine.framework = Bytes{3.0 * gib};
  engine.framework_per_doubling = Bytes{gib};
  Architecture moe = tiny();
  moe.layers = 8;
  moe.moe = Moe{};
  moe.moe->experts = 8;
  const auto framework = [&](const ServingLayout& layout) {
    return compiled(moe, layout, Precision::bf16, Precision::bf16, engine).framework().raw() / gib;
  };
  CHECK(framework({1, 1, 1}) == 3.0);
  CHECK(framework({4, 1, 1}) == 5.0);
  CHECK(framework({4, 1, 4}) == 5.0);  // experts over the tensor ranks: no more of them
  CHECK(framework({1, 1, 8}) == 6.0);  // attention-DP over eight
  CHECK(framework({1, 8, 1}) == 6.0);
  CHECK(framework({2, 4, 4}) == 7.0);
}

TEST_CASE("a cache that stops growing has no longest sequence") {
  const ServingLimits limits{0.9, 8, 8, 64};
  CHECK(longest_sequence(compiled(tiny(), {}), limits, 8));
  Architecture windows = tiny();
  windows.window = 128;
  CHECK_FALSE(longest_sequence(compiled(windows, {}), limits, 8));
  CHECK_FALSE(longest_sequence(
      compile_serving_memory(ModelLibrary::standard().find("mamba-1.4b"), catalog().device("h100-sxm-80gb"),
                             no_engine(), {}, Precision::bf16, Precision::bf16),
      limits, 8));
}

TEST_CASE("layouts that cannot be are refused with the number") {
  CHECK(check(tiny(), {3, 1, 1}, 3).verdict == Verdict::heads_not_divisible);
  CHECK(check(tiny(), {2, 1, 1}, 3).verdict == Verdict::gpus_not_divisible);
  CHECK(check(tiny(), {1, 3, 1}, 3).verdict == Verdict::layers_too_few);
  CHECK(check(tiny(), {1, 1, 2}, 2).verdict == Verdict::experts_not_divisible);
  Architecture six = tiny();
  six.heads = 12;
  six.kv_heads = 6;
  CHECK(check(six, {4, 1, 1}, 4).verdict == Verdict::kv_heads_not_divisible);
  CHECK(check(tiny(), {4, 2, 1}, 16).verdict == Verdict::feasible);
}

TEST_CASE("property: capacity grows with the fraction, is never negative, and falls with length, tokens and seqs") {
  std::mt19937 random{7};
  const auto draw = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>{low, high}(random);
  };
  constexpr std::array engines{Engine::vllm, Engine::tensorrt_llm, Engine::sglang};
  const Architecture models[] = {tiny(), qwen3_32b(), ModelLibrary::standard().find("llama3-70b")};
  for (int i = 0; i < 2000; ++i) {
    const ServingStack stack = [&] {
      static const std::array stacks{find_serving_stack(test::model_data(), engines[0]),
                                     find_serving_stack(test::model_data(), engines[1]),
                                     find_serving_stack(test::model_data(), engines[2])};
      return stacks[static_cast<std::size_t>(draw(0, 2))];
    }();
    const ServingLayout layout{std::int64_t{1} << draw(0, 2), draw(1, 2), 1};
    const CompiledServingMemory c =
        compiled(models[draw(0, 2)], layout, Precision::bf16, Precision::bf16, stack.memory);
    ServingLimits limits{0.01 * static_cast<double>(draw(1, 90)), draw(1, 2000), draw(1, 20000), draw(1, 50000)};
    const ServingMemory m = serving_memory(c, limits);
    CHECK(m.capacity >= 0);
    CHECK(m.capacity_low <= m.capacity);
    CHECK(m.capacity_high >= m.capacity);
    CHECK(m.max_sequences <= m.capacity);
    CHECK(m.terms[MemoryTerm::kv_cache].raw() >= 0.0);
    const auto capacity = [&](const ServingLimits& other) { return serving_memory(c, other).capacity; };
    ServingLimits more = limits;
    more.memory_fraction += 0.1;
    CHECK(capacity(more) >= m.capacity);
    ServingLimits longer = limits;
    longer.sequence_tokens += draw(1, 5000);
    CHECK(capacity(longer) <= m.capacity);
    ServingLimits busier = limits;
    busier.max_num_seqs += draw(1, 500);
    busier.max_num_tokens += draw(1, 5000);
    CHECK(capacity(busier) <= m.capacity);
    const std::optional<std::int64_t> longest = longest_sequence(c, limits, std::max<std::int64_t>(1, m.capacity));
    REQUIRE(longest);
    CHECK((m.capacity == 0 || *longest >= limits.sequence_tokens));
  }
}

TEST_CASE("a broken stack tells every problem at once") {
  Diagnostics diagnostics;
  const ConfigValue root = parse_toml(
      "schema = 1\nid = \"x\"\nname = \"x\"\nengine = \"tgi\"\n[habits]\nlength_option = \"--length\"\nsource = "
      "\"s\"\n[memory_fraction]\nof = \"all\"\nvalue = 1.5\nsource = "
      "\"s\"\n[limits]\nblock_tokens = 0\nmax_num_seqs = 1\nmax_num_tokens = 1\nsource = \"s\"\n[activation]\nwide = "
      "-1.0\nquantised = 1.0\nper_logit = 1.0\nsource = \"s\"\n[framework]\nvalue = 3\nper_doubling = \"1 "
      "GiB\"\nsource "
      "= \"s\"\n[graphs]\nvalue = \"0 GiB\"\nsource = \"s\"\n[uncertainty]\nvalue = \"1 GiB\"\nspread = 2\n",
      "x.toml");
  static_cast<void>(read_serving_stack(root, "x.toml", diagnostics));
  CHECK_THROWS_AS(diagnostics.throw_if_any(), ConfigError);
  try {
    diagnostics.throw_if_any();
  } catch (const ConfigError& error) {
    // engine, of, value, block_tokens, scheduler, wide, framework, basis, source, spread
    CHECK(error.diagnostics().size() == 10);
  }
}

TEST_CASE("the hot path is noexcept") {
  static_assert(noexcept(serving_memory(std::declval<const CompiledServingMemory&>(), ServingLimits{})));
  static_assert(std::is_trivially_copyable_v<CompiledServingMemory>);
  static_assert(std::is_trivially_copyable_v<ServingMemory>);
}
