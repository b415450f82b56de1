// SPDX-License-Identifier: Apache-2.0
// Detects impossible timings: from a timer that did not wait for the device, or from operands found in a cache.
#pragma once

#include <headroom/calibrate/probe/probe.hpp>

#include <optional>
#include <span>
#include <string>

namespace headroom {

/// Why a sample is faster than any device of this datasheet by more than 5 %: a product beyond the dense peak, or a
/// pass over more than the L2 beyond the memory bandwidth (least_time() in model/kernels/roofline.hpp). nullopt when it
/// is possible or the datasheet lacks the number.
[[nodiscard]] std::optional<std::string> too_fast(const Sample& sample, const Device& datasheet);

/// Why timings of a family (products of one type, copies of one kind) do not measure the work: the largest has a
/// million times the work of the smallest (products: twenty million) but takes less than four times as long. Needs no
/// datasheet. Launches are not checked.
[[nodiscard]] std::optional<std::string> does_not_grow(std::span<const Sample> samples);

}  // namespace headroom
