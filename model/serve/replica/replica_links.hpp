// SPDX-License-Identifier: Apache-2.0
// The links over which the ranks of a replica meet.
#pragma once

#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/hardware/fabric/fabric.hpp>

#include <cstdint>

namespace headroom {

/// GPUs of one host or one NVLink domain, whichever is more.
[[nodiscard]] std::int64_t joined_gpus(const Device& device, const Node* node) noexcept;

/// `ranks` (>= 1) GPUs that fill hosts one after another. Cards without a switch meet over PCIe with peer access in
/// boxes of up to eight. ConfigError where such cards have no rate of PCIe.
[[nodiscard]] GroupView group_view(const Device& device, const Node* node, std::int64_t ranks);

}  // namespace headroom
