// SPDX-License-Identifier: Apache-2.0
// Questions of video, simulators and policies, and verdicts between GPUs and cores that are too close to call.
#include <headroom/core/config_reader.hpp>
#include <headroom/scenarios/classic/classic_plan.hpp>

#include <doctest/doctest.h>

#include "../support/sources.hpp"
#include <cmath>
#include <string>

using namespace headroom;
using headroom::test::sources;

namespace {

classic::Plan media_plan(const std::string& hardware, const std::string& rest) {
  const std::string text = "schema = 1\nkind = \"classic\"\n[hardware]\n" + hardware + rest;
  return classic::make_plan(classic::read_question(parse_toml(text, "media.toml"), "media.toml", sources()));
}

}  // namespace

TEST_CASE("media: streams that are wanted take the cards that carry them") {
  const classic::Plan plan = media_plan("gpu = \"t4\"\n", "[video]\nframe_time = \"3.11 ms\"\nstreams = 101\n");
  REQUIRE(plan.video);
  // floor(1000 / 30 / 3.11) streams a card; 101 of them take eleven cards.
  CHECK(plan.video->streams == 10.0);
  CHECK(plan.video->cards == 11.0);
  CHECK(plan.question.cards == 11.0);
  CHECK(plan.video->stages.front().name == "compute");
  CHECK(plan.gpu.rate->raw() == doctest::Approx(101.0 * 30.0));
  CHECK_FALSE(plan.cpu);
  CHECK(plan.feasible());
  // Energy of a frame: 70 W over 10 streams of 30 frames.
  CHECK(plan.video->frame.raw() == doctest::Approx(70.0 / 300.0));
}

TEST_CASE("media: a frame that the GPU cannot keep up with is no plan") {
  const classic::Plan plan = media_plan("gpu = \"t4\"\ngpus = 1\n", "[video]\nframe_time = \"54 ms\"\n");
  CHECK(plan.video->streams == 0.0);
  CHECK_FALSE(plan.feasible());
  // Every second frame takes 54 ms of 67.
  CHECK(media_plan("gpu = \"t4\"\ngpus = 1\n", "[video]\nframe_time = \"54 ms\"\nevery = 2\n").video->streams == 1.0);
}

TEST_CASE("media: memory holds streams back where frames are large and many") {
  const std::string asked =
      "[video]\ncodec = \"hevc\"\nwidth = 3840\nheight = 2160\nfps = 5\nsurfaces = 64\nstream_memory = \"200 MB\"\n";
  const classic::Plan plan = media_plan("gpu = \"l4\"\ngpus = 1\n", asked);
  CHECK(plan.video->stages.front().name == "memory");
  // 64 frames of 3840 x 2160 x 1.5 B and 200 MB.
  CHECK(plan.video->stream.raw() == doctest::Approx(64.0 * 12'441'600.0 + 200e6));
}

TEST_CASE("media: a run of steps takes its time, a demand its cards") {
  // Isaac Lab: 250,000 steps/s of four L40, so that a billion take 4000 s.
  const classic::Plan plan = media_plan("gpu = \"l40\"\ngpus = 4\n",
                                        "[host]\ncpu = \"xeon-8362\"\n[simulator]\ntask = \"humanoid\"\nsteps = 1e9\n");
  REQUIRE(plan.simulator);
  CHECK(plan.simulator->run->raw() == doctest::Approx(4000.0).epsilon(0.15));
  // 21,000 steps/s of one L40 that learns from pictures: 84,000 take four.
  const classic::Plan cameras =
      media_plan("gpu = \"l40\"\n",
                 "[host]\ncpu = \"xeon-8362\"\n[simulator]\ntask = \"cartpole-camera\"\nenvs = "
                 "1024\ndemand = \"84000 req/s\"\n");
  CHECK(cameras.question.cards == 4.0);
  CHECK(cameras.simulator->steps.raw() >= 84e3);
  CHECK(cameras.simulator->half > 0.0);
}

TEST_CASE("media: a network of 30 ms makes 20 calls a second of pi0's 20 ms") {
  const auto loop = [](const std::string& more) {
    return media_plan("gpu = \"rtx-4090\"\ngpus = 1\n",
                      "[control]\nviews = 1\nchunk = 63\nrate = \"30 req/s\"\n" + more);
  };
  const classic::Plan near = loop(""), far = loop("network = \"30 ms\"\n");
  CHECK(near.policy->rate.raw() == doctest::Approx(50.0).epsilon(0.12));
  CHECK(far.policy->rate.raw() == doctest::Approx(20.0).epsilon(0.12));
  CHECK(near.policy->reached.value());
  CHECK_FALSE(far.policy->reached.value());
  CHECK((far.policy->loop - near.policy->loop).raw() == doctest::Approx(0.030));
}

TEST_CASE("media: a verdict is none where each middle lies within the other's interval") {
  const Interval<double> a{1.0, 2.0, 4.0};
  CHECK(classic::close_calls(a, Interval<double>{1.5, 3.0, 6.0}));
  CHECK(classic::close_calls(Interval<double>{1.5, 3.0, 6.0}, a));
  CHECK_FALSE(classic::close_calls(a, Interval<double>{2.5, 5.0, 10.0}));
  // The wide one holds the narrow one's middle, which does not hold its.
  CHECK_FALSE(classic::close_calls(Interval<double>{1.9, 2.0, 2.1}, Interval<double>{1.0, 3.0, 9.0}));
  const auto trees = [](const char* rows) {
    return media_plan(
        "gpu = \"v100-sxm2-16gb\"\ngpus = 1\n",
        std::string{"[host]\ncpu = \"xeon-e5-2686-v4\"\n[trees]\nfeatures = 8\ndepth = 10\nrows = "} + rows + "\n");
  };
  // GBM-perf: 40 s on 16 cores and 5 s on a V100 of ten million rows.
  CHECK_FALSE(trees("1e7").too_close);
  const classic::Plan at_crossover = trees("3e5");
  CHECK(trees(std::to_string(*at_crossover.crossover).c_str()).too_close);
}

TEST_CASE("media: a sweep over an index tells the shards that it grows by") {
  const classic::Plan plan = media_plan("gpu = \"t4\"\n",
                                        "[vectors]\nindex = \"ivf-pq\"\nvectors = 1e9\ndims = 96\ncode = 20\nlists = "
                                        "262144\nids_on_host = true\n");
  REQUIRE(plan.sweep.size() == 5);
  // 20 GB of codes on cards of 14 GB: two; ten and a hundred times as many take ten and a hundred times as much.
  CHECK(plan.sweep[2].shards == 2.0);
  CHECK(plan.sweep[4].shards == doctest::Approx(50.0 * plan.sweep[2].shards).epsilon(0.5));
  CHECK(plan.sweep[4].shards > plan.sweep[3].shards);
}
