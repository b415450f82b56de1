// SPDX-License-Identifier: Apache-2.0
// Measured collectives as problems to fit: NCCL's, engines' own all-reduces, dispatch and combine of experts.
#pragma once

#include <headroom/calibrate/kernels/curve_problem.hpp>
#include <headroom/model/collectives/collective_library.hpp>

#include <string>
#include <string_view>

namespace headroom {

/// The collective behind an op of nccl-tests: "alltoall" is all_to_all. ConfigError naming those known.
[[nodiscard]] Collective nccl_collective(const std::string& op);
/// Element types that a switch can add.
[[nodiscard]] bool is_floating(std::string_view dtype) noexcept;
/// Implementations that are called outside a graph.
[[nodiscard]] bool is_eager(std::string_view implementation) noexcept;
/// The group that a measured dispatch or combine ran on: `ep` ranks of one domain, else whole hosts.
[[nodiscard]] GroupView exchange_view(const KernelRow& row, const Device& device, const Node* node);
/// The TOML table of a group's curves: "ring", "all-to-all", "custom-all-reduce", "moe-all-to-all".
[[nodiscard]] std::string_view collective_table(const KernelGroup& group) noexcept;

[[nodiscard]] CurveProblem nccl_problem(const KernelGroup& group, const Device& device, const Node* node);
/// On NCCL's curves of the SKU, to which engines leave large buffers.
[[nodiscard]] CurveProblem custom_all_reduce_problem(const KernelGroup& group, const Device& device, const Node* node);
[[nodiscard]] CurveProblem moe_all_to_all_problem(const KernelGroup& group, const Device& device, const Node* node);

}  // namespace headroom
