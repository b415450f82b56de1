// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/config_reader.hpp>
#include <headroom/model/workload/network_library.hpp>
#include <headroom/scenarios/inference/batch_parts.hpp>
#include <headroom/scenarios/read/batch_reader.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <string>

using namespace headroom;

namespace {

const Sources& sources() {
  static const Sources all = Sources::standard();
  return all;
}

BatchScenario asked(const std::string& rest, const std::string& gpu = "gpu = \"t4\"\n") {
  const std::string text = "schema = 1\nkind = \"batch\"\n" + rest + "[hardware]\n" + gpu;
  const ConfigValue root = parse_toml(text, "question.toml");
  return read_batch_scenario(root, "question.toml", sources(), NetworkLibrary{sources().data.files()});
}
BatchPlan planned(const std::string& rest, const std::string& gpu = "gpu = \"t4\"\n") {
  return make_batch_plan(asked(rest, gpu));
}

const std::string one_call = "[[inference.call]]\nbatch = 1\ntime = \"10 ms\"\n";
const std::string two_calls =
    "[[inference.call]]\nbatch = 1\ntime = \"4 ms\"\n[[inference.call]]\nbatch = 8\ntime = \"9 ms\"\n";

}  // namespace

TEST_CASE("batch: a deadline that no call meets is told, with the class and without a promise") {
  const BatchPlan plan =
      planned(one_call + "[[requests.class]]\nname = \"frames\"\nrate = \"20 req/s\"\ndeadline = \"1 ms\"\n",
              "gpu = \"t4\"\ngpus = 1\n");
  REQUIRE(plan.online);
  CHECK_FALSE(plan.feasible());
  CHECK(plan.online->probability.value_or(1.0) < 0.01);
  CHECK(plan.online->why.find("frames") != std::string::npos);
}

TEST_CASE("batch: more requests than full batches serve are refused without any promise") {
  const BatchPlan plan = planned(one_call + "[requests]\nrate = \"200 req/s\"\n", "gpu = \"t4\"\ngpus = 1\n");
  CHECK_FALSE(plan.feasible());
  CHECK(plan.online->why.find("200 requests/s") != std::string::npos);
  CHECK(planned(one_call + "[requests]\nrate = \"50 req/s\"\n", "gpu = \"t4\"\ngpus = 1\n").feasible());
}

TEST_CASE("batch: what describes replicas of a language model is refused of a network") {
  const std::string job = "model = \"resnet-50\"\n[job]\nrecords = 1e6\ndeadline = \"1 h\"\n";
  CHECK_THROWS_WITH_AS(static_cast<void>(asked(job + "[serving]\nisl = 100\n")),
                       doctest::Contains("[serving] describes replicas of a language model"), ConfigError);
  CHECK_THROWS_WITH_AS(static_cast<void>(asked(job + "[strategy]\ntp = 2\n")),
                       doctest::Contains("[strategy] describes replicas of a language model"), ConfigError);
}

TEST_CASE("batch: what feeds a GPU bounds its requests, its clients and its records") {
  const std::string feed = "[data]\ncpu_time = \"100 ms\"\nworkers = 5\n";  // 50 samples a second, of 100 of the GPU
  const std::string one = "gpu = \"t4\"\ngpus = 1\n";
  CHECK_FALSE(planned(one_call + feed + "[requests]\nrate = \"80 req/s\"\n", one).feasible());
  CHECK(planned(one_call + "[requests]\nrate = \"80 req/s\"\n", one).feasible());
  CHECK(planned(one_call + feed + "[clients]\nclients = 8\n", one).closed->loop.rate == doctest::Approx(50.0));
  CHECK(planned(one_call + feed + "[job]\nrecords = 1e6\n", one).job->rate == doctest::Approx(50.0));
}

