// SPDX-License-Identifier: Apache-2.0
// Convolutions as implicit matrix products (Chetlur et al. 2014, cuDNN), which never store an expanded operand.
#pragma once

#include <headroom/model/kernels/gemm.hpp>

#include <array>
#include <cstdint>
#include <string_view>

namespace headroom {

/// A convolution with up to three spatial dimensions; unused ones keep their defaults.
struct ConvShape {
  double batch = 1.0;
  double in_channels = 1.0;
  double out_channels = 1.0;
  std::array<double, 3> in{1.0, 1.0, 1.0};
  std::array<double, 3> kernel{1.0, 1.0, 1.0};
  std::array<double, 3> stride{1.0, 1.0, 1.0};
  std::array<double, 3> padding{0.0, 0.0, 0.0};  ///< padding on each side
  std::array<double, 3> dilation{1.0, 1.0, 1.0};
  double groups = 1.0;

  /// Output size: floor((in + 2 padding - dilation (kernel - 1) - 1) / stride) + 1 in each dimension.
  [[nodiscard]] std::array<double, 3> out() const noexcept;
};

enum class ConvPass : std::uint8_t { forward, data_gradient, weight_gradient };
inline constexpr std::array<std::string_view, 3> conv_pass_names{"forward", "data-gradient", "weight-gradient"};

/// FLOP of any pass: 2 N P Q K C R S / groups.
[[nodiscard]] Flops conv_flops(const ConvShape& shape) noexcept;

/// The matrix product of a pass, for N images, C input and K output channels, H W input, P Q output and R S kernel
/// size. The tiles of all groups share one grid:
/// @code
/// forward          m = groups N P Q, n = K / groups, k = C / groups R S
/// data gradient    m = groups N H W, n = C / groups, k = K / groups R S (P Q) / (H W)  (taps that a stride leaves)
/// weight gradient  m = K, n = C / groups R S, k = N P Q
/// @endcode
[[nodiscard]] GemmShape conv_gemm(const ConvShape& shape, ConvPass pass) noexcept;

/// Bytes of input, weights and output, each moved once.
[[nodiscard]] Bytes conv_bytes(const ConvShape& shape, double bytes_per_element) noexcept;

/// Rounds the channels of each group up to the format's alignment, which the tensor path of NHWC kernels needs (NVIDIA,
/// Convolutional Layers User's Guide, section 2.1): 3 input channels become 8 of 16 bit. Depthwise convolutions (one
/// channel per group) have no tensor path and are returned unchanged.
[[nodiscard]] ConvShape conv_padded(const ConvShape& shape, const GemmFormat& format) noexcept;

/// Time of the implicit product of the padded shape, with the traffic of the convolution instead of expanded matrices.
[[nodiscard]] Seconds conv_time(const GemmModel& model,
                                const GemmFormat& format,
                                const ConvShape& shape,
                                ConvPass pass) noexcept;
[[nodiscard]] GemmTime conv_explain(const GemmModel& model,
                                    const GemmFormat& format,
                                    const ConvShape& shape,
                                    ConvPass pass) noexcept;

}  // namespace headroom
