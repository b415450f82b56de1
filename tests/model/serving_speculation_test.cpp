// SPDX-License-Identifier: Apache-2.0
// A step that drafts and verifies: what it computes and reads, its tables, its memory, and when it pays.
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/kernels/attention.hpp>
#include <headroom/model/serve/fixed_load/serving_times.hpp>
#include <headroom/model/serve/memory/draft_memory.hpp>
#include <headroom/model/serve/memory/serving.hpp>
#include <headroom/model/serve/replica/drafting.hpp>
#include <headroom/model/serve/replica/engine_terms.hpp>
#include <headroom/model/serve/replica/least_iteration.hpp>
#include <headroom/model/serve/simulation/fleet_simulation.hpp>
#include <headroom/model/serve/simulation/simulated_replica.hpp>
#include <headroom/model/serve/tables/make_tables.hpp>
#include <headroom/model/workload/model_library.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include "../support/catalog.hpp"
#include "../support/model_data.hpp"
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

using namespace headroom;
using headroom::test::catalog;
using test::near;
using T = IterationTerm;

namespace {

const Device& h100() {
  return catalog().device("h100-sxm-80gb");
}
Architecture model(std::string_view id) {
  return ModelLibrary::standard().find(id);
}
Replica replica(std::string_view id, const ServingLayout& layout = {}) {
  return {test::model_data(),
          model(id),
          h100(),
          catalog().reference_node(h100()),
          {"vllm", {Routing::power_law, 1.2}},
          layout,
          {}};
}
IterationMix decodes(double sequences, double keys, double queries = 1.0) {
  IterationMix mix;
  mix.decodes = sequences;
  mix.keys = keys;
  mix.queries = queries;
  return mix;
}

DraftPlan ngram(std::int64_t draft, double acceptance) {
  DraftPlan plan;
  plan.speculation = {draft, acceptance, 1};
  plan.method = "ngram";
  return plan;
}
DraftPlan timed(std::int64_t draft, double acceptance, double seconds) {
  DraftPlan plan = ngram(draft, acceptance);
  plan.method = "eagle";
  plan.time = Seconds{seconds};
  return plan;
}
DraftPlan small_model(std::int64_t draft, double acceptance, std::int64_t tp = 0) {
  DraftPlan plan = ngram(draft, acceptance);
  plan.method = "draft_model";
  plan.model = std::make_shared<const Architecture>(model("llama3.2-1b"));
  plan.tp = tp;
  return plan;
}

IterationStack habits() {
  IterationStack stack;
  stack.curves = "vllm";
  stack.step = Seconds{220e-6};
  stack.sequence = Seconds{2e-6};
  stack.layer = Seconds{30e-6};
  stack.prompt_launch = Seconds{20e-6};
  return stack;
}

/// A replica of the 70B over eight ranks, its draft, and both ways to price an iteration.
struct Priced {
  ServingLayout layout{8, 1, 1};
  Replica served = replica("llama3-70b", layout);
  IterationStack stack = habits();
  IterationPhysics physics{};
  std::optional<Drafting> drafting;
  IterationTables tables;

