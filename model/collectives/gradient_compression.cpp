// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real_text.hpp>
#include <headroom/model/collectives/gradient_compression.hpp>

#include <string_view>

namespace headroom {

std::string GradientCompression::text() const {
  switch (form) {
    case GradientForm::fp32: return "fp32";
    case GradientForm::bf16: return "bf16";
    case GradientForm::fp8: return "fp8";
    case GradientForm::topk: break;
  }
  return "topk:" + shortest_text(share);
}

std::optional<GradientCompression> gradient_compression_of(const std::string& text) {
  if (text == "fp32") {
    return GradientCompression{};
  }
  if (text == "bf16") {
    return GradientCompression{GradientForm::bf16, 1.0};
  }
  if (text == "fp8") {
    return GradientCompression{GradientForm::fp8, 1.0};
  }
  constexpr std::string_view kept = "topk:";
  if (text.starts_with(kept)) {
    const std::optional<double> share = whole_real(std::string_view{text}.substr(kept.size()));
    if (share && *share > 0.0 && *share <= 1.0) {
      return GradientCompression{GradientForm::topk, *share};
    }
  }
  return std::nullopt;
}

Bytes compressed_bytes(Bytes fp32, GradientCompression compression) noexcept {
  switch (compression.form) {
    case GradientForm::fp32: return fp32;
    case GradientForm::bf16: return 0.5 * fp32;
    case GradientForm::fp8: return 0.25 * fp32;
    case GradientForm::topk: break;
  }
  return 2.0 * compression.share * fp32;
}

Bytes error_feedback_bytes(Bytes fp32, GradientCompression compression) noexcept {
  return compression.leaves_residuals() ? fp32 : Bytes{};
}

}  // namespace headroom
