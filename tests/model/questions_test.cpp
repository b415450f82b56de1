// SPDX-License-Identifier: Apache-2.0
// What planners ask of states, caches, collectives, batches and ridges, with hand arithmetic.
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/collectives/collective.hpp>
#include <headroom/model/kernels/roofline.hpp>
#include <headroom/model/serve/memory/serving.hpp>
#include <headroom/model/train/evaluate/training.hpp>

#include <doctest/doctest.h>

using namespace headroom;

namespace {

constexpr double gigabyte = 1e9;

Architecture llama_like(std::int64_t kv_heads) {
  Architecture arch;
  arch.layers = 80;
  arch.hidden = 8192;
  arch.heads = 64;
  arch.kv_heads = kv_heads;
  arch.head_dim = 128;
  arch.ffn_hidden = 28672;
  arch.gated_mlp = true;
  arch.vocab = 128256;
  return arch;
}

}  // namespace

TEST_CASE("Adam with a master copy keeps 12 bytes a parameter, 16 with 16-bit weights and gradients") {
  const StateBytes states = adam_states(Precision::fp16);
  CHECK(states.optimizer == 12.0);
  CHECK(states.total() == 16.0);
  const StateMemory seven = state_memory(7e9, states, 0, 1);
  CHECK(seven.optimizer.raw() == doctest::Approx(84 * gigabyte));
  CHECK(seven.total().raw() == doctest::Approx(112 * gigabyte));
  const StateMemory two = state_memory(2e9, states, 0, 1);
  CHECK(two.optimizer.raw() == doctest::Approx(24 * gigabyte));
  CHECK(two.total().raw() == doctest::Approx(32 * gigabyte));
}

TEST_CASE("ZeRO stages of 2e9 parameters on 64 ranks take 32, 8.375, 4.4375 and 0.5 GB") {
  const StateBytes states = adam_states(Precision::bf16);
  const auto total = [&](int zero) { return state_memory(2e9, states, zero, 64).total().raw() / gigabyte; };
  CHECK(total(0) == doctest::Approx(32.0));
  CHECK(total(1) == doctest::Approx(8.375));
  CHECK(total(2) == doctest::Approx(4.4375));
  CHECK(total(3) == doctest::Approx(0.5));
}

TEST_CASE("70e9 weights are 140 GB in fp16 and 70 in int8 or fp8, 35 in int4, on 2, 1, 1 and 1 GPUs") {
  const Bytes gpu80{80 * gigabyte};
  const Bytes gpu48{48 * gigabyte};
  CHECK(weight_bytes(70e9, Precision::fp16).raw() == doctest::Approx(140 * gigabyte));
  CHECK(weight_bytes(70e9, Precision::int8).raw() == doctest::Approx(70 * gigabyte));
  CHECK(weight_bytes(70e9, Precision::fp8).raw() == doctest::Approx(70 * gigabyte));
  CHECK(weight_bytes(70e9, Precision::int4).raw() == doctest::Approx(35 * gigabyte));
  CHECK(gpus_to_hold(weight_bytes(70e9, Precision::fp16), gpu80, 0.9) == 2);
  CHECK(gpus_to_hold(weight_bytes(70e9, Precision::int8), gpu80, 0.9) == 1);
  CHECK(gpus_to_hold(weight_bytes(70e9, Precision::fp8), gpu80, 0.9) == 1);
  CHECK(gpus_to_hold(weight_bytes(70e9, Precision::int4), gpu48, 0.9) == 1);
  CHECK(gpus_to_hold(weight_bytes(70e9, Precision::fp16), gpu80, 1.0) == 2);
}

TEST_CASE(
    "KV cache is 327 680 bytes a token at L80 kv8 d128 fp16, 80 GiB for 32 x 8192, 8x with 64 heads, half in fp8") {
  const Bytes token = kv_bytes(llama_like(8), 2.0, 1, 1);
  CHECK(token.raw() == 327680.0);
  CHECK(kv_bytes(llama_like(8), 2.0, 32, 8192).raw() == 80.0 * 0x1p30);
  CHECK(kv_bytes(llama_like(64), 2.0, 1, 1) / token == doctest::Approx(8.0));
  CHECK(kv_bytes(llama_like(8), row_of(Precision::fp8).weight_bytes, 1, 1) / token == doctest::Approx(0.5));
}

TEST_CASE("a ring all-reduce of D bytes sends 2(p-1)/p D from each rank") {
  const Bytes four{4 * gigabyte};
  CHECK(bytes_per_rank(Collective::all_reduce, four, 64).raw() == doctest::Approx(7.875 * gigabyte));
  CHECK((bytes_per_rank(Collective::all_reduce, four, 64) / BytesPerSecond{50 * gigabyte}).raw() ==
        doctest::Approx(0.1575));
  CHECK(bytes_per_rank(Collective::all_reduce, Bytes{14 * gigabyte}, 8).raw() == doctest::Approx(24.5 * gigabyte));
}

TEST_CASE("an all-reduce is a reduce-scatter and an all-gather for every group size from 2 to 1024") {
  const Bytes buffer{1e9};
  for (std::int64_t p = 2; p <= 1024; ++p) {
    const Bytes scatter = bytes_per_rank(Collective::reduce_scatter, buffer, p);
    const Bytes gather = bytes_per_rank(Collective::all_gather, buffer, p);
    CHECK(scatter.raw() == doctest::Approx(static_cast<double>(p - 1) / static_cast<double>(p) * 1e9));
    CHECK((bytes_per_rank(Collective::all_reduce, buffer, p) - (scatter + gather)).raw() == doctest::Approx(0.0));
  }
}

TEST_CASE("8 sequences a GPU on 64 GPUs with 4 accumulation steps is a batch of 2048, which 56 GPUs cannot make") {
  Architecture arch = llama_like(8);
  Strategy s;
  s.micro_batch = 8;
  s.dp = 64;
  CHECK(check(arch, {64, 4096, 2048}, s).verdict == Verdict::feasible);
  s.dp = 56;
  const Legality refused = check(arch, {56, 4096, 2048}, s);
  CHECK(refused.verdict == Verdict::batch_not_divisible);
  CHECK(refused.broke == 2048.0);
  CHECK(refused.limit == 448.0);
}

TEST_CASE("the A100-80 ridge is 153 FLOP/B, an fp16 add stays below it and an 8192 GEMM above") {
  const Catalog catalog = Catalog::standard();
  const Device& a100 = catalog.device("a100-sxm-80gb");
  const FlopsPerSecond peak = a100.peak_of(Rate::bf16);
  const BytesPerSecond bandwidth = a100.bandwidth();
  CHECK((peak / bandwidth).raw() == doctest::Approx(153.0).epsilon(0.005));
  const Roofline add = roofline(Flops{1}, Bytes{6}, peak, bandwidth);  // two reads and a write of two bytes
  CHECK(add.intensity.raw() == doctest::Approx(0.1667).epsilon(1e-3));
  CHECK(add.memory_bound);
  const Roofline gemm = roofline(gemm_flops(8192, 8192, 8192), gemm_bytes(8192, 8192, 8192, 2.0), peak, bandwidth);
  CHECK(gemm.intensity.raw() == doctest::Approx(8192.0 / 3.0));
  CHECK_FALSE(gemm.memory_bound);
  CHECK(gemm.attainable.raw() == peak.raw());
}
