// SPDX-License-Identifier: Apache-2.0
// Measured mixture-of-experts layers and quantise passes as fitting problems.
#pragma once

#include <headroom/calibrate/kernels/curve_problem.hpp>

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// Family of a measured kernel name: "cutlass" for "moe_torch_flow_cutlass" and
/// "vllm_modeloptfp8moe_flashinfer_cutlass_flashinferexperts". Layers without a gate run the engine's cutlass kernels.
[[nodiscard]] std::string moe_family(std::string_view kernel);

/// Routing class, "balanced" or "power-law", which are fitted separately.
[[nodiscard]] std::string moe_routing_class(std::string_view distribution);

/// Models (hidden, inter, top-k, experts) whose measured kernel is named as one without a gate.
[[nodiscard]] std::vector<std::array<double, 4>> gateless_models(std::span<const KernelFile> files);

[[nodiscard]] CurveProblem moe_problem(const KernelGroup& group, const Device& device);
[[nodiscard]] CurveProblem quantise_problem(const KernelGroup& group, const Device& device);

}  // namespace headroom
