// SPDX-License-Identifier: Apache-2.0
// Formats of whole tensors as people name them: an element, the scale that a block of elements shares, and the rate of
// a device that multiplies in it.
#pragma once

#include <headroom/hardware/catalog/device.hpp>
#include <headroom/model/estimate/number_format.hpp>

#include <optional>
#include <span>
#include <string_view>

namespace headroom {

struct StoredFormat {
  std::string_view name;
  std::string_view element;  ///< of number_formats; empty: a whole number of `whole_bits`
  int whole_bits = 0;
  int block = 0;             ///< elements that share a scale; 0: the tensor's scale is no part of the format
  double scale_bits = 0.0;   ///< of that scale
  std::optional<Rate> rate;  ///< at which tensor units multiply in it; nullopt: the catalog has no rate of it
  std::string_view source;

  /// Of one element with its part of the block's scale.
  [[nodiscard]] double bits() const noexcept;
  /// The element's format; nullptr for whole numbers.
  [[nodiscard]] const NumberFormat* number() const noexcept;
  /// Largest magnitude of both signs: 2^(bits - 1) - 1 of whole numbers, before any scale.
  [[nodiscard]] double largest() const noexcept;
};

/// From the widest to the narrowest.
[[nodiscard]] std::span<const StoredFormat> stored_formats() noexcept;
/// By name or alias: "fp8" is e4m3, "fp6" e2m3, "fp4" e2m1, "half" fp16. nullptr: unknown.
[[nodiscard]] const StoredFormat* find_stored_format(std::string_view name) noexcept;

/// The value of a format nearest to `value`, ties to the one with an even last bit (IEEE 754-2019, section 4.3.1).
/// What rounds beyond the largest value becomes infinity, also where the format has a NaN in its place; formats with
/// neither keep their largest value (saturation). Subnormal values are kept, not flushed.
[[nodiscard]] double nearest_value(const NumberFormat& format, double value) noexcept;

}  // namespace headroom
