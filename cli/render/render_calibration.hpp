// SPDX-License-Identifier: Apache-2.0
// Calibrations, overlays and gates as text.
#pragma once

#include <headroom/answers/document/value.hpp>
#include <headroom/calibrate/measure/calibration.hpp>
#include <headroom/calibrate/overlay/gate.hpp>
#include <headroom/calibrate/overlay/overlay.hpp>
#include <headroom/calibrate/samples/manifest.hpp>

#include <string>

namespace headroom::cli {

/// How far the rules were met, what was left out.
[[nodiscard]] std::string calibration_text(const Calibration& calibration, const CalibrationRules& rules);
/// Curves with their errors, measured numbers beside the base's.
[[nodiscard]] std::string overlay_text(const Overlay& overlay);
/// Verdict, families, the probes that are not the same.
[[nodiscard]] std::string gate_text(const Gate& gate, const GateRule& rule, const std::string& a, const std::string& b);
/// Schema "headroom.gate/1".
[[nodiscard]] Value gate_document(const Gate& gate, const GateRule& rule);
/// Schema "headroom.overlay/1": curves with every sample, its fitted time (s) and its error, parameters in SI, measured
/// numbers beside the base's, the conditions.
[[nodiscard]] Value overlay_document(const Overlay& overlay, const Manifest& manifest);
/// "gemm cublaslt bf16", "nccl all_reduce", "memory headroom fp32 copy".
[[nodiscard]] std::string curve_name(const KernelGroup& group);

}  // namespace headroom::cli
