// SPDX-License-Identifier: Apache-2.0
// Copies between host and GPU: what one takes, and what it takes while others of the host copy too.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/hardware/catalog/wiring.hpp>

#include <cstdint>

namespace headroom {

/// t = start + n / rate for n bytes (Hockney 1994, The communication challenge for MPP, equation 1). Pinned and
/// pageable memory have a rate each: pageable pages go through a pinned buffer first.
struct HostCopy {
  Seconds start{};
  BytesPerSecond rate{};  ///< of a GPU that copies alone
};

/// `count` copies of `each` one after the other.
[[nodiscard]] Seconds copy_time(const HostCopy& copy, Bytes each, double count = 1.0) noexcept;

/// GPUs of the host whose way to its memory is that of `gpu`: those below the same PCIe switch; alone at a root complex
/// or on a link of its own (C2C).
[[nodiscard]] std::int64_t port_sharers(const NodeWiring& host, std::int64_t gpu) noexcept;

/// The `quantile` (0 to 1) of the time of one copy while each other GPU of the host copies with probability `busy`,
/// independently and for as long: of the k that do below the same port, each gets 1/(1 + k) of the port, whose rate
/// stands to a GPU's own as in the wiring (max-min fair; k is binomial). Precondition: a rate above zero.
[[nodiscard]] Seconds contended_copy(
    const NodeWiring& host, std::int64_t gpu, const HostCopy& copy, Bytes each, double busy, double quantile) noexcept;

}  // namespace headroom
