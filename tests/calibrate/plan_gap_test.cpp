// SPDX-License-Identifier: Apache-2.0
// A run beside its plan: parts of a breakdown sum to the step, the largest gap comes first, the plan's terms find the
// run's parts.
#include <headroom/calibrate/against/plan_gap.hpp>
#include <headroom/calibrate/evidence/evidence.hpp>
#include <headroom/calibrate/telemetry/step_reader.hpp>
#include <headroom/core/diagnostic.hpp>

#include <doctest/doctest.h>

#include "../support/says.hpp"
#include <string>

using namespace headroom;

namespace {

PlannedStep planned() {
  PlannedStep plan;
  plan.terms[Term::gemm] = Seconds{0.080};
  plan.terms[Term::elementwise] = Seconds{0.010};
  plan.terms[Term::optimizer] = Seconds{0.004};
  plan.terms[Term::dp_comm] = Seconds{0.005};
  plan.terms[Term::straggler] = Seconds{0.001};
  plan.step = {Seconds{0.090}, Seconds{0.100}, Seconds{0.110}};
  plan.mfu = 0.4;
  plan.passes = 0.8;
  return plan;
}

RunReading told_by(const std::string& table) {
  Evidence evidence;
  read_phases(table, "b.csv", evidence.signals);
  return reading_of(evidence);
}

}  // namespace

TEST_CASE("the gap goes to the part that takes it, the largest first") {
  const RunReading told = told_by("phase,ms\ndata-load,15\nforward,30\nbackward,60\noptimizer,5\nallreduce,40\n");
  const PlanGap gap = plan_gap(told, planned());
  CHECK(gap.run.raw() == doctest::Approx(0.150));
  CHECK_FALSE(gap.within);
  // All-reduce 40 ms against dp_comm 5 + straggler 1: 34 of the 50 ms; data 15 of nothing; 90 against 80 + 10; 5 to 4.
  REQUIRE(gap.rows.size() == 4);
  CHECK(gap.rows[0].part == "exposed_communication");
  CHECK(gap.rows[0].gap().raw() == doctest::Approx(0.034));
  CHECK(gap.rows[0].of_gap == doctest::Approx(0.68));
  CHECK(gap.rows[1].part == "data");
  CHECK(gap.rows[2].part == "optimizer");
  CHECK(gap.rows[2].gap().raw() == doctest::Approx(0.001));
  CHECK(gap.rows[3].part == "computing");
  CHECK(gap.rows[3].gap().raw() == doctest::Approx(0.0).epsilon(1e-9));
  double sum = 0.0;
  for (const PlanGapRow& row : gap.rows) {
    sum += row.gap().raw();
  }
  CHECK(sum == doctest::Approx(0.050));
  // The same FLOP in one and a half times the time.
  CHECK(gap.reached.mfu == doctest::Approx(0.4 / 1.5));
  CHECK(gap.planned.memory_passes == doctest::Approx(0.8 * 0.14));
}

TEST_CASE("a trace's computing holds the optimizer, and a run as planned is told so") {
  RunReading run;
  run.step = Seconds{0.102};
  run.parts = {{"computing", Seconds{0.095}}, {"exposed_communication", Seconds{0.007}}};
  const PlanGap gap = plan_gap(run, planned());
  CHECK(gap.within);
  CHECK(test::says(gap.verdict, "as planned"));
  for (const PlanGapRow& row : gap.rows) {
    CHECK((row.part != "computing" || row.plan.raw() == doctest::Approx(0.094)));
  }
}

TEST_CASE("a part with a term's own name is matched with that term, the level of one's own runs goes to all") {
  PlannedStep plan = planned();
  plan.terms[Term::measured_level] = Seconds{0.010};
  plan.step.mid = Seconds{0.110};
  RunReading told;
  told.step = Seconds{0.1075};
  told.parts = {{"gemm", Seconds{0.1}}, {"dp_comm", Seconds{0.0055}}, {"voodoo", Seconds{0.002}}};
  const PlanGap gap = plan_gap(told, plan);
  for (const PlanGapRow& row : gap.rows) {
    if (row.part == "gemm") {
      CHECK(row.plan.raw() == doctest::Approx(0.088));  // 80 ms x 1.1
    }
    if (row.part == "voodoo") {
      CHECK(row.plan.raw() == 0.0);
    }
  }
  REQUIRE(gap.notes.size() == 1);
  CHECK(test::says(gap.notes.front(), "voodoo"));
}

TEST_CASE("a host that reads back each step takes 26 % of 13.5 ms") {
  const RunReading told = told_by("phase,ms\ncomputing,10\nsync,3.5\n");
  REQUIRE(told.causes.size() == 1);
  CHECK(told.causes.front().kind == CauseKind::host_sync);
  CHECK(told.causes.front().lost == doctest::Approx(3.5 / 13.5));
}
