// SPDX-License-Identifier: Apache-2.0
// A fleet whose load changes: replicas that follow it against those of its peak, over the day or the trace.
#include <headroom/answers/markup/table.hpp>
#include <headroom/answers/views/render.hpp>
#include <headroom/answers/views/render_fleet.hpp>
#include <headroom/core/number_words.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace headroom {
namespace {

/// GPUs over time in a dozen parts at the most, of each the most; the whole curve is JSON's.
std::string times_table(const Autoscaling& a, const LoadCurve& day, std::int64_t gpus) {
  constexpr std::size_t most_rows = 12;
  const std::size_t steps = a.scaled.units.size();
  const std::size_t rows = std::min(most_rows, steps);
  if (rows < 2) {
    return {};
  }
  const auto rate = [&](std::size_t step) {
    const double at = static_cast<double>(step) + (day.repeats ? 0.0 : 0.5);  // at a trace's edges the rate jumps
    return day.at(at * a.step).raw();
  };
  Table table{{"from", "req/s, at most", "GPUs at the floor", "following", "fixed"}};
  for (std::size_t row = 0; row < rows; ++row) {
    const std::size_t first = row * steps / rows;
    const std::size_t end = (row + 1) * steps / rows;
    const auto most = [&](const std::vector<std::int64_t>& units) {
      const auto begin = units.begin() + static_cast<std::ptrdiff_t>(first);
      return std::to_string(gpus * *std::max_element(begin, units.begin() + static_cast<std::ptrdiff_t>(end)));
    };
    double highest = 0.0;
    for (std::size_t step = first; step < end; ++step) {
      highest = std::max(highest, rate(step));
    }
    table.row({format(static_cast<double>(first) * a.step), format_number(highest),
               a.floor ? most(a.floor->units) : "-", most(a.scaled.units), std::to_string(gpus * a.fixed.most)});
  }
  return table.text();
}

}  // namespace

bool fixed_is_stated(const FleetPlan& plan) {
  const std::optional<std::int64_t>& stated = plan.options.front().question().fleet->replicas;
  return stated && plan.autoscaling->fixed.most == *stated;
}

std::vector<std::string> fleet_following(const FleetPlan& plan) {
  if (!plan.autoscaling) {
    return {};
  }
  const Autoscaling& a = *plan.autoscaling;
  const bool differ = percent(a.scaled.missed) != percent(a.fixed.missed);
  const bool kept_to_more = differ && a.scaled.missed < a.fixed.missed;
  const double saved = a.fixed.gpu_hours - a.scaled.gpu_hours;
  const double freed = a.freed_gpu_hours();
  const double above = a.above_gpu_hours();
  std::string hours = "following the load ";
  if (saved > 0.0) {
    hours += "saves " + format_number(saved) + " GPU-hours of the fixed fleet";
  } else {
    // What costs more and keeps more is no saving that failed.
    hours += kept_to_more ? "" : "saves nothing: it ";
    hours += saved < 0.0 ? (kept_to_more ? "costs " : "takes ") + format_number(-saved) + " GPU-hours more than"
                         : std::string{"takes as many GPU-hours as"};
    hours += " the fixed fleet";
  }
  const std::string free = " are free for other work, such as training at night";
  if (freed > 0.0) {
    hours += above > 0.0 ? "; " + format_number(freed) + " of its GPU-hours" + free + ", and " + format_number(above) +
                               " more than it has are rented"
                         : ", which" + free;
  }
  std::vector<std::string> sentences{std::move(hours)};
  if (differ) {
    sentences.push_back("it keeps what is promised to " + std::string{kept_to_more ? "more" : "fewer"} + " requests: " +
                        percent(a.scaled.missed) + " of all miss [slo] instead of " + percent(a.fixed.missed));
  }
  const std::optional<std::int64_t>& stated = plan.options.front().question().fleet->replicas;
  const std::int64_t beyond = a.scaled.most - stated.value_or(a.fixed.most);
  if (beyond > 0) {
    sentences.push_back("it takes up to " + counted(a.scaled.most, "replica") + ", " + std::to_string(beyond) +
                        " more than " + (stated ? "are stated" : "the fixed fleet has"));
  }
  return sentences;
}

std::vector<std::string> fleet_floor(const FleetPlan& plan) {
  std::vector<std::string> sentences;
  if (!plan.autoscaling) {
    return sentences;
  }
  if (plan.cold_start && plan.cold_start->parts) {
    sentences.push_back(parts_text(*plan.cold_start));
  }
  if (plan.no_help && plan.no_help->cause == NoHelpCause::burst) {
    sentences.push_back(no_help_text(*plan.no_help));
  }
  if (!plan.autoscaling->floor) {
    sentences.emplace_back("there is no floor: no number of replicas keeps what is promised at every rate");
    return sentences;
  }
  std::string sizes;
  for (const KnownNeed& need : plan.floor_sizes) {
    sizes += (sizes.empty() ? "" : ", ") + std::to_string(need.units) + " at " + rate_text(need.rate);
  }
  sentences.push_back("the floor is the fewest replicas that keep what is promised at each time's rate: " +
                      (sizes.empty() ? std::string{"by closed forms"}
                                     : "simulated " + sizes + "; between them by closed forms within these bounds"));
  return sentences;
}

/// Replicas that follow the load against those of its peak, over one period of the curve.
std::string fleet_over_time(const FleetPlan& plan) {
  const Autoscaling& a = *plan.autoscaling;
  const FleetOption& best = plan.options.front();
  const Seconds period = best.question().traffic->day->period;
  const bool priced = best.scenario->money.price.has_value();
  const std::string title = "over " + format(period) + ", at the slow end";
  Table table{priced ? std::vector<std::string>{title, "GPU-hours", "cost", "miss [slo]", "replicas"}
                     : std::vector<std::string>{title, "GPU-hours", "miss [slo]", "replicas"}};
  const auto row = [&](const std::string& name, const ScaledFleet& f, const std::string& missed) {
    std::vector<std::string> cells{name, format_number(f.gpu_hours)};
    if (priced) {
      cells.push_back(format(f.gpu_hours * hour * *best.scenario->money.price));
    }
    cells.push_back(missed);
    cells.push_back(f.least == f.most ? std::to_string(f.most)
                                      : std::to_string(f.least) + " to " + std::to_string(f.most));
    table.row(std::move(cells));
  };
  row(fixed_is_stated(plan) ? "fixed, as stated" : "fixed, for the peak", a.fixed, percent(a.fixed.missed, 2));
  row("following the load", a.scaled, percent(a.scaled.missed, 2));
  if (a.floor) {
    row("floor: as if scaled at once", *a.floor, "kept");  // by its definition
  }
  std::string text = table.text() + "\n" + times_table(a, *best.question().traffic->day, gpus_of_a_replica(plan));
  for (const auto& sentences : {fleet_following(plan), fleet_floor(plan)}) {
    for (const std::string& sentence : sentences) {
      text += "  " + sentence + "\n";
    }
  }
  return text;
}

}  // namespace headroom
