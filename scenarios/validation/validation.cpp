// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/embedded.hpp>
#include <headroom/core/statistics.hpp>
#include <headroom/scenarios/validation/validation.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <sstream>

namespace headroom {
namespace embedded {
EmbeddedIndex embedded_published() noexcept;  // NOLINT(misc-use-internal-linkage)
}

namespace {

std::optional<double> number_of(std::string_view text) {
  double value = 0.0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  return status == std::errc{} && end == text.data() + text.size() ? std::optional{value} : std::nullopt;
}

bool passes(const RowFilter& filter, const RunFile& file, const RunRow& row) {
  const std::string value = cell(file, row, filter.column).value_or("");
  const auto listed = [&] {
    return std::find(filter.values.begin(), filter.values.end(), value) != filter.values.end();
  };
  switch (filter.op) {
    case RowFilter::Op::equal: return listed();
    case RowFilter::Op::unequal: return !listed();
    case RowFilter::Op::at_most: {
      const auto number = number_of(value);
      return number && *number <= filter.bound;
    }
    case RowFilter::Op::at_least: {
      const auto number = number_of(value);
      return number && *number >= filter.bound;
    }
  }
  return false;
}

std::vector<std::string> groups_of(const RunFile& file, const RunRow& row) {
  std::vector<std::string> groups{"all", "file=" + file.file};
  const auto add = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) {
      groups.push_back(std::string{name} + "=" + value);
    }
  };
  add("source", row.source);
  add("gpu", row.run.gpu);
  add("framework", row.run.framework);
  add("engine", row.engine);
  add("arch", row.run.arch);
  const auto method = row.run.options.find("method");
  add("options.method", method == row.run.options.end() ? "" : method->second);
  return groups;
}

/// The models of the forms.
struct RowModels {
  TrainingRowModel training;
  ServingRowModel serving;
};

RowPrediction predict(const RunFile& file, const RunRow& row, RowModels& models) {
  RowPrediction prediction;
  if (file.form == RowForm::other) {
    prediction.why = "rows of this form are not scored by this version";
  } else if (row.doubted) {
    prediction.status = RowStatus::rejected;
    prediction.why = "its notes say " + row.doubt;
  } else if (!row.broken.empty()) {
    prediction.status = RowStatus::rejected;
    prediction.why = row.broken;
  } else {
    prediction = file.form == RowForm::serving ? models.serving.predict(row.serving, row.metric, row.unit)
                                               : models.training.predict(row.run, row.metric, row.unit);
  }
  return prediction;
}

/// Rows that share all of `columns` get weights that add up to one.
void share_weights(std::vector<ScoredRow>& rows, const std::vector<std::string>& keys) {
  std::map<std::string, double> sizes;
  for (const std::string& key : keys) {
    sizes[key] += 1.0;
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].weight = 1.0 / sizes[keys[i]];
  }
}

double weighted_mean(std::span<const double> values, std::span<const double> weights) {
  double sum = 0.0;
  double weight = 0.0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    sum += weights[i] * values[i];
    weight += weights[i];
  }
  return weight > 0.0 ? sum / weight : std::numeric_limits<double>::quiet_NaN();
}

ErrorSummary summary_of(std::span<const double> errors, std::span<const double> weights) {
  std::vector<double> sizes(errors.size());
  std::transform(errors.begin(), errors.end(), sizes.begin(), [](double e) { return std::abs(e); });
  return {weighted_mean(sizes, weights), weighted_median(sizes, weights), quantile(sizes, 0.9),
          weighted_median(errors, weights)};
}

/// The constant c that makes the mean of |c roofline/measured - 1| least: a weighted median of measured/roofline with
/// weights roofline/measured.
double best_constant(const std::vector<const ScoredRow*>& rows) {
  std::vector<double> ratios;
  std::vector<double> weights;
  for (const ScoredRow* row : rows) {
    ratios.push_back(row->measured / row->prediction.roofline);
    weights.push_back(row->weight * row->prediction.roofline / row->measured);
  }
  return weighted_median(ratios, weights);
}

