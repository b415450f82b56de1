// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/embedded.hpp>
#include <headroom/scenarios/measured/network_row.hpp>
#include <headroom/scenarios/measured/serving_row.hpp>
#include <headroom/scenarios/measured/training_row.hpp>
#include <headroom/scenarios/measured/words/attention_row.hpp>
#include <headroom/scenarios/measured/words/classic_row.hpp>
#include <headroom/scenarios/measured/words/copy_row.hpp>
#include <headroom/scenarios/measured/words/launch_row.hpp>
#include <headroom/scenarios/measured/words/slice_row.hpp>
#include <headroom/scenarios/measured/words/workload_row.hpp>
#include <headroom/scenarios/post_training/post_train_row.hpp>
#include <headroom/scenarios/validation/ratio_rows.hpp>
#include <headroom/scenarios/validation/row_marks.hpp>
#include <headroom/scenarios/validation/validation.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <sstream>

namespace headroom {
namespace embedded {
EmbeddedIndex embedded_published() noexcept;  // NOLINT(misc-use-internal-linkage)
}

namespace {

/// Class of a training row; errors differ between classes.
std::string_view class_of(const RunConfiguration& run) {
  const auto method = run.options.find("method");
  return method != run.options.end() ? "adapters and tuning" : run.arch == "moe" ? "experts" : "dense";
}

/// Family of a serving row; dense and expert networks differ in error, and so do networks that are no language models
/// (scored()). Blank when the row does not describe the network.
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

/// The models behind each form of row.
class RowModels {
 public:
  RowModels(const Sources& sources, TermSet without)
      : sources_{sources},
        without_{without},
        training_{std::in_place, sources, without},
        serving_{std::in_place, sources},
        networks_{std::in_place, sources},
        post_training_{std::in_place, sources},
        attention_{sources.catalog, sources.data} {}

  RowPrediction predict(const RunFile& file, const RunRow& row) {
    // The cache only helps rows that share something, so it is dropped when it grows.
    if (training_->kept() > most_kept) {
      training_.emplace(sources_, without_);
    }
    if (serving_->kept() > most_kept) {
      serving_.emplace(sources_);
    }
    if (networks_->kept() > most_kept) {
      networks_.emplace(sources_);
    }
    if (post_training_->kept() > most_kept) {
      post_training_.emplace(sources_);
    }
    if (file.form == RowForm::post_training) {
      return post_training_->predict(file, row);
    }
    if (file.form == RowForm::other) {
      if (AttentionRowModel::means(file, row)) {
        return attention_.predict(file, row);
      }
      if (slice_row(file, row)) {
        return predict_slice(sources_.catalog, sources_.data, file, row);
      }
      if (classic_row(file, row)) {
        return predict_classic(sources_.catalog, sources_.data, file, row);
      }
      if (copy_row(file, row)) {
        return predict_copy(sources_.data, file, row);
      }
      if (launch_row(sources_.data, file, row)) {
        return predict_launch(sources_.data, file, row);
      }
      std::string why;
      const std::optional<RunRow> meant = workload_row(sources_.data, file, row, why);
      if (!meant) {
        return unsupported(why);
      }
      RowPrediction answer = asked_of_workload(row, networks_->predict(*meant));
      if (const std::string assumed = workload_assumed(sources_.data, file, row); !assumed.empty()) {
        answer.assumed += (answer.assumed.empty() ? "" : "; ") + assumed;
      }
      return answer;
    }
    if (only_ratios(row)) {
      return predict_ratio(file.rows, row,
                           [&](const RunRow& r) { return training_->predict(r.run, r.metric, r.unit); });
    }
    return file.form == RowForm::serving ? serving_->predict(row)
           : networks_->trains(row.run)  ? networks_->predict(row)
                                         : training_->predict(row.run, row.metric, row.unit);
  }

 private:
  /// Most cached objects of a form's model before it starts anew. Chosen, not measured: the published rows name about a
  /// hundred. The largest objects (groups of a job, tables of an engine) take about 20 kB, so a form takes 20 MB, up to
  /// twice that with fragmentation. Making one again takes 0.2 ms (job) or 2 ms (engine).
  static constexpr std::size_t most_kept = 1000;

  const Sources& sources_;
  TermSet without_;
  std::optional<TrainingRowModel> training_;
  std::optional<ServingRowModel> serving_;
  std::optional<NetworkRowModel> networks_;  ///< of rows of training; serving rows have their own
  std::optional<PostTrainRowModel> post_training_;
  AttentionRowModel attention_;  ///< keeps as many GPUs as rows name
};

/// All statistics over rows, collected row by row.
struct Books {
  ScoreBook scores;
  SweepBook sweeps;
  LayoutBook layouts;

