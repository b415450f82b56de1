// SPDX-License-Identifier: Apache-2.0
#include <headroom/scenarios/validation/budget.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace headroom {
namespace {

/// A limit that a bar may state, and the score it is compared with.
struct Limit {
  std::string_view key;
  std::optional<double> BudgetBar::*bar;
  bool at_least;
  double (*of_rows)(const GroupScore&);  ///< null for scores of sweeps or layouts
  double (*of_sweeps)(const SweepScore&) = nullptr;
  double (*of_layouts)(const LayoutScore&) = nullptr;
};

// clang-format off
constexpr std::array limits{
    Limit{"coverage",    &BudgetBar::coverage,    true,  [](const GroupScore& g) { return g.coverage(); }},
    Limit{"mape",        &BudgetBar::mape,        false, [](const GroupScore& g) { return g.model.mape; }},
    Limit{"median",      &BudgetBar::median,      false, [](const GroupScore& g) { return g.model.median_ape; }},
    Limit{"p90",         &BudgetBar::p90,         false, [](const GroupScore& g) { return g.model.p90_ape; }},
    Limit{"within",      &BudgetBar::within,      true,  [](const GroupScore& g) { return g.within_interval; }},
    Limit{"within_most", &BudgetBar::within_most, false, [](const GroupScore& g) { return g.within_interval; }},
    Limit{"left_out",    &BudgetBar::left_out,    false, [](const GroupScore& g) { return g.left_out_mape; }},
    Limit{"regret",      &BudgetBar::regret,      false, nullptr, [](const SweepScore& s) { return s.regret_median; }},
    Limit{"regret_p90",  &BudgetBar::regret_p90,  false, nullptr, [](const SweepScore& s) { return s.regret_p90; }},
    Limit{"tau",         &BudgetBar::tau,         true,  nullptr, [](const SweepScore& s) { return s.tau; }},
    Limit{"layout_tau",  &BudgetBar::layout_tau,  true,  nullptr, nullptr, [](const LayoutScore& l) { return l.tau; }},
};
// clang-format on

/// Largest legal value: 1 for coverage, intervals and tau; errors are practically unbounded.
double highest(const Limit& limit) {
  return limit.at_least || limit.key == "within_most" ? 1.0 : 1e6;
}

/// Reads the rows that a bar covers: conditions, or a group by name.
void read_rows(ConfigTable& entry, BudgetBar& bar) {
  if (!entry.has("where")) {
    bar.group = entry.text("group");
    if (entry.has("except")) {
      entry.problem("except", "takes rows from those of where; a group by its name has none to take");
    }
    return;
  }
  const std::vector<std::string> where = entry.texts("where");
  const std::vector<std::string> except = entry.has("except") ? entry.texts("except") : std::vector<std::string>{};
  try {
    bar.where = parse_group(where, except);
    bar.group = bar.where->name;
  } catch (const ConfigError& error) {
    entry.problem("where", error.diagnostics().front().message);
  }
  if (entry.has("group")) {
    entry.problem("group", "a bar names a group or states conditions in where, not both");
  }
}

BudgetBar read_bar(ConfigTable& entry, const std::string& file) {
  BudgetBar bar;
  bar.file = file;
  bar.at = entry.at();
  bar.name = entry.maybe_text("name").value_or("");
  const bool conditions = entry.has("where");
  read_rows(entry, bar);
  bar.metric = entry.maybe_text("metric").value_or("");
  bool any = false;
  for (const Limit& limit : limits) {
    any = any || entry.has(limit.key);
    bar.*limit.bar = entry.maybe_number(limit.key, {0.0, highest(limit)});
    if (limit.of_rows == nullptr && entry.has(limit.key) && (conditions || !bar.metric.empty())) {
      entry.problem(limit.key, std::string{limit.of_sweeps != nullptr ? "sweeps" : "layouts"} +
                                   " have groups of their own; a bar on them has neither where nor metric");
    }
  }
  if (!any) {
    entry.problem(conditions ? "where" : "group",
                  "a bar needs at least one of coverage, mape, median, p90, within, within_most, left_out, regret, "
                  "regret_p90, tau, layout_tau");
  }
  entry.finish();
  return bar;
}

/// `read` applied to the first of `scores` that belongs to the bar; NaN when none does.
template <typename Scores, typename Belongs, typename Read>
double first_of(const Scores& scores, Belongs belongs, Read read) {
  const auto found = std::find_if(scores.begin(), scores.end(), belongs);
  return found == scores.end() ? std::numeric_limits<double>::quiet_NaN() : read(*found);
}

double reached(const Validation& validation, const BudgetBar& bar, const Limit& limit) {
  const auto same_group = [&](const auto& score) { return score.group == bar.group; };
  if (limit.of_sweeps != nullptr) {
    return first_of(validation.sweeps.groups, same_group, limit.of_sweeps);
  }
  if (limit.of_layouts != nullptr) {
    return first_of(validation.layouts, same_group, limit.of_layouts);
  }
  return first_of(
      validation.groups, [&](const GroupScore& g) { return g.group == bar.group && g.metric == bar.metric; },
      limit.of_rows);
}

bool is_missing(const Validation& validation, const BudgetBar& bar) {
  const auto same_group = [&](const auto& score) { return score.group == bar.group; };
  return std::none_of(validation.groups.begin(), validation.groups.end(),
                      [&](const GroupScore& g) { return g.group == bar.group && g.metric == bar.metric; }) &&
         std::none_of(validation.sweeps.groups.begin(), validation.sweeps.groups.end(), same_group) &&
         std::none_of(validation.layouts.begin(), validation.layouts.end(), same_group);
}

}  // namespace

