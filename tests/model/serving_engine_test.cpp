// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/serve/simulation/fleet_simulation.hpp>
#include <headroom/model/serve/time/random_stream.hpp>

#include <doctest/doctest.h>

#include "naive_serving.hpp"
#include "serving_case.hpp"
#include "serving_tables.hpp"
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

using namespace headroom;
using test::any;
using test::any_case;
using test::Case;

namespace {

ServingFleet one_replica(const IterationTables& tables, const EngineSettings& engine) {
  ServingFleet fleet;
  fleet.pool = {&tables, engine, 1, 1};
  return fleet;
}

}  // namespace

TEST_CASE("the engine that skips equals a loop over every iteration, to the picosecond") {
  std::int64_t preemptions = 0;
  std::int64_t skipped = 0;
  for (std::uint64_t seed = 1; seed <= 6000; ++seed) {
    const Case c = any_case(seed);
    CAPTURE(seed);
    CAPTURE(c.text);
    const IterationTables tables = test::simple_tables(c.costs);
    const ServingFleet fleet = one_replica(tables, c.engine);
    REQUIRE(problems(fleet, c.load).empty());
    const FleetResult got = simulate(fleet, c.load);
    test::NaiveServing naive{tables, c.engine, c.load.requests};
    const std::vector<RequestTimes> want = naive.run();
    bool same = true;
    for (std::size_t i = 0; i < want.size(); ++i) {
      same = same && got.requests[i].started == want[i].started && got.requests[i].first_token == want[i].first_token &&
             got.requests[i].finished == want[i].finished && got.requests[i].preemptions == want[i].preemptions;
    }
    REQUIRE(same);
    REQUIRE(got.pool.sum.iterations == naive.iterations);
    REQUIRE(got.pool.sum.preemptions == naive.preemptions);
    REQUIRE(got.pool.peak_blocks == naive.peak);
    REQUIRE(got.pool.sum.gaps == naive.gaps);
    REQUIRE(got.pool.sum.batch == naive.batches);
    preemptions += naive.preemptions;
    skipped += got.pool.sum.decode_iterations;
  }
  CHECK(preemptions > 10'000);
  CHECK(skipped > 1'000'000);
}

TEST_CASE("drafts of answers longer than they are drawn ahead equal the loop as well, through evictions") {
  std::int64_t preemptions = 0;
  std::int64_t extended = 0;
  for (std::uint64_t seed = 1; seed <= 600; ++seed) {
    Case c = any_case(seed);
    RandomStream random{seed, 9};
    EngineSettings& e = c.engine;
    e.speculation = {1 + static_cast<std::int64_t>(random.below(4)), 0.25 * random.uniform(), seed};
    e.max_num_tokens = std::max(e.max_num_tokens, e.max_num_seqs * (1 + e.speculation.draft) + 20);
    c.load.requests.resize(std::min<std::size_t>(c.load.requests.size(), 12));
    std::int64_t longest = 0;
    for (Request& request : c.load.requests) {
      request.output_tokens = 200 + static_cast<std::int32_t>(random.below(900));
      longest = std::max<std::int64_t>(longest, request.prompt_tokens + request.output_tokens);
      extended += request.output_tokens > 600 ? 1 : 0;  // at most two tokens a step and 256 steps, most of the time
    }
    e.blocks = (longest + 2 * e.speculation.draft) * (2 + static_cast<std::int64_t>(random.below(2))) / e.block_tokens +
               5 + static_cast<std::int64_t>(random.below(9));
    CAPTURE(seed);
    const IterationTables tables = test::simple_tables(c.costs);
    const ServingFleet fleet = one_replica(tables, e);
    REQUIRE(problems(fleet, c.load).empty());
    const FleetResult got = simulate(fleet, c.load);
    test::NaiveServing naive{tables, e, c.load.requests};
    const std::vector<RequestTimes> want = naive.run();
    bool same = true;
    for (std::size_t i = 0; i < want.size(); ++i) {
      same = same && got.requests[i].first_token == want[i].first_token &&
             got.requests[i].finished == want[i].finished && got.requests[i].preemptions == want[i].preemptions;
    }
    REQUIRE(same);
    REQUIRE(got.pool.sum.iterations == naive.iterations);
    REQUIRE(got.pool.peak_blocks == naive.peak);
    preemptions += naive.preemptions;
  }
  CHECK(preemptions > 100);
  CHECK(extended > 500);
}

TEST_CASE("disaggregated, both pools equal a loop over every iteration, to the picosecond") {
  std::int64_t preemptions = 0;
  for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
    const Case c = any_case(seed);
    CAPTURE(seed);
    CAPTURE(c.text);
    const IterationTables tables = test::simple_tables(c.costs);
    ServingFleet fleet = one_replica(tables, c.engine);
    fleet.prefill = fleet.pool;
    fleet.prefill->engine.speculation = {};
    fleet.prefill->engine.rules.reservation = Reservation::prompt;
    fleet.prefill->engine.rules.overlap = Overlap::none;  // what a prefill engine hands on leaves it at once
    fleet.transfer = {Bytes{1.0}, BytesPerSecond{1e10}, Seconds{1e-10 * static_cast<double>(seed % 50)}};
    REQUIRE(problems(fleet, c.load).empty());
    const FleetResult got = simulate(fleet, c.load);

    std::vector<Request> prompts = c.load.requests;
    for (Request& request : prompts) {
      request.output_tokens = 1;
    }
    test::NaiveServing prefill{tables, fleet.prefill->engine, prompts};
    const std::vector<RequestTimes> first = prefill.run();
    // Over the link in the order in which prompts end; of those that end together, as they were admitted.
    std::vector<Request> sent;
    std::vector<Picoseconds> first_tokens;
    std::vector<std::size_t> ids;
    Picoseconds link{0};
    for (const std::size_t id : prefill.answered) {
      if (c.load.requests[id].output_tokens == 1) {
        REQUIRE(got.requests[id].finished == first[id].finished);
        continue;
      }
      link = std::max(link, first[id].finished) + Picoseconds{100} * prompts[id].prompt_tokens;
      sent.push_back(c.load.requests[id]);
      sent.back().arrival = link + picoseconds(fleet.transfer.latency.raw());
      first_tokens.push_back(first[id].finished);
      ids.push_back(id);
    }
    EngineSettings decode = c.engine;
    decode.speculation = {};  // acceptance goes by a request's number, which differs in the loop
    fleet.pool.engine = decode;
    const FleetResult plain = c.engine.speculation.draft > 0 ? simulate(fleet, c.load) : got;
    test::NaiveServing naive{tables, decode, sent, first_tokens};
    const std::vector<RequestTimes> want = naive.run();
    for (std::size_t i = 0; i < ids.size(); ++i) {
      REQUIRE(plain.requests[ids[i]].first_token == first_tokens[i]);
      REQUIRE(plain.requests[ids[i]].finished == want[i].finished);
    }
    REQUIRE(plain.pool.sum.gaps == naive.gaps);
    preemptions += naive.preemptions;
  }
  CHECK(preemptions > 1000);
}

