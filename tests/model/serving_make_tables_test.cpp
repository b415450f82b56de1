// SPDX-License-Identifier: Apache-2.0
// Tables of a replica against the kernels that they are made of, at their knots and between them.
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/serve/tables/make_tables.hpp>
#include <headroom/model/workload/model_library.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include "../support/model_data.hpp"
#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>

using namespace headroom;
using test::near;

namespace {

IterationStack habits() {
  IterationStack stack;
  stack.step = Seconds{220e-6};
  stack.sequence = Seconds{2e-6};
  stack.layer = Seconds{30e-6};
  stack.prompt_launch = Seconds{20e-6};
  stack.expert_layer = Seconds{9e-6};
  return stack;
}

/// A replica with its tables, and both ways to price an iteration.
struct Priced {
  Replica replica;
  IterationStack stack = habits();
  IterationPhysics physics{};
  IterationTables tables;

  Priced(std::string_view model,
         const ServingLayout& layout,
         const TableReach& reach = {},
         std::string_view sku = "h100-sxm-80gb")
      : replica{made(model, layout, sku)}, tables{make_iteration_tables(replica, stack, physics, reach)} {}

  static Replica made(std::string_view model, const ServingLayout& layout, std::string_view sku = "h100-sxm-80gb") {
    static const Catalog catalog = Catalog::standard();
    const Device& device = catalog.device(sku);
    return {test::model_data(),
            ModelLibrary::standard().find(model),
            device,
            catalog.reference_node(device),
            {"vllm", {Routing::power_law, 1.2}},
            layout,
            {}};
  }
  [[nodiscard]] double by_kernels(const IterationMix& mix) const {
    return engine_terms(replica, mix, replica.terms(mix), stack, physics).total();
  }
  [[nodiscard]] double by_tables(const IterationMix& mix) const { return table_seconds(tables, mix); }
};

IterationMix decodes(double sequences, double keys) {
  IterationMix mix;
  mix.decodes = sequences;
  mix.keys = keys;
  return mix;
}
IterationMix with_prompt(IterationMix mix, double tokens, double keys) {
  mix.chunks = mix.ending = 1;
  mix.chunk_tokens = tokens;
  mix.chunk_keys = keys;
  return mix;
}

constexpr double picosecond = 1e-12;

}  // namespace

TEST_CASE("tables: at their knots decodes are the kernels' to rounding, and prompts too") {
  for (const auto& [model, layout] : {std::pair<std::string_view, ServingLayout>{"llama3-8b", {1, 1, 1}},
                                      {"llama3-70b", {8, 1, 1}},
                                      {"qwen3-30b-a3b", {2, 1, 1}}}) {
    const Priced p{model, layout};
    CAPTURE(model);
    for (const double b : {1.0, 2.0, 3.0, 16.0, 48.0, 256.0}) {
      for (const double keys : {1.0, 64.0, 1536.0, 8192.0}) {
        CAPTURE(b);
        CAPTURE(keys);
        // each of five parts is rounded to a picosecond, and the attention goes along a line of whole ones a key
        const double parts = p.by_tables(decodes(b, keys)) - p.by_kernels(decodes(b, keys));
        CHECK(std::abs(parts) <= 5 * picosecond);
      }
    }
    for (const double tokens : {64.0, 768.0, 4096.0}) {
      CAPTURE(tokens);
      const IterationMix alone = with_prompt({}, tokens, tokens);
      // a lone prompt's attention is its own, the larger of what it takes alone and its share of a full step
      CHECK(p.by_tables(alone) >= p.by_kernels(alone) - 5 * picosecond);
      CHECK(p.by_tables(alone) == near(p.by_kernels(alone), 0.02));
    }
  }
}

TEST_CASE(
    "tables: between knots decodes lie within 5 % of the kernels, 8 % behind a step of tiles, prompts within 15 %") {
  for (const auto& [model, layout] : {std::pair<std::string_view, ServingLayout>{"llama3-8b", {1, 1, 1}},
                                      {"llama3-70b", {4, 1, 1}},
                                      {"qwen3-30b-a3b", {1, 1, 4}},
                                      {"gemma3-27b", {2, 1, 1}}}) {
    const Priced p{model, layout};
    CAPTURE(model);
    for (const double b : {5.0, 7.0, 21.0, 77.0, 130.0, 333.0, 900.0}) {
      for (const double keys : {100.0, 700.0, 1200.0, 5000.0, 20000.0}) {
        CAPTURE(b);
        CAPTURE(keys);
        // Products climb by a whole tile of rows above 128, 256, 896 ..., which a line between knots cuts off.
        const double most = b <= 128 ? 0.05 : 0.08;
        CHECK(p.by_tables(decodes(b, keys)) == near(p.by_kernels(decodes(b, keys)), most));
      }
    }
    for (const double tokens : {100.0, 333.0, 1000.0, 2000.0, 5000.0, 7000.0}) {
      for (const double b : {0.0, 9.0, 60.0}) {
        for (const double before : {0.0, 3000.0}) {
          CAPTURE(tokens);
          CAPTURE(b);
          CAPTURE(before);
          const IterationMix mix = with_prompt(b > 0.0 ? decodes(b, 1300) : IterationMix{}, tokens, tokens + before);
          CHECK(p.by_tables(mix) == near(p.by_kernels(mix), 0.15));
        }
      }
    }
  }
}

