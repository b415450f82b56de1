// SPDX-License-Identifier: Apache-2.0
// Rows of the planner's questions on serving memory, with their numbers: M13 S9 S10 P14.
#include <headroom/model/serve/memory.hpp>
#include <headroom/model/serve/serving.hpp>

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

TEST_CASE("M13: an 8B in fp16 on 80 GB keeps 50 sequences of 8192 tokens, 100 with an fp8 cache") {
  // (0.9 x 80 - 16 - 2) GB = 54 GB; 131 072 B x 8192 = 1.0737 GB a sequence: 50.3
  const auto sequences = [](double token) {
    const CompiledServingMemory c =
        plain_engine(Bytes{80 * gigabyte}, Bytes{16 * gigabyte}, Bytes{2 * gigabyte}, Bytes{token});
    return serving_memory(c, {0.9, 1000, 1, 8192}).max_sequences;
  };
  CHECK(sequences(131072.0) == 50);
  CHECK(sequences(65536.0) == 100);
}

TEST_CASE("S9: reserving 4096 for a mean of 1024 wastes 75 %, pages of 16 under 1.6 %, and hold 3.9 times the batch") {
  const double contiguous = contiguous_waste(4096, 1024);
  const double paged = paged_waste(16, 1024);
  CHECK(contiguous == 0.75);
  CHECK(paged < 0.016);
  CHECK(paged > 0.0);
  CHECK((1.0 - paged) / (1.0 - contiguous) == doctest::Approx(3.9).epsilon(0.02));
  CHECK(paged_waste(1, 1024) == 0.0);
}

TEST_CASE("S10: 70B in INT8 on one 80 GB GPU leaves about 2 GB for the cache: fits but useless") {
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

TEST_CASE("P14: a 7B in fp16 on 80 GB runs as data-parallel replicas, a 70B takes TP2") {
  const Bytes gpu80{80 * gigabyte};
  const ReplicaLayout small = replica_layout(weight_bytes(7e9, Precision::fp16), gpu80, 0.9, 8);
  CHECK(small.tp == 1);
  CHECK(small.replicas == 8);
  const ReplicaLayout large = replica_layout(weight_bytes(70e9, Precision::fp16), gpu80, 0.9, 8);
  CHECK(large.tp == 2);
  CHECK(large.replicas == 4);
}