TEST_CASE("batch: the probability of a deadline does not jump where the feed begins to bind") {
  double last = -1.0;
  for (int i = 0; i <= 20; ++i) {
    // From a feed that is too slow to one that never binds: 100 records a second are needed.
    const double cpu = 10.4 - 0.05 * i;
    const BatchPlan plan =
        planned(one_call + "[data]\ncpu_time = \"" + std::to_string(cpu) +
                    " ms\"\nworkers = 1\n[job]\nrecords = 360000\ndeadline = \"3602 s\"\nchunk = 100\n",
                "gpu = \"t4\"\ngpus = 1\n");
    REQUIRE(plan.job->probability);
    CHECK(*plan.job->probability >= last - 1e-9);
    CHECK(*plan.job->probability <= 0.6);  // the calls themselves reach it in half of the cases
    last = *plan.job->probability;
  }
  CHECK(last > 0.4);
}

TEST_CASE("batch: stages, copies and the network lie in every latency, and stages on the GPU in its time") {
  const std::string one = "gpu = \"t4\"\ngpus = 1\n";
  const std::string requests = "[requests]\nrate = \"10 req/s\"\n[requests.slo]\np99 = \"100 ms\"\n";
  const BatchPlan plain = planned(one_call + "[inference]\nwindow = \"0 s\"\n" + requests, one);
  const std::string stages =
      "[data]\nworkers = 4\n[[data.stage]]\nname = \"decode\"\ncpu_time = \"20 ms\"\n[[data.stage]]\nname = "
      "\"nms\"\ngpu_time = \"5 ms\"\nafter = [\"network\"]\n";
  const BatchPlan staged = planned(one_call + "[inference]\nwindow = \"0 s\"\n" + stages + requests, one);
  REQUIRE(staged.online);
  CHECK(staged.book.curve.of(1).raw() == doctest::Approx(15e-3));
  CHECK(staged.online->taken.latency[0] - plain.online->taken.latency[0] >= Seconds{24.9e-3});
  CHECK(staged.data->called_share == doctest::Approx(10.0 / 15.0));
  CHECK_FALSE(planned(one_call + stages + "[requests]\nrate = \"10 req/s\"\n[requests.slo]\np99 = \"30 ms\"\n", one)
                  .feasible());
}

TEST_CASE("batch: weights that are larger than the GPU fit no sample, whatever a sample holds") {
  CHECK_FALSE(planned("[inference]\nweights_memory = \"140 GB\"\n" + two_calls + "[job]\nrecords = 1e6\n",
                      "gpu = \"t4\"\ngpus = 1\n")
                  .feasible());
}

TEST_CASE("batch: an interruption costs a chunk its work so far, and one that never ends is told") {
  const std::string one = "gpu = \"t4\"\ngpus = 1\n";
  const BatchPlan small = planned(one_call + "[job]\nrecords = 1e6\nchunk = 1000\ninterruptions = \"1 req/h\"\n", one);
  // Ten seconds of 3,600: half of that is lost on the mean.
  CHECK(small.job->useful == doctest::Approx(1.0 - 0.5 * 10.0 / 3600.0).epsilon(1e-4));
  const BatchPlan large =
      planned(one_call + "[job]\nrecords = 1e9\nchunk = 100000000\ninterruptions = \"1 req/h\"\n", one);
  CHECK_FALSE(large.feasible());
  CHECK(large.job->why.find("smaller chunks") != std::string::npos);
}

TEST_CASE("batch: the longest call holds whatever max_batch says") {
  const std::string job = "[job]\nrecords = 1e6\ndeadline = \"10 h\"\nlongest_call = ";
  CHECK(planned("[inference]\nmax_batch = 8\n" + two_calls + job + "\"10 ms\"\n").job->batch == 8);
  CHECK(planned("[inference]\nmax_batch = 8\n" + two_calls + job + "\"5 ms\"\n").job->batch == 1);
  CHECK_FALSE(planned(two_calls + job + "\"1 ms\"\n").feasible());
}

