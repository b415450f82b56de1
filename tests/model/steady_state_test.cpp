// SPDX-License-Identifier: Apache-2.0
// Loads that do not change, against arithmetic on costs that can be added by hand.
#include <headroom/model/serve/fixed_load/steady_state.hpp>

#include <doctest/doctest.h>

#include "../near.hpp"
#include <algorithm>
#include <cmath>
#include <vector>

using namespace headroom;
using test::near;

namespace {

/// Every iteration alike.
double constant(const IterationMix&) {
  return 10e-3;
}
/// A millisecond, and a microsecond for each token.
double by_tokens(const IterationMix& mix) {
  return 1e-3 + 1e-6 * mix.tokens();
}

SteadyLoad load(double isl, double osl, double batch, double concurrency) {
  SteadyLoad l;
  l.isl = isl;
  l.osl = osl;
  l.batch = batch;
  l.concurrency = concurrency;
  return l;
}

const SteadyHabits habits{Seconds{2e-3}, 0.5, 1.0, 1.0, 0.3};

}  // namespace

TEST_CASE("a static batch runs its prompts once and then osl steps, only the first token waits for the request") {
  const SteadyState same = static_batch(constant, load(100, 9, 4, 4), habits);
  CHECK(same.ttft.raw() == near(12e-3));
  CHECK(same.tpot.raw() == near(10e-3));
  CHECK(same.requests_per_s == near(4 / 100e-3));  // ten iterations of 10 ms
  CHECK(same.output_tokens_per_s == near(9 * 4 / 100e-3));
  // 400 tokens of prompts, then ten steps of four tokens
  const SteadyState s = static_batch(by_tokens, load(100, 10, 4, 4), habits);
  CHECK(s.ttft.raw() == near(2e-3 + 1.4e-3));
  CHECK(s.tpot.raw() == near(1.004e-3));
  CHECK(s.requests_per_s == near(4 / (1.4e-3 + 10 * 1.004e-3)));
  CHECK(s.prompt_share == near(1.4 / (1.4 + 10.04)));
}

TEST_CASE("stages of a pipeline each take their part of a static batch, and wait for a share of (pp - 1) / pp") {
  SteadyLoad two = load(100, 10, 4, 4);
  two.stages = 2;
  const SteadyState s = static_batch(by_tokens, two, habits);
  CHECK(s.ttft.raw() == near(2e-3 + 1.2e-3));
  CHECK(s.tpot.raw() == near(1.002e-3));
  CHECK(s.requests_per_s == near(2 * 2 / ((1 + 0.3 / 2) * (1.2e-3 + 10 * 1.002e-3))));
}

TEST_CASE(
    "closed: prompts that come in the time of one step share it, in each attention group as many as its tokens hold") {
  // 100 of 101 others' prompts of 100 tokens come in 50 steps: two a step, 2.3 in steps that have any
  const auto together = [](double coming) { return coming / (1.0 - std::exp(-coming)); };
  SteadyLoad l = load(100, 50, 101, 101);
  std::vector<double> chunks;
  const auto of_busiest = [&](const IterationMix& mix) {
    chunks.push_back(mix.chunks);
    return 1e-3 + 1e-5 * (mix.chunks > 0.0 ? mix.chunk_tokens : 0.0);  // each group beside the others
  };
  const SteadyState one = closed_loop(of_busiest, l, habits);
  CHECK(one.tpot.raw() == near(1e-3 + 100.0 / 50 * 1e-3 / together(2.0)));
  CHECK(chunks[1] == near(together(2.0)));
  chunks.clear();
  l.groups = 8;
  const SteadyState eight = closed_loop(of_busiest, l, habits);
  CHECK(chunks[1] == near(together(2.0)));
  CHECK(eight.tpot.raw() == near(1e-3 + 100.0 / 50 * 1e-3 / together(2.0)));
  // no more of them than an iteration's tokens hold
  chunks.clear();
  l = load(100, 50, 101, 101);
  l.chunk = 100;
  static_cast<void>(closed_loop(of_busiest, l, habits));
  CHECK(chunks[1] == 1.0);
  chunks.clear();
  l = load(100, 5, 101, 101);
  l.chunk = 100;
  l.groups = 8;
  static_cast<void>(closed_loop(of_busiest, l, habits));
  CHECK(chunks[1] == near(together(39.0 / 5)));  // of the 40 sequences that 8 groups keep up with
}

