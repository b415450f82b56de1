// SPDX-License-Identifier: Apache-2.0
// A published measurement as a CSV row, and the forms of such files.
#pragma once

#include <headroom/core/csv.hpp>

#include <cstdint>
#include <functional>
#include <istream>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// Form of a file, by its header: training has global_batch with dp or gpus, serving engine and isl, other workload and
/// config, post-training prompts_per_step and samples_per_prompt.
enum class RowForm : std::uint8_t { training, serving, other, post_training };

/// Configuration columns of a training row: all that the model may see. Nothing here names the row or its publication.
struct RunConfiguration {
  std::string model, arch, gpu, intra_link, precision, recompute, framework;
  std::optional<std::int64_t> layers, hidden, heads, kv_heads, head_dim, ffn_hidden, vocab, seq_len;
  std::optional<std::int64_t> gated_mlp, tied_embeddings, flash_attn, seq_parallel, zero;
  std::optional<std::int64_t> experts, top_k, moe_ffn, shared_experts, dense_layers;
  std::optional<std::int64_t> gpus, gpus_per_node, dp, tp, pp, vpp, cp, ep, micro_batch, global_batch;
  std::optional<double> inter_gbps_per_gpu;
  std::map<std::string, std::string, std::less<>> options;
  bool sizes_of_preset = false;  ///< no column states a size: those of the preset that `model` names hold
  bool usual_experts = false;    ///< priced as if nobody knew how its layers of experts run (BlankAxis::experts)
  bool operator==(const RunConfiguration&) const = default;
};

/// Configuration columns of a serving row.
struct ServingConfiguration {
  std::string model, gpu, weight_dtype, act_dtype, kv_dtype, engine, engine_version;
  std::optional<std::int64_t> layers, hidden, heads, kv_heads, head_dim, ffn_hidden, vocab, experts, top_k, moe_ffn;
  std::optional<std::int64_t> gpus, tp, pp, ep, dp, max_batch;
  std::optional<double> isl, osl, concurrency;  ///< means over requests, so fractions are possible
  std::optional<double> request_rate;           ///< requests per second; infinite: all at once
  std::optional<double> params_b;
  std::map<std::string, std::string, std::less<>> options;
  bool disaggregated = false;  ///< true when the notes hold DISAGG: the columns describe the decode pool
  std::string broken;          ///< first configuration cell that should be a number and is not
};

struct RunRow {
  std::string id, file, source, source_ref, engine, metric, unit;  ///< id: "line 3" where no column states one
  int line = 0;
  /// Of the rows of equal configuration and metric under one title (source_ref), which one this is, in the file's
  /// order: tables of equal columns follow each other.
  int table = 1;
  RowForm form = RowForm::training;
  double measured = 0.0;
  bool doubted = false;  ///< true when the notes hold CHECK, ODD or AMBIGUOUS
  std::string doubt;     ///< the word in the notes that marks the doubt
  std::string notes;     ///< as written: for what is known of the row's launch, for a prediction only what tables of
                         ///< spellings name
  std::string broken;    ///< first configuration cell that is not an integer: "'micro_batch' is '8k', no integer"
  RunConfiguration run;
  ServingConfiguration serving;    ///< filled for serving rows
  std::vector<std::string> cells;  ///< cells as written, for --where
  std::vector<Position> places;    ///< place of each cell in the file
};

/// Rows of one file with its header. A measured value that is not a positive number is a problem of the file; a
/// configuration cell that is not a number makes its row rejected but kept.
struct RunFile {
  std::string file;
  RowForm form = RowForm::training;
  std::vector<std::string> header;
  std::vector<RunRow> rows;
  Diagnostics broken_cells;  ///< broken configuration cells of all rows, also of those without a value
};
/// The least columns of a user's own training run and a row of them, for messages.
[[nodiscard]] std::string least_run_columns();

[[nodiscard]] RunFile read_runs(std::istream& stream, const std::string& file, Diagnostics& diagnostics);

/// Reads the files at these paths; unreadable files are reported.
[[nodiscard]] std::vector<RunFile> read_run_files(std::span<const std::string> paths, Diagnostics& diagnostics);

/// Reads the rows of a file one by one, for files too large for memory.
class RunRowReader {
 public:
  /// Reads the header. Stream and diagnostics must outlive the reader.
  RunRowReader(std::istream& stream, const std::string& file, Diagnostics& diagnostics);
  ~RunRowReader();
  RunRowReader(const RunRowReader&) = delete;
  RunRowReader& operator=(const RunRowReader&) = delete;
  RunRowReader(RunRowReader&&) = delete;
  RunRowReader& operator=(RunRowReader&&) = delete;

  /// The file's name, form and header, without rows.
  [[nodiscard]] const RunFile& head() const noexcept { return head_; }
  /// The next row with one measurement; nullopt at the end, and for a header of unknown form.
  [[nodiscard]] std::optional<RunRow> next();
  /// Configuration cells that are not numbers, in all rows read so far.
  [[nodiscard]] const Diagnostics& broken_cells() const noexcept;

 private:
  class Rows;
  RunFile head_;
  std::unique_ptr<Rows> rows_;
};

/// Rows as text that can be read more than once.
struct RunText {
  std::string file;
  std::function<std::unique_ptr<std::istream>()> open;
};
/// Opens each path for repeated reading; a pipe is kept in memory. Throws ConfigError for an unreadable path.
[[nodiscard]] std::vector<RunText> run_texts(std::span<const std::string> paths);

/// The text of a column of a row ("gpu", "options.method"); nullopt when the file has no such column.
[[nodiscard]] std::optional<std::string> cell(const RunFile& file, const RunRow& row, std::string_view column);

}  // namespace headroom