TEST_CASE("batch: the curve goes through measured calls and bends between them") {
  const std::string model = "model = \"resnet-50\"\n";
  const std::string calls =
      "[[inference.call]]\nbatch = 8\ntime = \"9 ms\"\n[[inference.call]]\nbatch = 32\ntime = \"20 ms\"\n";
  const CallBook plain = make_call_book(asked(model));
  const CallBook book = make_call_book(asked(model + calls));
  CHECK(book.curve.of(8).raw() == doctest::Approx(9e-3));
  CHECK(book.curve.of(32).raw() == doctest::Approx(20e-3));
  for (std::int64_t b = 2; b <= 64; ++b) {
    CAPTURE(b);
    CHECK(book.curve.of(b) > book.curve.of(b - 1));
  }
  // Far away the ratio counts to the power 0.7.
  const double ratio = 20e-3 / plain.curve.of(32).raw();
  CHECK(book.curve.of(2048) / plain.curve.of(2048) == doctest::Approx(std::pow(ratio, 0.7)).epsilon(0.02));
}

TEST_CASE("batch: without a network nothing is known beyond the largest call that is stated") {
  CHECK(make_call_book(asked(two_calls)).curve.largest() == 8);
  CHECK(make_call_book(asked("[inference]\nmax_batch = 64\n" + two_calls)).curve.largest() == 8);
}

TEST_CASE("batch: the highest rate keeps the promise, and a tenth more does not") {
  const std::string slo = "[requests.slo]\np99 = \"40 ms\"\n";
  const std::string one = "gpu = \"t4\"\ngpus = 1\n";
  const BatchPlan open = planned(two_calls + "[requests]\n" + slo, one);
  REQUIRE(open.feasible());
  CHECK(open.online->rate_asked);
  CHECK(*open.online->probability >= 0.79);
  const auto with = [&](double rate) {
    return planned(two_calls + "[requests]\nrate = \"" + std::to_string(rate) + " req/s\"\n" + slo, one);
  };
  CHECK(with(0.98 * open.online->peak_rate).feasible());
  CHECK_FALSE(with(1.1 * open.online->peak_rate).feasible());
}

TEST_CASE("batch: clocks in unknown phases are tried in many") {
  const std::string two =
      "[requests]\narrivals = \"periodic\"\n[[requests.class]]\nname = \"a\"\nrate = \"30 req/s\"\ndeadline = \"15 "
      "ms\"\n"
      "[[requests.class]]\nname = \"b\"\nrate = \"30 req/s\"\ndeadline = \"15 ms\"\n";
  // Two calls of 10 ms in 33 ms: in 10 ms of each phase beside the other one comes too late, whatever the seed.
  for (const char* seed : {"1", "2", "3"}) {
    std::string text = one_call + two;
    text.insert(text.find("arrivals"), "seed = " + std::string{seed} + "\n");
    CHECK_FALSE(planned(text, "gpu = \"t4\"\ngpus = 1\n").feasible());
  }
}

TEST_CASE("batch: what a GPU cannot compute and what moves nothing is told") {
  CHECK_THROWS_WITH_AS(static_cast<void>(asked("model = \"resnet-50\"\n[inference]\nprecision = \"fp8\"\n")),
                       doctest::Contains("t4 has no units for fp8"), ConfigError);
  CHECK_THROWS_WITH_AS(static_cast<void>(asked("model = \"resnet-50\"\n[inference]\nprecision = \"nvfp4\"\n",
                                               "gpu = \"b200-sxm-180gb\"\n")),
                       doctest::Contains("no network was measured in nvfp4"), ConfigError);
  const BatchScenario s =
      asked("[inference]\nwindow = \"5 ms\"\n" + one_call + "[job]\nrecords = 10\ndeadline = \"1 h\"\n");
  bool told = false;
  for (const std::string& note : s.assumptions) {
    told = told || note.find("inference.window has no effect") != std::string::npos;
  }
  CHECK(told);
}
