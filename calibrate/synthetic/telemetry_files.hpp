// SPDX-License-Identifier: Apache-2.0
// Simulated timelines as files of the tools that would have watched the run.
#pragma once

#include <headroom/calibrate/traces/timeline.hpp>
#include <headroom/core/quantity.hpp>

#include <span>
#include <string>

namespace headroom {

/// A trace as PyTorch's profiler writes it (Kineto, Chrome's trace event format, schema version 1): what read_kineto()
/// reads of it is the timeline. `said`: a member "headroom" of the root, JSON; empty: none.
[[nodiscard]] std::string kineto_text(const Timeline& timeline, const std::string& said = {});

/// An execution trace of MLCommons Chakra (schema/protobuf/et_def.proto, 0.0.4) in JSON as protobuf maps it: a node for
/// each launch, kernel, copy and collective of the GPU with the most work, what it stands behind as its dependencies.
[[nodiscard]] std::string chakra_text(const Timeline& timeline);

/// What `dcgmi dmon -e 1001,1002,1004,1005,203` would print of the ranks' GPUs, a row of each a `period`. Shares of the
/// period; multiprocessors from grids, the tensor pipe while a product or attention runs at the share that such kernels
/// reach, the memory's interface while passes and copies run.
[[nodiscard]] std::string dcgm_text(std::span<const Timeline> ranks, Seconds period);

}  // namespace headroom
