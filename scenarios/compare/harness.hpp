// SPDX-License-Identifier: Apache-2.0
// One scenario over a matrix of SKUs and scales: what to expect of each cell with its tolerance, whether measured rates
// hold, and which term of the step to suspect where one does not.
#pragma once

#include <headroom/model/estimate/estimate.hpp>
#include <headroom/scenarios/plan/plan.hpp>

#include <optional>
#include <span>
#include <string>

namespace headroom {

enum class CellVerdict : std::uint8_t { expected, pass, fail, faster, no_plan };
inline constexpr std::array<std::string_view, 5> cell_verdict_names{"expected", "pass", "fail", "faster", "no plan"};

struct HarnessCell {
  std::string name;                ///< "8 x h100-sxm-80gb"
  Interval<double> expected;       ///< tokens/s a GPU; of a tolerance t from mid (1 - t) to mid (1 + t)
  Breakdown time;                  ///< of the step that is expected
  std::optional<double> measured;  ///< tokens/s a GPU
  std::string problem;             ///< why there is no expectation; empty: there is one
  CellVerdict verdict = CellVerdict::expected;
  std::optional<Term> suspect;  ///< of a cell that fails
  std::string why;              ///< "tp_comm: 21 % of this step, at most 4 % of those that pass"
};

/// The cell of a scenario; without a tolerance the interval is the plan's own.
[[nodiscard]] HarnessCell expect_cell(Scenario scenario, std::string name, std::optional<double> tolerance);

/// Judges the measured cells: below `expected.low` fails, above `expected.high` is faster than it should be. The
/// suspect of a cell that fails is the term whose share of its step exceeds most the largest share that it has in any
/// cell that passes: what passes elsewhere is acquitted as far as it was asked of there; without such cells the largest
/// term. Kernels that would have to take more than twice as long to explain the cell are said not to.
void judge_cells(std::span<HarnessCell> cells);

}  // namespace headroom