TEST_CASE(
    "tables: under attention-DP prompts lie in as many groups as there are, and each host has its own sequences") {
  TableReach reach;
  reach.tokens = 8 * 8192;
  reach.chunk = 2000;
  const Priced p{"qwen3-30b-a3b", {1, 1, 8}, reach};
  for (const double count : {1.0, 3.0, 8.0}) {
    CAPTURE(count);
    IterationMix mix = decodes(240, 1500);
    mix.chunks = mix.ending = count;
    mix.chunk_tokens = mix.chunk_keys = 2000.0;
    CHECK(p.by_tables(mix) == near(p.by_kernels(mix), 0.15));
  }
  // all groups' prompts in one iteration take little longer than one group's
  IterationMix one = with_prompt(IterationMix{}, 2000, 2000);
  IterationMix eight = one;
  eight.chunks = eight.ending = 8.0;
  CHECK(p.by_tables(eight) < 4.0 * p.by_tables(one));
}

TEST_CASE("tables: the host of the busiest attention group, below one sequence a group and with some left over") {
  IterationStack none = habits();
  none.sequence = Seconds{};
  const Replica replica = Priced::made("qwen3-30b-a3b", {1, 1, 8});
  const IterationPhysics physics;
  const IterationTables tables = make_iteration_tables(replica, habits(), physics);
  const IterationTables free_hosts = make_iteration_tables(replica, none, physics);
  const auto host = [&](const IterationMix& mix) {
    return engine_terms(replica, mix, replica.terms(mix), habits(), physics)[IterationTerm::host];
  };
  for (const double b : {1.0, 3.0, 7.0, 8.0, 9.0, 16.0, 17.0, 64.0, 100.0}) {
    CAPTURE(b);
    const IterationMix alone = decodes(b, 1000);
    const IterationMix mixed = with_prompt(alone, 512, 512);
    for (const IterationMix& mix : {alone, mixed}) {
      const double scheduling = table_seconds(tables, mix) - table_seconds(free_hosts, mix);
      // 2 us for each sequence of the group with the most: one of up to eight, two of nine
      CHECK(std::abs(scheduling - 2e-6 * (std::ceil(b / 8) + mix.chunks)) <= 5 * picosecond);
      CHECK(std::abs(scheduling - (host(mix) - 220e-6)) <= 5 * picosecond);
    }
  }
}

TEST_CASE("tables: a step of decodes is the line that skips over many of them, to the picosecond") {
  const Priced p{"llama3-8b", {1, 1, 1}};
  for (const std::int64_t b : {1, 5, 64, 100, 1500}) {
    for (const std::int64_t each : {1, 63, 64, 1000, 40'000}) {
      for (const std::int64_t more : {0, 1, 17}) {
        IterationBatch batch;
        batch.decodes = b;
        batch.context = b * each + more;
        const DecodeLine line = p.tables.decode_line(batch.decodes, batch.context);
        CAPTURE(b);
        CAPTURE(each);
        CHECK(line.first <= batch.context);
        CHECK(batch.context < line.end);
        CHECK(line.at(batch.context) == p.tables.time(batch));
        // a slope of whole picoseconds a key misses the next line by half of one a key at most
        if (line.end < 1'000'000'000) {
          const DecodeLine next = p.tables.decode_line(b, line.end);
          CHECK(std::abs((line.at(line.end) - next.base).count()) <= (line.end - line.first + 1) / 2);
        }
        // the next step's keys lie on the same line as long as it says so
        if (batch.context + b < line.end) {
          batch.context += b;
          CHECK(line.at(batch.context) == p.tables.time(batch));
        }
      }
    }
  }
}

TEST_CASE("tables: nothing runs in no time, and more of anything never takes less") {
  const Priced p{"qwen3-30b-a3b", {2, 1, 1}};
  CHECK(p.tables.time({}) == Picoseconds{});
  double before = 0.0;
  for (const double keys : {10.0, 500.0, 4000.0, 30000.0, 60000.0}) {
    const double now = p.by_tables(decodes(64, keys));
    CHECK(now >= before);
    before = now;
  }
  before = 0.0;
  for (const double tokens : {16.0, 200.0, 1000.0, 8192.0}) {
    const double now = p.by_tables(with_prompt(decodes(8, 1000), tokens, tokens));
    CHECK(now > before);
    before = now;
  }
}

TEST_CASE("tables: decodes beside prompts take longer where they run in the prompts' call, and not without prompts") {
  const Priced p{"qwen3-14b", {1, 1, 1}, {}, "a100-sxm-80gb"};
  const IterationMix alone = decodes(96, 2048);
  const IterationMix mixed = with_prompt(alone, 928, 928);
  CHECK(p.by_tables(alone) == near(p.by_kernels(alone), 1e-9));
  CHECK(p.by_tables(mixed) == near(p.by_kernels(mixed), 0.03));
  const double beside = p.by_tables(mixed) - p.by_tables(with_prompt({}, 1024, 1024));
  CHECK(beside > 0.06);  // 161 GB at 2.04 TB/s, where decodes alone read 32
}
