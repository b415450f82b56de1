// SPDX-License-Identifier: Apache-2.0
// A closed loop over two pools: what it is with one client, where each pool binds, and what the queue adds.
#include <headroom/model/serve/fixed_load/disaggregated.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include <algorithm>

using namespace headroom;
using test::near;

namespace {

/// 20 us a prompt token; 10 ms a decode iteration and 0.1 ms a sequence of it.
DisaggregatedPool prefill(double replicas = 1.0) {
  DisaggregatedPool pool;
  pool.step = [](const IterationMix& mix) { return 20e-6 * mix.chunks * mix.chunk_tokens; };
  pool.load.isl = 1000;
  pool.load.osl = 101;
  pool.load.chunk = 4000;
  pool.replicas = replicas;
  return pool;
}
DisaggregatedPool decode(double replicas = 1.0) {
  DisaggregatedPool pool = prefill(replicas);
  pool.step = [](const IterationMix& mix) { return 10e-3 + 0.1e-3 * mix.decodes; };
  return pool;
}
constexpr SteadyHabits quiet{Seconds{5e-3}, 0.0, 0.0, 1.0, 0.3};

}  // namespace

TEST_CASE("one client waits for its own prompt, the transfer and its decodes alone") {
  const SteadyState s = disaggregated_loop(prefill(), decode(), 1.0, Seconds{30e-3}, quiet);
  CHECK(s.ttft.raw() == near(5e-3 + 20e-3 + 30e-3));
  CHECK(s.tpot.raw() == near(10.1e-3));
  CHECK(s.requests_per_s == near(1.0 / (55e-3 + 100 * 10.1e-3)));
  CHECK(s.output_tokens_per_s == near(101 * s.requests_per_s));
}

TEST_CASE("clients: Little's law holds, prompts of others do not touch TPOT, and the pool of prompts bounds the rate") {
  SteadyState last;
  for (const double clients : {1.0, 4.0, 16.0, 64.0, 256.0, 1024.0}) {
    CAPTURE(clients);
    const SteadyState s = disaggregated_loop(prefill(), decode(), clients, Seconds{}, quiet);
    const double decoding = s.requests_per_s * 100 * s.tpot.raw();
    CHECK(s.tpot.raw() == near(10e-3 + 0.1e-3 * std::max(1.0, decoding), 1e-3));
    CHECK(clients == near(s.requests_per_s * (s.ttft.raw() + 100 * s.tpot.raw()), 1e-3));
    CHECK(s.requests_per_s < 1.0 / 20e-3);
    CHECK(s.requests_per_s >= last.requests_per_s);
    CHECK(s.ttft >= last.ttft);
    last = s;
  }
  // at 1,024 the one prefilling replica is full, and the others wait in front of it
  CHECK(last.requests_per_s == near(50.0, 0.02));
  CHECK(last.prompt_share > 0.98);
  const SteadyState more = disaggregated_loop(prefill(4.0), decode(), 1024.0, Seconds{}, quiet);
  CHECK(more.requests_per_s > 1.5 * last.requests_per_s);
  CHECK(more.tpot > last.tpot);
  CHECK(more.ttft < last.ttft);
}

TEST_CASE("decoding replicas share the clients, so that twice as many hold half of them each") {
  const SteadyState one = disaggregated_loop(prefill(100.0), decode(1.0), 64.0, Seconds{}, quiet);
  const SteadyState two = disaggregated_loop(prefill(100.0), decode(2.0), 128.0, Seconds{}, quiet);
  CHECK(two.tpot.raw() == near(one.tpot.raw(), 1e-3));
  CHECK(two.requests_per_s == near(2.0 * one.requests_per_s, 1e-3));
}

