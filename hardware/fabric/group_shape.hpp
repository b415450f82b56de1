// SPDX-License-Identifier: Apache-2.0
// The groups of one form that tile a job, by arithmetic whose cost does not grow with the job.
#pragma once

#include <headroom/hardware/fabric/placement.hpp>

#include <cstdint>
#include <vector>

namespace headroom {

/// A rank is k span + a apart + b run + c stride + d. b and d tell the groups of a span apart, a (the run) and c (the
/// place in it) the members of one group. stride divides run, run divides apart, apart divides span.
struct GroupShape {
  explicit constexpr GroupShape(const GroupForm& form) noexcept
      : members{form.ranks},
        runs{form.runs},
        stride{form.stride},
        run{form.ranks * form.stride},
        apart{form.runs > 1 ? form.apart : run},
        span{form.span()} {}

  std::int64_t members;  ///< members of one run
  std::int64_t runs;
  std::int64_t stride, run, apart, span;

  [[nodiscard]] constexpr std::int64_t size() const noexcept { return members * runs; }
  /// The first member of a rank's group.
  [[nodiscard]] constexpr std::int64_t leader(std::int64_t rank) const noexcept {
    const std::int64_t of_run = rank - rank % run + rank % stride;
    return of_run - rank % span / apart * apart;
  }
  /// A rank's index among the members of its group, in ascending order.
  [[nodiscard]] constexpr std::int64_t index(std::int64_t rank) const noexcept {
    return rank % span / apart * members + rank % run / stride;
  }
  [[nodiscard]] constexpr std::int64_t member(std::int64_t leader, std::int64_t index) const noexcept {
    return leader + index / members * apart + index % members * stride;
  }
};

/// Cuts a job's ranks into units of `unit` ranks each (the last may be shorter) and returns ascending numbers of units
/// that together show every way in which groups lie in a unit and its neighbours. Groups repeat with their span and
/// units with their length, so the pattern repeats with the least common multiple; within a span only its ends and the
/// ends of its runs differ. At most some hundred units where the lengths divide one another, for any job.
[[nodiscard]] std::vector<std::int64_t> typical_units(const GroupShape& shape, std::int64_t unit, std::int64_t job);

/// First members of groups, ascending: at least one for every place within a unit at which groups begin.
[[nodiscard]] std::vector<std::int64_t> typical_leaders(const GroupShape& shape, std::int64_t unit, std::int64_t job);

}  // namespace headroom
