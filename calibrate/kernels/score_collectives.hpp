// SPDX-License-Identifier: Apache-2.0
// The committed curves against measured collectives.
#pragma once

#include <headroom/calibrate/kernels/kernel_rows.hpp>
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/scenarios/validation/validation.hpp>

#include <span>

namespace headroom {

/// Every row predicted by the curve of its engine, op (or implementation) and version: id FILE:LINE, metric latency_us,
/// groups "all", "file=", "engine=", "op=", "gpus=" or "nodes=" or "ep=". The interval is that of nine held-out rows in
/// ten. A row that no curve serves is unsupported and says why. The roofline is the bytes over the link.
[[nodiscard]] Validation score_collectives(std::span<const KernelFile> files, const Device& device, const Node* node);

}  // namespace headroom
