// SPDX-License-Identifier: Apache-2.0
// One published measurement as a CSV row, and the forms such files come in.
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

/// Recognised by the header: training has dp and global_batch, serving engine and isl, other workload and config.
enum class RowForm : std::uint8_t { training, serving, other };

/// What the model may see of a row: its configuration columns, and nothing that names the row or the publication.
struct RunConfiguration {
  std::string model, arch, gpu, precision, recompute, framework;
  std::optional<std::int64_t> layers, hidden, heads, kv_heads, head_dim, ffn_hidden, vocab, seq_len;
  std::optional<std::int64_t> gated_mlp, tied_embeddings, flash_attn, seq_parallel, zero;
  std::optional<std::int64_t> experts, top_k, moe_ffn, shared_experts, dense_layers;
  std::optional<std::int64_t> gpus, gpus_per_node, dp, tp, pp, vpp, cp, ep, micro_batch, global_batch;
  std::optional<double> inter_gbps_per_gpu;
  std::map<std::string, std::string, std::less<>> options;
};

/// The same of a serving row.
struct ServingConfiguration {
  std::string model, gpu, weight_dtype, act_dtype, kv_dtype, engine, engine_version;
  std::optional<std::int64_t> layers, hidden, heads, kv_heads, head_dim, ffn_hidden, vocab, experts, top_k, moe_ffn;
  std::optional<std::int64_t> gpus, tp, pp, ep, dp, max_batch;
  std::optional<double> isl, osl, concurrency;  ///< means may be fractions
  std::optional<double> request_rate;           ///< infinite: all at once
  std::optional<double> params_b;
  std::map<std::string, std::string, std::less<>> options;
  bool disaggregated = false;  ///< notes hold DISAGG: the columns are those of the decode pool
  std::string broken;          ///< a cell that is no number where one belongs
};

struct RunRow {
  std::string id, file, source, engine, metric, unit;
  int line = 0;
  RowForm form = RowForm::training;
  double measured = 0.0;
  bool doubted = false;  ///< notes hold CHECK, ODD or AMBIGUOUS
  std::string doubt;     ///< which
  std::string broken;    ///< a configuration cell that is no integer: "'micro_batch' is '8k', no integer"
  RunConfiguration run;
  ServingConfiguration serving;    ///< of serving rows
  std::vector<std::string> cells;  ///< as written, for --where
  std::vector<Position> places;    ///< of the cells
};

/// The rows of one file with its header. A value that is no positive number is a problem of the file; a configuration
/// cell that is no integer concerns its row alone, which is kept and rejected.
struct RunFile {
  std::string file;
  RowForm form = RowForm::training;
  std::vector<std::string> header;
  std::vector<RunRow> rows;
  Diagnostics broken_cells;  ///< of all rows, those without a value included
};
[[nodiscard]] RunFile read_runs(std::istream& stream, const std::string& file, Diagnostics& diagnostics);

/// The files of some paths; what cannot be read is a problem.
[[nodiscard]] std::vector<RunFile> read_run_files(std::span<const std::string> paths, Diagnostics& diagnostics);

/// The rows of a file one after the other, for files that memory should not hold.
class RunRowReader {
 public:
  /// Reads the header. Stream and diagnostics must outlive the reader.
  RunRowReader(std::istream& stream, const std::string& file, Diagnostics& diagnostics);
  ~RunRowReader();
  RunRowReader(const RunRowReader&) = delete;
  RunRowReader& operator=(const RunRowReader&) = delete;
  RunRowReader(RunRowReader&&) = delete;
  RunRowReader& operator=(RunRowReader&&) = delete;

  /// The file without rows.
  [[nodiscard]] const RunFile& head() const noexcept { return head_; }
  /// The next row that is one measurement; nullopt at the end, and where the header is of no known form.
  [[nodiscard]] std::optional<RunRow> next();
  /// Configuration cells that are no numbers, of all rows so far.
  [[nodiscard]] const Diagnostics& broken_cells() const noexcept;

 private:
  class Rows;
  RunFile head_;
  std::unique_ptr<Rows> rows_;
};

/// A text of rows that can be read more than once.
struct RunText {
  std::string file;
  std::function<std::unique_ptr<std::istream>()> open;
};
/// Those of some paths. A pipe, which gives its text once, is held in memory; ConfigError where one cannot be read.
[[nodiscard]] std::vector<RunText> run_texts(std::span<const std::string> paths);

/// The text of a column of a row ("gpu", "options.method"); nullopt when the file has no such column.
[[nodiscard]] std::optional<std::string> cell(const RunFile& file, const RunRow& row, std::string_view column);

}  // namespace headroom
