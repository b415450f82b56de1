// SPDX-License-Identifier: Apache-2.0
// Measured kernels as CSV: one file per kind of kernel, latencies in microseconds.
#pragma once

#include <headroom/core/csv.hpp>
#include <headroom/core/quantity.hpp>

#include <array>
#include <cstdint>
#include <istream>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

enum class KernelKind : std::uint8_t {
  gemm,
  prefill,
  decode,
  moe,
  quantize,
  training_attention,
  pass,
  nccl,
  custom_all_reduce,
  moe_all_to_all,
  count
};
inline constexpr std::size_t kernel_kind_count = static_cast<std::size_t>(KernelKind::count);
/// Spellings on the command line.
inline constexpr std::array<std::string_view, kernel_kind_count> kernel_kind_names{
    "gemm", "attention-prefill", "attention-decode", "moe", "quantize", "attention-training", "pass",
    "nccl", "custom-all-reduce", "moe-all-to-all"};
/// Whether the kind is a collective of several GPUs.
[[nodiscard]] constexpr bool is_collective(KernelKind kind) noexcept {
  return kind == KernelKind::nccl || kind == KernelKind::custom_all_reduce || kind == KernelKind::moe_all_to_all;
}

/// Columns of a shape, in the order of KernelRow::shape. A file also has engine and version (for NCCL nccl_version),
/// latency_us and text_columns. Empty cells of nodes, ep, sms and block_rows mean 0.
[[nodiscard]] std::span<const std::string_view> shape_columns(KernelKind kind) noexcept;
[[nodiscard]] std::span<const std::string_view> text_columns(KernelKind kind) noexcept;

/// A measured kernel.
struct KernelRow {
  static constexpr std::size_t most_sizes = 7;
  std::string engine, version;
  std::string format;   ///< "bfloat16"; attention "bfloat16/fp8" (queries/cache); passes, NCCL and MoE all-to-all: the
                        ///< op; custom all-reduce: the implementation
  std::string variant;  ///< MoE "kernel, distribution"; quantize "op, kernel"; training attention "forward", "backward"
                        ///< or "forward+backward"; all-reduces: the element type; else empty
  std::array<double, most_sizes> shape{};  ///< last, of prefill also the tokens cached before the new
                                           ///< ones, of decode the sequences that share one cache
  Seconds latency{};
  int line = 0;
  /// Of a profile (profile_rows.hpp): the op, "attn_pre_proj"; else empty.
  std::string op;
  /// Timed between two events outside a graph, so that the host's time of the call is part of it.
  bool eager = false;
  /// Products: bytes that pass through L2 between two calls over the weights'; 0: as the engine's benchmark rotates.
  double copies = 0.0;
};

struct KernelFile {
  std::string path;
  KernelKind kind = KernelKind::gemm;
  std::vector<KernelRow> rows;
  /// Quantise passes measured as a difference of zero, that is below the noise.
  std::size_t below_noise = 0;
  /// Rows of a profile that name no kernel of a kind above, by their op.
  std::map<std::string, std::size_t> passed_over;
};

/// Reads a file. The header determines the kind, except that prefill and decode attention share a header: then `kind`
/// decides, or "context" or "generation" in the file's name. Reports to `diagnostics`: missing or unknown columns,
/// cells that are empty or not positive numbers, and kernels measured twice with times that differ by more than 10 %.
[[nodiscard]] KernelFile read_kernel_rows(std::istream& stream,
                                          const std::string& path,
                                          std::optional<KernelKind> kind,
                                          Diagnostics& diagnostics);

/// The same of a file that may be a profile (profile_rows.hpp): then the kernels of the device `id`, a file per kind,
/// those of `kind` alone where it is stated.
[[nodiscard]] std::vector<KernelFile> read_kernel_tables(std::istream& stream,
                                                         const std::string& path,
                                                         std::optional<KernelKind> kind,
                                                         std::string_view id,
                                                         Diagnostics& diagnostics);

/// Hash of a shape, equal on all machines, by which cross-validation forms folds.
[[nodiscard]] std::uint64_t shape_hash(const KernelRow& row) noexcept;

}  // namespace headroom
