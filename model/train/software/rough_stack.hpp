// SPDX-License-Identifier: Apache-2.0
// The rough stack: the share of the peak that a whole training step sustains, by device generation and recipe. It
// includes element-wise kernels, communication and launch gaps, which it does not price separately.
#pragma once

#include <headroom/core/config_reader.hpp>
#include <headroom/hardware/catalog/device.hpp>
#include <headroom/model/estimate/precision.hpp>

#include <map>
#include <string>
#include <string_view>

namespace headroom {

class ModelData;

/// A share and how it was found.
struct FittedFraction {
  double value = 0.0;
  std::string source;
};

struct RoughStack {
  std::string id;
  std::string name;
  std::string file;
  /// Key "generation/family", e.g. "hopper/16-bit"; "any/16-bit" serves generations that were never measured.
  std::map<std::string, FittedFraction, std::less<>> sustained;
  FittedFraction fragmentation;  ///< reserved / allocated - 1
  Bytes framework{};             ///< bytes outside the allocator: context, communicators and workspace
  std::string framework_source;
  double interval = 0.0;  ///< 80 % of answers lie within -interval/(1+interval) .. +interval of the time (relative)
  std::string interval_source;
  double memory_interval = 0.0;  ///< interval of memory for networks of ops, which have no software with a narrower one
  std::string memory_interval_source;

  /// The sustained share for a device and a recipe; nullptr if no generation was measured with the recipe.
  [[nodiscard]] const FittedFraction* share(const Device& device, Precision precision) const;
  /// share x dense peak. ConfigError that lists the measured generations and recipes.
  [[nodiscard]] FlopsPerSecond sustained_rate(const Device& device, Precision precision) const;
};

[[nodiscard]] RoughStack read_rough_stack(const ConfigValue& root, const std::string& file, Diagnostics& diagnostics);

/// The stack of an id ("rough-train") of `data`. ConfigError if it is unknown or invalid.
[[nodiscard]] RoughStack find_rough_stack(const ModelData& data, std::string_view id);

}  // namespace headroom
