// SPDX-License-Identifier: Apache-2.0
// What errors of the driver, of CUDA and of NCCL mean.
#pragma once

#include <headroom/calibrate/messages/run_messages.hpp>

#include <cstdint>
#include <span>
#include <string_view>

namespace headroom {

/// An error by its number, of the driver.
struct XidMeaning {
  std::int64_t code = 0;
  FaultSource source = FaultSource::device;
  std::string_view what, cure;
  bool stops = true;  ///< work on the GPU; else it goes on
};

/// Xids of data centre GPUs (NVIDIA, Xid Catalog, and nverror.h of the open kernel modules, which name them).
[[nodiscard]] std::span<const XidMeaning> xid_meanings() noexcept;

/// An error by words of its line; the first that fits is meant.
struct WordMeaning {
  std::string_view words;
  FaultSource source = FaultSource::program;
  std::string_view what, cure;
};

/// Of CUDA's runtime (CUDA Runtime API, "Data types", cudaError) behind "CUDA error:", "Cuda failure" or
/// "cudaError".
[[nodiscard]] std::span<const WordMeaning> cuda_meanings() noexcept;
/// Of NCCL's warnings (NCCL User Guide, "Troubleshooting").
[[nodiscard]] std::span<const WordMeaning> nccl_meanings() noexcept;
/// Of the host.
[[nodiscard]] std::span<const WordMeaning> host_meanings() noexcept;

}  // namespace headroom
