// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/scenarios/compare/harness.hpp>

#include <algorithm>
#include <utility>
#include <variant>

namespace headroom {
namespace {

double share_of(const Breakdown& time, std::size_t term) {
  const double whole = time.total().raw();
  return whole > 0.0 ? time.exposed[term].raw() / whole : 0.0;
}

/// Kernels that one fault slows more are rare; what waits for links, other ranks or the host has no such bound.
constexpr double most_slowdown = 2.0;

/// Whether a term waits for something else than its own GPU.
bool waits(Term term) {
  switch (term) {
    case Term::gemm:
    case Term::attention:
    case Term::scan:
    case Term::elementwise:
    case Term::recompute:
    case Term::head:
    case Term::optimizer: return false;
    default: return true;
  }
}

/// The suspect of a cell that fails, given the largest share of each term in cells that pass.
void suspect(HarnessCell& cell, const std::array<double, term_count>& passed, bool any_passed) {
  std::size_t most = 0;
  for (std::size_t term = 1; term < term_count; ++term) {
    if (share_of(cell.time, term) - passed[term] > share_of(cell.time, most) - passed[most]) {
      most = term;
    }
  }
  cell.suspect = static_cast<Term>(most);
  cell.why = std::string{term_names[most]} + ": " + percent(share_of(cell.time, most), 2) + " of this step" +
             (any_passed ? ", at most " + percent(passed[most], 2) + " of those that pass" : ", its largest term");
  const double longer = cell.expected.mid / *cell.measured - 1.0;  // of the expected step, that it took more
  const double times = 1.0 + longer / share_of(cell.time, most);
  if (times > most_slowdown && !waits(*cell.suspect)) {
    cell.why += "; alone it would have to take " + format_number(times, 2) +
                " times as long: look first at what slows all of a step, the clock, a power cap or another job";
  }
}

}  // namespace

HarnessCell expect_cell(Scenario scenario, std::string name, std::optional<double> tolerance) {
  HarnessCell cell;
  cell.name = std::move(name);
  const Plan plan = price_plan(std::move(scenario));
  const auto* train = std::get_if<TrainPlan>(&plan.answer);
  if (train == nullptr) {
    throw ConfigError{cell.name + ": a harness expects rates of training; this scenario serves"};
  }
  if (!plan.feasible() || train->tokens_per_s_per_gpu.mid <= 0.0) {
    cell.problem = train->verdict;
    cell.verdict = CellVerdict::no_plan;
    return cell;
  }
  cell.time = train->estimate.time;
  cell.expected = train->tokens_per_s_per_gpu;
  if (tolerance) {
    const double mid = cell.expected.mid;
    cell.expected = {mid * (1.0 - *tolerance), mid, mid * (1.0 + *tolerance)};
  }
  return cell;
}

void judge_cells(std::span<HarnessCell> cells) {
  std::array<double, term_count> passed{};
  bool any_passed = false;
  for (HarnessCell& cell : cells) {
    if (!cell.measured || cell.verdict == CellVerdict::no_plan) {
      continue;
    }
    cell.verdict = *cell.measured < cell.expected.low    ? CellVerdict::fail
                   : *cell.measured > cell.expected.high ? CellVerdict::faster
                                                         : CellVerdict::pass;
    if (cell.verdict != CellVerdict::fail) {
      any_passed = true;
      for (std::size_t term = 0; term < term_count; ++term) {
        passed[term] = std::max(passed[term], share_of(cell.time, term));
      }
    }
  }
  for (HarnessCell& cell : cells) {
    if (cell.verdict == CellVerdict::fail) {
      suspect(cell, passed, any_passed);
    }
  }
}

}  // namespace headroom