namespace {

/// Requests that all arrive at time 0.
RequestLoad at_once(const std::vector<Request>& requests) {
  RequestLoad load;
  load.requests = requests;
  return load;
}
Request request(std::int32_t prompt, std::int32_t output, std::int64_t arrival = 0) {
  return {.arrival = Picoseconds{arrival}, .prompt_tokens = prompt, .output_tokens = output};
}

/// Two of 4 + 4 tokens in a pool of 10 keys: together they need 14.
FleetResult two_in_ten(const SchedulerRules& rules, std::int64_t swap) {
  const IterationTables tables = test::simple_tables({.step = 1000, .per_prompt_token = 10});
  EngineSettings engine;
  engine.rules = rules;
  engine.block_tokens = 1;
  engine.blocks = 10;
  engine.swap_per_block = Picoseconds{swap};
  return simulate(one_replica(tables, engine), at_once({request(4, 4), request(4, 4)}));
}

}  // namespace

TEST_CASE("one request alone: its prompt, then a step for each further token over one key more") {
  const IterationTables tables = test::simple_tables({.step = 1000, .per_prompt_token = 10, .per_key = 1});
  EngineSettings engine;
  engine.blocks = 100;
  const FleetResult result = simulate(one_replica(tables, engine), at_once({request(100, 3, 50)}));
  CHECK(result.requests[0].started == Picoseconds{50});
  CHECK(result.requests[0].first_token == Picoseconds{50 + 1000 + 1000});
  CHECK(result.requests[0].finished == Picoseconds{2050 + (1000 + 101) + (1000 + 102)});
  CHECK(result.pool.sum.iterations == 3);
  CHECK(result.pool.sum.prompt_tokens == 100);
  CHECK(result.pool.sum.output_tokens == 3);
  CHECK(result.pool.peak_blocks == 7);  // of 16: 102 keys
}

