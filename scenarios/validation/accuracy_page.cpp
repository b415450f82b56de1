// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/statistics.hpp>
#include <headroom/scenarios/validation/accuracy_page.hpp>
#include <headroom/scenarios/validation/accuracy_tables.hpp>
#include <headroom/scenarios/validation/serving_tables.hpp>
#include <headroom/scenarios/validation/source_levels.hpp>

#include <algorithm>
#include <map>

namespace headroom {
namespace {

/// Rows of one kind (training or serving), scored separately.
struct Part {
  Validation validation;
  bool left_out = false;  ///< whether fits without the row's source are available
  [[nodiscard]] const GroupScore* group(std::string_view name, std::string_view metric = "") const {
    for (const GroupScore& g : validation.groups) {
      if (g.group == name && g.metric == metric) {
        return &g;
      }
    }
    return nullptr;
  }
};

Part part_of(const AccuracyInputs& inputs, bool (*belongs)(const ScoredRow&)) {
  Part part{{}, !inputs.left_out.empty()};
  std::vector<ScoredRow> rows;
  for (std::size_t i = 0; i < inputs.validation.rows.size(); ++i) {
    if (belongs(inputs.validation.rows[i])) {
      rows.push_back(inputs.validation.rows[i]);
      if (part.left_out) {
        rows.back().left_out = inputs.left_out.at(i);
        rows.back().told = inputs.told.empty() ? rows.back().told : inputs.told.at(i);
      }
    }
  }
  part.validation = score_rows(std::move(rows));
  return part;
}

bool is_memory(const ScoredRow& row) {
  return row.run != nullptr && !is_time(row);
}
bool is_serving(const ScoredRow& row) {
  return row.serving != nullptr;
}

/// Median relative error of the time, because times and rates are mixed; of the value for rows without a time.
double bias_of(const Part& part, const std::string& group) {
  std::vector<double> errors;
  for (const ScoredRow& row : part.validation.rows) {
    if (row.prediction.status == RowStatus::ok &&
        std::find(row.groups.begin(), row.groups.end(), group) != row.groups.end()) {
      errors.push_back(is_time(row) ? time_ratio(row) - 1.0 : row.error());
    }
  }
  return median(errors);
}

std::string error_header(const Part& part, std::string_view first) {
  std::vector<std::string> names{std::string{first}, "scored",   "MAPE",     "median", "p90", "bias",
                                 "interval",         "constant", "datasheet"};
  if (part.left_out) {
    names.insert(names.end(), {"left out", "1 run", "3 runs"});
  }
  return table_header(names);
}

std::string error_line(const Part& part, const GroupScore& g, const std::string& name) {
  std::vector<std::string> cells{name,
                                 std::to_string(g.supported) + " of " + std::to_string(g.n - g.rejected),
                                 percent_text(g.model.mape),
                                 percent_text(g.model.median_ape),
                                 percent_text(g.model.p90_ape),
                                 signed_percent_text(bias_of(part, g.group)),
                                 percent_text(g.within_interval),
                                 percent_text(g.constant.mape),
                                 percent_text(g.roofline.mape)};
  if (part.left_out) {
    const bool some = g.left_out_rows > 0 && g.left_out_rows < g.supported;
    cells.push_back(percent_text(g.left_out_mape) +
                    (some ? " (" + std::to_string(g.left_out_rows) + " rows)" : std::string{}));
    cells.push_back(percent_text(g.told[0]));
    cells.push_back(percent_text(g.told[1]));
  }
  return table_line(cells);
}

/// Error table of groups of one kind; groups without a scored row are named below it.
std::string error_table(const Part& part, std::string_view title, std::string_view kind) {
  std::vector<const GroupScore*> groups;
  std::string unscored;
  for (const GroupScore& g : part.validation.groups) {
    if (!g.metric.empty() || !g.group.starts_with(kind)) {
      continue;
    }
    if (g.supported > 0) {
      groups.push_back(&g);
    } else if (g.n > g.rejected) {
      unscored +=
          (unscored.empty() ? "" : "; ") + g.group.substr(kind.size()) + " (" + std::to_string(g.n - g.rejected) + ")";
    }
  }
  if (groups.empty()) {
    return {};
  }
  std::stable_sort(groups.begin(), groups.end(), [](const GroupScore* a, const GroupScore* b) {
    return size_order(a->group) < size_order(b->group);
  });
  std::string text = "\n### " + std::string{title} + "\n" + error_header(part, kind.substr(0, kind.size() - 1));
  for (const GroupScore* g : groups) {
    text += error_line(part, *g, g->group.substr(kind.size()));
  }
  if (const GroupScore* all = part.group("all")) {
    text += error_line(part, *all, "all");
  }
  return text + (unscored.empty() ? "" : "\nNot answered, with the rows that no doubt rejects: " + unscored + ".\n");
}

/// Parameters by owner, in the order of the scopes.
std::string parameter_table(const std::vector<ParameterRow>& parameters) {
  if (parameters.empty()) {
    return {};
  }
  std::map<std::pair<ParameterScope, std::string>, std::vector<const ParameterRow*>> owners;
  for (const ParameterRow& p : parameters) {
    owners[{p.scope, p.owner}].push_back(&p);
  }
  std::string text = "\n## Fitted parameters\nThe budget is " + std::to_string(parameter_budget[0]) + " global, " +
                     std::to_string(parameter_budget[1]) + " a stack, " + std::to_string(parameter_budget[2]) +
                     " a SKU beyond its kernel curves. Here: " + std::to_string(parameters.size()) + " of " +
                     std::to_string(owners.size()) + " owners.\n\n" +
                     table_header({"whose", "fitted", "budget", "", "values", "on"});
  for (const auto& [owner, list] : owners) {
    const auto scope = static_cast<std::size_t>(owner.first);
    std::string values;
    std::vector<std::string> on;
    for (const ParameterRow* p : list) {
      values += (values.empty() ? "" : "; ") + p->name + " " + p->value;
      if (std::find(on.begin(), on.end(), p->fitted_on) == on.end()) {
        on.push_back(p->fitted_on);
      }
    }
    const std::string rows = joined(on, "; ");
    text += table_line({std::string{parameter_scope_names[scope]} + (owner.second.empty() ? "" : " " + owner.second),
                        std::to_string(list.size()), std::to_string(parameter_budget[scope]),
                        list.size() <= parameter_budget[scope] ? "kept" : "**exceeded**", values, rows});
  }
  return text;
}

std::string sweep_table(const Sweeps& sweeps) {
  if (sweeps.sweeps.empty()) {
    return {};
  }
  std::string text =
      "\n## Ranking of strategies\nRuns of one source with the same network, SKU, GPUs, sequence, precision and global "
      "batch under four strategies or more. Regret: measured time of the strategy predicted fastest over the least "
      "measured, less 1, in %. Tau: Kendall's over pairs that measure more than 5 % apart, all pairs and the median "
      "sweep.\n\n" +
      table_header({"sweeps of", "sweeps", "strategies", "regret, median", "p90", "pairs", "tau", "tau, median"});
  for (const SweepScore& s : sweeps.groups) {
    text += table_line({s.group, std::to_string(s.sweeps), std::to_string(s.strategies), percent_text(s.regret_median),
                        percent_text(s.regret_p90), std::to_string(s.pairs), correlation_text(s.tau),
                        correlation_text(s.tau_median)});
  }
  return text;
}

std::string rival_table(const std::vector<const Part*>& parts, const std::vector<Rival>& rivals) {
  std::string lines;
  for (const Rival& rival : rivals) {
    const GroupScore* ours = nullptr;
    for (const Part* part : parts) {
      const GroupScore* found = part->group(rival.where.name, rival.metric);
      ours = found != nullptr && found->supported > 0 ? found : ours;
    }
    if (ours == nullptr) {
      continue;
    }
    const auto figures = [](double mape, std::optional<double> median, std::optional<double> p90) {
      return percent_text(mape) + (median ? ", median " + percent_text(*median) : "") +
             (p90 ? ", p90 " + percent_text(*p90) : "");
    };
    lines += table_line({shown_group(rival.where.name), rival.metric, rival.tool,
                         figures(rival.mape, rival.median, rival.p90), std::to_string(rival.rows),
                         figures(ours->model.mape, rival.median ? std::optional{ours->model.median_ape} : std::nullopt,
                                 rival.p90 ? std::optional{ours->model.p90_ape} : std::nullopt),
                         std::to_string(ours->supported), rival.source});
  }
  return lines.empty() ? lines
                       : "\n## Other predictors\nOn the same published rows: of theirs we have the part that was not "
                         "set aside.\n\n" +
                             table_header({"rows", "metric", "predictor", "MAPE", "on", "ours", "on", "how"}) + lines;
}

std::string worst_table(const AccuracyInputs& inputs) {
  if (inputs.worst.empty()) {
    return {};
  }
  std::string text =
      "\n## Furthest off\nThe largest error of each family (source, SKU, software, kind of network, method), and the "
      "one term of the step that explains it best: left out, or counted twice, whichever brings the prediction "
      "nearest. "
      "That is arithmetic, not proof.\n\n" +
      table_header({"row", "source", "on", "software", "predicted / measured time", "term", "with that change"});
  for (const WorstRow& worst : inputs.worst) {
    const ScoredRow& row = inputs.validation.rows.at(worst.row);
    const RunConfiguration& run = *row.run;
    text += table_line({row.id, row.source, std::to_string(run.gpus.value_or(0)) + " " + run.gpu, run.framework,
                        format_number(worst.time),
                        !worst.term ? std::string{"none alone"}
                                    : std::string{term_names[static_cast<std::size_t>(*worst.term)]} +
                                          (worst.twice ? " twice" : " left out"),
                        worst.term ? format_number(worst.changed) : std::string{"-"}});
  }
  return text;
}

std::string level_table(const Part& time) {
  std::string text =
      "\n### Levels\n*Own level*: after each time is divided by the median of the source's, what a random level of the "
      "source would leave. *Run to run*: mean distance of runs with equal cells from their mean. A constant fitted on "
      "the source itself that is nearer than the model is **marked**.\n\n";
  std::vector<std::string> names{"source", "rows", "MAPE", "own level", "run to run", "constant"};
  if (time.left_out) {
    names.insert(names.end(), {"left out", "left out, own level"});
  }
  text += table_header(names);
  bool any = false;
  for (const SourceLevel& level : source_levels(time.validation.rows)) {
    const GroupScore* group = time.group("source=" + level.source);
    if (group == nullptr) {
      continue;
    }
    any = true;
    std::vector<std::string> cells{level.source, std::to_string(level.rows), percent_text(level.mape),
                                   percent_text(level.own_level)};
    cells.push_back(percent_text(level.run_to_run) +
                    (level.repeated_rows > 0 ? " (" + std::to_string(level.repeated_rows) + " rows)" : std::string{}));
    const std::string constant = percent_text(group->constant.mape);
    cells.push_back(group->constant.mape < level.mape ? "**" + constant + "**" : constant);
    if (time.left_out) {
      cells.push_back(percent_text(level.left_out));
      cells.push_back(percent_text(level.left_out_level));
    }
    text += table_line(cells);
  }
  return any ? text : std::string{};
}

std::string time_section(const Part& time) {
  std::string text =
      "\n## Training time\nAll metrics of time and throughput together; bias is the median error of the time, + too "
      "slow.\n";
  struct Kind {
    std::string_view title, prefix;
  };
  for (const Kind& kind : {Kind{"By source", "source="}, Kind{"By SKU", "gpu="}, Kind{"By software", "framework="},
                           Kind{"By GPUs", "size="}, Kind{"By class", "class="},
                           Kind{"By regime: what takes most of the step beside compute, 15 % or more", "regime="}}) {
    text += error_table(time, kind.title, kind.prefix);
  }
  return text + level_table(time);
}

}  // namespace

std::string accuracy_page(const AccuracyInputs& inputs, const AccuracyReference& reference) {
  const Part time = part_of(inputs, is_time);
  const Part memory = part_of(inputs, is_memory);
  const Part serving = part_of(inputs, is_serving);
  std::string text =
      "# Accuracy\n\nWritten by `" + inputs.command +
      "`; do not edit. What the figures do not say by themselves: `docs/accuracy-notes.md`.\n\n"
      "Errors are predicted / measured - 1, in %. *Scored*: rows answered, of those that no doubt in their notes, no "
      "broken cell and no bound of the hardware rejects. *Interval*: share of rows inside the printed interval, meant "
      "to "
      "be 80 % or more. *Constant*: MAPE of one efficiency fitted on that group; *datasheet*: MAPE of model FLOP at "
      "the "
      "peak, or of Adam's states over tp pp (and the data ranks at ZeRO 3) for memory." +
      std::string{
          inputs.left_out.empty()
              ? ""
              : " *Left out*: MAPE when the row's source was not fitted on; *1 run*, *3 runs*: the same when that "
                "many others of its family are given as `--runs`, of families that have more."} +
      " A group of few rows is an anecdote.\n";
  AccuracyReference serving_reference = reference;
  if (inputs.shipped) {
    serving_reference.serving_bars.clear();
    serving_reference.claims.clear();  // of collections that do not ship
    text +=
        "\n## Bars\nA bar is what the error of a publication was, with slack; `headroom validate --budget "
        "scenarios/accuracy/published-bars.toml` fails where one is missed.\n\n" +
        bars_table(inputs.validation, reference.published_bars);
  } else if (!time.validation.rows.empty()) {
    text += "\n## Bars\nOf time and throughput; `--budget` with `scenarios/accuracy/bars.toml`.\n\n" +
            bars_table(time.validation, reference.bars);
  }
  text += parameter_table(inputs.parameters);
  if (!time.validation.rows.empty()) {
    text += time_section(time);
  }
  text += sweep_table(inputs.validation.sweeps);
  text += rival_table({&time, &memory}, reference.rivals);
  text += worst_table(inputs);
  if (const std::string table = error_table(memory, "By source", "source="); !table.empty()) {
    text += "\n## Training memory\n`memory_gib_per_gpu`.\n" + table + error_table(memory, "By software", "framework=");
  }
  return text + serving_tables(serving.validation, serving_reference);
}

}  // namespace headroom
