// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/input_file.hpp>
#include <headroom/core/real_text.hpp>
#include <headroom/scenarios/facts/publication_facts.hpp>
#include <headroom/scenarios/measured/row_options.hpp>
#include <headroom/scenarios/measured/run_row.hpp>

#include <algorithm>
#include <array>
#include <sstream>

namespace headroom {
namespace {

struct TextColumn {
  std::string_view name;
  std::string RunConfiguration::*field;
};
struct IntegerColumn {
  std::string_view name;
  std::optional<std::int64_t> RunConfiguration::*field;
};

// clang-format off
constexpr std::array text_columns{
    TextColumn{"model", &RunConfiguration::model},         TextColumn{"arch", &RunConfiguration::arch},
    TextColumn{"gpu", &RunConfiguration::gpu},             TextColumn{"precision", &RunConfiguration::precision},
    TextColumn{"recompute", &RunConfiguration::recompute}, TextColumn{"framework", &RunConfiguration::framework},
    TextColumn{"intra_link", &RunConfiguration::intra_link},
};
constexpr std::array integer_columns{
    IntegerColumn{"layers", &RunConfiguration::layers},             IntegerColumn{"hidden", &RunConfiguration::hidden},
    IntegerColumn{"heads", &RunConfiguration::heads},               IntegerColumn{"kv_heads", &RunConfiguration::kv_heads},
    IntegerColumn{"head_dim", &RunConfiguration::head_dim},         IntegerColumn{"ffn_hidden", &RunConfiguration::ffn_hidden},
    IntegerColumn{"gated_mlp", &RunConfiguration::gated_mlp},       IntegerColumn{"vocab", &RunConfiguration::vocab},
    IntegerColumn{"tied_embeddings", &RunConfiguration::tied_embeddings}, IntegerColumn{"seq_len", &RunConfiguration::seq_len},
    IntegerColumn{"experts", &RunConfiguration::experts},           IntegerColumn{"top_k", &RunConfiguration::top_k},
    IntegerColumn{"moe_ffn", &RunConfiguration::moe_ffn},           IntegerColumn{"shared_experts", &RunConfiguration::shared_experts},
    IntegerColumn{"dense_layers", &RunConfiguration::dense_layers}, IntegerColumn{"gpus", &RunConfiguration::gpus},
    IntegerColumn{"gpus_per_node", &RunConfiguration::gpus_per_node}, IntegerColumn{"dp", &RunConfiguration::dp},
    IntegerColumn{"tp", &RunConfiguration::tp},                     IntegerColumn{"pp", &RunConfiguration::pp},
    IntegerColumn{"vpp", &RunConfiguration::vpp},                   IntegerColumn{"cp", &RunConfiguration::cp},
    IntegerColumn{"ep", &RunConfiguration::ep},                     IntegerColumn{"seq_parallel", &RunConfiguration::seq_parallel},
    IntegerColumn{"zero", &RunConfiguration::zero},                 IntegerColumn{"micro_batch", &RunConfiguration::micro_batch},
    IntegerColumn{"global_batch", &RunConfiguration::global_batch}, IntegerColumn{"flash_attn", &RunConfiguration::flash_attn},
};

struct ServingTextColumn {
  std::string_view name;
  std::string ServingConfiguration::*field;
};
struct ServingIntegerColumn {
  std::string_view name;
  std::optional<std::int64_t> ServingConfiguration::*field;
};
constexpr std::array serving_text_columns{
    ServingTextColumn{"model", &ServingConfiguration::model},   ServingTextColumn{"gpu", &ServingConfiguration::gpu},
    ServingTextColumn{"weight_dtype", &ServingConfiguration::weight_dtype},
    ServingTextColumn{"act_dtype", &ServingConfiguration::act_dtype},
    ServingTextColumn{"kv_dtype", &ServingConfiguration::kv_dtype},
    ServingTextColumn{"engine", &ServingConfiguration::engine},
    ServingTextColumn{"engine_version", &ServingConfiguration::engine_version},
};
constexpr std::array serving_integer_columns{
    ServingIntegerColumn{"layers", &ServingConfiguration::layers},     ServingIntegerColumn{"hidden", &ServingConfiguration::hidden},
    ServingIntegerColumn{"heads", &ServingConfiguration::heads},       ServingIntegerColumn{"kv_heads", &ServingConfiguration::kv_heads},
    ServingIntegerColumn{"head_dim", &ServingConfiguration::head_dim}, ServingIntegerColumn{"ffn_hidden", &ServingConfiguration::ffn_hidden},
    ServingIntegerColumn{"vocab", &ServingConfiguration::vocab},       ServingIntegerColumn{"experts", &ServingConfiguration::experts},
    ServingIntegerColumn{"top_k", &ServingConfiguration::top_k},       ServingIntegerColumn{"moe_ffn", &ServingConfiguration::moe_ffn},
    ServingIntegerColumn{"gpus", &ServingConfiguration::gpus},         ServingIntegerColumn{"tp", &ServingConfiguration::tp},
    ServingIntegerColumn{"pp", &ServingConfiguration::pp},             ServingIntegerColumn{"ep", &ServingConfiguration::ep},
    ServingIntegerColumn{"dp", &ServingConfiguration::dp},             ServingIntegerColumn{"max_batch", &ServingConfiguration::max_batch},
};
// clang-format on

/// "method=lora;release=24.07" -> pairs; a part without '=' is a flag with an empty value.
std::map<std::string, std::string, std::less<>> parse_options(std::string_view text) {
  std::map<std::string, std::string, std::less<>> options;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(';'), text.size());
    const std::string_view part = text.substr(0, end);
    const std::size_t equals = part.find('=');
    if (!part.empty()) {
      options.emplace(part.substr(0, equals),
                      equals == std::string_view::npos ? std::string_view{} : part.substr(equals + 1));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return options;
}

/// Blank cells that a publication states beside its table: options "cell.COLUMN".
void fill_cells(RunConfiguration& run) {
  for (const TextColumn& column : text_columns) {
    std::string& cell = run.*column.field;
    cell = cell.empty() ? std::string{option(run, "cell." + std::string{column.name})} : cell;
  }
  for (const IntegerColumn& column : integer_columns) {
    std::optional<std::int64_t>& cell = run.*column.field;
    cell = cell ? cell : option_count(run, "cell." + std::string{column.name});
  }
}

/// The sequences of a step of which a row states in their place how many micro-batches a rank accumulates.
void complete_batch(RunConfiguration& run) {
  constexpr std::int64_t most = 1'000'000;  // no run has as many of any, and the product of three is a whole number
  const std::int64_t steps = option_count(run, "accumulation").value_or(0);
  if (steps > 0 && !run.global_batch && run.micro_batch && run.dp &&
      std::max({steps, *run.micro_batch, *run.dp}) <= most) {
    run.global_batch = steps * *run.micro_batch * *run.dp;
  }
}

}  // namespace

/// Turns the records of one file into rows.
class RunRowReader::Rows {
 public:
  Rows(std::istream& stream, const std::string& file, Diagnostics& diagnostics) : csv_{stream, file, diagnostics} {}