TEST_CASE("the pools of a disaggregated deployment: prompts alone in full iterations, decodes alone") {
  SteadyLoad l = load(100, 50, 20, 20);
  l.chunk = 400;
  l.groups = 2;
  CHECK(prefill_pool(by_tokens, l).requests_per_s == near(8 / 1.8e-3));  // 800 tokens an iteration
  const SteadyState decodes = decode_pool(by_tokens, l, habits);
  CHECK(decodes.tpot.raw() == near(1.02e-3));
  CHECK(decodes.output_tokens_per_s == near(20 / 1.02e-3));
}

TEST_CASE("saturated: each sequence's prompt falls into one step of the cycle in which it decodes its output") {
  // 20 prompts of 100 tokens in 20 of 100 steps, each beside 19 decodes
  const SteadyState s = saturated(by_tokens, load(100, 100, 20, 20), habits);
  const double cycle = 80 * 1.020e-3 + 20 * 1.119e-3;
  CHECK(s.decode_step.raw() == near(1.020e-3));
  CHECK(s.mixed_step.raw() == near(1.119e-3));
  CHECK(s.tpot.raw() == near(cycle / 100));
  CHECK(s.output_tokens_per_s == near(20 * 100 / cycle));
  CHECK(s.prompt_share == near(20 * 0.099e-3 / cycle));
  CHECK(saturated(constant, load(100, 100, 20, 20), habits).output_tokens_per_s == near(20 / 10e-3));
}

TEST_CASE("saturated: short outputs put several prompts into every step") {
  // 20 sequences end every 10 steps: two prompts, 200 tokens, beside 18 decodes in every step
  const SteadyState s = saturated(by_tokens, load(100, 10, 20, 20), habits);
  CHECK(s.mixed_step.raw() == near(1.218e-3));
  CHECK(s.output_tokens_per_s == near(20 * 10 / (10 * 1.218e-3)));
}

TEST_CASE("saturated: prompts beyond an iteration's tokens bound the decodes, and their chunks see keys between") {
  SteadyLoad l = load(1000, 10, 20, 20);
  l.chunk = 512;
  std::vector<IterationMix> asked;
  const SteadyState s = saturated(
      [&](const IterationMix& mix) {
        asked.push_back(mix);
        return by_tokens(mix);
      },
      l, habits);
  // a step brings 0.512 prompts, each of which decodes for ten: 5.12 of the 20, 4.12 of them beside a prompt's end
  const double cycle = 10 * (1e-3 + 1e-6 * (512 + 4.12));
  CHECK(s.output_tokens_per_s == near(5.12 * 10 / cycle));
  CHECK(s.prompt_share == near(10 * 0.511e-3 / cycle));
  REQUIRE(asked.size() == 2);
  CHECK(asked[1].chunk_tokens == 512);
  CHECK(asked[1].chunks == 1);
  CHECK(asked[1].chunk_keys == 0.5 * (1000 + 512));
  CHECK(asked[1].ending == near(0.512));
}

TEST_CASE("saturated: a set that ends fills its batch with full chunks and empties it") {
  SteadyLoad l = load(100, 100, 20, 20);
  l.chunk = 400;
  l.requests = 200;
  const SteadyState s = saturated(by_tokens, l, habits);
  const double cycle = 80 * 1.020e-3 + 20 * 1.119e-3;
  // five steps of 400 tokens beside ten decodes, then 1000 - 2.5 - 50 as without an end, then 100 of ten
  const double seconds = 5 * 1.410e-3 + 947.5 * cycle / 100 + 100 * 1.010e-3;
  CHECK(s.output_tokens_per_s == near(200 * 100 / seconds));
  CHECK(s.tpot.raw() == near(cycle / 100));
  l.requests = 1e9;  // an end that is far away
  SteadyLoad endless = l;
  endless.requests = 0.0;
  CHECK(saturated(by_tokens, l, habits).output_tokens_per_s ==
        near(saturated(by_tokens, endless, habits).output_tokens_per_s, 1e-6));
  l.requests = 10;  // fewer than places
  CHECK(saturated(constant, l, habits).requests_per_s == near(10 / (2.5 * 10e-3 + (100 - 1.25 - 50) * 10e-3 + 1.0)));
}

