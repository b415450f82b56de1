// SPDX-License-Identifier: Apache-2.0
// What planners ask of serving memory, with hand arithmetic.
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/serve/memory/memory.hpp>
#include <headroom/model/serve/memory/serving.hpp>
#include <headroom/model/serve/replica/least_iteration.hpp>
#include <headroom/model/workload/model_library.hpp>

#include <doctest/doctest.h>

using namespace headroom;

namespace {

constexpr double gigabyte = 1e9;

/// An engine that takes a fraction of the total and keeps `workspace` aside.
CompiledServingMemory plain_engine(Bytes device, Bytes weights, Bytes workspace, Bytes cache_per_token) {
  CompiledServingMemory c;
  c.engine.fraction_of = FractionOf::total;
  c.engine.block_tokens = 16;
  c.engine.framework = workspace;
  c.device = device;
  c.stages[0].weights = weights;
  c.stages[0].cache_per_token = cache_per_token;
  return c;
}

}  // namespace

TEST_CASE("an 8B in fp16 on 80 GB keeps 50 sequences of 8192 tokens, 100 with an fp8 cache") {
  // (0.9 x 80 - 16 - 2) GB = 54 GB; 131 072 B x 8192 = 1.0737 GB a sequence: 50.3
  const auto sequences = [](double token) {
    const CompiledServingMemory c =
        plain_engine(Bytes{80 * gigabyte}, Bytes{16 * gigabyte}, Bytes{2 * gigabyte}, Bytes{token});
    return serving_memory(c, {0.9, 1000, 1, 8192}).max_sequences;
  };
  CHECK(sequences(131072.0) == 50);
  CHECK(sequences(65536.0) == 100);
}

TEST_CASE("reserving 4096 for a mean of 1024 wastes 75 %, pages of 16 under 1.6 %, and hold 3.9 times the batch") {
  const double contiguous = contiguous_waste(4096, 1024);
  const double paged = paged_waste(16, 1024);
  CHECK(contiguous == 0.75);
  CHECK(paged < 0.016);
  CHECK(paged > 0.0);
  CHECK((1.0 - paged) / (1.0 - contiguous) == doctest::Approx(3.9).epsilon(0.02));
  CHECK(paged_waste(1, 1024) == 0.0);
}

TEST_CASE("70B in INT8 on one 80 GB GPU leaves about 2 GB for the cache, less than one sequence") {
  // 0.9 x 80 - 70 = 2 GB; 320 KiB a token x 8192 tokens = 2.68 GB
  const CompiledServingMemory c =
      plain_engine(Bytes{80 * gigabyte}, weight_bytes(70e9, Precision::int8), Bytes{0.0}, Bytes{327680.0});
  const ServingMemory m = serving_memory(c, {0.9, 64, 1, 8192});
  CHECK(m.pool.raw() == doctest::Approx(2 * gigabyte));
  CHECK(m.verdict == Verdict::kv_cache_too_small);
  CHECK(m.broke == doctest::Approx(327680.0 * 8192));
  CHECK(m.limit == doctest::Approx(2 * gigabyte));
  CHECK(serving_memory(c, {0.9, 64, 1, 4096}).verdict == Verdict::feasible);
}

TEST_CASE("a decode step reads the latent cache of MLA whole on every rank, and key-value heads split over tp") {
  const Catalog catalog = Catalog::standard();
  const ModelLibrary models = ModelLibrary::standard();
  IterationMix four;
  four.decodes = 4;
  four.keys = 1280;
  const auto read = [&](const char* model, std::int64_t tp) {
    return LeastIteration{models.find(model), catalog.device("b200-sxm-180gb"), {tp, 1, 1}, {}}.cache_read(four).raw();
  };
  // 27 layers of 512 + 64 elements; four sequences of 1024 + 512 / 2 tokens
  CHECK(read("deepseek-v2-lite", 1) == 4 * 1280 * 27 * 576 * 2.0);
  CHECK(read("deepseek-v2-lite", 8) == read("deepseek-v2-lite", 1));
  CHECK(read("llama3-8b", 1) == 4 * 1280 * 131072.0);
  CHECK(read("llama3-8b", 4) == read("llama3-8b", 1) / 4);
  CHECK(read("llama3-8b", 16) == read("llama3-8b", 1) / 8);  // eight key-value heads on sixteen ranks
}

TEST_CASE("a decode step reads the weights as stored: mxfp4 experts that the batch meets, the rest in 16 bit") {
  const Architecture gpt = ModelLibrary::standard().find("gpt-oss-120b");
  const LeastIteration least{gpt, Catalog::standard().device("b200-sxm-180gb"), {}, {Precision::mxfp4}};
  const ParameterCount p = count_parameters(gpt);
  // one token meets four experts of 128, and looks up one row of the input table
  CHECK(least.weights_read(1.0, ExpertsRead::expected).raw() ==
        doctest::Approx(2.0 * (p.total - p.experts - p.embedding) +
                        stored_bytes(Precision::mxfp4) * p.experts * 4 / 128));
}

TEST_CASE("narrow weights multiply in 16 bit where the chip lacks their rate, and in their own where it has it") {
  const Catalog catalog = Catalog::standard();
  const auto compute = [&](const char* gpu, Precision weights) {
    return compute_precision(catalog.device(gpu), weights);
  };
  CHECK(compute("h100-sxm-80gb", Precision::mxfp4) == Precision::bf16);
  CHECK(compute("h100-sxm-80gb", Precision::nvfp4) == Precision::bf16);
  CHECK(compute("h100-sxm-80gb", Precision::fp8) == Precision::fp8);
  CHECK(compute("h100-sxm-80gb", Precision::int4) == Precision::int4);  // its row is the 16-bit rate
  CHECK(compute("b200-sxm-180gb", Precision::mxfp4) == Precision::mxfp4);
  CHECK(compute("a100-sxm-80gb", Precision::fp8) == Precision::bf16);
  CHECK(compute("v100-sxm2-32gb", Precision::nvfp4) == Precision::fp16);
  CHECK(compute("v100-sxm2-32gb", Precision::bf16) == Precision::bf16);  // not narrow: a missing peak stays an error
}

TEST_CASE("a 7B in fp16 on 80 GB runs as data-parallel replicas, a 70B takes TP2") {
  const Bytes gpu80{80 * gigabyte};
  const ReplicaLayout small = replica_layout(weight_bytes(7e9, Precision::fp16), gpu80, 0.9, 8);
  CHECK(small.tp == 1);
  CHECK(small.replicas == 8);
  const ReplicaLayout large = replica_layout(weight_bytes(70e9, Precision::fp16), gpu80, 0.9, 8);
  CHECK(large.tp == 2);
  CHECK(large.replicas == 4);
}
