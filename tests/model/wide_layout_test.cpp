// SPDX-License-Identifier: Apache-2.0
// How wide expert parallelism is launched: redundant experts, balanced placement, halves of a batch in turn.
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/serve/memory/memory.hpp>
#include <headroom/model/serve/replica/engine_terms.hpp>
#include <headroom/model/serve/replica/replica.hpp>
#include <headroom/model/workload/model_library.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include "../support/catalog.hpp"
#include "../support/model_data.hpp"
#include <algorithm>
#include <cmath>

using namespace headroom;
using headroom::test::catalog;
using headroom::test::near;
using T = IterationTerm;

namespace {

Architecture model(std::string_view id) {
  static const ModelLibrary standard = ModelLibrary::standard();
  return standard.find(id);
}

Replica replica(const ServingLayout& layout, const MoeRouting& routing = {Routing::power_law, 1.2}) {
  const Device& on = catalog().device("h100-sxm-80gb");
  return {test::model_data(),
          model("deepseek-v2-lite"),
          on,
          catalog().reference_node(on),
          {"vllm", routing, {}, {}},
          layout,
          {}};
}

IterationMix decodes(double sequences) {
  IterationMix mix;
  mix.decodes = sequences;
  mix.keys = 1000.0;
  return mix;
}

/// Equal up to rounding; nothing is like nothing.
bool alike(double a, double b) {
  return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b));
}

Bytes experts_of(const ServingLayout& layout) {
  const Device& on = catalog().device("h100-sxm-80gb");
  return compile_serving_memory(model("deepseek-v3"), on, EngineMemory{}, layout, Precision::fp8, Precision::bf16)
      .stages[0]
      .experts;
}

}  // namespace

TEST_CASE("72 ranks hold 256 experts with 32 redundant ones, four each as 64 ranks do without") {
  const Architecture v3 = model("deepseek-v3");
  const LayoutProblem alone = check(v3, {1, 1, 72}, 72);
  CHECK(alone.verdict == Verdict::experts_not_divisible);
  CHECK(alone.broke == 256);
  const ServingLayout wide{1, 1, 72, 32};
  CHECK(check(v3, wide, 72).verdict == Verdict::feasible);
  CHECK(experts_of(wide).raw() == near(experts_of({1, 1, 64}).raw()));
  CHECK(experts_of({1, 1, 32, 32}).raw() == near(9.0 / 8.0 * experts_of({1, 1, 32}).raw()));
}

TEST_CASE("balanced experts are priced as uniform choices are, and no rank is hotter than the others") {
  const IterationMix mix = decodes(2048);
  const IterationTerms balanced = replica({1, 1, 8, 0, true}).terms(mix);
  const IterationTerms uniform = replica({1, 1, 8}, {Routing::uniform, 0.0}).terms(mix);
  CHECK(balanced[T::experts] == near(uniform[T::experts]));
  CHECK(balanced[T::experts] < replica({1, 1, 8}).terms(mix)[T::experts]);
}

TEST_CASE("halves of a batch in turn: both are paid, and exchanges show what the rest does not hide") {
  IterationStack stack;
  stack.layer = Seconds{1e-6};
  const Replica plain = replica({1, 1, 8});
  const Replica turns = replica({1, 1, 8, 0, false, true});
  const auto priced = [&](const Replica& r, const IterationMix& mix) {
    return engine_terms(r, mix, r.terms(mix), stack, IterationPhysics{});
  };
  CHECK(turns.takes_turns(decodes(1024)));
  CHECK_FALSE(plain.takes_turns(decodes(1024)));
  const IterationTerms both = priced(turns, decodes(1024));
  const IterationTerms half = priced(plain, decodes(512));
  double compute = 0.0;
  for (const T term : {T::products, T::experts, T::decode_attention, T::prefill_attention, T::all_reduce, T::passes}) {
    CHECK(alike(both[term], 2.0 * half[term]));
    compute += 2.0 * half[term];
  }
  CHECK(half[T::exchange] > 0.0);
  CHECK(both[T::exchange] < 2.0 * half[T::exchange]);
  CHECK(alike(both[T::exchange], std::max(0.0, 2.0 * half[T::exchange] - compute)));
  CHECK(both[T::gaps] == near(2.0 * half[T::gaps]));
  // Fewer than two tokens a rank are no halves.
  CHECK_FALSE(turns.takes_turns(decodes(15)));
  CHECK(priced(turns, decodes(15)).total() == near(priced(plain, decodes(15)).total()));
}