GroupScore score(const std::string& group, const std::string& metric, const std::vector<const ScoredRow*>& members) {
  GroupScore result{group, metric, members.size(), 0, 0, {}, {}, {}, 0.0, 0.0};
  std::vector<const ScoredRow*> rows;
  for (const ScoredRow* row : members) {
    if (row->prediction.status == RowStatus::ok) {
      rows.push_back(row);
    }
    result.rejected += row->prediction.status == RowStatus::rejected ? 1 : 0;
  }
  result.supported = rows.size();
  // Rates and times have their constants apart: a group of several metrics takes each metric's own.
  std::map<std::string, std::vector<const ScoredRow*>> by_metric;
  for (const ScoredRow* row : rows) {
    by_metric[row->metric].push_back(row);
  }
  std::map<std::string, double> constants;
  for (const auto& [name, list] : by_metric) {
    constants[name] = best_constant(list);
  }
  std::vector<double> errors, constant, roofline, weights, within, predicted, measured;
  for (const ScoredRow* row : rows) {
    const RowPrediction& p = row->prediction;
    errors.push_back(row->error());
    constant.push_back(constants[row->metric] * p.roofline / row->measured - 1.0);
    roofline.push_back(p.roofline / row->measured - 1.0);
    weights.push_back(row->weight);
    within.push_back(row->measured >= p.low && row->measured <= p.high ? 1.0 : 0.0);
    predicted.push_back(p.predicted);
    measured.push_back(row->measured);
  }
  result.model = summary_of(errors, weights);
  result.constant = summary_of(constant, weights);
  result.roofline = summary_of(roofline, weights);
  result.within_interval = weighted_mean(within, weights);
  result.kendall_tau =
      by_metric.size() == 1 ? kendall_tau(predicted, measured) : std::numeric_limits<double>::quiet_NaN();
  return result;
}

std::vector<GroupScore> score_groups(const std::vector<ScoredRow>& rows) {
  // First mention decides the order of the kinds; inside a kind groups are sorted by name.
  std::map<std::pair<std::string, std::string>, std::vector<const ScoredRow*>> members;
  for (const ScoredRow& row : rows) {
    for (const std::string& group : row.groups) {
      members[{group, ""}].push_back(&row);
      members[{group, row.metric}].push_back(&row);
    }
  }
  std::vector<GroupScore> scores;
  scores.reserve(members.size());
  for (const auto& [key, list] : members) {
    scores.push_back(score(key.first, key.second, list));
  }
  std::stable_partition(scores.begin(), scores.end(), [](const GroupScore& g) { return g.group == "all"; });
  return scores;
}

}  // namespace

RowFilter parse_filter(std::string_view expression) {
  struct Spelling {
    std::string_view text;
    RowFilter::Op op;
  };
  constexpr std::array spellings{Spelling{"!=", RowFilter::Op::unequal}, Spelling{"<=", RowFilter::Op::at_most},
                                 Spelling{">=", RowFilter::Op::at_least}, Spelling{"=", RowFilter::Op::equal}};
  for (const Spelling& spelling : spellings) {
    const std::size_t at = expression.find(spelling.text);
    if (at == std::string_view::npos || at == 0) {
      continue;
    }
    RowFilter filter{std::string{expression.substr(0, at)}, spelling.op, {}, 0.0};
    std::string_view rest = expression.substr(at + spelling.text.size());
    if (spelling.op == RowFilter::Op::at_most || spelling.op == RowFilter::Op::at_least) {
      const auto bound = number_of(rest);
      if (!bound) {
        throw ConfigError{"--where " + quoted(expression) + ": " + quoted(rest) + " is no number"};
      }
      filter.bound = *bound;
      return filter;
    }
    while (true) {
      const std::size_t bar = rest.find('|');
      filter.values.emplace_back(rest.substr(0, bar));
      if (bar == std::string_view::npos) {
        return filter;
      }
      rest.remove_prefix(bar + 1);
    }
  }
  throw ConfigError{"--where " + quoted(expression) +
                    " is no condition; write column=a|b, column!=a, column<=8 or column>=8"};
}

