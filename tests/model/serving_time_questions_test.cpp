// SPDX-License-Identifier: Apache-2.0
// What planners ask of serving times, with hand arithmetic.
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/serve/fixed_load/steady_state.hpp>
#include <headroom/model/serve/memory/serving.hpp>
#include <headroom/model/serve/replica/engine_terms.hpp>
#include <headroom/model/serve/replica/least_iteration.hpp>
#include <headroom/model/workload/model_library.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include "../support/catalog.hpp"
#include "../support/model_data.hpp"
#include <cstdint>
#include <string_view>

using namespace headroom;
using headroom::test::catalog;
using test::near;

namespace {

const Device& h100() {
  static const Device& device = catalog().device("h100-sxm-80gb");
  return device;
}
Architecture model(std::string_view id) {
  return ModelLibrary::standard().find(id);
}
Replica replica(const Architecture& arch, const ServingLayout& layout, const ReplicaFormats& formats) {
  return {test::model_data(),
          arch,
          h100(),
          catalog().reference_node(h100()),
          {"vllm", {Routing::power_law, 1.2}},
          layout,
          formats};
}
IterationMix decodes(double sequences, double keys) {
  IterationMix mix;
  mix.decodes = sequences;
  mix.keys = keys;
  return mix;
}

constexpr ReplicaFormats wide{};
constexpr ReplicaFormats narrow_cache{Precision::bf16, Precision::bf16, Precision::fp8};
constexpr ReplicaFormats int4{Precision::int4, Precision::bf16, Precision::bf16};
constexpr ReplicaFormats int8{Precision::int8, Precision::bf16, Precision::bf16};

}  // namespace

TEST_CASE("a lone decode of an 8B streams its weights: 4.8 ms in 16 bit on 3.35 TB/s, about 1.2 ms in 4 bit") {
  REQUIRE(h100().bandwidth().raw() == near(3.35e12));
  const Architecture llama = model("llama3-8b");
  const double wide_floor = LeastIteration{llama, h100(), {}, wide}.time(decodes(1, 1), ExpertsRead::expected);
  // token table and head stay in 16 bit, 128 256 x 4096 each; of the table a step looks up rows
  const double ends = 128256 * 4096.0 * 2 / 3.35e12;
  CHECK(wide_floor + ends == near(4.8e-3, 0.005));
  const double narrow_floor = LeastIteration{llama, h100(), {}, int4}.time(decodes(1, 1), ExpertsRead::expected);
  CHECK(narrow_floor - ends == near(1.2e-3, 0.10));
  // the kernels take longer than the stream, launches and all, but not twice as long
  const double took = replica(llama, {}, wide).terms(decodes(1, 500)).total();
  CHECK(took > wide_floor);
  CHECK(took < 1.6 * wide_floor);
}

TEST_CASE("70B decodes no faster than 20.9 ms in 16 bit on two H100, and in INT8 on one") {
  const Architecture llama = model("llama3-70b");
  const auto floor = [&](std::int64_t tp, const ReplicaFormats& formats) {
    return LeastIteration{llama, h100(), {tp, 1, 1}, formats}.time(decodes(1, 1), ExpertsRead::expected);
  };
  CHECK(floor(2, wide) == near(20.9e-3, 0.02));
  CHECK(floor(1, int8) == near(20.9e-3, 0.05));  // 140.6e9 parameters' bytes, and the ends in 16 bit
  CHECK(replica(llama, {2, 1, 1}, wide).terms(decodes(1, 500)).total() > floor(2, wide));
  CHECK(replica(llama, {1, 1, 1}, int8).terms(decodes(1, 500)).total() > floor(1, int8));
}

TEST_CASE("100 sequences of an fp8 cache decode in the step of 50 of a 16-bit one") {
  const Architecture llama = model("llama3-8b");
  const auto floor = [&](const ReplicaFormats& formats, double sequences) {
    return LeastIteration{llama, h100(), {}, formats}.time(decodes(sequences, 8192), ExpertsRead::expected);
  };
  CHECK(floor(narrow_cache, 100) == near(floor(wide, 50)));
  CHECK(floor(wide, 50) == near((16.06e9 - 2 * 128256 * 4096.0 + 50 * 8192 * 131072.0) / 3.35e12, 2e-3));
  const double half = replica(llama, {}, wide).terms(decodes(50, 8192)).total();
  const double full = replica(llama, {}, narrow_cache).terms(decodes(100, 8192)).total();
  CHECK(full < 1.3 * half);  // so that twice as many cost little more
  CHECK(full > floor(narrow_cache, 100));
}

TEST_CASE("of a 7B that fits one GPU, two replicas answer more prompts than one spread over two") {
  const Architecture llama = model("llama2-7b");
  const auto rate = [&](const Device& on, const ServingLayout& layout, double batch) {
    const Replica r{test::model_data(), llama, on, nullptr, {"vllm", {Routing::power_law, 1.2}}, layout, wide};
    IterationStack engine;
    engine.step = Seconds{200e-6};
    engine.layer = Seconds{20e-6};
    SteadyLoad load;
    load.isl = 2048;
    load.batch = load.concurrency = batch;
    return static_batch([&](const IterationMix& mix) { return engine_terms(r, mix, r.terms(mix), engine, {}).total(); },
                        load, {})
        .requests_per_s;
  };
  // Arithmetic halves, and what the ranks send comes on top: little over NVLink, much over PCIe.
  const Device& card = catalog().device("l40s");
  const double joined = 2 * rate(h100(), {}, 4) / rate(h100(), {2, 1, 1}, 8);
  const double apart = 2 * rate(card, {}, 4) / rate(card, {2, 1, 1}, 8);
  CHECK(joined > 1.0);
  CHECK(apart > joined);
}

TEST_CASE("70e9 weights of 4 bit in groups of 128 take 36.1 GB, zero points and scales about 1 % more") {
  const double stored = 70e9 * stored_bytes(Precision::int4);
  CHECK(stored > 36.1e9);
  CHECK(stored < 1.01 * 36.1e9);
  CHECK(stored_bytes(Precision::int8) > stored_bytes(Precision::int4));
  // What a decode of a 70B streams on two GPUs shrinks by as much, but for the ends, which stay in 16 bit.
  const auto streams = [](const ReplicaFormats& formats) {
    return LeastIteration{model("llama3-70b"), h100(), {2, 1, 1}, formats}.weights_read(1, ExpertsRead::expected).raw();
  };
  const double ratio = streams(wide) / streams(int4);
  CHECK(ratio > 3.0);
  CHECK(ratio < 2.0 / stored_bytes(Precision::int4));
}

TEST_CASE("with 80 % of an iteration at twice the rate the whole is 1.67 times as fast") {
  const Replica r = replica(model("llama3-8b"), {}, wide);
  IterationTerms kernels;
  kernels[IterationTerm::products] = 8e-3;
  kernels[IterationTerm::passes] = 1.5e-3;
  kernels[IterationTerm::head] = 0.5e-3;
  IterationStack engine;
  const double before = engine_terms(r, decodes(1, 1), kernels, engine, {}).total();
  engine.products = 0.5;
  CHECK(before / engine_terms(r, decodes(1, 1), kernels, engine, {}).total() == near(1.67, 0.002));
}