TEST_CASE("the first burst adds to the mean of first tokens and takes nothing of the rate") {
  SteadyHabits bursts = quiet;
  bursts.burst = 1.5;
  const SteadyState s = disaggregated_loop(prefill(2.0), decode(), 65.0, Seconds{}, bursts);
  const SteadyState without = disaggregated_loop(prefill(2.0), decode(), 65.0, Seconds{}, quiet);
  CHECK(s.requests_per_s == near(without.requests_per_s));
  CHECK((s.ttft - without.ttft).raw() == near(1.5 * 0.5 * 64 * 10e-3 / 10));
}

TEST_CASE("busy prefill workers that launch first hand a cache on when the prompt behind it has run") {
  SteadyHabits launches = quiet;
  launches.late_results = true;
  CHECK(disaggregated_loop(prefill(1e6), decode(), 8.0, Seconds{}, launches).ttft.raw() == near(25e-3, 1e-3));  // idle
  const SteadyState s = disaggregated_loop(prefill(), decode(), 16.0, Seconds{}, launches);
  const SteadyState without = disaggregated_loop(prefill(), decode(), 16.0, Seconds{}, quiet);
  CHECK(s.prompt_share > 0.1);
  CHECK((s.ttft - without.ttft).raw() == near(s.prompt_share * 20e-3, 0.05));
  CHECK(16.0 == near(s.requests_per_s * (s.ttft.raw() + 100 * s.tpot.raw()), 1e-3));
}

TEST_CASE("a full decoding replica keeps requests waiting for a place, and its first token waits with them") {
  DisaggregatedPool full = decode();
  full.places = 16.0;
  // Little: 16 of 64 decode for 100 iterations of 11.6 ms, so that 48 wait, but for those that prefill.
  const SteadyState s = disaggregated_loop(prefill(1000.0), full, 64.0, Seconds{}, quiet);
  const double cycle = 100 * 11.6e-3;
  CHECK(s.tpot.raw() == near(11.6e-3, 1e-3));
  CHECK(s.requests_per_s == near(16.0 / cycle, 1e-3));
  CHECK(s.ttft.raw() == near((64.0 - 16.0) / 16.0 * cycle, 0.02));
  full.places = 64.0;
  const SteadyState roomy = disaggregated_loop(prefill(1000.0), full, 64.0, Seconds{}, quiet);
  CHECK(roomy.ttft.raw() == near(disaggregated_loop(prefill(1000.0), decode(), 64.0, Seconds{}, quiet).ttft.raw()));
}

TEST_CASE("requests wait at one replica while another is free, half of what a router that draws replicas would leave") {
  DisaggregatedPool seven = decode(7.0);
  seven.places = 1.0;
  // Of 7 over 7 replicas of one place each, X binomial: E[(X - 1)+] = P(X = 0) = (6/7)^7 = 0.3399, and 0 in turns: half
  // of it is late for 0.1700 / 0.8300 of an answer, 100 iterations of one sequence.
  const SteadyState s = disaggregated_loop(prefill(1e6), seven, 7.0, Seconds{}, {Seconds{}, 0.0, 0.0, 1.0, 0.3});
  const double wait = s.ttft.raw() - 20e-3;  // but for the prompt itself
  CHECK(wait == near(0.1700 / 0.8300 * 100 * s.tpot.raw(), 0.04));
}

TEST_CASE(
    "an engine that holds a first piece answers when it is full: so many iterations later, without slower tokens") {
  SteadyHabits holds = quiet;
  holds.holds_first = true;
  DisaggregatedPool pieces = decode();
  pieces.load.client.stream_interval = 21.0;
  const SteadyState held = disaggregated_loop(prefill(), pieces, 1.0, Seconds{}, holds);
  const SteadyState once = disaggregated_loop(prefill(), pieces, 1.0, Seconds{}, quiet);
  CHECK((held.ttft - once.ttft).raw() == near(20 * 10.1e-3));
  CHECK(held.requests_per_s == near(once.requests_per_s));
  // the answer ends when it did: 100 tokens' time less what the first waited
  CHECK(held.tpot.raw() == near(10.1e-3 - 20 * 10.1e-3 / 100));
}
