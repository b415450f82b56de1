// SPDX-License-Identifier: Apache-2.0
// Copies parts of device memory into the host's reference types.
#pragma once

#include <headroom/calibrate/probes/attention_reference.hpp>
#include <headroom/calibrate/probes/cuda_handles.hpp>

#include <vector>

namespace headroom::probes {

/// `count` rows of `width` bf16 numbers, starting at `first` and `pitch` numbers apart.
[[nodiscard]] inline Rows rows_at(const void* first, std::int64_t count, std::int64_t width, std::int64_t pitch) {
  constexpr std::size_t half = sizeof(std::uint16_t);
  std::vector<std::uint16_t> raw(static_cast<std::size_t>(count * width));
  check(cudaMemcpy2D(raw.data(), static_cast<std::size_t>(width) * half, first, static_cast<std::size_t>(pitch) * half,
                     static_cast<std::size_t>(width) * half, static_cast<std::size_t>(count), cudaMemcpyDeviceToHost),
        "cudaMemcpy2D");
  return {from_bf16(raw), width};
}

/// `count` fp32 numbers from `first` on.
[[nodiscard]] inline std::vector<float> floats_at(const void* first, std::int64_t count) {
  std::vector<float> numbers(static_cast<std::size_t>(count));
  check(cudaMemcpy(numbers.data(), first, numbers.size() * sizeof(float), cudaMemcpyDeviceToHost), "cudaMemcpy");
  return numbers;
}

}  // namespace headroom::probes
