// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/document/print.hpp>
#include <headroom/answers/markup/table.hpp>
#include <headroom/answers/views/render.hpp>
#include <headroom/core/csv.hpp>
#include <headroom/core/json_writer.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/real_text.hpp>
#include <headroom/scenarios/validation/validation.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace headroom {
namespace {

Value summary_value(const ErrorSummary& errors) {
  return object("mape"_m = errors.mape, "median_ape"_m = errors.median_ape, "p90_ape"_m = errors.p90_ape,
                "bias"_m = errors.bias);
}

Value row_value(const ScoredRow& r) {
  const RowPrediction& p = r.prediction;
  const bool ok = p.status == RowStatus::ok;
  const auto number = [&](double value) { return ok ? Value{value} : Value{nullptr}; };
  return row("id"_m = r.id, "file"_m = r.file, "metric"_m = r.metric, "unit"_m = r.unit, "measured"_m = r.measured,
             "predicted"_m = number(p.predicted), "low"_m = number(p.low), "high"_m = number(p.high),
             "error"_m = number(ok ? r.error() : 0.0),
             "status"_m = row_status_names[static_cast<std::size_t>(p.status)], "why"_m = p.why,
             "assumed"_m = when(!p.assumed.empty(), p.assumed));
}

std::string exact(double value) {
  return std::isfinite(value) ? shortest_text(value) : std::string{};
}

std::string row_csv(const ScoredRow& row) {
  const RowPrediction& p = row.prediction;
  const bool ok = p.status == RowStatus::ok;
  return csv_field(row.id) + ',' + csv_field(row.file) + ',' + csv_field(row.metric) + ',' + csv_field(row.unit) + ',' +
         exact(row.measured) + ',' + (ok ? exact(p.predicted) : "") + ',' + (ok ? exact(p.low) : "") + ',' +
         (ok ? exact(p.high) : "") + ',' + (ok ? exact(row.error()) : "") + ',' +
         std::string{row_status_names[static_cast<std::size_t>(p.status)]} + ',' + csv_field(p.why) + '\n';
}

Value group_value(const GroupScore& group) {
  return object("group"_m = group.group, "metric"_m = group.metric, "n"_m = group.n, "supported"_m = group.supported,
                "rejected"_m = group.rejected, "coverage"_m = group.coverage(), summary_value(group.model),
                "within_interval"_m = group.within_interval, "kendall_tau"_m = group.kendall_tau,
                "baseline_constant"_m = summary_value(group.constant).on_one_line(),
                "baseline_roofline"_m = summary_value(group.roofline).on_one_line());
}

Value sweep_value(const Sweep& sweep) {
  return row("source"_m = sweep.source, "model"_m = sweep.model, "gpu"_m = sweep.gpu, "gpus"_m = sweep.gpus,
             "seq_len"_m = sweep.seq_len, "global_batch"_m = sweep.global_batch, "precision"_m = sweep.precision,
             "strategies"_m = sweep.strategies, "picked"_m = sweep.picked, "best"_m = sweep.best,
             "regret"_m = sweep.regret, "pairs"_m = sweep.pairs, "kendall_tau"_m = sweep.tau());
}

Value score_value(const SweepScore& score) {
  return row("group"_m = score.group, "sweeps"_m = score.sweeps, "strategies"_m = score.strategies,
             "regret_median"_m = score.regret_median, "regret_p90"_m = score.regret_p90, "pairs"_m = score.pairs,
             "kendall_tau"_m = score.tau, "kendall_tau_median"_m = score.tau_median);
}

std::string sweeps_text(const Sweeps& sweeps) {
  if (sweeps.sweeps.empty()) {
    return {};
  }
  Table table{{"sweeps", "n", "strategies", "regret", "p90", "pairs", "tau", "tau, median"}};
  for (const SweepScore& s : sweeps.groups) {
    const auto correlation = [](double tau) { return std::isfinite(tau) ? format_number(tau, 2) : std::string{"-"}; };
    table.row({s.group, std::to_string(s.sweeps), std::to_string(s.strategies), percent_number(s.regret_median),
               percent_number(s.regret_p90), std::to_string(s.pairs), correlation(s.tau), correlation(s.tau_median)});
  }
  return "\nstrategies of one network on the same GPUs: regret of the one predicted fastest, %; tau over pairs that "
         "measure more than 5 % apart\n" +
         table.text();
}

}  // namespace