  void add(const ScoredRow& row, const std::optional<std::string>& share = std::nullopt) {
    scores.add(row, share);
    sweeps.add(row);
    layouts.add(row);
  }
  [[nodiscard]] Validation validation() const {
    return {{}, scores.tally(), scores.groups(), sweeps.sweeps(), layouts.scores()};
  }
};

RowPrediction predict(const RunFile& file, const RunRow& row, const RowPredictor& predictor) {
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

/// Rows without a mark of publications that have some stand in groups of their own, so that figures stand with and
/// without marked rows; a marked row that is answered says why it is.
void mark(const RunRow& row, ScoredRow& result) {
  const RowMarks& marks = row_marks();
  const std::string_view why = marks.why(row.source, row.id);
  if (why.empty()) {
    result.groups.push_back("all" + std::string{unmarked_rows});
    if (marks.know(row.source)) {
      result.groups.push_back("source=" + row.source + std::string{unmarked_rows});
    }
  } else if (result.prediction.status == RowStatus::ok) {
    result.prediction.why = "marked: " + std::string{why};
  }
}

ScoredRow scored(const RunFile& file, const RunRow& row, const ValidationScope& scope, const RowPredictor& predictor) {
  ScoredRow result{row.id,
                   file.file,
                   row.metric,
                   row.unit,
                   row.measured,
                   predict(file, row, predictor),
                   groups_of(file, row, scope.groups),
                   1.0};
  result.source = row.source;
  mark(row, result);
  if (result.prediction.of_network) {
    std::erase_if(result.groups, [](const std::string& group) { return group.starts_with("family="); });
    result.groups.emplace_back("family=networks");
  }
  if (result.prediction.recurrent) {
    result.groups.emplace_back("class=hybrids, counted above too");
  }
  if (result.prediction.regime) {
    result.groups.push_back("regime=" +
                            std::string{step_regime_names[static_cast<std::size_t>(*result.prediction.regime)]});
  }
  if (file.form == RowForm::training) {
    result.run = std::make_shared<const RunConfiguration>(row.run);
  } else if (file.form == RowForm::serving) {
    result.serving = std::make_shared<const ServingConfiguration>(row.serving);
  }
  return result;
}

/// Key of the rows that share a weight; nullopt when each row has its own.
std::optional<std::string> share_of(const RunFile& file, const RunRow& row, const ValidationScope& scope) {
  if (scope.weight_by.empty()) {
    return std::nullopt;
  }
  std::string key;
  for (const std::string& column : scope.weight_by) {
    key += cell(file, row, column).value_or("") + '\x1f';
  }
  return key;
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
  RowModels models{sources, without};
  return validate(files, scope, [&](const RunFile& file, const RunRow& row) { return models.predict(file, row); });
}

Validation validate(std::span<const RunFile> files, const ValidationScope& scope, const RowPredictor& predictor) {
  require_columns(files, scope);
  std::vector<ScoredRow> rows;
  Books books;
  for (const RunFile& file : files) {
    for (const RunRow& row : file.rows) {
      if (passes_all(scope.filters, file, row)) {
        rows.push_back(scored(file, row, scope, predictor));
        books.add(rows.back(), share_of(file, row, scope));
      }
    }
  }
  for (std::uint32_t row = 0; row < rows.size(); ++row) {
    rows[row].weight = books.scores.weight(row);
  }
  Validation result = books.validation();
  result.rows = std::move(rows);
  return result;
}

Validation validate(std::span<const RunText> texts,
                    std::span<const RunFile> heads,
                    const ValidationScope& scope,
                    const Sources& sources,
                    TermSet without,
                    const RowSink& each) {
  require_columns(heads, scope);
  RowModels models{sources, without};
  Books books;
  Diagnostics diagnostics;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::unique_ptr<std::istream> stream = texts[i].open();
    RunRowReader reader{*stream, texts[i].file, diagnostics};
    while (const std::optional<RunRow> row = reader.next()) {
      if (!passes_all(scope.filters, reader.head(), *row)) {
        continue;
      }
      const ScoredRow result = scored(reader.head(), *row, scope, [&](const RunFile& file, const RunRow& r) {
        return models.predict(only_ratios(r) && i < heads.size() ? heads[i] : file, r);
      });
      books.add(result, share_of(reader.head(), *row, scope));
      each(result);
    }
  }
  diagnostics.throw_if_any();  // the file changed since its head was read
  return books.validation();
}

std::vector<RunFile> checked_heads(std::span<const RunText> texts) {
  Diagnostics diagnostics;
  std::vector<RunFile> heads;
  for (const RunText& text : texts) {
    const std::unique_ptr<std::istream> stream = text.open();
    RunRowReader reader{*stream, text.file, diagnostics};
    std::vector<RunRow> compared;  // rows that are predicted beside others of their file
    while (std::optional<RunRow> row = reader.next()) {
      if (only_ratios(*row)) {
        compared.push_back(std::move(*row));
      }
    }
    heads.push_back(reader.head());
    heads.back().rows = std::move(compared);
  }
  diagnostics.throw_if_any();
  return heads;
}

Validation score_rows(std::vector<ScoredRow> rows) {
  Books books;
  for (const ScoredRow& row : rows) {
    books.add(row);
  }
  Validation result = books.validation();
  result.rows = std::move(rows);
  return result;
}

std::vector<RunFile> published_runs() {
  Diagnostics diagnostics;
  std::vector<RunFile> files;
  for (const RunText& text : published_texts()) {
    files.push_back(read_runs(*text.open(), text.file, diagnostics));
  }
  diagnostics.throw_if_any();
  return files;
}

std::vector<RunFile> published_runs(RowForm form) {
  Diagnostics diagnostics;
  std::vector<RunFile> files;
  for (const RunText& text : published_texts()) {
    const std::unique_ptr<std::istream> stream = text.open();
    if (RunRowReader{*stream, text.file, diagnostics}.head().form == form) {
      files.push_back(read_runs(*text.open(), text.file, diagnostics));
    }
  }
  diagnostics.throw_if_any();
  return files;
}

std::vector<RunText> published_texts() {
  std::vector<RunText> texts;
  for (const EmbeddedFile& file : embedded::embedded_published().files) {
    texts.push_back({std::string{file.name},
                     [text = file.text] { return std::make_unique<std::istringstream>(std::string{text}); }});
  }
  return texts;
}

}  // namespace headroom
