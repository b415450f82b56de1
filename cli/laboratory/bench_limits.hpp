// SPDX-License-Identifier: Apache-2.0
// What several forms of the laboratory ask of a SKU: its roofs in a format, and how near measured kernels come to them.
#pragma once

#include <headroom/cli/laboratory/kernel_form.hpp>
#include <headroom/model/kernels/gemm.hpp>
#include <headroom/model/kernels/memory_ops.hpp>

#include <optional>
#include <string>

namespace headroom::cli {

/// Roofs of a device in a format. ConfigError naming what the catalog lacks.
[[nodiscard]] KernelDevice limits_of(const Device& device, const GemmFormat& format);

/// The 16-bit rate that a SKU has: that of bf16, or of fp16 where there is none, as on Volta and Turing.
[[nodiscard]] Rate sixteen_bit_rate(const Device& device) noexcept;
/// Limits of a device for a pass over memory, in which the peak does not matter.
[[nodiscard]] KernelDevice pass_limits(const Device& device);

/// The measured pass over memory, with the SKU's limits; nullopt where no curve serves.
struct PassCurve {
  MemoryModel model;
  BytesPerSecond bandwidth{};  ///< of the datasheet
  std::string why;             ///< the curve
};
[[nodiscard]] std::optional<PassCurve> pass_curve(const LabBench& bench);

/// What the fitted curves sustain on large sizes; nullopt where the SKU has no curve that serves.
struct Sustained {
  double share = 1.0;  ///< of the datasheet's rate
  std::string why;     ///< the curve
};
/// Bandwidth from L2 to all units, by the products of a format; where none was measured, l2_over_memory times the
/// memory's.
struct L2Rate {
  BytesPerSecond rate{};
  std::string why;
};
[[nodiscard]] L2Rate l2_rate(const LabBench& bench, const GemmFormat& format);
/// The dense peak by products of 8,192 x 8,192 x 8,192.
[[nodiscard]] std::optional<Sustained> sustained_peak(const LabBench& bench, const GemmFormat& format);
/// The memory's bandwidth by a pass over a thousand million elements.
[[nodiscard]] std::optional<Sustained> sustained_bandwidth(const LabBench& bench);

}  // namespace headroom::cli
