// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/reports/reported_run.hpp>
#include <headroom/calibrate/reports/result_rows.hpp>
#include <headroom/core/csv.hpp>
#include <headroom/core/printable.hpp>
#include <headroom/core/real_text.hpp>

#include <algorithm>
#include <set>
#include <utility>

namespace headroom {
namespace {

constexpr std::array<std::string_view, 20> serving_columns{
    "model",        "gpu",       "gpus",           "tp",       "pp",     "ep",          "dp",
    "weight_dtype", "act_dtype", "kv_dtype",       "isl",      "osl",    "concurrency", "request_rate",
    "max_batch",    "engine",    "engine_version", "params_b", "layers", "hidden"};
constexpr std::array<std::string_view, 17> training_columns{
    "model", "gpu",         "gpus",         "dp",      "tp",        "pp",        "vpp",       "cp",        "ep",
    "zero",  "micro_batch", "global_batch", "seq_len", "precision", "recompute", "framework", "flash_attn"};
constexpr std::array<std::string_view, 5> whole_words{"model", "gpu", "weight_dtype", "engine", "engine_version"};

/// What no row is predicted without.
constexpr std::array<std::string_view, 7> serving_needs{"model", "gpu", "tp", "weight_dtype", "isl", "osl", "engine"};
constexpr std::array<std::string_view, 9> training_needs{
    "model", "gpu", "gpus", "tp", "micro_batch", "global_batch", "seq_len", "precision", "framework"};

using FormReader = std::vector<ReportedRun> (*)(std::string_view text, const std::string& file);
/// In the order of ResultForm.
constexpr std::array<FormReader, result_form_names.size()> readers{bench_serve_runs, guidellm_runs,     aiperf_runs,
                                                                   inferencex_runs,  llm_d_runs,        endpoints_runs,
                                                                   loadgen_runs,     trtllm_bench_runs, mllog_runs};

std::span<const std::string_view> columns_of(bool training) {
  return training ? std::span<const std::string_view>{training_columns}
                  : std::span<const std::string_view>{serving_columns};
}

bool holds_column(std::string_view name) {
  const auto in = [&](const auto& columns) { return std::find(columns.begin(), columns.end(), name) != columns.end(); };
  return in(serving_columns) || in(training_columns);
}

bool is_word(std::string_view column) {
  return std::find(whole_words.begin(), whole_words.end(), column) != whole_words.end() || column == "act_dtype" ||
         column == "kv_dtype" || column == "precision" || column == "recompute" || column == "framework";
}

struct StatedCells {
  std::vector<std::pair<std::string, std::string>> cells, options;
};

StatedCells read_stated(std::span<const std::string> stated, Diagnostics& problems) {
  StatedCells read;
  std::vector<std::string_view> names{serving_columns.begin(), serving_columns.end()};
  names.insert(names.end(), training_columns.begin(), training_columns.end());
  for (const std::string& one : stated) {
    const std::size_t equals = one.find('=');
    const std::string place = "--set " + one;
    if (equals == std::string::npos || equals == 0 || equals + 1 == one.size()) {
      problems.add(place, {}, "is no COLUMN=VALUE, e.g. --set tp=8");
      continue;
    }
    const std::string name = one.substr(0, equals);
    const std::string value = one.substr(equals + 1);
    if (name.starts_with("options.")) {
      read.options.emplace_back(name.substr(8), value);
    } else if (!holds_column(name)) {
      problems.add(place, {}, "names no column of measured rows" + suggestion(name, names));
    } else if (const std::optional<double> number = whole_real(value); !is_word(name) && !(number && *number > 0.0) &&
                                                                       !(name == "zero" && number && *number == 0.0) &&
                                                                       value != "inf") {
      problems.add(place, {}, quoted(name) + " is " + quoted(value) + "; it must be a number above 0");
    } else {
      read.cells.emplace_back(name, value);
    }
  }
  return read;
}

/// Ranks of a training that follow from those stated: pp and cp of 1 where nothing says another, and the data ranks
/// that fill the GPUs.
void fill_ranks(ReportedRun& run, const std::string& file, Diagnostics& problems) {
  const auto count = [&](std::string_view column) {
    const auto found = run.cells.find(column);
    return found == run.cells.end() ? std::nullopt : integer_of(found->second);
  };
  for (const std::string_view column : {"pp", "cp"}) {
    if (run.cells.find(column) == run.cells.end()) {
      run.set_text(column, "1");
      run.remarks.push_back(std::string{column} + " = 1 is taken; state it with --set where it is another");
    }
  }
  const std::optional<std::int64_t> gpus = count("gpus");
  const std::optional<std::int64_t> tp = count("tp");
  const std::int64_t ranks = tp.value_or(1) * count("pp").value_or(1) * count("cp").value_or(1);
  if (!gpus || !tp || run.cells.find("dp") != run.cells.end()) {
    return;
  }
  if (ranks < 1 || *gpus % ranks != 0) {
    problems.add(file, run.at,
                 std::to_string(*gpus) + " GPUs are no multiple of tp x pp x cp = " + std::to_string(ranks));
    return;
  }
  run.set_text("dp", std::to_string(*gpus / ranks));
}

std::string options_text(const ReportedRun& run) {
  std::string text;
  for (const auto& [key, value] : run.options) {
    std::string one = value;
    std::replace(one.begin(), one.end(), ';', ',');
    text += (text.empty() ? "" : ";") + key + "=" + one;
  }
  return text;
}

std::string stem_of(std::string_view file) {
  file.remove_prefix(file.find_last_of('/') + 1);
  return std::string{file.substr(0, std::max<std::size_t>(1, std::min(file.find('.'), file.size())))};
}

/// Problems of a run's cells: what is missing for any prediction of it.
void require_cells(const ReportedRun& run, const std::string& file, Diagnostics& problems) {
  std::string missing;
  const auto lack = [&](std::string_view column) {
    if (run.cells.find(column) == run.cells.end()) {
      missing += (missing.empty() ? "" : ", ") + std::string{column};
    }
  };
  if (run.training) {
    std::for_each(training_needs.begin(), training_needs.end(), lack);
  } else {
    std::for_each(serving_needs.begin(), serving_needs.end(), lack);
    if (run.cells.find("concurrency") == run.cells.end() && run.cells.find("request_rate") == run.cells.end()) {
      missing += std::string{missing.empty() ? "" : ", "} + "concurrency or request_rate";
    }
  }
  if (!missing.empty()) {
    problems.add(file, run.at,
                 "a result does not say: " + missing + "; state each with --set COLUMN=VALUE, e.g. --set " +
                     (missing.starts_with("model") ? "model=llama3-70b --set gpu=h100-sxm-80gb"
                                                   : missing.substr(0, missing.find_first_of(", ")) + "=..."));
  }
}

/// A row of the CSV a measurement.
void write_rows(const ReportedRun& run, const std::string& form, const std::string& file, std::string& text) {
  std::string cells;
  for (const std::string_view column : columns_of(run.training)) {
    const auto found = run.cells.find(column);
    cells += (found == run.cells.end() ? std::string{} : csv_field(shown(found->second))) + ",";
  }
  for (const ReportedMetric& metric : run.metrics) {
    const std::string id = stem_of(file) + (run.part.empty() ? "" : "." + run.part) + "." + metric.metric;
    text += csv_field(shown(id)) + "," + csv_field(form) + "," + csv_field(shown(file)) + "," + cells +
            csv_field(shown(options_text(run))) + "," + metric.metric + "," + cell_text(metric.value) + "," +
            metric.unit + "\n";
  }
}

std::string header_of(bool training) {
  std::string text = "id,source,source_ref,";
  for (const std::string_view column : columns_of(training)) {
    text += std::string{column} + ",";
  }
  return text + "options,metric,value,unit\n";
}

}  // namespace

std::optional<ResultForm> result_form_of(std::string_view text) {
  const auto holds = [&](std::string_view part) { return text.find(part) != std::string_view::npos; };
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  const bool json = begin != std::string_view::npos && (text[begin] == '{' || text[begin] == '[');
  if (holds("\"tput_per_gpu\"") && json) {
    return ResultForm::inferencex;
  }
  if (holds("request_performance") && holds("results")) {
    return ResultForm::llm_d;
  }
  if (json && holds("\"benchmarks\"") && holds("\"successful\"")) {
    return ResultForm::guidellm;
  }
  if (json && holds("\"request_throughput\"") && holds("\"completed\"")) {
    return ResultForm::bench_serve;
  }
  if (json && holds("\"request_throughput\"") && holds("\"avg\"")) {
    return ResultForm::aiperf;
  }
  if (json && (holds("\"n_samples_completed\"") || holds("\"tracked_samples_issued\""))) {
    return ResultForm::endpoints;
  }
  if (holds("\"system_output_throughput_tok_s\"") || holds("= PERFORMANCE OVERVIEW")) {
    return ResultForm::trtllm_bench;
  }
  if (holds("MLPerf Results Summary")) {
    return ResultForm::loadgen;
  }
  return holds(":::MLLOG") ? std::optional{ResultForm::mllog} : std::nullopt;
}

ImportedRows import_result_rows(std::span<const ConfigSource> files,
                                std::optional<ResultForm> form,
                                std::span<const std::string> stated,
                                std::span<const std::string> usual) {
  Diagnostics problems;
  const StatedCells said = read_stated(stated, problems);
  const StatedCells silent = read_stated(usual, problems);
  ImportedRows rows;
  std::set<bool> kinds;
  std::set<std::string> remarked;
  for (const ConfigSource& file : files) {
    const std::optional<ResultForm> one = form ? form : result_form_of(file.text);
    if (!one) {
      problems.add(file.file, {},
                   "is no result of a benchmark that is read here; say --from bench-serve, guidellm, "
                   "aiperf, inferencex, llm-d, mlperf-endpoints, mlperf-loadgen, trtllm-bench or mllog");
      continue;
    }
    const std::string name{result_form_names[static_cast<std::size_t>(*one)]};
    std::vector<ReportedRun> runs;
    try {
      runs = readers[static_cast<std::size_t>(*one)](file.text, file.file);
    } catch (const ConfigError& error) {
      problems.add(error);
      continue;
    }
    for (ReportedRun& run : runs) {
      for (const auto& [column, value] : said.cells) {
        run.cells.insert_or_assign(column, value);
      }
      for (const auto& [key, value] : said.options) {
        run.options.insert_or_assign(key, value);
      }
      if (run.metrics.empty()) {
        problems.add(file.file, run.at, (run.part.empty() ? "the result" : run.part) + " holds no measurement above 0");
        continue;
      }
      if (run.training) {
        fill_ranks(run, file.file, problems);
      }
      ReportedRun whole = run;
      for (const auto& [column, value] : silent.cells) {
        whole.cells.try_emplace(column, value);
      }
      require_cells(whole, file.file, problems);
      kinds.insert(run.training);
      for (const std::string& remark : run.remarks) {
        const std::string line = shown(file.file) + (run.part.empty() ? "" : ", " + run.part) + ": " + remark;
        if (remarked.insert(line).second) {
          rows.remarks.push_back(line);
        }
      }
      rows.text += rows.text.empty() ? header_of(run.training) : std::string{};
      write_rows(run, name, file.file, rows.text);
    }
  }
  if (kinds.size() > 1) {
    problems.add("", {}, "results of serving and of training have rows of other columns; import each kind by itself");
  }
  problems.throw_if_any();
  return rows;
}

}  // namespace headroom