std::vector<BudgetBar> read_budget(const ConfigValue& root, const std::string& file) {
  Diagnostics diagnostics;
  ConfigTable table{root, "", diagnostics};
  static_cast<void>(table.maybe_integer("schema"));
  std::vector<BudgetBar> bars;
  for (ConfigTable& entry : table.tables("bar")) {
    bars.push_back(read_bar(entry, file));
  }
  if (bars.empty() && diagnostics.empty()) {
    table.problem("bar", "no [[bar]] in the budget");
  }
  table.finish();
  diagnostics.throw_if_any();
  return bars;
}

void require_columns(std::span<const BudgetBar> bars, std::span<const RunFile> files) {
  Diagnostics diagnostics;
  for (const BudgetBar& bar : bars) {
    const RowGroup group = bar.where.value_or(RowGroup{});
    const auto require = [&](std::span<const RowFilter> filters, const std::string& key) {
      for (const RowFilter& filter : filters) {
        if (const std::string problem = unknown_column(files, filter.column); !problem.empty()) {
          diagnostics.add(bar.file, bar.at, key + ": " + problem);
        }
      }
    };
    require(group.where, "where");
    require(group.except, "except");
  }
  diagnostics.throw_if_any();
}

std::vector<BarCheck> check_bars(const Validation& validation, std::span<const BudgetBar> bars) {
  std::vector<BarCheck> checks;
  for (const BudgetBar& bar : bars) {
    for (const Limit& limit : limits) {
      const bool nobody_left_out =
          limit.key == "left_out" && std::none_of(validation.rows.begin(), validation.rows.end(),
                                                  [](const ScoredRow& row) { return std::isfinite(row.left_out); });
      if (const std::optional<double>& stated = bar.*limit.bar; stated && !nobody_left_out) {
        const double value = reached(validation, bar, limit);
        checks.push_back({bar.group, bar.metric, limit.key, *stated, value,
                          limit.at_least ? value >= *stated : value <= *stated, limit.at_least, bar.name});
      }
    }
  }
  return checks;
}

std::string BarCheck::text(double value) const {
  return !std::isfinite(value)   ? "-"
         : what.ends_with("tau") ? format_number(value, 2)
                                 : format_number(100.0 * value) + " %";
}

std::vector<std::string> missed_bars(const Validation& validation, std::span<const BudgetBar> bars) {
  std::vector<std::string> missed;
  for (const BudgetBar& bar : bars) {
    const std::string name = !bar.name.empty() ? bar.name : bar.group + (bar.metric.empty() ? "" : ", " + bar.metric);
    if (is_missing(validation, bar)) {
      missed.push_back(name + ": no rows");
      continue;
    }
    for (const BarCheck& check : check_bars(validation, {&bar, 1})) {
      if (!check.holds) {
        missed.push_back(name + ": " + std::string{check.what} + " " + check.text(check.reached) + " is " +
                         (check.at_least ? "below " : "above ") + check.text(check.limit));
      }
    }
  }
  return missed;
}

}  // namespace headroom
