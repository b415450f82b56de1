// SPDX-License-Identifier: Apache-2.0
// Samples as CSV: one file per kind of probe, latencies in microseconds with five significant digits. The columns equal
// those of other collections of measured kernels, so one reader serves both.
#pragma once

#include <headroom/calibrate/probe/probe.hpp>
#include <headroom/calibrate/samples/sample_folder.hpp>
#include <headroom/core/csv.hpp>

#include <span>
#include <string>
#include <vector>

namespace headroom {

/// Columns engine,version,dtype,m,n,k,latency_us.
struct GemmRow {
  std::string engine, version, dtype;
  std::int64_t m = 1, n = 1, k = 1;
  Seconds latency;
};

/// GemmRow's columns and latency_first_us (before the clocks drop), lasted_s, sm_clock_mhz, power_w (empty: unknown).
struct SustainedRow {
  GemmRow gemm;
  Seconds first, lasted;
  std::optional<Hertz> sm_clock;
  std::optional<Watts> power;
};

/// Columns op,bytes,latency_us; bytes read and written, so bytes / latency is a bandwidth.
struct CopyRow {
  std::string op;
  std::int64_t bytes = 0;
  Seconds latency;
};

/// Columns op,count,latency_us; the latency is that of one of the `count` kernels.
struct LaunchRow {
  std::string op;
  std::int64_t count = 1;
  Seconds latency;
};

/// Columns engine,version,pass,dtype,batch,seq,heads,kv_heads,head_dim,causal,latency_us, as in other collections of
/// measured attention (kernel_rows.hpp).
struct AttentionRow {
  std::string engine, version;
  AttentionProbe probe;
  Seconds latency;
};

/// Columns engine,version,attn_dtype,kv_dtype,batch,seq,heads,kv_heads,head_dim,window,latency_us (kernel_rows.hpp).
struct DecodeRow {
  std::string engine, version;
  DecodeProbe probe;
  Seconds latency;
};

/// Columns op,array_bytes,width,bytes,latency_us; bytes read and written; width 0 for ops without one.
struct PassRow {
  PassProbe probe;
  Seconds latency;
};

/// Columns op,bytes,latency_us; bytes that cross the link in both directions together.
struct TransferRow {
  std::string op;
  std::int64_t bytes = 0;
  Seconds latency;
};

/// Columns op,tokens,latency_us; of a layer's kernels, one after another.
struct LayerRow {
  LayerProbe probe;
  Seconds latency;
};

/// Columns op,width,count,latency_us; width 0 for all CTAs that an SM holds.
struct UnitRow {
  UnitProbe probe;
  Seconds latency;
};

[[nodiscard]] std::string csv_of(std::span<const AttentionRow> rows);
[[nodiscard]] std::string csv_of(std::span<const DecodeRow> rows);
[[nodiscard]] std::string csv_of(std::span<const PassRow> rows);
[[nodiscard]] std::string csv_of(std::span<const TransferRow> rows);
[[nodiscard]] std::string csv_of(std::span<const LayerRow> rows);
[[nodiscard]] std::string csv_of(std::span<const UnitRow> rows);
[[nodiscard]] std::string csv_of(std::span<const GemmRow> rows);
[[nodiscard]] std::string csv_of(std::span<const SustainedRow> rows);
[[nodiscard]] std::string csv_of(std::span<const CopyRow> rows);
[[nodiscard]] std::string csv_of(std::span<const LaunchRow> rows);

/// Read a file with its columns in any order. Problems (a missing or unknown column, an empty cell, a number that is
/// not positive) go to the diagnostics of `csv`, and the row is left out.
[[nodiscard]] std::vector<GemmRow> read_gemm_rows(CsvReader& csv);
[[nodiscard]] std::vector<SustainedRow> read_sustained_rows(CsvReader& csv);
[[nodiscard]] std::vector<CopyRow> read_copy_rows(CsvReader& csv);
[[nodiscard]] std::vector<LaunchRow> read_launch_rows(CsvReader& csv);

/// As above; an unknown op, or bytes that contradict op, array and width, is a problem too.
[[nodiscard]] std::vector<PassRow> read_pass_rows(CsvReader& csv);
[[nodiscard]] std::vector<TransferRow> read_transfer_rows(CsvReader& csv);
[[nodiscard]] std::vector<LayerRow> read_layer_rows(CsvReader& csv);
[[nodiscard]] std::vector<UnitRow> read_unit_rows(CsvReader& csv);

/// Versions written into the rows; empty: unknown.
struct SampleVersions {
  std::string cublaslt, cudnn = {}, headroom = {};
};

/// Samples by kind of row. Engines are "cublaslt", "cudnn" and, for this project's kernels, "headroom".
struct SampleRows {
  std::vector<GemmRow> gemm;
  std::vector<SustainedRow> sustained;
  std::vector<CopyRow> copy;
  std::vector<LaunchRow> launch;
  std::vector<AttentionRow> attention;
  std::vector<DecodeRow> decode;
  std::vector<PassRow> pass;
  std::vector<TransferRow> transfer;
  std::vector<LayerRow> layer;
  std::vector<UnitRow> unit;
};
[[nodiscard]] SampleRows rows_of(std::span<const Sample> samples, const SampleVersions& versions);

/// A file per kind of probe that has samples, and details.csv.
[[nodiscard]] std::vector<FolderFile> sample_files(std::span<const Sample> samples,
                                                   const SampleVersions& versions,
                                                   const std::string& nccl_version = {});

/// Details of each measurement, for people:
/// probe,latency_us,fastest_us,slowest_us,spans,launches,copies,algorithms,sm_clock_mhz.
[[nodiscard]] std::string details_csv(std::span<const Sample> samples);

}  // namespace headroom