TEST_CASE("a prefix that is cached is not computed, but its last token is") {
  const IterationTables tables = test::simple_tables({.step = 1000, .per_prompt_token = 10});
  EngineSettings engine;
  engine.blocks = 100;
  Request some = request(100, 1);
  some.cached_tokens = 60;
  Request all = request(100, 1, 100'000);
  all.cached_tokens = 100;
  const FleetResult result = simulate(one_replica(tables, engine), at_once({some, all}));
  CHECK(result.requests[0].finished == Picoseconds{1000 + 400});
  CHECK(result.requests[1].finished == Picoseconds{100'000 + 1000 + 10});
}

TEST_CASE("vLLM preempts the newest and computes it again, output so far included") {
  SchedulerRules forgets = vllm_v1;
  forgets.remembers = false;
  const FleetResult result = two_in_ten(forgets, 0);
  CHECK(result.requests[0].finished == Picoseconds{1080 + 3000});
  CHECK(result.requests[0].preemptions == 0);
  // It had two tokens: six are computed again once the other is gone, and give the third.
  CHECK(result.requests[1].preemptions == 1);
  CHECK(result.requests[1].first_token == Picoseconds{1080});
  CHECK(result.requests[1].finished == Picoseconds{4080 + 1060 + 1000});
  CHECK(result.pool.peak_blocks == 10);
}

TEST_CASE("with prefix caching a preempted sequence finds what nobody took: its first blocks") {
  const FleetResult result = two_in_ten(vllm_v1, 0);
  CHECK(result.requests[0].finished == Picoseconds{1080 + 3000});
  CHECK(result.requests[1].preemptions == 1);
  // Of its five blocks the other takes the last two; of six tokens three are left to compute.
  CHECK(result.requests[1].finished == Picoseconds{4080 + 1030 + 1000});
  CHECK(result.pool.sum.prompt_tokens == 8 + 3);
}

TEST_CASE("swapping copies the newest out and back instead") {
  SchedulerRules rules = vllm_v1;
  rules.eviction = Eviction::swap;
  const FleetResult result = two_in_ten(rules, 7);
  CHECK(result.requests[0].finished == Picoseconds{1080 + 1000 + 1000 + 35 + 1000});
  CHECK(result.requests[1].finished == Picoseconds{4115 + 1000 + 35 + 1000});
  CHECK(result.pool.sum.prompt_tokens == 8);
}

TEST_CASE("GUARANTEED_NO_EVICT lets the second wait for room for its whole output, MAX_UTILIZATION preempts") {
  const FleetResult guaranteed = two_in_ten(tensorrt_llm_no_evict, 0);
  CHECK(guaranteed.pool.sum.preemptions == 0);
  CHECK(guaranteed.requests[0].finished == Picoseconds{1040 + 3000});
  CHECK(guaranteed.requests[1].started == guaranteed.requests[0].finished);
  CHECK(guaranteed.requests[1].finished == Picoseconds{4040 + 1040 + 3000});
  CHECK(guaranteed.pool.peak_blocks == 8);
  const FleetResult utilised = two_in_ten(tensorrt_llm_max_utilization, 0);
  CHECK(utilised.pool.sum.preemptions == 1);
  CHECK(utilised.requests[1].finished < guaranteed.requests[1].finished);
}

TEST_CASE("a long prompt stalls those that decode: 400 ms whole or first, 25 ms in chunks of 512") {
  constexpr std::int64_t ms = 1'000'000'000;
  const IterationTables tables = test::simple_tables({.per_sequence = ms, .per_prompt_token = 400 * ms / 8192});
  const auto stall = [&](const SchedulerRules& rules, std::int64_t budget) {
    EngineSettings engine;
    engine.rules = rules;
    engine.max_num_tokens = budget;
    engine.max_num_seqs = 8;
    engine.blocks = 10'000;
    const FleetResult result =
        simulate(one_replica(tables, engine), at_once({request(1, 1000), request(8192, 2, 100 * ms)}));
    return seconds_of(result.pool.sum.gaps.quantile(1.0)) * 1e3;
  };
  CHECK(stall(vllm_v1, 16384) == doctest::Approx(402.0).epsilon(0.02));
  CHECK(stall(vllm_v0, 16384) == doctest::Approx(402.0).epsilon(0.02));
  // Chunks that run alone, one after the other, stall as long.
  CHECK(stall(sglang, 512) > 400.0);
  CHECK(stall(vllm_v1, 512) == doctest::Approx(27.0).epsilon(0.02));
}

TEST_CASE("an iteration takes no more tokens than its budget, decodes first") {
  const IterationTables tables = test::simple_tables({.step = 1000});
  EngineSettings engine;
  engine.blocks = 1000;
  engine.max_num_tokens = 10;
  engine.max_num_seqs = 4;
  // 25 tokens: 10, 10, 5; then with one that decodes 9 of the second's 18 and 9.
  const FleetResult result = simulate(one_replica(tables, engine), at_once({request(25, 9), request(23, 1)}));
  CHECK(result.requests[0].first_token == Picoseconds{3000});
  // The third step has 5 left for the second, then 9 and 9 beside the first's decodes.
  CHECK(result.requests[1].first_token == Picoseconds{5000});
  CHECK(result.pool.sum.prompt_tokens == 48);
}

TEST_CASE("prompts that do not fit let others pass, and one that no iteration holds runs as the only prompt") {
  const IterationTables tables = test::simple_tables({.step = 1000});
  EngineSettings engine;
  engine.rules = vllm_v1;
  engine.rules.chunked = false;
  engine.blocks = 1000;
  engine.max_num_tokens = 10;
  engine.max_num_seqs = 4;
  // 25 of 10 tokens: alone in the first step; then beside its decodes 9 tokens are left, of which 6 and 3 fit.
  const FleetResult result =
      simulate(one_replica(tables, engine), at_once({request(25, 9), request(6, 1), request(8, 1), request(3, 1)}));
  CHECK(result.requests[0].first_token == Picoseconds{1000});
  CHECK(result.requests[1].first_token == Picoseconds{2000});
  CHECK(result.requests[2].first_token == Picoseconds{3000});
  CHECK(result.requests[3].first_token == Picoseconds{2000});
  // Beside a prompt it waits, before all that come later.
  const FleetResult behind =
      simulate(one_replica(tables, engine), at_once({request(4, 3), request(25, 3), request(9, 1)}));
  CHECK(behind.requests[0].first_token == Picoseconds{1000});
  CHECK(behind.requests[2].first_token == Picoseconds{2000});  // passed over last, so first of the next
  CHECK(behind.requests[1].first_token == Picoseconds{3000});
  // The output so far counts: preempted, its 10 + 1 tokens are more than an iteration holds.
  engine.block_tokens = 1;
  engine.blocks = 15;
  const FleetResult again = simulate(one_replica(tables, engine), at_once({request(3, 6), request(6, 6)}));
  CHECK(again.requests[1].preemptions > 0);
  CHECK(again.requests[1].finished != never);
}

TEST_CASE("a request longer than the pool is refused and counted, and the rest runs") {
  const IterationTables tables = test::simple_tables({.step = 1000});
  EngineSettings engine;
  engine.blocks = 10;
  const FleetResult result =
      simulate(one_replica(tables, engine), at_once({request(100, 62), request(100, 61), request(1, 1)}));
  CHECK(result.requests[0].refused);
  CHECK(result.requests[0].finished == never);
  CHECK_FALSE(result.requests[1].refused);  // 160 keys, for the last token needs no place
  CHECK(result.requests[1].finished != never);
  CHECK(result.requests[2].finished != never);
}

TEST_CASE("speculation gives the tokens a step that Leviathan et al. 2023 expect") {
  const IterationTables tables = test::simple_tables({.step = 1000});
  EngineSettings engine;
  engine.blocks = 100'000;
  engine.speculation = {3, 0.7, 9};
  std::vector<Request> requests(50, request(10, 4001));
  const FleetResult result = simulate(one_replica(tables, engine), at_once(requests));
  double steps = 0.0;
  for (const RequestTimes& times : result.requests) {
    steps += seconds_of(times.finished - times.first_token) / 1000e-12;
  }
  CHECK(engine.speculation.tokens_per_step() == doctest::Approx(1.0 + 0.7 + 0.49 + 0.343));
  CHECK(50.0 * 4000.0 / steps == doctest::Approx(engine.speculation.tokens_per_step()).epsilon(0.01));
}

TEST_CASE("an engine that looks for requests every fourth iteration sees none before, unless it is idle") {
  const IterationTables tables = test::simple_tables({.step = 1000, .per_prompt_token = 10});
  EngineSettings engine;
  engine.blocks = 100;
  const std::vector<Request> requests{request(4, 20), request(4, 2, 1500)};
  // the prompt ends at 1040; the second request comes in the first of the iterations that follow
  CHECK(simulate(one_replica(tables, engine), at_once(requests)).requests[1].first_token == Picoseconds{3080});
  engine.recv_interval = 4;
  for (const SchedulerRules& rules : {vllm_v1, sglang}) {
    engine.rules = rules;
    const FleetResult result = simulate(one_replica(tables, engine), at_once(requests));
    CHECK(result.requests[0].first_token == Picoseconds{1040});
    CHECK(result.requests[1].first_token == Picoseconds{5040 + 1040});
  }
  const FleetResult idle = simulate(one_replica(tables, engine), at_once({request(4, 2), request(4, 2, 9000)}));
  CHECK(idle.requests[1].first_token == Picoseconds{9000 + 1040});
}

TEST_CASE("an engine that forms an iteration ahead takes a request into the second one after it came") {
  const IterationTables tables = test::simple_tables({.step = 1000, .per_prompt_token = 10});
  EngineSettings engine;
  engine.blocks = 100;
  engine.formed_ahead = 1;
  const auto first_of_last = [&](const std::vector<Request>& requests) {
    return simulate(one_replica(tables, engine), at_once(requests)).requests.back().first_token;
  };
  for (const SchedulerRules& rules : {vllm_v1, vllm_v1_async, sglang, sglang_overlap, tensorrt_llm_no_evict}) {
    engine.rules = rules;
    // Decodes run from 1040 on in iterations of 1000. Prompts that wait run alone where they run before decodes.
    CHECK(first_of_last({request(4, 20), request(4, 2, 1500)}) == Picoseconds{3040 + 1040});
    CHECK(first_of_last({request(4, 20), request(4, 2, 2039)}) == Picoseconds{3040 + 1040});
    CHECK(first_of_last({request(4, 20), request(4, 2, 2040)}) == Picoseconds{4040 + 1040});  // as an iteration starts
    // The third comes in the iteration that the second one joins, and waits for the next.
    CHECK(first_of_last({request(4, 20), request(4, 9, 1500), request(4, 2, 2500)}) == Picoseconds{3040 + 1040 + 1040});
    // With nothing to run nobody waits. One that runs who has ended once more has that to run.
    const bool runs_once_more = rules.overlap == Overlap::runs_ended;
    CHECK(first_of_last({request(4, 1), request(4, 2, 500)}) == Picoseconds{(runs_once_more ? 2040 : 1040) + 1040});
    CHECK(first_of_last({request(4, 2), request(4, 2, 9000)}) == Picoseconds{9000 + 1040});
  }
}

TEST_CASE("first tokens that more prompts follow come when these have ended, where tokens wait for the next launch") {
  const IterationTables tables = test::simple_tables({.step = 1000, .per_prompt_token = 10});
  EngineSettings engine;
  engine.blocks = 100;
  engine.rules = sglang_overlap;
  const std::vector<Request> requests{request(4, 20), request(4, 20, 500), request(4, 1, 1500), request(4, 20, 4500)};
  const auto firsts = [&] {
    std::vector<Picoseconds> times;
    for (const RequestTimes& t : simulate(one_replica(tables, engine), at_once(requests)).requests) {
      times.push_back(t.first_token);
    }
    return times;
  };
  // Three prompts one after another, then decodes; the last prompt comes while these run.
  const std::vector<Picoseconds> before = firsts();
  CHECK(before[0] == Picoseconds{1040});
  CHECK(before[1] == Picoseconds{2080});
  CHECK(before[2] == Picoseconds{3120});
  engine.late_results = true;
  const std::vector<Picoseconds> later = firsts();
  CHECK(later[0] == before[1]);
  CHECK(later[1] == before[2]);
  CHECK(later[2] == before[2]);  // its only token: its answer has ended
  CHECK(later[3] == before[3]);  // decodes follow
}

TEST_CASE("an engine with iterations of decodes alone takes prompts in one of so many, counted from the first on") {
  const IterationTables tables = test::simple_tables({.step = 1000, .per_prompt_token = 10});
  EngineSettings engine;
  engine.blocks = 100;
  engine.decode_steps = 3;
  // The first prompt runs in iteration 0, to 1040. Iterations 1 to 3 are of decodes alone, and 4 takes what has come.
  const std::vector<Request> two{request(4, 40), request(4, 2, 1500)};
  CHECK(simulate(one_replica(tables, engine), at_once(two)).requests[1].first_token == Picoseconds{4040 + 1040});
  // One that comes while that one's prompt runs waits for iterations 5 to 7, although a prompt has just run.
  const std::vector<Request> three{request(4, 40), request(4, 9, 1500), request(4, 2, 4500)};
  CHECK(simulate(one_replica(tables, engine), at_once(three)).requests[2].first_token ==
        Picoseconds{5080 + 3000 + 1040});
  // A prompt that has begun goes on: 7 tokens beside one decode in iteration 4, and the other 5 in iteration 5.
  engine.max_num_tokens = 8;
  const std::vector<Request> parts{request(4, 40), request(12, 2, 1500)};
  CHECK(simulate(one_replica(tables, engine), at_once(parts)).requests[1].first_token ==
        Picoseconds{4040 + 1070 + 1050});
  engine.max_num_tokens = 8192;
  // Two must run before prompts wait.
  engine.decode_steps_from = 2;
  CHECK(simulate(one_replica(tables, engine), at_once(three)).requests[1].first_token == Picoseconds{2040 + 1040});
  // Iterations 3 and 4 end at 5080. Two run then, and 5 to 7 are of decodes alone.
  CHECK(simulate(one_replica(tables, engine), at_once(three)).requests[2].first_token == Picoseconds{8080 + 1040});
}

TEST_CASE("prompts wait for more of them beside decodes, until their iterations are over or a share is filled") {
  const IterationTables tables = test::simple_tables({.step = 1000, .per_prompt_token = 10});
  EngineSettings engine;
  engine.rules = tensorrt_llm_no_evict;
  engine.blocks = 100;
  engine.max_num_tokens = 100;
  engine.batch_wait = 3;
  engine.batch_wait_share = 0.5;
  const FleetResult few = simulate(one_replica(tables, engine), at_once({request(4, 20), request(4, 2, 1500)}));
  CHECK(few.requests[0].first_token == Picoseconds{1040});  // nothing decodes beside it
  CHECK(few.requests[1].first_token == Picoseconds{5040 + 1040});
  const FleetResult many =
      simulate(one_replica(tables, engine), at_once({request(4, 20), request(4, 2, 1500), request(60, 2, 2500)}));
  CHECK(many.requests[1].first_token == Picoseconds{3040 + 1640});
  CHECK(many.requests[2].first_token == Picoseconds{3040 + 1640});
}

TEST_CASE("balanced attention-DP: prompts wait until every rank has one and then some, or until the time is out") {
  const IterationTables tables = test::simple_tables({.step = 1000, .per_prompt_token = 10});
  EngineSettings engine;
  engine.rules = tensorrt_llm_no_evict;
  engine.blocks = 1000;
  engine.max_num_tokens = 100;
  engine.ranks = 2;
  // Two begin at once, for nothing decodes beside them; their prompts end at 1080.
  const auto run = [&](std::vector<Request> others) {
    std::vector<Request> requests{request(4, 40), request(4, 40)};
    requests.insert(requests.end(), others.begin(), others.end());
    return simulate(one_replica(tables, engine), at_once(requests)).requests;
  };
  const std::vector<Request> lone{request(4, 2, 1500)};
  const std::vector<Request> both{request(4, 2, 1500), request(4, 2, 3500)};
  CHECK(run(lone)[2].first_token == Picoseconds{2080 + 1040});
  engine.balance_timeout = 9;
  engine.balance_batching = 3;
  // The engine counts from its first prompts on: eight iterations without, and the ninth takes what waits.
  CHECK(run(lone)[2].first_token == Picoseconds{1080 + 8 * 1000 + 1040});
  // Each rank has one from 4080 on; three iterations later both run.
  CHECK(run(both)[2].first_token == Picoseconds{4080 + 3 * 1000 + 1080});
  CHECK(run(both)[3].first_token == Picoseconds{4080 + 3 * 1000 + 1080});
  engine.max_num_seqs = 3;  // one place for two that wait: no rank waits for the other's
  CHECK(run(both)[2].first_token == Picoseconds{1080 + 8 * 1000 + 1040});
}
