// SPDX-License-Identifier: Apache-2.0
// The groups of one form that tile a job, counted out by arithmetic: nothing here grows with the job.
#pragma once

#include <headroom/hardware/fabric/placement.hpp>

#include <cstdint>
#include <vector>

namespace headroom {

/// A rank is k span + a apart + b run + c stride + d: the groups of a span are told apart by b and d, the members of
/// one by a (its runs) and c (within a run). stride divides run, run divides apart, apart divides span.
struct GroupShape {
  explicit constexpr GroupShape(const GroupForm& form) noexcept
      : members{form.ranks},
        runs{form.runs},
        stride{form.stride},
        run{form.ranks * form.stride},
        apart{form.runs > 1 ? form.apart : run},
        span{form.span()} {}

  std::int64_t members;  ///< of a run
  std::int64_t runs;
  std::int64_t stride, run, apart, span;

  [[nodiscard]] constexpr std::int64_t size() const noexcept { return members * runs; }
  /// The first member of a rank's group.
  [[nodiscard]] constexpr std::int64_t leader(std::int64_t rank) const noexcept {
    const std::int64_t of_run = rank - rank % run + rank % stride;
    return of_run - rank % span / apart * apart;
  }
  /// A rank's place among the members of its group, which ascend.
  [[nodiscard]] constexpr std::int64_t index(std::int64_t rank) const noexcept {
    return rank % span / apart * members + rank % run / stride;
  }
  [[nodiscard]] constexpr std::int64_t member(std::int64_t leader, std::int64_t index) const noexcept {
    return leader + index / members * apart + index % members * stride;
  }
};

/// A job's ranks cut into units of `unit` each, the last perhaps shorter: numbers of units, ascending, that between
/// them show every way in which groups lie in a unit and the ones beside it. Groups repeat with their span, units with
/// their own length, so that how the two meet repeats with the least common multiple; within a span only its ends and
/// the ends of its runs differ from what lies between. Some hundred at most where lengths divide one another, whatever
/// the job; all units where that is fewer.
[[nodiscard]] std::vector<std::int64_t> typical_units(const GroupShape& shape, std::int64_t unit, std::int64_t job);

/// First members of groups, ascending, one at least of every place that groups begin at within a unit.
[[nodiscard]] std::vector<std::int64_t> typical_leaders(const GroupShape& shape, std::int64_t unit, std::int64_t job);

}  // namespace headroom