  explicit Priced(const std::optional<DraftPlan>& plan, const IterationStack& engine = habits())
      : stack{engine},
        drafting{plan ? std::optional<Drafting>{std::in_place, test::model_data(), *plan, h100(),
                                                catalog().reference_node(h100()), stack, physics, layout,
                                                Precision::bf16, 1.0}
                      : std::nullopt},
        tables{make_iteration_tables(
            served,
            stack,
            physics,
            {512, 8192, 32768},
            1.0,
            [this](const IterationMix& mix, TablePoint) { return served.terms(mix); },
            drafting ? &*drafting : nullptr)} {}
  [[nodiscard]] double by_kernels(const IterationMix& mix) const {
    return engine_terms(served, mix, served.terms(mix), stack, physics).total() +
           (drafting ? drafting->seconds(mix) : 0.0);
  }
};

ServingWorkload work(std::int64_t concurrency, const std::optional<DraftPlan>& plan) {
  ServingWorkload w;
  w.gpus = 8;
  w.layout = {8, 1, 1};
  w.isl = 1024;
  w.osl = 512;
  w.concurrency = concurrency;
  w.max_num_seqs = 1024;
  w.draft = plan ? std::make_shared<const DraftPlan>(*plan) : nullptr;
  return w;
}
ServingTimes times(std::int64_t concurrency, const std::optional<DraftPlan>& plan) {
  static const ServingStack vllm = find_serving_stack(test::model_data(), Engine::vllm);
  const Architecture llama = model("llama3-70b");
  const ServingWorkload w = work(concurrency, plan);
  const ServingEstimate memory = serve_memory(llama, h100(), vllm, w);
  REQUIRE(memory.verdict == Verdict::feasible);
  return serving_times(test::model_data(), llama, h100(), catalog().reference_node(h100()), vllm, w, memory);
}

constexpr double picosecond = 1e-12;

}  // namespace

TEST_CASE("speculation: products, experts, all-reduce, passes and head of a step are those of all its tokens") {
  for (const std::string_view id : {"llama3-70b", "qwen3-30b-a3b", "deepseek-v2-lite"}) {
    const Replica r = replica(id, {2, 1, 1});
    CAPTURE(id);
    for (const double b : {1.0, 7.0, 96.0}) {
      const IterationTerms verified = r.terms(decodes(b, 900, 4));
      const IterationTerms alone = r.terms(decodes(4 * b, 900));
      for (const T term : {T::products, T::experts, T::all_reduce, T::passes, T::head}) {
        CHECK(verified[term] == alone[term]);
      }
      // one cache for four queries, not four
      CHECK(verified[T::decode_attention] < alone[T::decode_attention] + 1e-9);
    }
  }
}

TEST_CASE("speculation: the queries of a draft read their sequence's cache once, and multiply each for itself") {
  const Replica r = replica("llama3-8b");
  const double b = 64, keys = 16'000, layers = 32, kv_heads = 8, heads = 32, width = 128;
  const double cache = layers * b * 2 * kv_heads * width * 2 * keys;  // bytes
  const double one = r.terms(decodes(b, keys))[T::decode_attention];
  const double eight = r.terms(decodes(b, keys, 8))[T::decode_attention];
  // the stream of the cache binds both
  CHECK(one > cache / 3.35e12);
  CHECK(eight > one);
  CHECK(eight < 1.1 * one);
  // 130 queries of 4 heads a KV head: 4 FLOP a query, head, key and width at 989 TFLOP/s are longer than the stream
  const double many = r.terms(decodes(b, keys, 130))[T::decode_attention];
  const double flops = layers * 4 * b * 130 * heads * keys * width;
  CHECK(flops / 989e12 > cache / 3.35e12);
  CHECK(many > flops / 990e12);
  CHECK(many < 1.6 * flops / 989e12);
  CHECK(r.terms(decodes(b, keys, 8)).least_decode >= r.terms(decodes(b, keys)).least_decode);
}

