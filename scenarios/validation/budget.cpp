// SPDX-License-Identifier: Apache-2.0
#include <headroom/scenarios/validation/budget.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace headroom {
namespace {

/// A limit that a bar may state, and where the number that it is held against stands.
struct Limit {
  std::string_view key;
  std::optional<double> BudgetBar::*bar;
  bool at_least;
  double (*of_rows)(const GroupScore&);  ///< null: of sweeps
  double (*of_sweeps)(const SweepScore&);
};

// clang-format off
constexpr std::array limits{
    Limit{"coverage",   &BudgetBar::coverage,   true,  [](const GroupScore& g) { return g.coverage(); }, nullptr},
    Limit{"mape",       &BudgetBar::mape,       false, [](const GroupScore& g) { return g.model.mape; }, nullptr},
    Limit{"median",     &BudgetBar::median,     false, [](const GroupScore& g) { return g.model.median_ape; }, nullptr},
    Limit{"p90",        &BudgetBar::p90,        false, [](const GroupScore& g) { return g.model.p90_ape; }, nullptr},
    Limit{"within",     &BudgetBar::within,     true,  [](const GroupScore& g) { return g.within_interval; }, nullptr},
    Limit{"left_out",   &BudgetBar::left_out,   false, [](const GroupScore& g) { return g.left_out_mape; }, nullptr},
    Limit{"regret",     &BudgetBar::regret,     false, nullptr, [](const SweepScore& s) { return s.regret_median; }},
    Limit{"regret_p90", &BudgetBar::regret_p90, false, nullptr, [](const SweepScore& s) { return s.regret_p90; }},
    Limit{"tau",        &BudgetBar::tau,        true,  nullptr, [](const SweepScore& s) { return s.tau; }},
};
// clang-format on

/// Coverage and the interval are shares of rows, tau a correlation; errors may be as large as they like.
double highest(const Limit& limit) {
  return limit.at_least ? 1.0 : 1e6;
}

BudgetBar read_bar(ConfigTable& entry, const std::string& file) {
  BudgetBar bar;
  bar.file = file;
  bar.at = entry.at();
  const bool conditions = entry.has("where");
  if (conditions) {
    try {
      bar.where = parse_group(entry.texts("where"));
      bar.group = bar.where->name;
    } catch (const ConfigError& error) {
      entry.problem("where", error.diagnostics().front().message);
    }
    if (entry.has("group")) {
      entry.problem("group", "a bar names a group or states conditions in where, not both");
    }
  } else {
    bar.group = entry.text("group");
  }
  bar.metric = entry.maybe_text("metric").value_or("");
  bool any = false;
  for (const Limit& limit : limits) {
    any = any || entry.has(limit.key);
    bar.*limit.bar = entry.maybe_number(limit.key, {0.0, highest(limit)});
    if (limit.of_sweeps != nullptr && entry.has(limit.key) && (conditions || !bar.metric.empty())) {
      entry.problem(limit.key, "sweeps have groups of their own; a bar on them has neither where nor metric");
    }
  }
  if (!any) {
    entry.problem(conditions ? "where" : "group",
                  "a bar needs at least one of coverage, mape, median, p90, within, left_out, regret, regret_p90, tau");
  }
  entry.finish();
  return bar;
}

double reached(const Validation& validation, const BudgetBar& bar, const Limit& limit) {
  if (limit.of_sweeps != nullptr) {
    const auto& groups = validation.sweeps.groups;
    const auto found =
        std::find_if(groups.begin(), groups.end(), [&](const SweepScore& s) { return s.group == bar.group; });
    return found == groups.end() ? std::numeric_limits<double>::quiet_NaN() : limit.of_sweeps(*found);
  }
  const auto found = std::find_if(validation.groups.begin(), validation.groups.end(),
                                  [&](const GroupScore& g) { return g.group == bar.group && g.metric == bar.metric; });
  return found == validation.groups.end() ? std::numeric_limits<double>::quiet_NaN() : limit.of_rows(*found);
}

bool is_missing(const Validation& validation, const BudgetBar& bar) {
  return std::none_of(validation.groups.begin(), validation.groups.end(),
                      [&](const GroupScore& g) { return g.group == bar.group && g.metric == bar.metric; }) &&
         std::none_of(validation.sweeps.groups.begin(), validation.sweeps.groups.end(),
                      [&](const SweepScore& s) { return s.group == bar.group; });
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
    for (const RowFilter& filter : bar.where ? bar.where->where : std::vector<RowFilter>{}) {
      if (const std::string problem = unknown_column(files, filter.column); !problem.empty()) {
        diagnostics.add(bar.file, bar.at, "where: " + problem);
      }
    }
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
                          limit.at_least ? value >= *stated : value <= *stated, limit.at_least});
      }
    }
  }
  return checks;
}

std::string BarCheck::text(double value) const {
  return !std::isfinite(value) ? "-" : what == "tau" ? format_number(value, 2) : format_number(100.0 * value) + " %";
}

std::vector<std::string> missed_bars(const Validation& validation, std::span<const BudgetBar> bars) {
  std::vector<std::string> missed;
  for (const BudgetBar& bar : bars) {
    const std::string name = bar.group + (bar.metric.empty() ? "" : ", " + bar.metric);
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
