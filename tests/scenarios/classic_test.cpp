// SPDX-License-Identifier: Apache-2.0
// Questions of classic machine learning: what is refused with which remedy, which machine is taken, how many.
#include <headroom/core/config_reader.hpp>
#include <headroom/scenarios/classic/classic_plan.hpp>

#include <doctest/doctest.h>

#include "../support/sources.hpp"
#include <algorithm>
#include <cmath>
#include <string>

using namespace headroom;
using headroom::test::sources;

namespace {

std::string on(const std::string& hardware, const std::string& rest) {
  return "schema = 1\nkind = \"classic\"\n[hardware]\n" + hardware + rest;
}
classic::Plan classic_plan(const std::string& text) {
  return classic::make_plan(classic::read_question(parse_toml(text, "classic.toml"), "classic.toml", sources()));
}
std::string classic_refusal(const std::string& text) {
  try {
    static_cast<void>(classic::read_question(parse_toml(text, "classic.toml"), "classic.toml", sources()));
  } catch (const ConfigError& error) {
    return error.what();
  }
  return {};
}
const std::string a100 = "gpu = \"a100-sxm-80gb\"\n";

}  // namespace

TEST_CASE("classic: sizes that contradict each other are refused with the way out") {
  const auto says = [](const std::string& text, const char* what) {
    const std::string said = classic_refusal(text);
    CHECK_MESSAGE(said.find(what) != std::string::npos, said);
  };
  const std::string vectors = "[vectors]\nindex = \"ivf-pq\"\nvectors = 1e6\ndims = 16\n";
  says(on(a100, vectors + "lists = 100\nprobes = 200\n"), "nprobe above nlist");
  says(on(a100, vectors + "code = 65\n"), "longer than its vector");
  says(on(a100, vectors + "lists = 1e7\n"), "leave some empty");
  says(on(a100, vectors + "wanted_recall = 0.9\n"), "needs one that was measured");
  says(on(a100, "[trees]\nrows = 100\nfeatures = 8\nbins = 256\n"), "at most as many bins as rows");
  says(on(a100, "[kmeans]\npoints = 10\ndims = 2\nclusters = 11\n"), "at most as many clusters as points");
  says(on(a100, "[grouping]\nrows = 10\nkeys = 11\n"), "11 keys are more than the 10 rows");
  says(on(a100 + "gpus = 1\n", "[host]\nmemory = \"100 GB\"\n[recommender]\nparameters = 113e9\n"),
       "exceed all tiers together");
  says(on(a100, ""), "no algorithm is stated");
  says(on(a100, vectors + "[kmeans]\npoints = 10\ndims = 2\nclusters = 2\n"), "several algorithms");
  says(on(a100, "[host]\ncpu = \"z80\"\n" + vectors), "unknown processor 'z80'");
}

TEST_CASE("classic: every problem is told at once") {
  const std::string said = classic_refusal(on(
      "gpu = \"a100-sxm-80gb\"\n",
      "[host]\ncpu = \"z80\"\n[vectors]\nindex = \"ivf-flat\"\nvectors = 1e6\ndims = 16\nlists = 10\nprobes = 20\nk = "
      "0\npassing = 2.0\ncolour = \"red\"\n"));
  for (const char* const part : {"z80", "nprobe above nlist", "'k' is 0", "it is a share", "unknown key 'colour'"}) {
    CAPTURE(part);
    CHECK_MESSAGE(said.find(part) != std::string::npos, said);
  }
}

TEST_CASE("classic: the crossover lies where both take as long, and the sweep agrees with it") {
  const classic::Plan plan = classic_plan(on("gpu = \"v100-sxm2-16gb\"\ngpus = 1\n",
                                             "[host]\ncpu = \"xeon-e5-2686-v4\"\n[trees]\nrows = 1e6\nfeatures = "
                                             "8\ndepth = 10\n"));
  REQUIRE(plan.crossover);
  CHECK(*plan.crossover > 1e5);
  CHECK(*plan.crossover < 1e7);
  for (const classic::Size& size : plan.sweep) {
    CAPTURE(size.size);
    REQUIRE(size.cpu);
    CHECK((size.gpu < *size.cpu) == (size.size > *plan.crossover));
  }
}

TEST_CASE("classic: about the crossover the two are too close to call, and beyond they are not") {
  const auto rows = [&](double count) {
    return classic_plan(on("gpu = \"v100-sxm2-16gb\"\ngpus = 1\n",
                           "[host]\ncpu = \"xeon-e5-2686-v4\"\n[trees]\nfeatures = 8\ndepth = 10\nrows = " +
                               std::to_string(count) + "\n"));
  };
  const classic::Plan plan = rows(1e6);
  REQUIRE(plan.crossover);
  REQUIRE(plan.crossover_close);
  REQUIRE(plan.crossover_close->from);
  REQUIRE(plan.crossover_close->to);
  const double from = *plan.crossover_close->from, to = *plan.crossover_close->to;
  CHECK(from < *plan.crossover);
  CHECK(to > *plan.crossover);
  CHECK(rows(std::ceil(from)).too_close);
  CHECK(rows(std::floor(to)).too_close);
  // The ends are found to 5 %.
  CHECK_FALSE(rows(from / 1.1).too_close);
  CHECK_FALSE(rows(to * 1.1).too_close);
  CHECK_FALSE(rows(from / 1.1).gpu_wins);
  CHECK(rows(to * 1.1).gpu_wins);
}

