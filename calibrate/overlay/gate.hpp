// SPDX-License-Identifier: Apache-2.0
// Compares two calibrations with a verdict: a performance gate for devices, drivers and dates.
#pragma once

#include <headroom/calibrate/gate/welch.hpp>
#include <headroom/calibrate/measure/calibration.hpp>

#include <span>
#include <string>
#include <vector>

namespace headroom {

struct Gate {
  std::vector<GateRow> families;  ///< paired t-tests over all probes of one kind and type
  std::vector<GateRow> probes;
  std::vector<std::string> only_a, only_b;
  GateVerdict verdict = GateVerdict::inconclusive;  ///< slower: a family or a probe is slower; same: every family is
};

/// Compares probes by name. Throws ConfigError when no name is in both.
[[nodiscard]] Gate compare_calibrations(std::span<const ProbeTiming> a,
                                        std::span<const ProbeTiming> b,
                                        const GateRule& rule);

}  // namespace headroom