TEST_CASE("saturated: a set that has to last holds as many requests as are answered meanwhile without an end") {
  SteadyLoad l = load(100, 100, 20, 20);
  l.requests = 30;
  const double few = saturated(constant, l, habits).requests_per_s;
  l.set_seconds = 600;
  SteadyLoad endless = l;
  endless.requests = 0.0;
  SteadyLoad longer = l;
  longer.set_seconds = 0.0;
  longer.requests = 600 * saturated(constant, endless, habits).requests_per_s;
  const double lasting = saturated(constant, l, habits).requests_per_s;
  CHECK(longer.requests > 30);
  CHECK(lasting == saturated(constant, longer, habits).requests_per_s);
  CHECK(lasting > few);
  l.set_seconds = 1e-3;  // the set is large enough as it is
  CHECK(saturated(constant, l, habits).requests_per_s == few);
}

TEST_CASE("saturated: outputs of unlike lengths hold longer caches, and the longest of them ends a set") {
  double keys = 0.0;
  const IterationCost by_keys = [&](const IterationMix& mix) {
    keys = mix.keys;
    return 1e-3 + 1e-5 * mix.decodes;
  };
  SteadyLoad l = load(100, 200, 10, 10);
  l.requests = 1000;
  const SteadyState equal = saturated(by_keys, l, habits);
  CHECK(keys == near(100 + 100));
  l.output_cv = 1.0;
  CHECK(l.answered() == near(200));
  static_cast<void>(saturated(by_keys, l, habits));
  CHECK(keys == near(100 + 200));
  l.output_cv = 0.0;
  l.longest = 2000;  // 100 iterations of all, then 1,900 of one sequence, in place of 200 of half of them
  CHECK(1000 / saturated(by_keys, l, habits).requests_per_s - 1000 / equal.requests_per_s ==
        near(100 * 1.1e-3 + 1900 * 1.01e-3 - 200 * 1.05e-3));
}

TEST_CASE("saturated: under balanced attention-DP prompts of many iterations share one, and their places wait empty") {
  double most = 0.0;
  // Prompts cost by the fullest group.
  const IterationCost by_group = [&](const IterationMix& mix) {
    most = std::max(most, mix.chunks);
    return 1e-3 + 1e-6 * std::ceil(mix.chunks / 4.0) * mix.chunk_tokens;
  };
  SteadyLoad l = load(1000, 100, 40, 40);
  l.groups = 4;
  l.chunk = 8000;
  // A prompt comes every 2.5 iterations and holds up each that it meets.
  const SteadyState plain = saturated(by_group, l, habits);
  CHECK(most == near(1));
  CHECK(plain.tpot.raw() * 100 == near(60 * 1e-3 + 40 * 2e-3));
  l.client.balance_timeout = 10;
  const SteadyState balanced = saturated(by_group, l, habits);
  // Four ranks wait 4 (1 + 1/2 + 1/3 + 1/4) 2.5 = 20.8 iterations for one each, so the time is out after ten: 4 - 0.18
  // prompts share one iteration in ten, and 0.045 of the places are empty.
  CHECK(most == near(4 * (1 - 0.045)));
  CHECK(balanced.tpot.raw() * 100 == near(90 * 1e-3 + 10 * 2e-3));
  CHECK(balanced.requests_per_s == near(40 * (1 - 0.045) / 0.11));
  l.client.balance_timeout = 50;
  l.client.balance_batching = 3;
  most = 0.0;
  static_cast<void>(saturated(by_group, l, habits));
  const double period = 2.5 * 4 * (1 + 1.0 / 2 + 1.0 / 3 + 1.0 / 4) + 3;
  CHECK(most == near(period * 0.4 * (1 - 0.5 * (period - 1) / 100)));
  l.groups = 1;  // a lone rank waits for none
  l.chunk = 32000;
  CHECK(saturated(by_group, l, habits).tpot == plain.tpot);
}

TEST_CASE("saturated: a lone sequence never decodes beside its own prompt, and one token of output is its prompt") {
  const SteadyState lone = saturated(by_tokens, load(100, 10, 1, 1), habits);
  CHECK(lone.mixed_step.raw() == near(1.1e-3));
  CHECK(lone.output_tokens_per_s == near(10 / (9 * 1.001e-3 + 1.1e-3)));
  CHECK(saturated(by_tokens, load(100, 1, 1, 1), habits).requests_per_s == near(1 / 1.1e-3));
  SteadyLoad staged = load(100, 100, 40, 40);
  staged.stages = 2;
  CHECK(saturated(by_tokens, staged, habits).output_tokens_per_s ==
        near(2 / 1.15 * saturated(by_tokens, load(100, 100, 20, 20), habits).output_tokens_per_s));
}

