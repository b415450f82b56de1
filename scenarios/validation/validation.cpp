// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/embedded.hpp>
#include <headroom/core/statistics.hpp>
#include <headroom/scenarios/validation/serving_row.hpp>
#include <headroom/scenarios/validation/training_row.hpp>
#include <headroom/scenarios/validation/validation.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

namespace headroom {
namespace embedded {
EmbeddedIndex embedded_published() noexcept;  // NOLINT(misc-use-internal-linkage)
}

namespace {

/// Errors of these have little in common: sources and scales mix in each.
std::string_view class_of(const RunConfiguration& run) {
  const auto method = run.options.find("method");
  return method != run.options.end() ? "adapters and tuning" : run.arch == "moe" ? "experts" : "dense";
}

/// Dense and expert networks err apart; blank where no row says what the network is.
std::string_view family_of(const ServingConfiguration& run) {
  return run.experts.value_or(0) > 1 ? "experts" : run.layers ? "dense" : "";
}

std::vector<std::string> groups_of(const RunFile& file, const RunRow& row, std::span<const RowGroup> own) {
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
  if (file.form == RowForm::training) {
    add("class", std::string{class_of(row.run)});
    add("size", row.run.gpus ? std::string{size_bucket(*row.run.gpus)} : std::string{});
  }
  if (file.form == RowForm::serving) {
    const auto load = row.serving.options.find("scenario");
    add("load", load == row.serving.options.end() ? "" : load->second);
    add("family", std::string{family_of(row.serving)});
  }
  for (const RowGroup& group : own) {
    if (belongs(group, file, row)) {
      groups.push_back(group.name);
    }
  }
  return groups;
}

/// The models of the forms.
struct RowModels {
  TrainingRowModel training;
  ServingRowModel serving;
};

RowPrediction predict(const RunFile& file, const RunRow& row, const RowPredictor& predictor) {
  if (file.form == RowForm::other) {
    return unsupported("rows of this form are not scored by this version");
  }
  if (row.doubted) {
    return rejected("its notes say " + row.doubt);
  }
  if (!row.broken.empty()) {
    return rejected(row.broken);
  }
  RowPrediction prediction = predictor(file, row);
  const std::string impossible = beyond_hardware(row.metric, row.measured, prediction);
  return impossible.empty() ? prediction : rejected(impossible);
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
  GroupScore result{group, metric, members.size()};
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
  std::vector<double> errors, constant, roofline, weights, within, predicted, measured, left_out, left_out_weights;
  for (const ScoredRow* row : rows) {
    const RowPrediction& p = row->prediction;
    errors.push_back(row->error());
    constant.push_back(constants[row->metric] * p.roofline / row->measured - 1.0);
    roofline.push_back(p.roofline / row->measured - 1.0);
    weights.push_back(row->weight);
    within.push_back(row->measured >= p.low && row->measured <= p.high ? 1.0 : 0.0);
    predicted.push_back(p.predicted);
    measured.push_back(row->measured);
    if (std::isfinite(row->left_out)) {
      left_out.push_back(std::abs(row->left_out / row->measured - 1.0));
      left_out_weights.push_back(row->weight);
    }
  }
  result.model = summary_of(errors, weights);
  result.constant = summary_of(constant, weights);
  result.roofline = summary_of(roofline, weights);
  result.left_out_mape = weighted_mean(left_out, left_out_weights);
  result.left_out_rows = left_out.size();
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

void require_columns(std::span<const RunFile> files, const ValidationScope& scope) {
  const auto require_column = [&](std::string_view column, std::string_view option) {
    if (const std::string problem = unknown_column(files, column); !problem.empty()) {
      throw ConfigError{std::string{option} + ": " + problem};
    }
  };
  for (const RowFilter& filter : scope.filters) {
    require_column(filter.column, "--where");
  }
  for (const std::string& column : scope.weight_by) {
    require_column(column, "--weight-by");
  }
}

}  // namespace

Validation validate(std::span<const RunFile> files,
                    const ValidationScope& scope,
                    const Sources& sources,
                    TermSet without) {
  RowModels models{TrainingRowModel{sources, without}, ServingRowModel{sources}};
  return validate(files, scope, [&](const RunFile& file, const RunRow& row) {
    return file.form == RowForm::serving ? models.serving.predict(row.serving, row.metric, row.unit)
                                         : models.training.predict(row.run, row.metric, row.unit);
  });
}

Validation validate(std::span<const RunFile> files, const ValidationScope& scope, const RowPredictor& predictor) {
  require_columns(files, scope);
  std::vector<ScoredRow> rows;
  std::vector<std::string> keys;
  for (const RunFile& file : files) {
    for (const RunRow& row : file.rows) {
      if (!passes_all(scope.filters, file, row)) {
        continue;
      }
      ScoredRow scored{row.id,
                       file.file,
                       row.metric,
                       row.unit,
                       row.measured,
                       predict(file, row, predictor),
                       groups_of(file, row, scope.groups),
                       1.0};
      scored.source = row.source;
      if (file.form == RowForm::training) {
        scored.run = std::make_shared<const RunConfiguration>(row.run);
      } else if (file.form == RowForm::serving) {
        scored.serving = std::make_shared<const ServingConfiguration>(row.serving);
      }
      rows.push_back(std::move(scored));
      std::string key;
      for (const std::string& column : scope.weight_by) {
        key += cell(file, row, column).value_or("") + '\x1f';
      }
      keys.push_back(key);
    }
  }
  if (!scope.weight_by.empty()) {
    share_weights(rows, keys);
  }
  return score_rows(std::move(rows));
}

Validation score_rows(std::vector<ScoredRow> rows) {
  Validation result;
  result.rows = std::move(rows);
  result.groups = score_groups(result.rows);
  result.sweeps = find_sweeps(result.rows);
  result.layouts = rank_layouts(result.rows);
  return result;
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
