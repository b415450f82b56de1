// SPDX-License-Identifier: Apache-2.0
// Schedules in sentences: whose rule is broken, by how much, and which schedules do otherwise.
#include <headroom/scenarios/words/schedule_words.hpp>
#include <headroom/scenarios/words/verdict_text.hpp>

#include <doctest/doctest.h>

#include <array>

using namespace headroom;

TEST_CASE("schedules are listed by what their models say") {
  CHECK(either_of(std::array{Schedule::zb_v}) == "\"zb-v\"");
  CHECK(either_where([](const ScheduleModel& m) { return m.waits_for_stages; }) == "\"1f1b\" or \"gpipe\"");
  CHECK(either_where([](const ScheduleModel& m) {
          return m.splits_backward && m.placement == StagePlacement::looped;
        }) == "\"zb-h1\" or \"zb-h2\"");
}

TEST_CASE("a broken rule names the schedule that has it, with its own numbers") {
  const Problem few = problem_of({Verdict::schedule_micro_batches_too_few, 10.0, 12.0}, Schedule::dualpipe);
  CHECK(few.text == "10 micro-batches are fewer than the 2 x pp = 12 that DualPipe needs");
  CHECK(few.way_out == "use a global_batch of at least 12 micro-batches, or pp 4");
  const Problem odd = problem_of({Verdict::schedule_stages_odd, 5.0, 2.0}, Schedule::dualpipe);
  CHECK(odd.text == "pp 5 does not divide by 2, which DualPipe needs");
  CHECK(odd.way_out == "use pp 4 or 6, or schedule \"1f1b\" or \"zb-v\"");
  for (const ScheduleRow& row : schedule_rows) {
    CAPTURE(row.name);
    const std::string text = problem_of({Verdict::schedule_micro_batches_odd, 7.0, 2.0}, row.schedule).text;
    CHECK(text == "7 micro-batches do not divide by 2, which " + std::string{row.model->title} + " needs");
  }
}

TEST_CASE("a rule of a schedule that is not known is told as the schedule's") {
  CHECK(verdict_text(Verdict::schedule_stages_odd, 3.0, 2.0) == "pp 3 does not divide by 2, which the schedule needs");
  CHECK(verdict_text(Verdict::schedule_micro_batches_too_few, 6.0, 8.0) ==
        "6 micro-batches are fewer than the 8 that the schedule needs");
}
