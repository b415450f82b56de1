// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/pipeline/host_path.hpp>
#include <headroom/model/pipeline/loader_queue.hpp>
#include <headroom/model/pipeline/stage_graph.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

using namespace headroom;

namespace {

PipelineStage stage(std::string name, StagePlace on, double seconds, std::vector<std::size_t> after = {}) {
  PipelineStage one;
  one.name = std::move(name);
  one.on = on;
  one.time[static_cast<std::size_t>(on)] = Seconds{seconds};
  one.output = Bytes{1e6};
  one.after = std::move(after);
  return one;
}

PipelineHost host() {
  PipelineHost of;
  of.gpus = 2.0;
  of.cores = 10.0;
  of.link = BytesPerSecond{1e9};  // a sample crosses in 1 ms
  of.called = Seconds{2e-3};
  return of;
}

}  // namespace

TEST_CASE("pipeline: stages on the host share its cores, those on the GPU take the network's time") {
  const std::vector<PipelineStage> stages{stage("decode", StagePlace::cpu, 8e-3),
                                          stage("augment", StagePlace::cpu, 2e-3, {0}),
                                          stage("resize", StagePlace::gpu, 2e-3, {1})};
  const StageFlow flow = stage_flow(stages, host());
  CHECK(flow.rate == doctest::Approx(1000.0));  // 10 cores over 10 ms
  CHECK(flow.on_gpu.raw() == doctest::Approx(2e-3));
  CHECK(flow.crossings == 1);
  CHECK(flow.before.raw() == doctest::Approx(13e-3));    // 8 + 2 + 1 of the copy + 2
  CHECK(flow.stages[0].needed == doctest::Approx(4.0));  // 2 GPUs take 500 samples a second of 8 ms
}

TEST_CASE("pipeline: stages side by side take their share of the samples, and the longer way counts") {
  std::vector<PipelineStage> stages{stage("engine", StagePlace::engine, 4e-3), stage("cuda", StagePlace::gpu, 1e-3)};
  stages[0].share = 0.75;
  stages[1].share = 0.25;
  const StageFlow flow = stage_flow(stages, host());
  CHECK(flow.rate == doctest::Approx(2.0 / 3e-3));
  CHECK(flow.binds == "engine");
  CHECK(flow.on_gpu.raw() == doctest::Approx(0.25e-3));
  CHECK(flow.before.raw() == doctest::Approx(4e-3));
  CHECK(flow.crossings == 0);
}

TEST_CASE("pipeline: what follows the network is a way of its own") {
  std::vector<PipelineStage> stages{stage("decode", StagePlace::cpu, 1e-3)};
  stages.push_back(stage("draw", StagePlace::cpu, 3e-3, {network_of({stages[0], stages[0]})}));
  const StageFlow flow = stage_flow(stages, host());
  CHECK(flow.before.raw() == doctest::Approx(2e-3));
  CHECK(flow.after.raw() == doctest::Approx(3e-3));
  CHECK(flow.crossings == 2);
}

TEST_CASE("pipeline: a stage that may move goes where fewer copies are, and a cycle is found with its stages") {
  std::vector<PipelineStage> stages{stage("decode", StagePlace::cpu, 2e-3), stage("resize", StagePlace::gpu, 1e-5, {0}),
                                    stage("normalise", StagePlace::cpu, 1e-5, {1})};
  stages[2].time[static_cast<std::size_t>(StagePlace::gpu)] = Seconds{1e-5};
  CHECK(stage_flow(stages, host()).crossings == 3);
  const auto best = best_places(stages, host());
  REQUIRE(best);
  CHECK((*best)[2].on == StagePlace::gpu);
  const StageFlow flow = stage_flow(*best, host());
  CHECK(flow.crossings == 1);
  CHECK(stage_flow(stages, host()).latency().raw() - flow.latency().raw() == doctest::Approx(2e-3));

  CHECK(cycle_of(stages).empty());
  stages[0].after = {2};
  CHECK(cycle_of(stages).size() == 3);
}

TEST_CASE(
    "pipeline: four workers of 80 ms feed a step of 20 ms, three do not, and loads that spread need batches ahead") {
  LoaderQueue queue{4, 1, Seconds{80e-3}, 0.0, Seconds{20e-3}};
  CHECK(simulate_loader(queue, 10'000, 1).busy == doctest::Approx(1.0).epsilon(0.01));
  queue.workers = 3;
  queue.prefetch = 2;
  CHECK(simulate_loader(queue, 10'000, 1).busy == doctest::Approx(0.75).epsilon(0.01));
  queue.workers = 4;
  queue.spread = 0.5;
  queue.prefetch = 1;
  const LoaderOutcome one = simulate_loader(queue, 20'000, 1);
  queue.prefetch = 8;
  const LoaderOutcome eight = simulate_loader(queue, 20'000, 1);
  CHECK(one.busy < 0.9);
  CHECK(eight.busy > one.busy + 0.05);
  CHECK(eight.stall_p99 >= eight.stall);
  CHECK(simulate_loader(queue, 20'000, 1).stall == eight.stall);  // the same seed, the same steps
}

TEST_CASE("pipeline: copies, shared links, caches and the host's memory") {
  CHECK(copy_time(Bytes{4e6}, 1000.0, Seconds{1e-5}, BytesPerSecond{12e9}).raw() == doctest::Approx(10.333e-3));
  CHECK(shared_link(8.0, 2.0, 1.0).p99 == doctest::Approx(4.0));
  CHECK(shared_link(8.0, 8.0, 1.0).at_once == doctest::Approx(1.0));
  // Of three others that copy a tenth of their time two at once are 2.8 of a hundred, three 0.1.
  CHECK(shared_link(4.0, 1.0, 0.1).p99 == doctest::Approx(3.0));
  const CachedReads half = cached_reads(Bytes{2e9}, Bytes{1e9}, BytesPerSecond{1e9}, BytesPerSecond{4e9});
  CHECK(half.later.raw() == doctest::Approx(1.6e9));
  CHECK(half.over(2.0).raw() == doctest::Approx(2.0 / (1.0 / 1e9 + 1.0 / 1.6e9)));
  CHECK(host_memory_traffic(Bytes{1.0}, Bytes{3.0}, false, false) == Bytes{4.0});
  CHECK(host_memory_traffic(Bytes{1.0}, Bytes{3.0}, true, false) == Bytes{8.0});
  CHECK(host_memory_traffic(Bytes{1.0}, Bytes{3.0}, false, true) == Bytes{});
}