  /// Reads form and columns; false when no row can be read.
  bool read_head(RunFile& head) {
    head.file = csv_.file();
    head.header = csv_.header();
    if (head.header.empty()) {
      return false;  // the reader has reported it
    }
    if (csv_.column("dp") && csv_.column("global_batch")) {
      form_ = RowForm::training;
    } else if (csv_.column("engine") && csv_.column("isl")) {
      form_ = RowForm::serving;
    } else if (csv_.column("workload") && csv_.column("config")) {
      form_ = RowForm::other;
    } else if (csv_.column("gpus") && csv_.column("global_batch")) {
      form_ = RowForm::training;
    } else if (csv_.column("prompts_per_step") && csv_.column("samples_per_prompt")) {
      form_ = RowForm::post_training;
    } else {
      csv_.diagnostics().add(csv_.file(), {1, 1},
                             "the header is of no known form: training rows have the columns global_batch and dp or "
                             "gpus, serving rows engine and isl, others workload and config, rows of post-training "
                             "prompts_per_step and samples_per_prompt; " +
                                 least_run_columns());
      return false;
    }
    head.form = form_;
    if (form_ != RowForm::other) {
      check_columns();
    }
    return true;
  }

  std::optional<RunRow> next() {
    while (csv_.next()) {
      if (std::optional<RunRow> row = read()) {
        return row;
      }
    }
    return std::nullopt;
  }

  [[nodiscard]] const Diagnostics& broken_cells() const noexcept { return broken_cells_; }