TEST_CASE("a closed loop decodes at the step of the batch and meets the prompts of the others") {
  const SteadyState s = closed_loop(by_tokens, load(100, 10, 4, 4), habits);
  const double decode = 1.004e-3;
  // Three others send one each in ten iterations: those with any of their prompts have 1.16.
  const double together = 0.3 / (1.0 - std::exp(-0.3));
  const double mixed = 1e-3 + (3 + 100 * together) * 1e-6;
  const double more = (mixed - decode) / together;
  const double tpot = decode + 3.0 / 10 * more;
  CHECK(s.tpot.raw() == near(tpot));
  CHECK(s.prompt_share == near(4 * more / (4 * more + 10 * decode)));
  // half a step of the others, the prompt, half of the prompts in front, three others of the first burst over ten waves
  const double ttft =
      2e-3 + 0.5 * decode * 3 / 4 + mixed + 0.5 * (4 * more / (10 * decode)) * more + 1.5 * 0.35e-3 / 10;
  CHECK(s.ttft.raw() == near(ttft));
  CHECK(s.requests_per_s == near(4 / (ttft + 9 * tpot)));
  CHECK(s.output_tokens_per_s == near(40 / (ttft + 9 * tpot)));
  SteadyHabits apart = habits;
  apart.interference = 0.0;
  CHECK(closed_loop(by_tokens, load(100, 10, 4, 4), apart).tpot.raw() == near(decode));
  // Outputs that are all equal: what shared the first burst's iterations comes back together.
  SteadyLoad step = load(100, 10, 4, 4);
  step.in_step = true;
  CHECK(closed_loop(by_tokens, step, habits).tpot.raw() == near(decode + 3.0 / 10 * (1.303e-3 - decode) / 3));
  step.chunk = 210;  // two of them beside three decodes
  CHECK(closed_loop(by_tokens, step, habits).tpot.raw() == near(decode + 3.0 / 10 * (1.203e-3 - decode) / 2));
}

TEST_CASE("an engine that runs prompts first stops its decodes for whole iterations of them") {
  SteadyLoad l = load(100, 10, 4, 4);
  l.prompts_first = true;
  const double decode = 1.004e-3;
  const auto shared = [](double coming) {
    const double together = coming / (1.0 - std::exp(-coming));
    return (1e-3 + 100e-6 * together) / together;
  };
  CHECK(closed_loop(by_tokens, l, habits).tpot.raw() == near(decode + 3.0 / 10 * shared(0.3)));
  l.client.recv_interval = 5;  // 5 x 3 / 10 prompts come between two looks and share an iteration
  CHECK(closed_loop(by_tokens, l, habits).tpot.raw() == near(decode + 3.0 / 10 * shared(1.5)));
  // 40 prompts of a thousand tokens, each alone, beside the hundred iterations of 40 decodes
  SteadyLoad queue = load(1000, 100, 40, 40);
  queue.prompts_first = true;
  const double cycle = 100 * 1.04e-3 + 40 * 2e-3;
  CHECK(saturated(by_tokens, queue, habits).tpot.raw() == near(cycle / 100));
  CHECK(saturated(by_tokens, queue, habits).requests_per_s == near(40 / cycle));
}

TEST_CASE("closed loop: clients kept in step wait for half of the prompts that do not share their own iteration") {
  SteadyLoad l = load(100, 10, 4, 4);
  l.prompts_first = l.in_step = true;
  CHECK(closed_loop(by_tokens, l, habits).tpot.raw() == near(1.004e-3));  // all four share one
  l.chunk = 200;                                                          // two do, of 1.2 ms
  const SteadyState s = closed_loop(by_tokens, l, habits);
  CHECK(s.tpot.raw() == near(1.004e-3 + 0.5 * (4 - 2) * 0.6e-3 / 10));
  CHECK(s.first.client.raw() == near(1.5 * 0.6e-3));  // in every wave, not in one of ten
}

