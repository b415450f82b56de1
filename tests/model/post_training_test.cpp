// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/post_training/answer_lengths.hpp>
#include <headroom/model/post_training/phase_simulation.hpp>
#include <headroom/model/post_training/rollout.hpp>
#include <headroom/model/post_training/stage_balance.hpp>
#include <headroom/model/post_training/step_phases.hpp>
#include <headroom/model/post_training/weight_sync.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

using namespace headroom;

namespace {

/// One second an iteration, whatever the batch.
RolloutClock even_clock() {
  return {[](double /*batch*/, double /*keys*/) { return Seconds{1.0}; }, Seconds{}};
}

PhaseTimes random_phases(std::mt19937& random) {
  std::uniform_real_distribution<double> time{0.1, 100.0};
  PhaseTimes phases;
  for (Seconds& each : phases.of) {
    each = Seconds{time(random)};
  }
  return phases;
}

}  // namespace

TEST_CASE("post-training: cut lengths keep their mean, and their strata too") {
  // E[min(X, c)] of a lognormal by a sum over 100,000 strata.
  const double mu = std::log(900.0), sigma = 0.7, most = 2000.0;
  const AnswerLengths lengths{cut_mean(mu, sigma, most), most, std::sqrt(std::expm1(sigma * sigma))};
  const std::vector<double> many = stratified_lengths(lengths, 100'000);
  CHECK(std::accumulate(many.begin(), many.end(), 0.0) / 100'000.0 == doctest::Approx(lengths.mean).epsilon(1e-3));
  CHECK(answer_quantile(lengths, 0.5) == doctest::Approx(900.0).epsilon(1e-6));
  // What exceeds 2000: 1 - F(ln(2000 / 900) / 0.7) = 1 - F(1.1407) = 0.127.
  CHECK(cut_share(lengths) == doctest::Approx(0.127).epsilon(0.01));
  CHECK(std::is_sorted(many.begin(), many.end()));
  CHECK(stratified_lengths({512.0, 4096.0, 0.0}, 3) == std::vector<double>{512.0, 512.0, 512.0});
  CHECK(stratified_lengths(lengths, 0).empty());
}

TEST_CASE("post-training: a rollout ends with its longest answer, and a queue refills its slots") {
  const std::vector<double> lengths{10.0, 10.0, 10.0, 40.0};
  RolloutShare share;
  share.lengths = lengths;
  share.slots = 4;
  const RolloutTimes all = simulate_rollout(share, even_clock());
  CHECK(all.whole.raw() == doctest::Approx(40.0));
  CHECK(all.tokens == doctest::Approx(70.0));
  // 4 answers for 10 s, then one for 30: 70 of 160 slot-seconds are used.
  CHECK(all.empty == doctest::Approx(1.0 - 70.0 / 160.0));
  share.slots = 2;  // 10 and 10, then 10 and 40: the last begins at 10
  CHECK(simulate_rollout(share, even_clock()).whole.raw() == doctest::Approx(50.0));
  share.step_tokens = 2.0;
  CHECK(simulate_rollout(share, even_clock()).whole.raw() == doctest::Approx(25.0));
}

TEST_CASE("post-training: a group's prompt is computed once where prefixes are shared") {
  const std::vector<double> lengths(8, 5.0);
  RolloutShare share;
  share.lengths = lengths;
  share.slots = 8;
  share.group = 4;
  RolloutClock clock = even_clock();
  clock.prompt = Seconds{3.0};
  CHECK(simulate_rollout(share, clock).whole.raw() == doctest::Approx(2.0 * 3.0 + 5.0));
  share.shares_prefix = false;
  CHECK(simulate_rollout(share, clock).whole.raw() == doctest::Approx(8.0 * 3.0 + 5.0));
}

TEST_CASE("post-training: keys of the batch grow with its answers") {
  // One answer of 4 tokens behind 10: keys of its iterations are 10.. 14, 12 on the mean, at 1 s a key.
  const std::vector<double> lengths{4.0};
  RolloutShare share;
  share.lengths = lengths;
  share.prompt = 10.0;
  const RolloutClock clock{[](double /*batch*/, double keys) { return Seconds{keys}; }, Seconds{}};
  CHECK(simulate_rollout(share, clock).whole.raw() == doctest::Approx(4.0 * 12.0));
}

TEST_CASE("post-training: weights whole or in parts over the link that joins both") {
  WeightSend send;
  send.weights = Bytes{64e9};
  send.engine_ranks = 8.0;
  send.hosts = true;
  send.inside = BytesPerSecond{400e9};
  send.outside = BytesPerSecond{50e9};
  const SyncPath path{0.5, Seconds{1.0}};
  // Gathered by the trainer's ranks, then sent: twice the bytes of bf16 weights, three times of fp32 ones.
  CHECK(weight_sync_time(WeightSync::broadcast, send, path).raw() == doctest::Approx(1.0 + 2.0 * 64.0 / 25.0));
  send.gathers = 2.0;
  CHECK(weight_sync_time(WeightSync::broadcast, send, path).raw() == doctest::Approx(1.0 + 3.0 * 64.0 / 25.0));
  CHECK(weight_sync_time(WeightSync::gathered, send, path).raw() == doctest::Approx(1.0 + 64.0 / 25.0));
  CHECK(weight_sync_time(WeightSync::sharded, send, path).raw() == doctest::Approx(1.0 + 8.0 / 25.0));
  send.hosts = false;
  CHECK(weight_sync_time(WeightSync::local, send, path).raw() == doctest::Approx(1.0 + 64.0 / 200.0));
  CHECK(weight_sync_time(WeightSync::gloo, send, path).raw() == doctest::Approx(1.0 + 64.0 / 0.5));
  // From hosts' memory: the link of a GPU to its host, whatever joins hosts.
  send.to_host = BytesPerSecond{64e9};
  CHECK(weight_sync_time(WeightSync::host, send, path).raw() == doctest::Approx(1.0 + 64.0 / 32.0));
}

TEST_CASE("post-training: within a host all whole tensors are copies, over several what is local is gathered") {
  CHECK(way_between(WeightSync::broadcast, false) == WeightSync::local);
  CHECK(way_between(WeightSync::local, false) == WeightSync::local);
  CHECK(way_between(WeightSync::local, true) == WeightSync::gathered);
  CHECK(way_between(WeightSync::broadcast, true) == WeightSync::broadcast);
  CHECK(way_between(WeightSync::sharded, false) == WeightSync::sharded);
  CHECK(is_own_rate(WeightSync::delta));
  CHECK(!is_own_rate(WeightSync::host));
}

TEST_CASE("post-training: batches that are generated whole wait for their longest answer each") {
  const std::vector<double> lengths{10.0, 40.0, 10.0, 20.0};
  RolloutShare share;
  share.lengths = lengths;
  share.slots = 2;
  CHECK(simulate_rollout(share, even_clock()).whole.raw() == doctest::Approx(40.0));  // 10, 10 and 20 beside 40
  share.whole_batches = true;
  CHECK(simulate_rollout(share, even_clock()).whole.raw() == doctest::Approx(40.0 + 20.0));
}

TEST_CASE("post-training: the longest of a group is the mean of a maximum") {
  // Of two alike lognormals E[max] = 2 exp(mu + s^2/2) F(s / sqrt 2): mean 1000, s 0.5: 2000 F(0.35355) = 1276.3.
  const AnswerLengths lengths{1000.0, 1e9, std::sqrt(std::expm1(0.25))};
  CHECK(longest_of(lengths, 2) == doctest::Approx(1276.3).epsilon(0.01));
  CHECK(longest_of(lengths, 1) == doctest::Approx(1000.0));
  CHECK(longest_of({1000.0, 1100.0, 1.2}, 64) <= 1100.0);
  CHECK(longest_of({512.0, 512.0, 0.0}, 8) == doctest::Approx(512.0));
}

TEST_CASE("post-training: tensors that are gathered one by one, shards that are compared, files that are read again") {
  WeightSend send;
  send.weights = Bytes{40e9};
  send.engine_ranks = 2.0;
  send.trainer_ranks = 8.0;
  send.hosts = true;
  send.tensors = 1000.0;
  send.inside = BytesPerSecond{400e9};
  send.outside = BytesPerSecond{50e9};
  const SyncPath path{0.5, Seconds{1.0}, Seconds{2e-3}};
  CHECK(weight_sync_time(WeightSync::broadcast, send, path).raw() == doctest::Approx(1.0 + 2.0 + 2.0 * 40.0 / 25.0));
  const SyncPath plain{0.5, Seconds{1.0}, {}};
  CHECK(weight_sync_time(WeightSync::delta, send, plain).raw() == doctest::Approx(1.0 + 2.0 * 40.0 / 8.0 / 0.5));
  CHECK(weight_sync_time(WeightSync::storage, send, plain).raw() == doctest::Approx(1.0 + 2.0 * 40.0 / 0.5));
  // A domain of eight GPUs with four engines takes an eighth over each NIC, and halves go on inside it.
  send.domain = 8.0;
  CHECK(weight_sync_time(WeightSync::sharded, send, plain).raw() ==
        doctest::Approx(1.0 + (40.0 / 8.0 / 50.0 + 40.0 / 2.0 / 400.0) / 0.5));
}

TEST_CASE("post-training: a bound on age holds a step to Little's law, as samples one by one do") {
  // Answers of 100 s each, a batch of 64, as many slots as anybody needs, training of 1 s that takes a batch whole:
  // 64 (1 + s) are under way or trained, each for 101 s, so that a step lasts 101 / (1 + s) s.
  const std::vector<double> times(64, 100.0);
  for (const double staleness : {1.0, 2.0, 3.0}) {
    PostTrainFlow flow;
    flow.placement = PostTrainPlacement::split;
    flow.order = PostTrainOrder::asynchronous;
    flow.staleness = staleness;
    flow.partial = true;
    flow.group = Seconds{100.0};
    PhaseTimes phases;
    phases[Phase::rollout] = Seconds{2.0};
    phases[Phase::train] = Seconds{1.0};
    const StepPhases closed = step_of_phases(phases, flow);
    CHECK(closed.age_binds);
    CHECK(closed.step.raw() == doctest::Approx(101.0 / (1.0 + staleness)));
    SampleFlow samples;
    samples.times = times;
    samples.slots = 100'000;
    samples.batch = 64;
    samples.staleness = staleness;
    samples.partial = true;
    samples.train = Seconds{1.0};
    CHECK(simulate_samples(samples, 60).step.raw() == doctest::Approx(closed.step.raw()).epsilon(0.03));
  }
}

TEST_CASE("post-training: GPUs that sample and then train beside the others take turns with them") {
  PhaseTimes phases;
  phases[Phase::rollout] = Seconds{60.0};
  phases[Phase::train] = Seconds{30.0};
  phases[Phase::swap] = Seconds{10.0};
  PostTrainFlow flow;
  flow.placement = PostTrainPlacement::hybrid;
  const StepPhases step = step_of_phases(phases, flow);
  CHECK(step.step.raw() == doctest::Approx(100.0));
  CHECK(step.train_idle == doctest::Approx(0.6));  // of those that do not sample
  CHECK(simulate_steps(phases, flow, 20).raw() == doctest::Approx(100.0));
}

TEST_CASE("post-training: 1,000 steps whose batches are waited for, event by event as in closed form") {
  std::mt19937 random{20261129};
  for (int i = 0; i < 1000; ++i) {
    const PhaseTimes phases = random_phases(random);
    PostTrainFlow flow;
    flow.placement = i % 3 == 0 ? PostTrainPlacement::colocated : PostTrainPlacement::split;
    flow.order = i % 3 == 2 ? PostTrainOrder::one_step_off : PostTrainOrder::synchronous;
    const double closed = step_of_phases(phases, flow).step.raw();
    CHECK(simulate_steps(phases, flow, 20).raw() == doctest::Approx(closed).epsilon(0.01));
  }
}

TEST_CASE("post-training: whoever waits is idle for what is left of the step") {
  PhaseTimes phases;
  phases[Phase::rollout] = Seconds{60.0};
  phases[Phase::train] = Seconds{30.0};
  phases[Phase::sync] = Seconds{10.0};
  PostTrainFlow flow;
  flow.placement = PostTrainPlacement::split;
  const StepPhases waits = step_of_phases(phases, flow);
  CHECK(waits.step.raw() == doctest::Approx(100.0));
  CHECK(waits.train_idle == doctest::Approx(0.6));
  CHECK(waits.rollout_idle == doctest::Approx(0.3));
  flow.order = PostTrainOrder::one_step_off;
  const StepPhases beside = step_of_phases(phases, flow);
  CHECK(beside.step.raw() == doctest::Approx(70.0));
  CHECK(beside.train_idle == doctest::Approx(30.0 / 70.0));
  CHECK(beside.rollout_binds);
  flow.order = PostTrainOrder::asynchronous;
  flow.staleness = 0.5;  // half of the 30 s of training lies beside the next rollout
  CHECK(step_of_phases(phases, flow).step.raw() == doctest::Approx(85.0));
  flow.parts = 2.0;  // the other half lies beside the second part of the same rollout
  CHECK(step_of_phases(phases, flow).step.raw() == doctest::Approx(70.0));
  flow.staleness = 1.5;
  flow.rollout_steady = Seconds{40.0};  // half of the 20 s that the tail takes is hidden
  CHECK(step_of_phases(phases, flow).step.raw() == doctest::Approx(60.0));
  flow.partial = true;
  CHECK(step_of_phases(phases, flow).step.raw() == doctest::Approx(50.0));
}

TEST_CASE("post-training: no sample is older than its bound, and none is lost") {
  std::mt19937 random{7};
  std::uniform_real_distribution<double> time{0.5, 60.0};
  std::uniform_int_distribution<int> small{1, 40};
  for (int i = 0; i < 300; ++i) {
    std::vector<double> times(97);
    std::generate(times.begin(), times.end(), [&] { return time(random); });
    SampleFlow flow;
    flow.times = times;
    flow.batch = small(random);
    flow.slots = small(random) * 2;
    flow.staleness = (i % 7) * 0.5;
    flow.partial = i % 2 == 0;
    flow.train = Seconds{time(random)};
    flow.sync = Seconds{1.0};
    const SampleCounts counts = simulate_samples(flow, 30);
    CHECK(counts.oldest <= std::ceil(flow.staleness));
    CHECK(counts.started == counts.trained + counts.under_way + counts.buffered);
    CHECK(counts.trained == 31 * flow.batch);
    CHECK(counts.trainer_idle >= 0.0);
    CHECK(counts.trainer_idle <= 1.0);
  }
}

TEST_CASE("post-training: a step never gets longer where samples may be older") {
  std::vector<double> times;
  for (int i = 0; i < 64; ++i) {
    times.push_back(i % 16 == 0 ? 100.0 : 10.0);
  }
  double before = 1e300;
  for (const double staleness : {0.0, 1.0, 2.0, 4.0}) {
    SampleFlow flow;
    flow.times = times;
    flow.batch = 64;
    flow.slots = 64;
    flow.staleness = staleness;
    flow.partial = true;
    flow.train = Seconds{20.0};
    const double step = simulate_samples(flow, 40).step.raw();
    CHECK(step <= before * (1.0 + 1e-9));
    before = step;
  }
}

TEST_CASE("post-training: stages take GPUs by their demand over their rate") {
  // 84,000 steps a second at 21,000 a GPU are four GPUs.
  const std::vector<BalancedStage> stages{{"render", 21e3, 1.0, 0.0, 0}, {"train", 84e3, 1.0, 84e3, 0}};
  const StageBalance asked = stages_for(stages, 84e3);
  CHECK(asked.stages[0].gpus == 4);
  CHECK(asked.stages[1].gpus == 1);
  CHECK(asked.flow == doctest::Approx(84e3));
  // Five GPUs of the same stages deal themselves out alike; a sixth has nobody to wait for.
  const auto five = balance_stages(stages, 5);
  REQUIRE(five);
  CHECK(five->stages[0].gpus == 4);
  CHECK(five->flow == doctest::Approx(84e3));
  CHECK(!balance_stages(stages, 1));
}
