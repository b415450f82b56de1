// SPDX-License-Identifier: Apache-2.0
// Measured kernels as CSV: one file a kind of kernel, latencies in microseconds.
#pragma once

#include <headroom/core/csv.hpp>
#include <headroom/core/quantity.hpp>

#include <array>
#include <cstdint>
#include <istream>
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
  nccl,
  custom_all_reduce,
  moe_all_to_all,
  count
};
inline constexpr std::size_t kernel_kind_count = static_cast<std::size_t>(KernelKind::count);
/// As the command line spells them.
inline constexpr std::array<std::string_view, kernel_kind_count> kernel_kind_names{
    "gemm", "attention-prefill", "attention-decode", "moe", "quantize", "attention-training",
    "nccl", "custom-all-reduce", "moe-all-to-all"};
/// Collectives of several GPUs rather than kernels of one.
[[nodiscard]] constexpr bool is_collective(KernelKind kind) noexcept {
  return kind == KernelKind::nccl || kind == KernelKind::custom_all_reduce || kind == KernelKind::moe_all_to_all;
}

/// The columns that make a shape, in the order of KernelRow::shape. Besides them a file has engine and version (of NCCL
/// nccl_version), latency_us and the text columns of text_columns. Cells of nodes, ep and sms may be empty: 0.
[[nodiscard]] std::span<const std::string_view> shape_columns(KernelKind kind) noexcept;
[[nodiscard]] std::span<const std::string_view> text_columns(KernelKind kind) noexcept;

/// One measured kernel.
struct KernelRow {
  static constexpr std::size_t most_sizes = 7;
  std::string engine, version;
  std::string format;  ///< "bfloat16"; of attention "bfloat16/fp8": queries / cache; of NCCL and MoE all-to-all the op,
                       ///< of custom all-reduce the implementation
  std::string variant;  ///< of MoE "kernel, distribution", of quantize "op, kernel", of training
                        ///< attention "forward", "backward" or "forward+backward", of all-reduces the element's
                        ///< type; else empty
  std::array<double, most_sizes> shape{};
  Seconds latency{};
  int line = 0;
};

struct KernelFile {
  std::string path;
  KernelKind kind = KernelKind::gemm;
  std::vector<KernelRow> rows;
  /// Quantise passes measured as a difference that came out as nothing: below its noise, so that nothing is known.
  std::size_t below_noise = 0;
};

/// Reads one file. The kind follows from the header; prefill and decode attention have the same one, so that `kind`
/// must tell them apart, or the file's name, which then has "context" or "generation" in it. Every problem goes to
/// `diagnostics`: columns missing or unknown, cells empty, not positive or no number, and the same kernel measured
/// twice with times that differ by more than a tenth.
[[nodiscard]] KernelFile read_kernel_rows(std::istream& stream,
                                          const std::string& path,
                                          std::optional<KernelKind> kind,
                                          Diagnostics& diagnostics);

/// A number that is the same for the same shape everywhere: folds of a cross-validation are cut by it.
[[nodiscard]] std::uint64_t shape_hash(const KernelRow& row) noexcept;

}  // namespace headroom
