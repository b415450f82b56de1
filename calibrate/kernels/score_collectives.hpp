// SPDX-License-Identifier: Apache-2.0
// Scores the committed curves against measured collectives.
#pragma once

#include <headroom/calibrate/kernels/kernel_rows.hpp>
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/scenarios/validation/validation.hpp>

#include <span>

namespace headroom {

class ModelData;

/// Predicts every row with the curve of its engine, op (or implementation) and version: id FILE:LINE, metric
/// latency_us, groups "all", "file=", "engine=", "op=", and "gpus=", "nodes=" or "ep=". The interval covers nine of ten
/// held-out rows; the roofline is bytes over link rate. A row without a curve is unsupported, with the reason.
[[nodiscard]] Validation score_collectives(const ModelData& data,
                                           std::span<const KernelFile> files,
                                           const Device& device,
                                           const Node* node);

}  // namespace headroom
