// SPDX-License-Identifier: Apache-2.0
// Scores the committed curves against measured kernels.
#pragma once

#include <headroom/calibrate/kernels/kernel_rows.hpp>
#include <headroom/hardware/catalog/device.hpp>
#include <headroom/scenarios/validation/validation.hpp>

#include <span>
#include <string>
#include <vector>

namespace headroom {

class ModelData;

/// Predicts every kernel with the device's curve of its engine and format: id FILE:LINE, metric latency_us, groups
/// "all", "file=", "engine=", "format=" and both together, for attention also "range=fitted" and "range=beyond", of a
/// profile "timed=kernel" or "timed=call" (with the host's time, which is not predicted) and "op=" with it. The
/// interval covers nine of ten held-out kernels; the constant baseline is one efficiency on the roofline. A kernel
/// without a curve is unsupported, with the reason.
[[nodiscard]] Validation score_kernels(const ModelData& data, std::span<const KernelFile> files, const Device& device);

/// A measured kernel that is faster than the datasheet allows.
struct TooFast {
  std::string id;
  std::string engine, format;
  double measured_us = 0.0;
  double roofline_us = 0.0;
};
/// Kernels faster than least_time() of roofline.hpp by more than the share `tolerance`.
[[nodiscard]] std::vector<TooFast> faster_than_roofline(const ModelData& data,
                                                        std::span<const KernelFile> files,
                                                        const Device& device,
                                                        double tolerance = 0.0);

}  // namespace headroom
