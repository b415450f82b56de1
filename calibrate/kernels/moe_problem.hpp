// SPDX-License-Identifier: Apache-2.0
// Measured mixture-of-experts layers and quantise passes as problems to fit.
#pragma once

#include <headroom/calibrate/kernels/curve_problem.hpp>

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// The family of kernels behind a measured name: "cutlass" of "moe_torch_flow_cutlass" and of
/// "vllm_modeloptfp8moe_flashinfer_cutlass_flashinferexperts". Layers without a gate run the engine's cutlass kernels.
[[nodiscard]] std::string moe_family(std::string_view kernel);

/// Balanced and power-law routing are fitted apart: "balanced" or "power-law".
[[nodiscard]] std::string moe_routing_class(std::string_view distribution);

/// The models (hidden, inter, top-k, experts) of layers whose measured kernel is named as one without a gate.
[[nodiscard]] std::vector<std::array<double, 4>> gateless_models(std::span<const KernelFile> files);

[[nodiscard]] CurveProblem moe_problem(const KernelGroup& group, const Device& device);
[[nodiscard]] CurveProblem quantise_problem(const KernelGroup& group, const Device& device);

}  // namespace headroom
