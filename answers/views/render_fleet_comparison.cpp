// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/views/brief.hpp>
#include <headroom/answers/views/render.hpp>
#include <headroom/answers/views/render_fleet.hpp>
#include <headroom/answers/views/render_fleet_comparison.hpp>
#include <headroom/answers/views/side_by_side.hpp>
#include <headroom/core/number_words.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace headroom {
namespace {

const FleetOption* best_of(const ComparedFleet& fleet) {
  return fleet.plan.options.empty() ? nullptr : &fleet.plan.options.front();
}

/// A row of what is said of each fleet's first option that was sized; blank where none was.
template <class Say>
void add_row(SideBySideTable& table, const FleetComparison& c, std::string name, Say say) {
  std::vector<std::string> cells;
  for (const ComparedFleet& fleet : c.fleets) {
    const FleetOption* const best = best_of(fleet);
    cells.push_back(best != nullptr && best->sized ? say(fleet.plan, *best) : std::string{});
  }
  table.row(std::move(name), std::move(cells));
}

std::string time_text(Seconds time) {
  return std::isnan(time.raw()) ? std::string{"-"} : format(time);
}

std::string numbers_text(const FleetComparison& c) {
  using Option = FleetOption;
  SideBySideTable table{"", c.fleets.size()};
  add_row(table, c, "GPUs", [](const FleetPlan&, const Option& o) { return std::to_string(o.gpus); });
  add_row(table, c, "GPUs at the middle", [](const FleetPlan&, const Option& o) {
    return o.sized->middle ? std::to_string(o.sized->middle->gpus) : std::string{"none is enough"};
  });
  add_row(table, c, "replicas", [](const FleetPlan&, const Option& o) { return std::to_string(o.sized->replicas); });
  add_row(table, c, "and spare", [](const FleetPlan&, const Option& o) { return std::to_string(o.sized->spare); });
  add_row(table, c, "TTFT p95",
          [](const FleetPlan&, const Option& o) { return time_text(o.sized->metrics.all.ttft.p95); });
  add_row(table, c, "TPOT p95",
          [](const FleetPlan&, const Option& o) { return time_text(o.sized->metrics.all.tpot.p95); });
  add_row(table, c, "load at the slow end", [](const FleetPlan&, const Option& o) {
    return o.sized->answers() ? percent(o.sized->load_at_slow_end(), 2) : std::string{"answers nothing"};
  });
  add_row(table, c, "saturates at", [](const FleetPlan&, const Option& o) { return rate_text(o.sized->saturation); });
  add_row(table, c, "kept with probability", [](const FleetPlan& plan, const Option&) {
    return plan.chance ? probability_text(*plan.chance) : std::string{};
  });
  add_row(table, c, "cost per hour", [](const FleetPlan&, const Option& o) {
    return o.per_hour.raw() > 0.0 ? format(o.per_hour) : std::string{};
  });
  add_row(table, c, "$ per M output tokens", [](const FleetPlan&, const Option& o) {
    return o.per_hour.raw() > 0.0 ? format(o.per_million_output_of_all.mid) : std::string{};
  });
  return table.text();
}

std::string ranking_text(const FleetComparison& c) {
  std::string text =
      std::string{"by "} + (c.priced ? "dollars per million output tokens" : "GPUs per request a second") + "\n";
  Table table{{"", "", "<"}};
  for (std::size_t place = 0; place < c.ranking.size(); ++place) {
    const std::size_t i = c.ranking[place];
    const double least = c.goal(c.ranking.front());
    const double more = least > 0.0 ? c.goal(i) / least - 1.0 : 0.0;
    table.row({std::to_string(place + 1) + ". " + column_label(i), format_number(c.goal(i)),
               more > 0.0 ? percent(more, 2) + " more than the first" : ""});
  }
  for (std::size_t i = 0; i < c.fleets.size(); ++i) {
    if (!c.fleets[i].plan.feasible()) {
      table.row({"-  " + column_label(i), "", "does not keep what is promised"});
    }
  }
  return text + table.text();
}

}  // namespace

std::string fleet_comparison_text(const FleetComparison& c) {
  std::string text =
      c.complete ? "" : partial_text(c.time_over) + "; what follows is the best of what was sized until then\n";
  for (std::size_t i = 0; i < c.fleets.size(); ++i) {
    const FleetPlan& plan = c.fleets[i].plan;
    text += column_label(i) + "  " + c.fleets[i].file + (plan.options.empty() ? "" : ": " + fleet_heading(plan)) +
            "\n   " + fleet_verdict(plan) + "\n";
  }
  for (const RefusedPlan& refused : c.refused) {
    text += "-  " + refused.file + ": no answer\n   " + refused.why + "\n";
  }
  const std::string numbers = numbers_text(c);
  return text + "\n" + keys_text(c.keys) + (numbers.empty() ? "" : "\n" + numbers) + "\n" + ranking_text(c);
}

Value fleet_comparison_document(const FleetComparison& c) {
  return object(
      "schema"_m = "headroom.compare_fleets/1", "complete"_m = c.complete,
      "fleets"_m = list(c.fleets,
                        [](const ComparedFleet& fleet) {
                          return object("file"_m = fleet.file, "fleet"_m = fleet_document(fleet.plan));
                        }),
      "refused"_m = when(!c.refused.empty(), list(c.refused,
                                                  [](const RefusedPlan& refused) {
                                                    return row("file"_m = refused.file, "why"_m = refused.why);
                                                  })),
      "differs"_m =
          list(c.keys, [](const DifferingKey& key) { return row("key"_m = key.key, "values"_m = key.values); }),
      "ranked_by"_m = c.priced ? "usd_per_million_output_tokens" : "gpus_per_request_per_s",
      "ranking"_m = list(c.ranking, [&](std::size_t i) { return row("fleet"_m = i, "ranked_value"_m = c.goal(i)); }));
}

}  // namespace headroom
