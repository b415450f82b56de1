// SPDX-License-Identifier: Apache-2.0
// Bounds of a load against schedules that run it at the datasheet's speed: none may beat them, some come near.
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/serve/engine/serving_stack.hpp>
#include <headroom/model/serve/fixed_load/serving_bound.hpp>
#include <headroom/model/serve/replica/least_iteration.hpp>
#include <headroom/model/workload/model_library.hpp>
#include <headroom/model/workload/parameters.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include "../support/model_data.hpp"
#include <algorithm>
#include <cstdint>
#include <limits>
#include <string_view>
#include <vector>

using namespace headroom;
using test::near;

namespace {

const Device& mi300x() {
  static const Catalog standard = Catalog::standard();
  return standard.device("mi300x");
}
Architecture model(std::string_view id) {
  static const ModelLibrary standard = ModelLibrary::standard();
  return standard.find(id);
}

struct Load {
  std::int64_t isl = 1, osl = 1, clients = 1;
};

ServingWorkload work_of(const Load& load, const ServingLayout& layout = {}) {
  ServingWorkload w;
  w.layout = layout;
  w.gpus = layout.gpus();
  w.isl = load.isl;
  w.osl = load.osl;
  w.concurrency = load.clients;
  return w;
}

ServingBound bound_of(const Architecture& arch, const ServingWorkload& w, ExplainRecorder* recorder = nullptr) {
  const ServingEstimate memory = serve_memory(arch, mi300x(), find_serving_stack(test::model_data(), Engine::vllm), w);
  REQUIRE(memory.verdict == Verdict::feasible);
  return serving_bound(arch, mi300x(), w, memory, recorder);
}

struct Ran {
  double requests_per_s = 0.0;
  double first_token = std::numeric_limits<double>::max();  ///< the soonest, from a request's start
  double tpot = std::numeric_limits<double>::max();         ///< the least mean of a request
};

/// Continuous batching with chunks of at most `budget` prompt tokens in all, each iteration as fast as the datasheet
/// lets it be; clients send their next request when the last has ended.
Ran run(const LeastIteration& least, const Load& load, std::int64_t budget) {
  struct Client {
    std::int64_t prompt = 0, given = 0;
    double start = 0.0, first = 0.0;
  };
  std::vector<Client> clients(static_cast<std::size_t>(load.clients), Client{load.isl, 0, 0.0, 0.0});
  const std::int64_t wanted = 12 * load.clients;
  Ran ran;
  double now = 0.0;
  std::int64_t done = 0;
  while (done < wanted) {
    IterationMix mix;
    double keys = 0.0;
    std::int64_t left = budget;
    std::vector<std::int64_t> taken(clients.size(), 0);
    for (std::size_t i = 0; i < clients.size(); ++i) {
      Client& c = clients[i];
      if (c.prompt == 0) {
        mix.decodes += 1.0;
        keys += static_cast<double>(load.isl + c.given);
      } else {
        taken[i] = std::min(left, c.prompt);
        left -= taken[i];
        mix.chunk_tokens += static_cast<double>(taken[i]);
        mix.ending += taken[i] == c.prompt ? 1.0 : 0.0;
      }
    }
    mix.chunks = mix.chunk_tokens > 0.0 ? 1.0 : 0.0;
    mix.keys = mix.decodes > 0.0 ? keys / mix.decodes : 0.0;
    now += least.time(mix, ExpertsRead::least);
    for (std::size_t i = 0; i < clients.size(); ++i) {
      Client& c = clients[i];
      const bool prompted = c.prompt > 0;
      c.prompt -= taken[i];
      if (c.prompt > 0) {
        continue;
      }
      ++c.given;
      if (prompted) {
        c.first = now;
        ran.first_token = std::min(ran.first_token, now - c.start);
      }
      if (c.given == load.osl) {
        if (load.osl > 1) {
          ran.tpot = std::min(ran.tpot, (now - c.first) / static_cast<double>(load.osl - 1));
        }
        ++done;
        c = Client{load.isl, 0, now, 0.0};
      }
    }
  }
  ran.requests_per_s = static_cast<double>(done) / now;
  return ran;
}

}  // namespace

