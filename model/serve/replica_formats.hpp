// SPDX-License-Identifier: Apache-2.0
// Which measured kernels multiply a replica's weights.
#pragma once

#include <headroom/hardware/device.hpp>
#include <headroom/model/cost/gemm.hpp>
#include <headroom/model/serve/replica.hpp>
#include <headroom/model/workload/architecture.hpp>

#include <vector>

namespace headroom {

struct KernelFormats {
  const GemmFormat* product = nullptr;
  std::vector<const GemmFormat*> experts;  ///< those that an engine may take, the plainest first
  const GemmFormat* half = nullptr;        ///< 16 bit: router and head
};

/// Products multiply in the format of the activations where the device has its rate; else narrow weights are unpacked
/// on the way (weight-only; Frantar et al. 2024, MARLIN). fp8 checkpoints with a scale a block multiply with them
/// (DeepSeek-AI 2024, DeepSeek-V3, section 3.3.2). mxfp4 holds experts alone where there are any (OpenAI 2025). Experts
/// of fp8 are stored with a scale a tensor or a block, and mxfp4 ones meet activations of 16 or, where the device has
/// the rate, 8 bit: configurations seldom say which, so that both are named.
[[nodiscard]] KernelFormats kernel_formats(const Architecture& architecture,
                                           const Device& device,
                                           const ReplicaFormats& formats);

}  // namespace headroom
