// SPDX-License-Identifier: Apache-2.0
// Which measured kernels multiply a replica's weights.
#pragma once

#include <headroom/hardware/catalog/device.hpp>
#include <headroom/model/estimate/precision.hpp>
#include <headroom/model/kernels/gemm.hpp>
#include <headroom/model/serve/replica/replica.hpp>
#include <headroom/model/workload/architecture.hpp>

#include <vector>

namespace headroom {

/// What products multiply in: the weights' own format where the device has its rate and the format carries activations
/// too, else 16 bit.
[[nodiscard]] Precision activation_precision(const Device& device, Precision weights) noexcept;

/// "decode attention 41 %, products 33 %, all-reduce 12 %": the three largest.
[[nodiscard]] std::string largest_terms(const IterationTerms& terms);

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
