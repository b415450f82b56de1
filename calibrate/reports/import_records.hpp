// SPDX-License-Identifier: Apache-2.0
// Records of other tools as what the answers here are asked with: tables of kernels and collectives, requests, lengths
// of accepted drafts, rates of storage. `text` is a whole file; `file` is its name for messages.
#pragma once

#include <headroom/calibrate/import/import_samples.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace headroom {

enum class RecordForm : std::uint8_t { tracelens, chakra, vllm_vcr, speed_bench, mlperf_storage, count };
inline constexpr std::array<std::string_view, static_cast<std::size_t>(RecordForm::count)> record_form_names{
    "tracelens", "chakra", "vllm-vcr", "speed-bench", "mlperf-storage"};

/// TraceLens' GEMM.csv as engine,version,dtype,m,n,k,latency_us and its SDPA_fwd.csv and SDPA_bwd.csv (told by the
/// file's name) as engine,version,pass,dtype,batch,seq,heads,kv_heads,head_dim,causal,latency_us (kernel_rows.hpp), by
/// the median of a shape's kernels. Left out, each with a remark: batched products, unlike lengths or widths of queries
/// and keys, formats without a name here. Throws ConfigError: no such table, a cell that is no measurement, no row
/// left.
[[nodiscard]] ImportedSamples import_tracelens(std::string_view text, const std::string& file);

/// Collectives of a Chakra execution trace in JSON, or in protobuf's binary form with a length before each message, as
/// nccl_version,op,gpus,dtype,bytes,latency_us: the median of equal ones. Nodes without a size or a duration are left
/// out with a remark; the ranks of a group stay blank where the trace does not say them. Throws ConfigError: no trace,
/// a message cut short, no row left.
[[nodiscard]] ImportedSamples import_chakra(std::string_view text, const std::string& file);

/// Requests of a trace of vllm-vcr (one JSON object a line) as arrival_s,prompt_tokens,output_tokens,cached_tokens, by
/// their arrival, which `traffic.trace` reads. Throws ConfigError: a line that is no record, a request without an
/// arrival, counts that are none.
[[nodiscard]] ImportedSamples import_vllm_vcr(std::string_view text, const std::string& file);

/// Mean accepted lengths by SPEED-Bench (YAML: model, mode, drafted tokens) as model,mode,draft,tokens,acceptance, the
/// last the chance at which a step yields them (Leviathan et al. 2023, equation 1), which
/// `serving.speculative.acceptance` takes. Throws ConfigError: another form, a length outside 1 to drafts + 1.
[[nodiscard]] ImportedSamples import_speed_bench(std::string_view text, const std::string& file);

/// summary.json of MLPerf Storage (DLIO) as a table [data] of a scenario: what a sample takes of storage, what a host
/// reads in a second, and what its accelerators take where none waits. Throws ConfigError: another JSON, a run of
/// checkpoints, numbers that are none.
[[nodiscard]] ImportedSamples import_mlperf_storage(std::string_view text, const std::string& file);

[[nodiscard]] ImportedSamples import_records(RecordForm form, std::string_view text, const std::string& file);

}  // namespace headroom
