// SPDX-License-Identifier: Apache-2.0
// Measured collectives as fitting problems: NCCL's, engines' own all-reduces, dispatch and combine of experts.
#pragma once

#include <headroom/calibrate/kernels/curve_problem.hpp>
#include <headroom/model/collectives/collective_library.hpp>

#include <string>
#include <string_view>

namespace headroom {

class ModelData;

/// Collective named by an op of nccl-tests; "alltoall" is all_to_all. Throws ConfigError with the known ops.
[[nodiscard]] Collective nccl_collective(const std::string& op);
/// Whether a switch can add elements of this type.
[[nodiscard]] bool is_floating(std::string_view dtype) noexcept;
/// Whether an implementation is called outside a CUDA graph.
[[nodiscard]] bool is_eager(std::string_view implementation) noexcept;
/// Group of a measured dispatch or combine: `ep` ranks of one domain, else whole hosts.
[[nodiscard]] GroupView exchange_view(const KernelRow& row, const Device& device, const Node* node);
/// Whether a group of NCCL is built of sends and receives: all-to-all, and pairs.
[[nodiscard]] bool is_pairwise(const KernelGroup& group) noexcept;
/// TOML table of a group's curves: "ring", "all-to-all", "custom-all-reduce" or "moe-all-to-all".
[[nodiscard]] std::string_view collective_table(const KernelGroup& group) noexcept;

[[nodiscard]] CurveProblem nccl_problem(const ModelData& data,
                                        const KernelGroup& group,
                                        const Device& device,
                                        const Node* node);
/// Uses the SKU's curves of NCCL for large buffers, which engines leave to NCCL.
[[nodiscard]] CurveProblem custom_all_reduce_problem(const ModelData& data,
                                                     const KernelGroup& group,
                                                     const Device& device,
                                                     const Node* node);
[[nodiscard]] CurveProblem moe_all_to_all_problem(const KernelGroup& group, const Device& device, const Node* node);

}  // namespace headroom
