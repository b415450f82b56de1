// SPDX-License-Identifier: Apache-2.0
// Timings that cannot be true: those of a timer that did not wait for the device, or of operands found in a cache.
#pragma once

#include <headroom/calibrate/probe/probe.hpp>

#include <optional>
#include <span>
#include <string>

namespace headroom {

/// Why no device of this datasheet takes so little time: a product beyond the dense peak, a pass over more than the
/// L2 holds beyond the memory's bandwidth (least_time() of model/kernels/roofline.hpp), by more than a twentieth.
/// nullopt: it may be true, or the datasheet does not say.
[[nodiscard]] std::optional<std::string> too_fast(const Sample& sample, const Device& datasheet);

/// Why the timings of one family (products of one type, one kind of copy) are not of the work: the largest has a
/// million times the work of the smallest (products: twenty million) and does not even take four times as long. Needs
/// no datasheet. Launches have no work to grow.
[[nodiscard]] std::optional<std::string> does_not_grow(std::span<const Sample> samples);

}  // namespace headroom
