// SPDX-License-Identifier: Apache-2.0
// What is sent in place of fp32 gradients.
#pragma once

#include <headroom/core/quantity.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace headroom {

enum class GradientForm : std::uint8_t { fp32, bf16, fp8, topk };
struct GradientCompression {
  GradientForm form = GradientForm::fp32;
  double share = 1.0;  ///< of elements that top-k keeps, in (0, 1]

  /// As it is asked for: "bf16", "topk:0.01".
  [[nodiscard]] std::string text() const;
  /// Whether a rank keeps what it did not send.
  [[nodiscard]] bool leaves_residuals() const noexcept {
    return form == GradientForm::fp8 || form == GradientForm::topk;
  }
  friend bool operator==(const GradientCompression&, const GradientCompression&) = default;
};
/// nullopt for text that is neither fp32, bf16, fp8 nor topk:SHARE with a share in (0, 1].
[[nodiscard]] std::optional<GradientCompression> gradient_compression_of(const std::string& text);

/// Bytes of a compressed fp32 buffer: a half, a quarter, or for each element that is kept a value and an index of four
/// bytes (Stich, Cordonnier and Jaggi 2018; Lin et al. 2018, Deep Gradient Compression, section 3).
[[nodiscard]] Bytes compressed_bytes(Bytes fp32, GradientCompression compression) noexcept;
/// Of one gradient, fp32.
inline constexpr double residual_bytes = 4.0;
/// Residuals that a rank keeps and adds to its next gradients, fp32 (Seide et al. 2014; Karimireddy et al. 2019,
/// algorithm 1): of fp8 and of top-k; bf16 goes without.
[[nodiscard]] Bytes error_feedback_bytes(Bytes fp32, GradientCompression compression) noexcept;

}  // namespace headroom
