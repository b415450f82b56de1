// SPDX-License-Identifier: Apache-2.0
// Kernels of a SKU that nobody measured: the mean of the measured generations, applied to its own datasheet.
#pragma once

#include <headroom/hardware/catalog/device.hpp>
#include <headroom/model/kernels/curve_library.hpp>

#include <span>
#include <string>

namespace headroom {

class ModelData;

/// Each curve is the mean over the generations that measured it (curve_mean.hpp). Its shares are of a peak, a bandwidth
/// and a number of units, so that any datasheet gives times; its times are as they were measured. Sets count that state
/// their generation, as those do that ship. `without`: generations that are left out, to tell how far off the mean of
/// the others is. ConfigError if a set is invalid.
[[nodiscard]] CurveSet prior_curve_set(const ModelData& data, std::span<const std::string> without = {});

/// The set that a SKU names (find_curve_set()); prior_curve_set() of one that names none.
[[nodiscard]] const CurveSet& curve_set_or_prior(const ModelData& data, const Device& device);

/// A SKU as the mean of measured kernels prices it. A unit that multiplies more per clock than any measured one counts
/// as several: kernels fill it with several of their tiles, and their times per tile are of measured units.
[[nodiscard]] Device with_measured_units(Device device);

}  // namespace headroom