std::vector<BudgetBar> read_budget(const ConfigValue& root, const std::string& file) {
  Diagnostics diagnostics;
  ConfigTable table{root, "", diagnostics};
  static_cast<void>(table.maybe_integer("schema"));
  std::vector<BudgetBar> bars;
  for (ConfigTable& entry : table.tables("bar")) {
    BudgetBar bar;
    bar.file = file;
    bar.at = entry.at();
    bar.group = entry.text("group");
    bar.metric = entry.maybe_text("metric").value_or("");
    bar.coverage = entry.maybe_number("coverage", {0.0, 1.0});
    bar.mape = entry.maybe_number("mape", {0.0, 1e6});
    bar.median = entry.maybe_number("median", {0.0, 1e6});
    if (!bar.coverage && !bar.mape && !bar.median && !entry.has("coverage") && !entry.has("mape") &&
        !entry.has("median")) {
      entry.problem("group", "a bar needs at least one of coverage, mape, median");
    }
    entry.finish();
    bars.push_back(std::move(bar));
  }
  if (bars.empty() && diagnostics.empty()) {
    table.problem("bar", "no [[bar]] in the budget");
  }
  table.finish();
  diagnostics.throw_if_any();
  return bars;
}

Validation validate(std::span<const RunFile> files,
                    std::span<const RowFilter> filters,
                    std::span<const std::string> weight_by,
                    const Sources& sources,
                    TermSet without) {
  const auto require_column = [&](std::string_view column, std::string_view option) {
    const bool known = column.starts_with("options.") || column == "file" ||
                       std::any_of(files.begin(), files.end(), [&](const RunFile& file) {
                         return std::find(file.header.begin(), file.header.end(), column) != file.header.end();
                       });
    if (!known) {
      std::vector<std::string_view> names;
      for (const RunFile& file : files) {
        names.insert(names.end(), file.header.begin(), file.header.end());
      }
      throw ConfigError{std::string{option} + ": no file has a column " + quoted(column) + suggestion(column, names)};
    }
  };
  for (const RowFilter& filter : filters) {
    require_column(filter.column, "--where");
  }
  for (const std::string& column : weight_by) {
    require_column(column, "--weight-by");
  }
  RowModels models{TrainingRowModel{sources, without}, ServingRowModel{sources}};
  Validation result;
  std::vector<std::string> keys;
  for (const RunFile& file : files) {
    for (const RunRow& row : file.rows) {
      if (!std::all_of(filters.begin(), filters.end(), [&](const RowFilter& f) { return passes(f, file, row); })) {
        continue;
      }
      result.rows.push_back({row.id, file.file, row.metric, row.unit, row.measured, predict(file, row, models),
                             groups_of(file, row), 1.0});
      std::string key;
      for (const std::string& column : weight_by) {
        key += cell(file, row, column).value_or("") + '\x1f';
      }
      keys.push_back(key);
    }
  }
  if (!weight_by.empty()) {
    share_weights(result.rows, keys);
  }
  return score_rows(std::move(result.rows));
}

Validation score_rows(std::vector<ScoredRow> rows) {
  Validation result;
  result.rows = std::move(rows);
  result.groups = score_groups(result.rows);
  return result;
}

std::vector<std::string> missed_bars(const Validation& validation, std::span<const BudgetBar> bars) {
  std::vector<std::string> missed;
  for (const BudgetBar& bar : bars) {
    const std::string name = bar.group + (bar.metric.empty() ? "" : ", " + bar.metric);
    const auto found = std::find_if(validation.groups.begin(), validation.groups.end(), [&](const GroupScore& g) {
      return g.group == bar.group && g.metric == bar.metric;
    });
    if (found == validation.groups.end()) {
      missed.push_back(name + ": no rows");
      continue;
    }
    const auto above = [&](const std::optional<double>& limit, double value, std::string_view what) {
      if (limit && !(value <= *limit)) {
        missed.push_back(name + ": " + std::string{what} + " " + format_number(100.0 * value) + " % is above " +
                         format_number(100.0 * *limit) + " %");
      }
    };
    above(bar.mape, found->model.mape, "mape");
    above(bar.median, found->model.median_ape, "median");
    if (bar.coverage && found->coverage() < *bar.coverage) {
      missed.push_back(name + ": coverage " + format_number(100.0 * found->coverage()) + " % is below " +
                       format_number(100.0 * *bar.coverage) + " %");
    }
  }
  return missed;
}

std::vector<RunFile> published_runs() {
  Diagnostics diagnostics;
  std::vector<RunFile> files;
  for (const EmbeddedFile& file : embedded::embedded_published().files) {
    std::istringstream stream{std::string{file.text}};
    files.push_back(read_runs(stream, std::string{file.name}, diagnostics));
  }
  diagnostics.throw_if_any();
  return files;
}

}  // namespace headroom
