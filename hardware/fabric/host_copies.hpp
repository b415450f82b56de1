// SPDX-License-Identifier: Apache-2.0
// Time of copies between host and GPU, alone and while other GPUs of the host copy too.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/hardware/catalog/wiring.hpp>

#include <cstdint>

namespace headroom {

/// t = start + n / rate for n bytes (Hockney 1994, The communication challenge for MPP, equation 1). Pinned and
/// pageable memory have separate rates: pageable pages are first copied to a pinned buffer.
struct HostCopy {
  Seconds start{};        ///< fixed time of one copy
  BytesPerSecond rate{};  ///< rate of a GPU that copies alone, bytes/s
};

/// Time of `count` copies of `each` bytes, one after the other.
[[nodiscard]] Seconds copy_time(const HostCopy& copy, Bytes each, double count = 1.0) noexcept;

/// Number of GPUs that share `gpu`'s path to host memory, including it: those below the same PCIe switch; 1 at a root
/// complex or on a link of its own (C2C).
[[nodiscard]] std::int64_t port_sharers(const NodeWiring& host, std::int64_t gpu) noexcept;

/// The `quantile` (0 to 1) of the time of one copy while each other GPU of the host copies with probability `busy` (0
/// to 1), independently and for as long. With k of them below the same port, each gets 1/(1 + k) of the port, whose
/// rate relative to a GPU's own is as in the wiring (max-min fair; k is binomial). Precondition: a rate above zero.
[[nodiscard]] Seconds contended_copy(
    const NodeWiring& host, std::int64_t gpu, const HostCopy& copy, Bytes each, double busy, double quantile) noexcept;

}  // namespace headroom
