// SPDX-License-Identifier: Apache-2.0
// Results of benchmarks as measured rows: what `headroom validate` and `headroom plan --runs` read. Fields by form,
// with their sources: docs/formats.md.
#pragma once

#include <headroom/core/config_reader.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

enum class ResultForm : std::uint8_t {
  bench_serve,  ///< `vllm bench serve --save-result`, SGLang's bench_serving: one object, or one a line
  guidellm,
  aiperf,
  inferencex,
  llm_d,
  endpoints,
  loadgen,
  trtllm_bench,
  mllog,
  count
};
inline constexpr std::array<std::string_view, static_cast<std::size_t>(ResultForm::count)> result_form_names{
    "bench-serve",      "guidellm",       "aiperf",       "inferencex", "llm-d",
    "mlperf-endpoints", "mlperf-loadgen", "trtllm-bench", "mllog"};

struct ImportedRows {
  std::string text;                  ///< CSV, one row a measurement
  std::vector<std::string> remarks;  ///< what was left out and what was taken for granted
};

/// The form of a text; nullopt: none of these.
[[nodiscard]] std::optional<ResultForm> result_form_of(std::string_view text);

/// Rows of all files; without a form each is told by its content. `stated`: "COLUMN=VALUE", which wins over the file;
/// "options.KEY=VALUE" adds to the options; `usual`, of the same form, is known to whoever reads the rows: it is not
/// asked for where the file is silent, and its cells stay blank. Throws ConfigError with every problem and its place: a
/// file of another form or without a measurement, a number that is none, an unknown column, and what no row can be
/// predicted without and neither the file nor `stated` says (model, SKU, ranks, format, engine; of training also batch,
/// sequence and software).
[[nodiscard]] ImportedRows import_result_rows(std::span<const ConfigSource> files,
                                              std::optional<ResultForm> form,
                                              std::span<const std::string> stated,
                                              std::span<const std::string> usual = {});

}  // namespace headroom