TEST_CASE("closed loop: first tokens wait for the prompts that follow where those are launched first, answers do not") {
  SteadyLoad l = load(100, 11, 4, 4);
  l.prompts_first = l.in_step = true;
  l.chunk = 200;  // two iterations of two prompts, of 1.2 ms each
  SteadyHabits late = habits;
  late.late_results = true;
  const SteadyState before = closed_loop(by_tokens, l, habits);
  const SteadyState after = closed_loop(by_tokens, l, late);
  CHECK(after.first.behind.raw() == near(0.5 * 1.2e-3));  // of the first iteration's, a half of all
  CHECK(after.ttft.raw() == near(before.ttft.raw() + 0.6e-3));
  CHECK(after.tpot.raw() == near(before.tpot.raw() - 0.06e-3));
  CHECK(after.requests_per_s == near(before.requests_per_s));
  for (const double osl : {1.0, 2.0}) {  // no answer ends later for it
    l.osl = osl;
    CHECK(closed_loop(by_tokens, l, late).requests_per_s == near(closed_loop(by_tokens, l, habits).requests_per_s));
  }
  l.osl = 1.0;
  CHECK(closed_loop(by_tokens, l, late).ttft.raw() == near(closed_loop(by_tokens, l, habits).ttft.raw()));
  l.osl = 11.0;
  l.chunk = 50;  // one chunk of the next prompt, of 1.05 ms
  CHECK(closed_loop(by_tokens, l, late).first.behind.raw() == near(0.75 * 1.05e-3));
  l.chunk = 400;  // all share one
  CHECK(closed_loop(by_tokens, l, late).ttft.raw() == near(closed_loop(by_tokens, l, habits).ttft.raw()));
  // At random: three others' prompts in 11 decodes and their own time, while a prompt of `own` runs.
  l.in_step = false;
  const SteadyState random = closed_loop(by_tokens, l, late);
  const double own = random.mixed_step.raw();
  const double each = (closed_loop(by_tokens, l, habits).tpot.raw() - 1.004e-3) * 11 / 3;
  CHECK(random.first.behind.raw() == near(own * (1.0 - std::exp(-own * 3 / (11 * 1.004e-3 + 4 * each)))));
}

TEST_CASE("closed loop: prompts that cost nothing beside a step leave TPOT at the step") {
  const SteadyState s = closed_loop(constant, load(100, 10, 4, 4), habits);
  CHECK(s.tpot.raw() == near(10e-3));
  CHECK(s.prompt_share == 0.0);
  // a lone client: its prompt and nobody else
  const SteadyState lone = closed_loop(by_tokens, load(100, 1, 1, 1), habits);
  const double ttft = 2e-3 + 1.1e-3;
  CHECK(lone.tpot.raw() == near(1.001e-3));
  CHECK(lone.ttft.raw() == near(ttft));
  CHECK(lone.requests_per_s == near(1 / ttft));
}

TEST_CASE("closed loop: requests above the batch wait for whole answers of those in front") {
  const SteadyState full = closed_loop(by_tokens, load(100, 10, 4, 4), habits);
  const SteadyState queued = closed_loop(by_tokens, load(100, 10, 4, 12), habits);
  CHECK(queued.tpot.raw() == near(full.tpot.raw()));
  // two batches in front of it, and a first burst of twelve in place of four: their prompts in iterations of 1200
  // tokens in place of 400
  const double queue = 2 * 10 * full.tpot.raw();
  const double burst = (5.5 * 2.2e-3 / 12 - 1.5 * 1.4e-3 / 4) / 10;
  CHECK(queued.ttft.raw() - full.ttft.raw() == near(queue + burst));
  CHECK(queued.requests_per_s == near(12 / (queued.ttft.raw() + 9 * full.tpot.raw())));
}

TEST_CASE("closed loop: a prompt longer than an iteration takes its chunks one after another") {
  SteadyLoad l = load(1024, 20, 4, 4);
  l.chunk = 256;
  SteadyHabits quiet = habits;
  quiet.burst = 0.0;
  const SteadyState s = closed_loop(by_tokens, l, quiet);
  const double mixed = 1e-3 + 259e-6;
  const double more = 4 * (mixed - 1.004e-3);
  CHECK(s.mixed_step.raw() == near(mixed));
  CHECK(s.tpot.raw() == near(1.004e-3 + 0.15 * more));
  CHECK(s.ttft.raw() == near(2e-3 + 0.5 * 1.004e-3 * 3 / 4 + 4 * mixed + 0.5 * (4 * more / (20 * 1.004e-3)) * more));
  l.stages = 2;
  l.batch = l.concurrency = 8;
  CHECK(closed_loop(by_tokens, l, quiet).tpot.raw() == near(1.15 * s.tpot.raw()));
}

