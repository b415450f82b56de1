// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/serve/memory/serving.hpp>
#include <headroom/model/serve/replica/replica_formats.hpp>

#include <string_view>
#include <utility>
#include <vector>

namespace headroom {
namespace {

bool has(const Device& device, Rate rate) noexcept {
  return device.peak[static_cast<std::size_t>(rate)].has_value();
}

/// Narrow weights under 16-bit activations.
std::string_view weight_only(Precision weights) noexcept {
  switch (weights) {
    case Precision::mxfp4: return "w4a16_mxfp4";
    case Precision::nvfp4:
    case Precision::int4: return "int4_wo";
    default: return "int8_wo";
  }
}

std::string_view format_of(const Architecture& arch, const Device& device, const ReplicaFormats& f) noexcept {
  const bool wide_activations = row_of(f.activations).weight_bytes >= 2.0;
  switch (f.weights) {
    case Precision::fp32: return "fp32";
    case Precision::tf32: return "tf32";
    case Precision::fp16:
    case Precision::bf16: return has(device, Rate::bf16) ? "bf16" : "fp16";
    case Precision::fp8:
    case Precision::mxfp8:
      if (wide_activations || !has(device, Rate::fp8)) {
        return weight_only(f.weights);
      }
      return f.weights == Precision::mxfp8 || arch.fp8_blocks || (arch.weights && arch.weights->method == "fp8")
                 ? "fp8_block"
                 : "fp8";
    case Precision::int8: return wide_activations || !has(device, Rate::int8) ? weight_only(f.weights) : "int8";
    case Precision::nvfp4: return wide_activations || !has(device, Rate::fp4) ? weight_only(f.weights) : "nvfp4";
    case Precision::mxfp4:
      // Kernels of its own were measured of experts alone. Products of a dense model run on the same units as nvfp4's
      // where activations are narrow too, and else unpack 4 bits as int4's do.
      if (!arch.moe && (wide_activations || !has(device, Rate::fp4))) {
        return "int4_wo";
      }
      if (!arch.moe && row_of(f.activations).weight_bytes < 1.0) {
        return "nvfp4";
      }
      return wide_activations || !has(device, Rate::fp4) ? "w4a16_mxfp4" : "w4a8_mxfp4_mxfp8";
    case Precision::int4:
    case Precision::count: break;
  }
  return weight_only(f.weights);
}

}  // namespace

Precision activation_precision(const Device& device, Precision weights) noexcept {
  switch (weights) {
    case Precision::int4:
    case Precision::int8:
    case Precision::mxfp4: return Precision::bf16;
    default: return compute_precision(device, weights);
  }
}

KernelFormats kernel_formats(const Architecture& arch, const Device& device, const ReplicaFormats& formats) {
  const GemmFormat* half = find_gemm_format(has(device, Rate::bf16) ? "bf16" : "fp16");
  const GemmFormat* narrow = find_gemm_format(format_of(arch, device, formats));
  const bool experts_alone = formats.weights == Precision::mxfp4 && arch.moe.has_value();
  std::vector<const GemmFormat*> experts{narrow};
  const std::string_view name = narrow->name;
  if (name == "fp8" || name == "fp8_block") {
    experts.push_back(find_gemm_format(name == "fp8" ? "fp8_block" : "fp8"));
  } else if (name == "w4a16_mxfp4" && has(device, Rate::fp4)) {
    experts.push_back(find_gemm_format("w4a8_mxfp4_mxfp8"));
  }
  return {experts_alone ? half : narrow, std::move(experts), half};
}

}  // namespace headroom
