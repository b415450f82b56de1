// SPDX-License-Identifier: Apache-2.0
// A stated number of GPUs under fixed loads: which layouts and settings are tried, at how many requests in flight.
#pragma once

#include <headroom/core/config_value.hpp>
#include <headroom/core/quantity.hpp>
#include <headroom/scenarios/question/change.hpp>
#include <headroom/scenarios/question/scenario.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headroom {

/// What is promised to the requests of a fixed load: means, for a fixed load is answered in means.
struct MeanPromises {
  std::optional<Seconds> ttft, tpot, e2e;
  [[nodiscard]] bool any() const noexcept { return ttft || tpot || e2e; }
};

struct BoxQuestion {
  Statement base;             ///< without [search] and [slo]
  std::vector<Changes> axes;  ///< of layouts and settings, the values of each
  Changes loads;              ///< requests in flight, ascending
  MeanPromises promised;

  [[nodiscard]] std::uint64_t combinations() const noexcept;  ///< of the axes, loads apart
};

/// Combinations times loads at the most.
inline constexpr std::uint64_t most_box_points = 100'000;

/// Whether a document asks for it: a serving question with [search] or [slo] and without [traffic].
[[nodiscard]] bool asks_for_box(const ConfigValue& root) noexcept;

/// ConfigError with every problem: of [search] (fleet_axes.hpp) and of [slo], whose percentiles are refused; no load at
/// all; more than most_box_points.
[[nodiscard]] BoxQuestion read_box(const ConfigValue& root, const std::string& file, const Sources& sources);
BoxQuestion read_box(const ConfigValue& root, const std::string& file, const Sources&& gone) = delete;

}  // namespace headroom