 private:
  void check_columns() {
    for (const std::string_view name : {"metric", "value"}) {
      if (!csv_.column(name)) {
        csv_.diagnostics().add(csv_.file(), {1, 1}, "missing column '" + std::string{name} + "'");
      }
    }
  }

  /// Reads one row; nullopt, with a diagnostic, when its value is not a number.
  std::optional<RunRow> read() {
    RunRow row;
    row.file = csv_.file();
    row.line = csv_.line();
    row.form = form_;
    row.id = csv_.column("id") ? text("id") : "line " + std::to_string(row.line);
    row.source = text("source");
    row.source_ref = text("source_ref");
    row.engine = text("engine");
    row.metric = text("metric");
    row.unit = text("unit");
    read_configuration(row);
    const std::optional<std::size_t> value = csv_.column("value");
    const std::optional<double> measured = value ? csv_.number(*value) : std::nullopt;
    if (!measured || *measured <= 0.0) {
      if (value && !measured && csv_.fields()[*value].empty()) {
        csv_.diagnostics().add(csv_.file(), csv_.at(*value), "'value' is empty; a row is one measurement");
      } else if (measured) {
        csv_.diagnostics().add(csv_.file(), csv_.at(*value),
                               "'value' is " + quoted(csv_.fields()[*value]) + "; it must be above zero");
      }
      return std::nullopt;
    }
    row.measured = *measured;
    const std::string notes = text("notes");
    for (const std::string_view word : {"CHECK", "ODD", "AMBIGUOUS"}) {
      if (notes.find(word) != std::string::npos) {
        row.doubted = true;
        row.doubt = word;
        break;
      }
    }
    row.serving.disaggregated = notes.find("DISAGG") != std::string::npos;
    row.notes = notes;
    row.run.options = parse_options(text("options"));
    row.serving.options = row.run.options;
    if (form_ == RowForm::training) {
      add_facts(publication_facts(), {row.source, row.run.gpu, row.run.precision, row.id, row.run.model},
                row.run.options);
      fill_cells(row.run);
      complete_batch(row.run);
    }
    row.table = form_ == RowForm::serving ? table_of(row) : 1;
    row.cells = csv_.fields();
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      row.places.push_back(csv_.at(i));
    }
    return row;
  }

  /// Counts equal rows under one title; a title's rows follow each other.
  int table_of(const RunRow& row) {
    if (row.source_ref.empty() || row.source_ref != title_) {
      title_ = row.source_ref;
      under_title_.clear();
    }
    const ServingConfiguration& run = row.serving;
    std::string key = run.model + ";" + run.gpu + ";" + run.weight_dtype + ";" + run.engine_version + ";" + row.metric;
    for (const std::optional<double>& cell : {run.isl, run.osl, run.concurrency, run.request_rate, run.params_b}) {
      key += ";" + (cell ? std::to_string(*cell) : std::string{});
    }
    for (const auto& [name, value] : run.options) {
      key += ";" + name + "=" + value;
    }
    return ++under_title_[key];
  }

  std::string text(std::string_view name) const {
    const std::optional<std::size_t> index = csv_.column(name);
    return index ? csv_.fields()[*index] : std::string{};
  }

  void read_configuration(RunRow& row) {
    for (const TextColumn& column : text_columns) {
      row.run.*column.field = text(column.name);
    }
    if (form_ == RowForm::training) {
      for (const IntegerColumn& column : integer_columns) {
        if (const auto index = csv_.column(column.name)) {
          row.run.*column.field = configuration_integer(*index, row.broken);
        }
      }
      row.run.inter_gbps_per_gpu = positive_number("inter_gbps_per_gpu", "no rate", row.broken);
    } else if (form_ == RowForm::serving) {
      read_serving_cells(row);
    }
  }

  void read_serving_cells(RunRow& row) {
    ServingConfiguration& serving = row.serving;
    for (const ServingTextColumn& column : serving_text_columns) {
      serving.*column.field = text(column.name);
    }
    for (const ServingIntegerColumn& column : serving_integer_columns) {
      if (const auto index = csv_.column(column.name)) {
        serving.*column.field = configuration_integer(*index, serving.broken);
      }
    }
    serving.params_b = positive_number("params_b", "no size", serving.broken);
    serving.isl = positive_number("isl", "no length", serving.broken);
    serving.osl = positive_number("osl", "no length", serving.broken);
    serving.concurrency = positive_number("concurrency", "no number of requests", serving.broken);
    serving.request_rate = positive_number("request_rate", "no rate", serving.broken);
  }

