// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/markup/table.hpp>
#include <headroom/cli/render/render_plan_gap.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

namespace headroom::cli {
namespace {

std::string part_title(std::string_view part) {
  std::string words{part};
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

std::string signed_time(Seconds time) {
  return (time.raw() < 0.0 ? "-" : "+") + format(Seconds{std::abs(time.raw())});
}

Value use_value(const PlannedUse& use) {
  return row("mfu"_m = share(use.mfu), "tensor_active"_m = share(use.tensor_active),
             "memory_passes"_m = share(use.memory_passes));
}

}  // namespace

std::string plan_gap_text(const PlanGap& gap, const std::string& scenario) {
  std::string text = "against " + scenario + "\n" + gap.verdict + "\n\n";
  Table parts{{"part of a step", "run", "plan", "gap", "of the gap", "<the plan's terms"}};
  for (const PlanGapRow& part : gap.rows) {
    std::string terms;
    for (const std::string_view term : part.terms) {
      terms += (terms.empty() ? "" : ", ") + std::string{term};
    }
    parts.row({part_title(part.part), part.run ? format(*part.run) : "not told", format(part.plan),
               signed_time(part.gap()), std::abs(part.of_gap) >= 5e-4 ? percent(part.of_gap, 3) : "-", terms});
  }
  parts.row({"all", format(gap.run), format(gap.plan), signed_time(gap.run - gap.plan), "100 %", ""});
  text += parts.text(0) + "\n";
  for (const PlanGapRow& part : gap.rows) {
    text += part.says + "\n";
  }
  Table use{{"use of the GPU that the plan knows", "planned", "the same work in the run's time"}};
  use.row({"MFU", percent(gap.planned.mfu, 3), percent(gap.reached.mfu, 3)});
  use.row(
      {"tensor cores, over the peak", percent(gap.planned.tensor_active, 3), percent(gap.reached.tensor_active, 3)});
  use.row({"memory bandwidth by passes and optimizer alone", percent(gap.planned.memory_passes, 3),
           percent(gap.reached.memory_passes, 3)});
  text += "\n" + use.text(0);
  for (const std::string& note : gap.notes) {
    text += note + "\n";
  }
  return text;
}

Value plan_gap_value(const PlanGap& gap, const std::string& scenario) {
  return object("scenario"_m = scenario, "verdict"_m = gap.verdict, "within"_m = gap.within, "run_step_s"_m = gap.run,
                "plan_step_s"_m = gap.plan, "gap_s"_m = gap.run - gap.plan,
                "parts"_m = list(gap.rows,
                                 [](const PlanGapRow& part) {
                                   std::vector<std::string> terms{part.terms.begin(), part.terms.end()};
                                   return row("part"_m = part.part, "run_s"_m = part.run, "plan_s"_m = part.plan,
                                              "gap_s"_m = part.gap(), "of_gap"_m = share(part.of_gap),
                                              "terms"_m = terms, "says"_m = part.says);
                                 }),
                "planned"_m = use_value(gap.planned), "reached"_m = use_value(gap.reached), "notes"_m = gap.notes);
}

}  // namespace headroom::cli
