// SPDX-License-Identifier: Apache-2.0
// The committed curves against measured kernels.
#pragma once

#include <headroom/calibrate/kernels/kernel_rows.hpp>
#include <headroom/hardware/catalog/device.hpp>
#include <headroom/scenarios/validation/validation.hpp>

#include <span>
#include <string>
#include <vector>

namespace headroom {

/// Every kernel predicted by the device's curve of its engine and format: id FILE:LINE, metric latency_us, groups
/// "all", "file=", "engine=", "format=" and both together, of attention also "range=fitted" and "range=beyond". The
/// interval is that of nine held-out kernels in ten. A kernel that no curve serves is unsupported and says why. The
/// constant baseline is one efficiency on the roofline.
[[nodiscard]] Validation score_kernels(std::span<const KernelFile> files, const Device& device);

/// A measured kernel that is faster than the datasheet allows.
struct TooFast {
  std::string id;
  std::string engine, format;
  double measured_us = 0.0;
  double roofline_us = 0.0;
};
/// Kernels below least_time() of roofline.hpp by more than `tolerance`.
[[nodiscard]] std::vector<TooFast> faster_than_roofline(std::span<const KernelFile> files,
                                                        const Device& device,
                                                        double tolerance = 0.0);

}  // namespace headroom
