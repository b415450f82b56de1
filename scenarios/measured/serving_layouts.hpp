// SPDX-License-Identifier: Apache-2.0
// Layouts of measured serving rows whose publication states none.
#pragma once

#include <headroom/model/workload/architecture.hpp>
#include <headroom/scenarios/measured/run_row.hpp>

#include <vector>

namespace headroom {

/// Whether a row leaves its layout open: a number of GPUs, and no tensor-parallel ranks.
[[nodiscard]] bool leaves_layout_open(const ServingConfiguration& run) noexcept;

/// The row with each layout that its GPUs, heads and experts allow: tensor-parallel ranks in powers of two within a
/// node, and for latent attention with experts attention-DP over as many.
[[nodiscard]] std::vector<ServingConfiguration> possible_layouts(const ServingConfiguration& run,
                                                                 const Architecture& network);

}  // namespace headroom
