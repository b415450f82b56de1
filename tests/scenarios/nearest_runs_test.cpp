// SPDX-License-Identifier: Apache-2.0
// Which measured runs are near a plan, and that they are told and never used.
#include <headroom/answers/views/render.hpp>
#include <headroom/scenarios/plan/plan.hpp>

#include <doctest/doctest.h>

#include "run_rows.hpp"
#include <algorithm>
#include <cmath>

using namespace headroom;
using namespace headroom::test;

namespace {

const TrainScenario& train(const Scenario& scenario) {
  return std::get<TrainScenario>(scenario.question);
}

NearestRuns near(const std::string& rows, const std::string& own = "") {
  const std::vector<RunFile> published{run_file(rows, "published.csv")};
  std::vector<RunFile> mine;
  if (!own.empty()) {
    mine.push_back(run_file(own));
  }
  return nearest_runs(train(run_scenario()), published, mine, run_sources());
}

}  // namespace

TEST_CASE("the distance is the root of the summed squares of what differs, as a factor") {
  const JobFeatures same = features_of(train(run_scenario()));
  CHECK(job_distance(same, same) == 1.0);
  JobFeatures other = same;
  other.gpus *= 2.0;
  CHECK(job_distance(same, other) == doctest::Approx(2.0));
  CHECK(job_distance(other, same) == doctest::Approx(2.0));
  other.parameters /= 3.0;
  CHECK(job_distance(same, other) == doctest::Approx(std::exp(std::hypot(std::log(2.0), std::log(3.0)))));
  const auto apart = [&](auto change) {
    JobFeatures f = same;
    change(f);
    return job_distance(same, f);
  };
  CHECK(apart([](JobFeatures& f) { f.software = "x"; }) == doctest::Approx(1.25));
  CHECK(apart([](JobFeatures& f) { f.precision = "fp8"; }) == doctest::Approx(1.4));
  CHECK(apart([](JobFeatures& f) { f.sku = "h200-sxm-141gb"; }) == doctest::Approx(1.15));
  CHECK(apart([](JobFeatures& f) { f.sku = f.generation = "x"; }) == doctest::Approx(2.0));
  CHECK(apart([](JobFeatures& f) { f.run_class = RunClass::experts; }) == doctest::Approx(2.0));
}

TEST_CASE("near runs come nearest first, three at most, and a far one only where none is near") {
  const std::string far = run_row({.id = "far", .seq_len = "2048", .value = "3"});
  const NearestRuns several =
      near(far + run_row({.id = "b", .global_batch = "160", .value = "4"}) + run_row({.id = "a", .value = "3"}) +
           run_row({.id = "c", .global_batch = "96", .value = "2.5"}) +
           run_row({.id = "d", .global_batch = "192", .value = "5"}));
  CHECK(several.within == 4);
  REQUIRE(several.runs.size() == 3);
  CHECK(several.runs[0].id == "a");
  CHECK(several.runs[0].distance == doctest::Approx(1.0));
  CHECK(several.runs[1].id == "b");
  CHECK(several.runs[1].distance == doctest::Approx(1.25));
  CHECK(several.runs[2].id == "c");
  const NearestRuns none = near(far + run_row({.id = "farther", .seq_len = "1024", .value = "3"}));
  CHECK(none.within == 0);
  REQUIRE(none.runs.size() == 1);
  CHECK(none.runs[0].id == "far");
  CHECK(none.runs[0].distance > none.radius);
  CHECK(near("").runs.empty());
}

TEST_CASE("theirs and ours are in the row's unit, the error is of the step") {
  const NearestRuns slow = near(run_row({.value = "2"}));
  REQUIRE(slow.runs.size() == 1);
  const double ours = slow.runs[0].predicted;
  CHECK(slow.runs[0].step_error == doctest::Approx(ours / 2.0 - 1.0));
  const NearestRuns rate = near(run_row({.metric = "samples_per_s", .value = "64"}));
  CHECK(rate.runs[0].predicted == doctest::Approx(128.0 / ours));
  CHECK(rate.runs[0].step_error == doctest::Approx(ours / 2.0 - 1.0));
}

TEST_CASE("of one configuration its time speaks, memory and doubt never do, and the user's rows count as theirs") {
  const NearestRuns nearest =
      near(run_row({.id = "rate", .metric = "mfu", .value = "0.4"}) + run_row({.id = "time", .value = "3"}) +
           run_row({.id = "memory", .metric = "memory_gib_per_gpu", .value = "40"}) +
           run_row({.id = "doubt", .global_batch = "130", .notes = "ODD"}));
  CHECK(nearest.within == 1);
  CHECK(nearest.runs[0].id == "time");
  const NearestRuns mine = near("", run_row({.id = "mine"}));
  REQUIRE(mine.runs.size() == 1);
  CHECK(mine.runs[0].own);
  CHECK(mine.with_own);
}

TEST_CASE("the estimate is the same to the byte whatever runs are near") {
  Plan plan = make_plan(run_scenario(), true);
  const std::string bare = plan_json(plan);
  plan.nearest = nearest_runs(train(plan.scenario), {}, {}, run_sources());
  const std::string empty = plan_json(plan);
  plan.nearest = nearest_runs(train(plan.scenario), published_runs(), {}, run_sources());
  const std::string full = plan_json(plan);
  const auto without_nearest = [](std::string text) {
    const std::size_t from = text.find("  \"nearest_runs\"");
    REQUIRE(from != std::string::npos);
    const std::size_t to = text.find("\n  }", from);
    return text.erase(from, to - from + 6);  // the object, its comma and line break
  };
  CHECK(without_nearest(empty) == bare);
  CHECK(without_nearest(full) == bare);
  CHECK(empty != full);
}