ValidationAnswer::ValidationAnswer(const std::string& format)
    : form_{format == "json"  ? Form::json
            : format == "csv" ? Form::csv
                              : Form::text},
      format_{find_document_format(format)} {
  if (form_ == Form::text && format_ != nullptr) {
    form_ = Form::document;
  }
  if (form_ == Form::json) {
    json_.begin_object();
    json_.member("schema", "headroom.validate/1");
    json_.key("rows");
    json_.begin_array();
  } else if (form_ == Form::csv) {
    csv_ = "id,file,metric,unit,measured,predicted,low,high,error,status,why\n";
  }
}

void ValidationAnswer::add(const ScoredRow& row) {
  if (form_ == Form::json) {
    write_json(json_, row_value(row));
  } else if (form_ == Form::csv) {
    csv_ += row_csv(row);
  } else if (form_ == Form::document) {
    rows_.push_back(row_value(row));
  }
}

std::string ValidationAnswer::finish(const Validation& validation) {
  if (form_ == Form::text) {
    return validation_text(validation);
  }
  if (form_ == Form::csv) {
    return std::move(csv_);
  }
  Value groups = list(validation.groups, group_value);
  Value sweeps = object("sweeps"_m = list(validation.sweeps.sweeps, sweep_value),
                        "groups"_m = list(validation.sweeps.groups, score_value));
  if (form_ == Form::document) {
    return format_->print(object("schema"_m = "headroom.validate/1",
                                 "rows"_m = list(rows_, [](const Value& row) { return row; }),
                                 "groups"_m = std::move(groups), "sweeps"_m = std::move(sweeps)));
  }
  json_.end_array();
  json_.key("groups");
  write_json(json_, groups);
  json_.key("sweeps");
  write_json(json_, sweeps);
  json_.end_object();
  return json_.take();
}

std::string validation_written(const Validation& validation, const std::string& format) {
  ValidationAnswer written{format};
  for (const ScoredRow& row : validation.rows) {
    written.add(row);
  }
  return written.finish(validation);
}

std::string validation_text(const Validation& validation) {
  Table table{{"group", "<metric", "n", "scored", "mape", "median", "p90", "bias", "in interval", "tau", "constant",
               "roofline"}};
  const GroupScore* whole = nullptr;  // over all metrics: it stands before those of one
  for (const GroupScore& g : validation.groups) {
    whole = g.metric.empty() ? &g : whole;
    if (!g.metric.empty() && whole != nullptr && whole->group == g.group && whole->n == g.n) {
      continue;  // a group with one metric says the same twice
    }
    table.row({g.group, g.metric.empty() ? "(all)" : g.metric, std::to_string(g.n), std::to_string(g.supported),
               percent_number(g.model.mape), percent_number(g.model.median_ape), percent_number(g.model.p90_ape),
               percent_number(g.model.bias), percent_number(g.within_interval),
               std::isfinite(g.kendall_tau) ? format_number(g.kendall_tau, 2) : "-", percent_number(g.constant.mape),
               percent_number(g.roofline.mape)});
  }
  const std::map<std::string, std::size_t>& reasons = validation.tally.reasons;
  std::string text = std::to_string(validation.tally.rows) + " rows, " + std::to_string(validation.tally.supported) +
                     " scored; errors in %, predicted/measured - 1; constant = mape of one efficiency fitted on the "
                     "group, roofline = mape of the datasheet\n\n" +
                     table.text() + sweeps_text(validation.sweeps);
  if (!reasons.empty()) {
    text += "\nnot scored\n";
    Table why{{"", ""}};
    std::vector<std::pair<std::size_t, std::string>> ordered;
    ordered.reserve(reasons.size());
    for (const auto& [reason, n] : reasons) {
      ordered.emplace_back(n, reason);
    }
    std::stable_sort(ordered.begin(), ordered.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    for (const auto& [n, reason] : ordered) {
      why.row({reason, std::to_string(n)});
    }
    text += why.text();
  }
  return text;
}

}  // namespace headroom
