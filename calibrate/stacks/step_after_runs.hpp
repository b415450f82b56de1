// SPDX-License-Identifier: Apache-2.0
// What runs of one's own are worth: runs whose source was left out of a fit, predicted once a few others of their
// family are known.
#pragma once

#include <headroom/model/train/errors/step_update.hpp>

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace headroom {

/// Numbers of runs that are given.
inline constexpr std::array<std::size_t, 2> given_runs{1, 3};

/// A run that was left out of a fit.
struct LeftOutRun {
  std::size_t run = 0;        ///< its place among the runs of the fit
  std::string configuration;  ///< rows of one are one run
  ToldRun told;               ///< its error without any run, and the variance around what the numbers and level say
  double variance = 0.0;      ///< of its error without any run, in all
  JobPlace place;
  double spread = 0.0;  ///< of `variance`, what runs of one cluster differ by, tails and all: no run takes it away
};

/// How like runs of one family are: the share of the variance around numbers and level that like runs have in common,
/// and the length over which it fades.
struct FamilyLikeness {
  double alike = 0.0, length = 0.0;  ///< length 0: nothing in common
};

/// A family's left-out runs, and the numbers and level that the others leave.
struct LeftOutFamily {
  UpdatedNumbers before;
  std::vector<LeftOutRun> runs;
};

/// The likeness under which errors of left-out families, one of each configuration and at most 60 of a family, are most
/// likely (type II maximum likelihood: Rasmussen & Williams 2006, equation 5.8), over a grid of shares and lengths. A
/// family of n configurations counts by its likelihood's n-th root times sqrt(n), as in the fit; errors beyond 0.5
/// count as 0.5.
[[nodiscard]] FamilyLikeness likeness_of(std::span<const LeftOutFamily> families);

/// The same, once others were given.
struct ToldError {
  std::size_t run = 0;
  double error = 0.0;      ///< ln(predicted/measured)
  double deviation = 0.0;  ///< standard deviation that a plan would give it
};

/// Errors of the runs of one family, one software and one SKU, in about 40 draws of `given` configurations with a fixed
/// seed, each configuration the first of as many, and each draw moving `before` as --runs does. Nothing where no other
/// configuration is left.
[[nodiscard]] std::vector<ToldError> told_errors(const UpdatedNumbers& before,
                                                 std::span<const LeftOutRun> runs,
                                                 std::size_t given,
                                                 const FamilyLikeness& likeness = {});

}  // namespace headroom
