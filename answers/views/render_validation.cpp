// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/markup/table.hpp>
#include <headroom/answers/views/render.hpp>
#include <headroom/core/csv.hpp>
#include <headroom/core/json_writer.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/scenarios/validation/validation.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

namespace headroom {
namespace {

std::string exact(double value) {
  if (!std::isfinite(value)) {
    return {};
  }
  std::array<char, 40> buffer{};
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return {buffer.data(), result.ptr};
}

void summary(JsonWriter& json, std::string_view name, const ErrorSummary& errors) {
  json.key(name);
  json.compact_next();
  json.begin_object();
  json.member("mape", errors.mape);
  json.member("median_ape", errors.median_ape);
  json.member("p90_ape", errors.p90_ape);
  json.member("bias", errors.bias);
  json.end_object();
}

void row_json(JsonWriter& json, const ScoredRow& row) {
  const RowPrediction& p = row.prediction;
  const bool ok = p.status == RowStatus::ok;
  json.compact_next();
  json.begin_object();
  json.member("id", std::string_view{row.id});
  json.member("file", std::string_view{row.file});
  json.member("metric", std::string_view{row.metric});
  json.member("measured", row.measured);
  const auto number = [&](std::string_view name, double value) {
    json.key(name);
    ok ? json.number(value) : json.null();
  };
  number("predicted", p.predicted);
  number("low", p.low);
  number("high", p.high);
  number("error", ok ? row.error() : 0.0);
  json.member("status", row_status_names[static_cast<std::size_t>(p.status)]);
  json.member("why", std::string_view{p.why});
  json.end_object();
}

std::string row_csv(const ScoredRow& row) {
  const RowPrediction& p = row.prediction;
  const bool ok = p.status == RowStatus::ok;
  return csv_field(row.id) + ',' + csv_field(row.file) + ',' + csv_field(row.metric) + ',' + csv_field(row.unit) + ',' +
         exact(row.measured) + ',' + (ok ? exact(p.predicted) : "") + ',' + (ok ? exact(p.low) : "") + ',' +
         (ok ? exact(p.high) : "") + ',' + (ok ? exact(row.error()) : "") + ',' +
         std::string{row_status_names[static_cast<std::size_t>(p.status)]} + ',' + csv_field(p.why) + '\n';
}

void groups_json(JsonWriter& json, const std::vector<GroupScore>& groups) {
  json.key("groups");
  json.begin_array();
  for (const GroupScore& group : groups) {
    json.begin_object();
    json.member("group", std::string_view{group.group});
    json.member("metric", std::string_view{group.metric});
    json.member("n", static_cast<std::int64_t>(group.n));
    json.member("supported", static_cast<std::int64_t>(group.supported));
    json.member("rejected", static_cast<std::int64_t>(group.rejected));
    json.member("coverage", group.coverage());
    json.member("mape", group.model.mape);
    json.member("median_ape", group.model.median_ape);
    json.member("p90_ape", group.model.p90_ape);
    json.member("bias", group.model.bias);
    json.member("within_interval", group.within_interval);
    json.member("kendall_tau", group.kendall_tau);
    summary(json, "baseline_constant", group.constant);
    summary(json, "baseline_roofline", group.roofline);
    json.end_object();
  }
  json.end_array();
}

void sweep_json(JsonWriter& json, const Sweep& sweep) {
  json.compact_next();
  json.begin_object();
  json.member("source", std::string_view{sweep.source});
  json.member("model", std::string_view{sweep.model});
  json.member("gpu", std::string_view{sweep.gpu});
  json.member("gpus", sweep.gpus);
  json.member("seq_len", sweep.seq_len);
  json.member("global_batch", sweep.global_batch);
  json.member("precision", std::string_view{sweep.precision});
  json.member("strategies", static_cast<std::int64_t>(sweep.strategies));
  json.member("picked", std::string_view{sweep.picked});
  json.member("best", std::string_view{sweep.best});
  json.member("regret", sweep.regret);
  json.member("pairs", static_cast<std::int64_t>(sweep.pairs));
  json.member("kendall_tau", sweep.tau());
  json.end_object();
}

void sweeps_json(JsonWriter& json, const Sweeps& sweeps) {
  json.key("sweeps");
  json.begin_object();
  json.key("sweeps");
  json.begin_array();
  for (const Sweep& sweep : sweeps.sweeps) {
    sweep_json(json, sweep);
  }
  json.end_array();
  json.key("groups");
  json.begin_array();
  for (const SweepScore& score : sweeps.groups) {
    json.compact_next();
    json.begin_object();
    json.member("group", std::string_view{score.group});
    json.member("sweeps", static_cast<std::int64_t>(score.sweeps));
    json.member("strategies", static_cast<std::int64_t>(score.strategies));
    json.member("regret_median", score.regret_median);
    json.member("regret_p90", score.regret_p90);
    json.member("pairs", static_cast<std::int64_t>(score.pairs));
    json.member("kendall_tau", score.tau);
    json.member("kendall_tau_median", score.tau_median);
    json.end_object();
  }
  json.end_array();
  json.end_object();
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
                              : Form::text} {
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
    row_json(json_, row);
  } else if (form_ == Form::csv) {
    csv_ += row_csv(row);
  }
}

std::string ValidationAnswer::finish(const Validation& validation) {
  if (form_ == Form::text) {
    return validation_text(validation);
  }
  if (form_ == Form::csv) {
    return std::move(csv_);
  }
  json_.end_array();
  groups_json(json_, validation.groups);
  sweeps_json(json_, validation.sweeps);
  json_.end_object();
  return json_.take();
}

namespace {

std::string answer(const Validation& validation, const std::string& format) {
  ValidationAnswer written{format};
  for (const ScoredRow& row : validation.rows) {
    written.add(row);
  }
  return written.finish(validation);
}

}  // namespace

std::string validation_json(const Validation& validation) {
  return answer(validation, "json");
}

std::string validation_csv(const Validation& validation) {
  return answer(validation, "csv");
}

std::string validation_text(const Validation& validation) {
  Table table{{"group", "metric", "n", "scored", "mape", "median", "p90", "bias", "in interval", "tau", "constant",
               "roofline"}};
  table.left(1);
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