TEST_CASE("closed loop: the time to first token is the sum of its parts, and facts of the launch move each its own") {
  const SteadyLoad plain = load(100, 50, 8, 8);
  const SteadyState none = closed_loop(by_tokens, plain, habits);
  CHECK(none.first.total().raw() == near(none.ttft.raw()));
  CHECK(none.first.front_end == habits.request);
  CHECK(none.first.response.raw() == 0.0);
  CHECK(none.first.rank_wait.raw() == 0.0);
  const double step = none.decode_step.raw();

  SteadyLoad l = plain;
  l.client.recv_interval = 11;
  const SteadyState looked = closed_loop(by_tokens, l, habits);
  CHECK((looked.first.queue - none.first.queue).raw() == near(5 * step * 7 / 8));
  CHECK(looked.first.own == none.first.own);

  l = plain;
  l.client.batch_wait = 20;
  l.client.batch_wait_share = 0.5;
  // 20 x 7 / 50 more prompts come: the mean of 3.8 waits 2.4 / 3.8 of the iterations
  const double waited = (closed_loop(by_tokens, l, habits).first.queue - none.first.queue).raw();
  CHECK(waited == near(20 * (3.8 + 1) / (2 * 3.8) * step));
  l.chunk = 200;  // half of which the prompt fills by itself
  CHECK(closed_loop(by_tokens, l, habits).first.queue.raw() <
        closed_loop(by_tokens, plain, habits).first.queue.raw() + 1e-9);

  l = load(100, 50, 8, 8);
  l.groups = 4;
  const SteadyState ranks = closed_loop(constant, l, habits);
  l.client.balance_timeout = 9;
  const SteadyState balanced = closed_loop(constant, l, habits);
  // Half of the iterations from one with prompts to the ninth after it.
  CHECK((balanced.first.queue - ranks.first.queue).raw() == near(4 * 10e-3));
  l.batch = l.concurrency = 4;
  SteadyLoad held = l;
  held.client.balance_timeout = 9;
  l.client.balance_timeout = 0;  // some rank decodes nothing: all prompts run at once
  CHECK(closed_loop(constant, held, habits).ttft == closed_loop(constant, l, habits).ttft);

  l = plain;
  l.client.stream_interval = 10;
  SteadyHabits late_habits = habits;
  late_habits.holds_first = true;
  const SteadyState late = closed_loop(by_tokens, l, late_habits);
  CHECK(late.first.response.raw() == near(9 * none.tpot.raw()));
  CHECK(late.tpot.raw() == near(none.tpot.raw() * 40 / 49));  // from a first piece of ten tokens to the last token
  CHECK(late.requests_per_s == near(none.requests_per_s));
  CHECK(closed_loop(by_tokens, l, habits).ttft == none.ttft);

  SteadyHabits written = habits;
  written.piece = 1e-3;  // 400 pieces of eight answers take longer than the engine
  const SteadyState slow = closed_loop(by_tokens, plain, written);
  const double answer = none.ttft.raw() + 49 * none.tpot.raw();
  CHECK((slow.first.front_end - none.first.front_end).raw() == near(0.4 - answer));
  CHECK(slow.requests_per_s == near(8 / 0.4));
  l = plain;
  l.client.front_ends = 8;
  CHECK(closed_loop(by_tokens, l, written).ttft == none.ttft);
}

TEST_CASE("closed loop: prompts that a cache holds cost their decodes alone") {
  SteadyLoad l = load(100, 50, 8, 8);
  const SteadyState fresh = closed_loop(by_tokens, l, habits);
  l.found = 1.0;
  const SteadyState found = closed_loop(by_tokens, l, habits);
  CHECK(found.tpot == found.decode_step);
  CHECK(found.first.own == found.decode_step);
  CHECK(found.prompt_share == 0.0);
  l.found = 0.25;
  CHECK(closed_loop(by_tokens, l, habits).tpot.raw() == near(0.75 * fresh.tpot.raw() + 0.25 * found.tpot.raw()));
}
