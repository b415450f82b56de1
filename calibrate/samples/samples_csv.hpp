// SPDX-License-Identifier: Apache-2.0
// Samples as CSV: one file a kind of probe, latencies in microseconds with five significant digits. The columns of GEMM
// are those of other collections of measured kernels, so that one reader serves both.
#pragma once

#include <headroom/calibrate/probe/probe.hpp>
#include <headroom/calibrate/samples/sample_folder.hpp>
#include <headroom/core/csv.hpp>

#include <span>
#include <string>
#include <vector>

namespace headroom {

/// engine,version,dtype,m,n,k,latency_us
struct GemmRow {
  std::string engine, version, dtype;
  std::int64_t m = 1, n = 1, k = 1;
  Seconds latency;
};

/// The same with latency_first_us (before the clocks fall), lasted_s, sm_clock_mhz, power_w (empty: not known).
struct SustainedRow {
  GemmRow gemm;
  Seconds first, lasted;
  std::optional<Hertz> sm_clock;
  std::optional<Watts> power;
};

/// op,bytes,latency_us; bytes are those read and written, so that bytes / latency is a bandwidth.
struct CopyRow {
  std::string op;
  std::int64_t bytes = 0;
  Seconds latency;
};

/// op,count,latency_us; the latency is of one of the `count` kernels.
struct LaunchRow {
  std::string op;
  std::int64_t count = 1;
  Seconds latency;
};

/// engine,version,pass,dtype,batch,seq,heads,kv_heads,head_dim,causal,latency_us: the columns of other collections of
/// measured attention (kernel_rows.hpp).
struct AttentionRow {
  std::string engine, version;
  AttentionProbe probe;
  Seconds latency;
};

/// engine,version,attn_dtype,kv_dtype,batch,seq,heads,kv_heads,head_dim,window,latency_us, likewise.
struct DecodeRow {
  std::string engine, version;
  DecodeProbe probe;
  Seconds latency;
};

/// op,array_bytes,width,bytes,latency_us; width is 0 where an op has none, bytes are those read and written.
struct PassRow {
  PassProbe probe;
  Seconds latency;
};

/// op,bytes,latency_us; bytes are those that cross the link, both directions together.
struct TransferRow {
  std::string op;
  std::int64_t bytes = 0;
  Seconds latency;
};

[[nodiscard]] std::string csv_of(std::span<const AttentionRow> rows);
[[nodiscard]] std::string csv_of(std::span<const DecodeRow> rows);
[[nodiscard]] std::string csv_of(std::span<const PassRow> rows);
[[nodiscard]] std::string csv_of(std::span<const TransferRow> rows);
[[nodiscard]] std::string csv_of(std::span<const GemmRow> rows);
[[nodiscard]] std::string csv_of(std::span<const SustainedRow> rows);
[[nodiscard]] std::string csv_of(std::span<const CopyRow> rows);
[[nodiscard]] std::string csv_of(std::span<const LaunchRow> rows);

/// Each reads a file of its columns, in any order. Problems (a missing or unknown column, an empty cell, a number that
/// is not positive) go to the diagnostics of `csv`; the row is left out.
[[nodiscard]] std::vector<GemmRow> read_gemm_rows(CsvReader& csv);
[[nodiscard]] std::vector<SustainedRow> read_sustained_rows(CsvReader& csv);
[[nodiscard]] std::vector<CopyRow> read_copy_rows(CsvReader& csv);
[[nodiscard]] std::vector<LaunchRow> read_launch_rows(CsvReader& csv);

/// Likewise; an op that is not known, or bytes that are not those of its op, array and width, is a problem too.
[[nodiscard]] std::vector<PassRow> read_pass_rows(CsvReader& csv);
[[nodiscard]] std::vector<TransferRow> read_transfer_rows(CsvReader& csv);

/// What measured: versions that stand in the rows. Empty: not told.
struct SampleVersions {
  std::string cublaslt, cudnn = {}, headroom = {};
};

/// The samples sorted into their forms; engines are "cublaslt", "cudnn" and, of kernels of this project, "headroom".
struct SampleRows {
  std::vector<GemmRow> gemm;
  std::vector<SustainedRow> sustained;
  std::vector<CopyRow> copy;
  std::vector<LaunchRow> launch;
  std::vector<AttentionRow> attention;
  std::vector<DecodeRow> decode;
  std::vector<PassRow> pass;
  std::vector<TransferRow> transfer;
};
[[nodiscard]] SampleRows rows_of(std::span<const Sample> samples, const SampleVersions& versions);

/// One file for each kind of probe that has samples, and details.csv.
[[nodiscard]] std::vector<FolderFile> sample_files(std::span<const Sample> samples,
                                                   const SampleVersions& versions,
                                                   const std::string& nccl_version = {});

/// How each sample was taken, for people:
/// probe,latency_us,fastest_us,slowest_us,spans,launches,copies,algorithms,sm_clock_mhz
[[nodiscard]] std::string details_csv(std::span<const Sample> samples);

}  // namespace headroom