TEST_CASE("classic: parts add up to the time, and energy is power by time") {
  for (const char* const asked :
       {"[trees]\nrows = 1e6\nfeatures = 28\n", "[kmeans]\npoints = 1e6\ndims = 96\nclusters = 1000\n",
        "[vectors]\nindex = \"graph\"\nvectors = 1e6\ndims = 96\n", "[selection]\nitems = 1e9\nk = 100\n",
        "[grouping]\nrows = 1e9\nkeys = 1e6\n", "[recommender]\nparameters = 1e9\n"}) {
    CAPTURE(asked);
    const classic::Plan plan = classic_plan(on(a100 + "gpus = 2\n", asked));
    REQUIRE(plan.cpu);
    for (const classic::Column* const column : {&plan.gpu, &*plan.cpu}) {
      double sum = 0.0;
      for (const classic::PartTime& part : column->parts) {
        CHECK(part.time >= Seconds{});
        sum += part.time.raw();
      }
      CHECK(sum == doctest::Approx(column->time.mid.raw()));
      CHECK(column->time.low < column->time.mid);
      CHECK(column->energy.raw() == doctest::Approx(column->count * column->power.raw() * column->time.mid.raw()));
    }
    CHECK(plan.work > Flops{});
    CHECK(plan.moved > Bytes{});
  }
}

TEST_CASE("classic: an index takes the cards that hold it, and replicas for a rate") {
  const std::string index =
      "[vectors]\nindex = \"ivf-pq\"\nvectors = 1e9\ndims = 96\ncode = 24\nlists = 262144\nprobes = 32\n";
  const classic::Plan with_ids = classic_plan(on("gpu = \"t4\"\n", index));
  const classic::Plan without = classic_plan(on("gpu = \"t4\"\n", index + "ids_on_host = true\n"));
  // 24 GB of codes, 8 GB of ids, 0.1 GB of centroids over 90 % of a T4's 14.8 GiB, 14.3 GB.
  CHECK(with_ids.search->shards == 3.0);
  CHECK(without.search->shards == 2.0);
  const double rate = without.gpu.rate->raw();
  const classic::Plan faster = classic_plan(
      on("gpu = \"t4\"\n", index + "ids_on_host = true\nrate = \"" + std::to_string(1.5 * rate) + " req/s\"\n"));
  CHECK(faster.search->replicas == 2.0);
  CHECK(faster.gpu.count == 4.0);
}

TEST_CASE("classic: tables that one card cannot hold go to the host, and lookups follow popularity") {
  const std::string asked = "[host]\nmemory = \"2 TB\"\n[recommender]\nparameters = 113e9\npopularity = ";
  const classic::Plan even = classic_plan(on(a100 + "gpus = 1\n", asked + "0\n"));
  const classic::Plan skewed = classic_plan(on(a100 + "gpus = 1\n", asked + "1.1\n"));
  // Of 452 GB a card may hold 77 GB: 17 % of rows that are alike.
  CHECK(even.recommender->tiers.card == doctest::Approx(0.17).epsilon(0.05));
  CHECK(skewed.recommender->tiers.card > 0.8);
  CHECK(even.recommender->tiers.card + even.recommender->tiers.host == doctest::Approx(1.0));
  CHECK(skewed.gpu.time.mid < even.gpu.time.mid);
}

TEST_CASE("classic: units are whole, and their money and energy follow") {
  const classic::Plan plan =
      classic_plan(on("gpu = \"v100-sxm2-32gb\"\ngpus = 1\n",
                      "[vectors]\nindex = \"flat\"\nvectors = 1e6\ndims = 96\n[units]\nrate = \"100000 "
                      "req/s\"\nunit_rate = \"5035 req/s\"\nprice = \"22021.90 $\"\nenergy = \"0.0923 J\"\n"));
  REQUIRE(plan.units);
  CHECK(plan.units->units == 20.0);
  CHECK(plan.units->capital->raw() == doctest::Approx(440'438.0));
  // 100,000 x 0.0923 J a second, 4 years of 8,760 hours, at 0.10 $/kWh.
  CHECK(plan.units->energy.raw() / 3.6e6 == doctest::Approx(323'419.0).epsilon(1e-3));
  CHECK(plan.units->electricity.raw() == doctest::Approx(32'342.0).epsilon(1e-3));
}

TEST_CASE("classic: a slow search is told its cures with the best first") {
  const classic::Plan plan =
      classic_plan(on("gpu = \"h100-sxm-80gb\"\ngpus = 8\n",
                      "[vectors]\nindex = \"graph\"\nvectors = 1e8\ndims = 96\nbatch = 1\nshards = 8\n"));
  REQUIRE_FALSE(plan.cures.empty());
  CHECK(std::is_sorted(plan.cures.begin(), plan.cures.end(),
                       [](const classic::Cure& a, const classic::Cure& b) { return a.time_ratio < b.time_ratio; }));
  // One query at a time pays launches alone: batches come first.
  CHECK(plan.cures.front().what.find("batches") != std::string::npos);
  CHECK(plan.cures.front().time_ratio < 0.1);
}