TEST_CASE("speculation: a draft of no tokens that takes no time is no speculation, byte for byte") {
  const Priced plain{std::nullopt};
  const Priced none{ngram(0, 0.7)};
  for (const std::int64_t b : {0, 1, 5, 77, 512}) {
    for (const std::int64_t each : {1, 100, 1300, 20'000}) {
      for (const std::int64_t prompt : {0, 64, 3000}) {
        IterationBatch batch;
        batch.decodes = b;
        batch.context = b * each;
        if (prompt > 0) {
          batch.add(prompt, true, plain.tables.chunk(prompt, prompt));
        }
        CHECK(plain.tables.time(batch) == none.tables.time(batch));
      }
    }
  }
  for (const std::int64_t c : {1, 64, 700}) {
    const ServingTimes one = times(c, std::nullopt);
    const ServingTimes other = times(c, ngram(0, 0.7));
    CHECK(one.state.tpot.raw() == other.state.tpot.raw());
    CHECK(one.state.ttft.raw() == other.state.ttft.raw());
    CHECK(one.output_tokens_per_s == other.output_tokens_per_s);
    CHECK(one.least_decode.raw() == other.least_decode.raw());
  }
}

TEST_CASE("speculation: tables hold the kernels of verifying and drafting, at their knots and between them") {
  for (const DraftPlan& plan : {ngram(3, 0.7), timed(7, 0.7, 1.5e-3), small_model(3, 0.7), small_model(3, 0.7, 1)}) {
    const Priced p{plan};
    CAPTURE(plan.method);
    const double q = plan.queries();
    for (const double b : {1.0, 2.0, 16.0, 256.0}) {
      for (const double keys : {64.0, 1536.0, 8192.0}) {
        CAPTURE(b);
        CAPTURE(keys);
        const IterationMix mix = decodes(b, keys, q);
        CHECK(std::abs(table_seconds(p.tables, mix) - p.by_kernels(mix)) <= 5 * picosecond);
      }
    }
    for (const double b : {5.0, 21.0, 77.0, 130.0, 400.0}) {
      for (const double keys : {100.0, 1200.0, 20000.0}) {
        CAPTURE(b);
        CAPTURE(keys);
        const IterationMix mix = decodes(b, keys, q);
        CHECK(table_seconds(p.tables, mix) == near(p.by_kernels(mix), b * q <= 128 ? 0.05 : 0.08));
        IterationMix mixed = mix;
        mixed.chunks = mixed.ending = 1;
        mixed.chunk_tokens = mixed.chunk_keys = 1500;
        CHECK(table_seconds(p.tables, mixed) == near(p.by_kernels(mixed), 0.15));
      }
    }
  }
}

TEST_CASE("speculation: steps wait for the host once and once a sequence, unless the engine overlaps drafts") {
  IterationStack waiting = habits();
  waiting.draft_step = Seconds{2e-3};
  waiting.draft_sequence = Seconds{100e-6};
  for (DraftPlan plan : {ngram(3, 0.7), timed(7, 0.7, 1.5e-3), small_model(3, 0.7)}) {
    CAPTURE(plan.method);
    const Priced hidden{plan};
    const Priced exposed{plan, waiting};
    plan.speculation.overlapped = true;
    const Priced overlapped{plan, waiting};
    for (const double b : {1.0, 16.0, 256.0}) {
      CAPTURE(b);
      const IterationMix mix = decodes(b, 1536, plan.queries());
      const double waits = 2e-3 + b * 100e-6;
      CHECK(exposed.by_kernels(mix) - hidden.by_kernels(mix) == near(waits, 1e-9));
      CHECK(std::abs(table_seconds(exposed.tables, mix) - exposed.by_kernels(mix)) <= 5 * picosecond);
      CHECK(overlapped.by_kernels(mix) == hidden.by_kernels(mix));
      CHECK(table_seconds(overlapped.tables, mix) == table_seconds(hidden.tables, mix));
    }
  }
}

TEST_CASE("speculation: a draft model runs as often as it drafts, on the same ranks, and reads the prompts too") {
  const Priced p{small_model(5, 0.7, 1)};
  const Replica small = replica("llama3.2-1b");
  const IterationMix mix = decodes(16, 1000);
  IterationStack launched = habits();
  launched.step = launched.sequence = Seconds{};
  const double once = engine_terms(small, mix, small.terms(mix), launched, p.physics).total();
  CHECK(p.drafting->decode_seconds(16, 1000) == near(5 * once));
  // the weights of 1.24e9 parameters, in 16 bit, five times
  CHECK(p.drafting->decode_seconds(16, 1000) > 5 * 2 * 1.2358e9 / 3.35e12);
  IterationMix prompt;
  prompt.chunks = prompt.ending = 1;
  prompt.chunk_tokens = prompt.chunk_keys = 4096;
  IterationMix unsampled = prompt;
  unsampled.ending = 0;
  CHECK(p.drafting->seconds(prompt) ==
        near(engine_terms(small, unsampled, small.terms(unsampled), launched, p.physics).total()));
  CHECK(Priced{timed(5, 0.7, 2e-3)}.drafting->seconds(prompt) == 0.0);
  CHECK(Priced{timed(5, 0.7, 2e-3)}.drafting->decode_seconds(100, 1000) == 2e-3);
}

TEST_CASE("speculation: where reading weights binds, tokens come faster as Leviathan et al. 2023 say, theorem 3.8") {
  // (1 - a^(k + 1)) / ((1 - a) (k c + 1)), c the time of a drafted token over that of the served model's
  const ServingTimes plain = times(1, std::nullopt);
  const double step = plain.state.decode_step.raw();
  for (const double c : {0.0, 0.02, 0.1}) {
    for (const std::int64_t k : {1, 3, 5}) {
      const double a = 0.8;
      const double factor =
          (1 - std::pow(a, static_cast<double>(k + 1))) / ((1 - a) * (static_cast<double>(k) * c + 1));
      CAPTURE(c);
      CAPTURE(k);
      const ServingTimes with = times(1, timed(k, a, static_cast<double>(k) * c * step));
      CHECK(plain.state.tpot / with.state.tpot == near(factor, 0.04));
      CHECK(with.output_tokens_per_s > 0.95 * plain.output_tokens_per_s);
    }
  }
}

TEST_CASE("speculation: where arithmetic binds, verifying what is thrown away slows down") {
  // Five tokens of 512 sequences multiply for longer than the weights take to be read, 1.65 of them come out.
  const Priced p{ngram(4, 0.4)};
  const auto speedup = [&](double sequences, double acceptance) {
    const double plain =
        engine_terms(p.served, decodes(sequences, 500), p.served.terms(decodes(sequences, 500)), p.stack, p.physics)
            .total();
    return plain * Speculation{4, acceptance}.tokens_per_step() / p.by_kernels(decodes(sequences, 500, 5));
  };
  CHECK(speedup(1, 0.4) > 1.5);
  CHECK(speedup(512, 0.4) < 0.9);
  CHECK(speedup(1, 0.4) > speedup(64, 0.4));
  CHECK(speedup(64, 0.4) > speedup(512, 0.4));
  // no more than the tokens that come out of it, and none without any
  CHECK(speedup(1, 1.0) < 5.0);
  CHECK(speedup(1, 1.0) > 4.5);
  CHECK(speedup(1, 0.0) < 1.0);
  // with what a whole load brings
  CHECK(times(700, std::nullopt).state.tpot < times(700, ngram(4, 0.1)).state.tpot);
}

TEST_CASE("speculation: a draft model's weights and cache leave the pool") {
  const ServingStack vllm = find_serving_stack(test::model_data(), Engine::vllm);
  const Architecture llama = model("llama3-70b");
  const auto memory = [&](const std::optional<DraftPlan>& plan) {
    return serve_memory(llama, h100(), vllm, work(64, plan));
  };
  // as many logits whoever drafts: what is compared is the draft's own
  const ServingEstimate without = memory(ngram(3, 0.7));
  const ServingEstimate whole = memory(small_model(3, 0.7, 1));
  // 16 layers, 8 KV heads of 64, keys and values, 2 bytes
  const double token = 16 * 8 * 64 * 2 * 2.0;
  CHECK((without.memory.pool - whole.memory.pool).raw() == near(2 * 1235814400.0, 1e-6));
  CHECK((whole.memory.sequence - without.memory.sequence).raw() == near(1536 * token));
  CHECK((whole.kv_per_token - without.kv_per_token).raw() == near(token));
  CHECK(whole.memory.capacity < without.memory.capacity);
  // over eight ranks an eighth of both
  const ServingEstimate spread = memory(small_model(3, 0.7));
  CHECK((without.memory.pool - spread.memory.pool).raw() == near(2 * 1235814400.0 / 8, 0.01));
  CHECK((spread.memory.sequence - without.memory.sequence).raw() == near(1536 * token / 8));
  // four tokens of each sequence are sampled together
  ServingWorkload many = work(64, ngram(3, 0.7));
  many.max_num_tokens = 1024;
  ServingWorkload plain = many;
  plain.draft.reset();
  const auto activations = [&](const ServingWorkload& w) {
    return serve_memory(llama, h100(), vllm, w).memory.terms[MemoryTerm::activations].raw();
  };
  CHECK(activations(many) == near(4 * activations(plain)));
}

TEST_CASE("speculation: recurrent layers keep a state for each token that is verified") {
  const ServingStack vllm = find_serving_stack(test::model_data(), Engine::vllm);
  const Architecture mamba = model("mamba-1.4b");
  ServingWorkload w = work(64, std::nullopt);
  w.gpus = 1;
  w.layout = {1, 1, 1};
  const double one = serve_memory(mamba, h100(), vllm, w).memory.sequence.raw();
  w.draft = std::make_shared<const DraftPlan>(ngram(3, 0.7));
  CHECK(serve_memory(mamba, h100(), vllm, w).memory.sequence.raw() == near(4 * one));
}

TEST_CASE("speculation: when all drafts are accepted every step gives them all, and no step beats the floor") {
  const Priced p{ngram(3, 1.0)};
  EngineSettings engine;
  engine.blocks = 10'000;
  engine.speculation = {3, 1.0, 1};
  ServingFleet fleet;
  fleet.pool = {&p.tables, engine, 1, 1};
  RequestLoad load;
  Request request;
  request.prompt_tokens = 500;
  request.output_tokens = 1 + 4 * 10;
  load.requests = {request};
  const FleetResult result = simulate(fleet, load);
  CHECK(result.pool.sum.iterations == 11);
  const double token =
      1e-12 * static_cast<double>((result.requests[0].finished - result.requests[0].first_token).count()) / 40;
  const LeastIteration least{model("llama3-70b"), h100(), {8, 1, 1}, {}};
  CHECK(token > least.time(decodes(1, 500, 4), ExpertsRead::least) / 4);
  // and about a quarter of a plain step
  CHECK(token == near(0.25 * p.by_kernels(decodes(1, 520)), 0.05));
}

TEST_CASE("speculation: a step of tables counts the drafts among its tokens and rows, and prompts for the draft too") {
  const auto line = [](std::int64_t slope) {
    return std::vector<Picoseconds>{Picoseconds{slope}, Picoseconds{1000 * slope}};
  };
  IterationTables::Parts parts;
  parts.tokens.at = parts.rows.at = parts.decodes.at = {1, 1000};
  parts.chunk.at = parts.chunk_context.at = parts.context_each.at = {1, 2};
  parts.dense = line(1000);
  parts.dense_eager = line(10'000);
  parts.head = line(300);
  parts.draft_prompt = line(20);
  // of 1 and 1000 sequences, whatever their keys
  parts.decode = {Picoseconds{7}, Picoseconds{7}, Picoseconds{7000}, Picoseconds{7000}};
  parts.chunk_work = parts.chunk_alone = std::vector<Picoseconds>(4, Picoseconds{0});
  parts.queries = 4;
  const IterationTables tables{parts};
  IterationBatch batch;
  batch.decodes = 5;
  batch.context = 5;
  // 20 tokens verified and sampled; each of the parts is rounded down
  const auto takes = [&](std::int64_t expected) {
    const std::int64_t short_by = expected - tables.time(batch).count();
    return short_by >= 0 && short_by <= 4;
  };
  CHECK(takes(20 * 1000 + 20 * 300 + 5 * 7));
  batch.add(60, true, {Picoseconds{11}, Picoseconds{9}});
  CHECK(takes(80 * 10'000 + 21 * 300 + 60 * 20 + 5 * 7 + 11));
}
