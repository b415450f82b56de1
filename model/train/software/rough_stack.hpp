// SPDX-License-Identifier: Apache-2.0
// The rough stack: the share of peak that a whole training step sustains, by device generation and recipe.
// It stands in for element-wise kernels, communication and launch gaps until those are priced one by one.
#pragma once

#include <headroom/core/config_reader.hpp>
#include <headroom/hardware/catalog/device.hpp>
#include <headroom/model/estimate/precision.hpp>

#include <map>
#include <string>
#include <string_view>

namespace headroom {

/// A fraction with how it was found.
struct FittedFraction {
  double value = 0.0;
  std::string source;
};

struct RoughStack {
  std::string id;
  std::string name;
  std::string file;
  /// Keyed "generation/family", e.g. "hopper/16-bit"; "any/16-bit" serves generations that nobody measured.
  std::map<std::string, FittedFraction, std::less<>> sustained;
  FittedFraction fragmentation;  ///< reserved / allocated - 1
  Bytes framework{};             ///< context, communicators and workspace outside the allocator
  std::string framework_source;
  double interval = 0.0;  ///< 80 % of answers lie within -interval/(1+interval) .. +interval of the time
  std::string interval_source;
  double memory_interval = 0.0;  ///< of networks of ops, which have no software whose interval would be narrower
  std::string memory_interval_source;

  /// The share for a device and a recipe; nullptr when no generation was measured with the recipe.
  [[nodiscard]] const FittedFraction* share(const Device& device, Precision precision) const;
  /// share x dense peak. ConfigError that says which generations and recipes were measured.
  [[nodiscard]] FlopsPerSecond sustained_rate(const Device& device, Precision precision) const;
};

[[nodiscard]] RoughStack read_rough_stack(const ConfigValue& root, const std::string& file, Diagnostics& diagnostics);

/// The embedded stack of an id ("rough-train"), user folders first. ConfigError when unknown or broken.
[[nodiscard]] RoughStack find_rough_stack(std::string_view id);

}  // namespace headroom