TEST_CASE("a lone client's rate is one request over its prompt and its tokens, one after another") {
  const Architecture llama = model("llama3.1-8b");
  const ServingBound b = bound_of(llama, work_of({1000, 30, 1}));
  const ParameterCount p = count_parameters(llama);
  const double table = 128256 * 4096.0;
  // keys of 29 iterations: 1001 to 1029, of 128 KiB each
  const double token = (2 * (p.total - table) + 1015 * 131072.0) / 5.3e12;
  const double prompt = (2 * (p.active_matrices - table) * 1000 + 2 * table) / mi300x().peak_of(Rate::bf16).raw();
  CHECK(b.tpot.raw() == near(token, 1e-3));
  CHECK(b.prompt_alone.raw() == near(prompt, 1e-3));
  CHECK(b.requests_per_s == near(1.0 / (prompt + 29 * token), 1e-3));
  CHECK(b.output_tokens_per_s == near(30 * b.requests_per_s));
  CHECK(b.limit == RateLimit::latency);
}

TEST_CASE("prompts that ride in iterations of decodes cost a bound nothing but their products") {
  // Eight clients: 292 prompt tokens beside the decodes multiply for no longer than the weights take to read, 3.2 ms,
  // so that a request stays for seven such iterations and 63 of decodes: 8 / (70 x 3.2 ms).
  CHECK(bound_of(model("llama3.1-8b"), work_of({2048, 64, 8})).requests_per_s > 8 / (70 * 3.2e-3));
}

TEST_CASE("no schedule at the datasheet's speed beats the bound, and of a dense model one comes near") {
  struct Case {
    std::string_view model;
    ServingLayout layout;
  };
  for (const Case& c : {Case{"llama3.1-8b", {1, 1, 1}}, Case{"gemma3-27b", {2, 1, 1}}, Case{"qwen3-30b-a3b", {1, 1, 1}},
                        Case{"qwen3-30b-a3b", {1, 1, 4}}}) {
    CAPTURE(c.model);
    const Architecture arch = model(c.model);
    const LeastIteration least{arch, mi300x(), c.layout, {}};
    for (const auto& [isl, osl] : {std::pair{1000, 30}, {2048, 64}, {16, 400}, {5000, 1}}) {
      for (const std::int64_t clients : {1, 3, 8, 40}) {
        CAPTURE(isl);
        CAPTURE(osl);
        CAPTURE(clients);
        const Load load{isl, osl, clients};
        const ServingBound bound = bound_of(arch, work_of(load, c.layout));
        double best = 0.0;
        for (const std::int64_t budget : {128, 256, 2048, 1 << 20}) {
          CAPTURE(budget);
          const Ran ran = run(least, load, budget);
          constexpr double rounding = 1.0 + 1e-9;
          CHECK(ran.requests_per_s <= rounding * bound.requests_per_s);
          CHECK(rounding * ran.first_token >= bound.prompt_alone.raw());
          CHECK((osl == 1 || rounding * ran.tpot >= bound.tpot.raw()));
          best = std::max(best, ran.requests_per_s);
        }
        if (c.model == "llama3.1-8b") {
          CHECK(best > 0.75 * bound.requests_per_s);
        }
      }
    }
  }
}

TEST_CASE("what binds a bound's rate: latency alone, reading with many, multiplying with long prompts") {
  const Architecture llama = model("llama3.1-8b");
  CHECK(bound_of(llama, work_of({16, 400, 1})).limit == RateLimit::latency);
  CHECK(bound_of(llama, work_of({2000, 2000, 200})).limit == RateLimit::reading);  // caches of 200 sequences
  CHECK(bound_of(llama, work_of({8000, 10, 100})).limit == RateLimit::multiplying);
}

TEST_CASE("explained bounds state their equations, and their numbers with sources") {
  ExplainRecorder recorder;
  const ServingBound bound = bound_of(model("llama3.1-8b"), work_of({1000, 30, 4}), &recorder);
  REQUIRE(recorder.entries().size() == 5);
  const ExplainEntry& tpot = recorder.entries()[1];
  CHECK(tpot.value == bound.tpot.raw());
  for (const ExplainEntry& entry : recorder.entries()) {
    CAPTURE(entry.name);
    CHECK_FALSE(entry.formula.empty());
    CHECK_FALSE(entry.reference.empty());
    for (const ExplainEntry::Input& input : entry.inputs) {
      CAPTURE(input.symbol);
      CHECK_FALSE(input.source.empty());
      CHECK(input.value > 0.0);
    }
  }
  CHECK(recorder.entries().back().value == bound.requests_per_s);
  const auto input = [&](std::string_view symbol) {
    const auto found = std::find_if(tpot.inputs.begin(), tpot.inputs.end(),
                                    [&](const ExplainEntry::Input& i) { return i.symbol == symbol; });
    REQUIRE(found != tpot.inputs.end());
    return found->value;
  };
  // the printed numbers give the printed value
  CHECK(tpot.value == near((input("W") + input("K / g")) / input("B")));
  CHECK(tpot.value > input("f") / input("P"));
}
