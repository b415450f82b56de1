// SPDX-License-Identifier: Apache-2.0
// Basic kernels of the probes, launched from host code.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace headroom::probes {

/// Storage formats. int8 holds 32 times the number, rounded, within +-127; e2m1 has two numbers per byte, the first in
/// the low half; ue4m3_scale is randomly 1/2, 1 or 2.
enum class Element : std::uint8_t { bf16, fp16, fp32, e4m3, e5m2, int8, e2m1, ue4m3_scale };

/// Fills `count` elements with normal(0, 1) numbers that depend on the seed; `count` must be even for e2m1.
cudaError_t fill_normal(void* data, std::int64_t count, Element element, std::uint64_t seed, cudaStream_t stream);

/// b = a; `bytes` is a multiple of 16.
cudaError_t copy(void* b, const void* a, std::int64_t bytes, cudaStream_t stream);

/// a = b + 3 c in fp32; `bytes` of each array, a multiple of 16.
cudaError_t triad(void* a, const void* b, const void* c, std::int64_t bytes, cudaStream_t stream);

cudaError_t empty(cudaStream_t stream);

/// cudaSuccess when this build has code for the current device.
cudaError_t kernels_loadable();

}  // namespace headroom::probes