  std::optional<double> positive_number(std::string_view name, std::string_view problem, std::string& broken) {
    const std::string written = text(name);
    if (const std::optional<double> value = whole_real(written); value && *value > 0.0) {
      return value;
    }
    if (!written.empty()) {
      note_broken(*csv_.column(name), problem, broken);
    }
    return std::nullopt;
  }

  std::optional<std::int64_t> configuration_integer(std::size_t index, std::string& broken) {
    const std::string& text = csv_.fields()[index];
    if (text.empty()) {
      return std::nullopt;
    }
    const std::optional<std::int64_t> value = integer_of(text);
    if (!value) {
      note_broken(index, "no integer", broken);
    }
    return value;
  }

  /// Keeps the first broken cell in words, and all of them with their places.
  void note_broken(std::size_t index, std::string_view problem, std::string& broken) {
    const std::string text =
        "'" + csv_.header()[index] + "' is " + quoted(csv_.fields()[index]) + ", " + std::string{problem};
    broken = broken.empty() ? text : broken;
    broken_cells_.add(csv_.file(), csv_.at(index), text);
  }

  std::string title_;
  std::map<std::string, int> under_title_;
  CsvReader csv_;
  RowForm form_ = RowForm::training;
  Diagnostics broken_cells_;
};

RunRowReader::RunRowReader(std::istream& stream, const std::string& file, Diagnostics& diagnostics)
    : rows_{std::make_unique<Rows>(stream, file, diagnostics)} {
  if (!rows_->read_head(head_)) {
    rows_.reset();
  }
}

RunRowReader::~RunRowReader() = default;

std::optional<RunRow> RunRowReader::next() {
  return rows_ ? rows_->next() : std::nullopt;
}

const Diagnostics& RunRowReader::broken_cells() const noexcept {
  static const Diagnostics none;
  return rows_ ? rows_->broken_cells() : none;
}

std::string least_run_columns() {
  return "a run of your own has at least the columns "
         "model,gpu,gpus,tp,pp,micro_batch,global_batch,seq_len,precision,metric,value, such as "
         "llama3-70b,h100-sxm-80gb,512,8,4,1,1024,8192,bf16,step_time_s,18.9 (docs/confidence.md)";
}

RunFile read_runs(std::istream& stream, const std::string& file, Diagnostics& diagnostics) {
  RunRowReader reader{stream, file, diagnostics};
  RunFile runs = reader.head();
  while (std::optional<RunRow> row = reader.next()) {
    runs.rows.push_back(std::move(*row));
  }
  runs.broken_cells = reader.broken_cells();
  return runs;
}

std::vector<RunFile> read_run_files(std::span<const std::string> paths, Diagnostics& diagnostics) {
  std::vector<RunFile> files;
  for (const std::string& path : paths) {
    try {
      InputFile stream{path};
      files.push_back(read_runs(stream, path, diagnostics));
    } catch (const ConfigError& error) {
      diagnostics.add(error);
    }
  }
  return files;
}

std::vector<RunText> run_texts(std::span<const std::string> paths) {
  std::vector<RunText> texts;
  Diagnostics diagnostics;
  for (const std::string& path : paths) {
    try {
      InputFile file{path, most_rows_text};
      if (file.rewinds()) {
        texts.push_back({path, [path] { return std::make_unique<InputFile>(path, most_rows_text); }});
      } else {
        texts.push_back({path, [text = std::make_shared<const std::string>(file.text())] {
                           return std::make_unique<std::istringstream>(*text);
                         }});
      }
    } catch (const ConfigError& error) {
      diagnostics.add(error);
    }
  }
  diagnostics.throw_if_any();
  return texts;
}

std::optional<std::string> cell(const RunFile& file, const RunRow& row, std::string_view column) {
  constexpr std::string_view options = "options.";
  if (column.starts_with(options)) {
    const auto found = row.run.options.find(column.substr(options.size()));
    return found == row.run.options.end() ? std::string{} : found->second;
  }
  if (column == "file") {
    return file.file;
  }
  const auto found = std::find(file.header.begin(), file.header.end(), column);
  if (found == file.header.end()) {
    return std::nullopt;
  }
  return row.cells[static_cast<std::size_t>(found - file.header.begin())];
}

}  // namespace headroom
