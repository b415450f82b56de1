// SPDX-License-Identifier: Apache-2.0
// A fleet's question: what it may choose, which are the axes that [search] of a serving question frees and the layouts
// that it leaves open, and all that it may not.
#pragma once

#include <headroom/core/config_value.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/scenarios/question/change.hpp>
#include <headroom/scenarios/question/scenario.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace headroom {

/// One axis: values of a knob.
using FleetAxis = Changes;

/// Whether a document asks for a fleet: a serving question with [traffic].
[[nodiscard]] bool asks_for_fleet(const ConfigValue& root) noexcept;

/// Axes of [search] of a serving question (keys/search_keys.hpp): lists, ranges, one value, or "any" (docs/search.md).
/// tp is free when neither [strategy] nor [search] states it. Problems go to `diagnostics`, each at its value: an axis
/// that is freed and stated at once, a name that the catalog, the engines or the formats do not have, ranks outside of
/// 1 to 4096. An axis whose values were all refused holds one of them, so that the rest of the document can still be
/// read for more problems.
[[nodiscard]] std::vector<FleetAxis> read_fleet_axes(const ConfigValue& root,
                                                     const Catalog& catalog,
                                                     Diagnostics& diagnostics);

/// The `index`-th combination of the axes' values: the last axis turns fastest.
[[nodiscard]] Changes combination(const std::vector<FleetAxis>& axes, std::uint64_t index);
[[nodiscard]] std::uint64_t combinations(const std::vector<FleetAxis>& axes) noexcept;

/// As stated, [search] with the rest.
struct AskedFleet : Statement {
  Statement base;               ///< of each combination: changed(base, combination(axes, index))
  std::vector<FleetAxis> axes;  ///< at most 20,000 combinations
  Scenario first;               ///< the first combination that can be
};
/// ConfigError with every problem of the document, or where no combination of its axes can be.
[[nodiscard]] AskedFleet read_fleet(ConfigValue root, const std::string& file, const Sources& sources);
AskedFleet read_fleet(ConfigValue root, const std::string& file, const Sources&& gone) = delete;

}  // namespace headroom
