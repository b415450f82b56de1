// SPDX-License-Identifier: Apache-2.0
// A plan against those one step away from it: why it wins and why they lose.
#pragma once

#include <headroom/scenarios/search/incumbents.hpp>

#include <string>
#include <vector>

namespace headroom {

struct SearchJob;
struct SearchQuestion;

/// The recommended plan with one axis at its next value.
struct Neighbour {
  std::string change;   ///< "tp = 8, dp = 16"
  std::string verdict;  ///< empty when it is a plan; else why it is none
  double slower = 0.0;  ///< step over the recommended plan's, less one
  std::string why;      ///< largest differences by term
  Bytes memory{};       ///< upper end
};

/// Of the axes that the search frees: numbers at half and at twice their value, words at every other one. Ranks that
/// change leave dp to follow.
[[nodiscard]] std::vector<Neighbour> find_neighbours(const SearchQuestion& question,
                                                     const SearchJob& job,
                                                     const Candidate& plan);

/// "tp_comm +1.2 s, bubble -300 ms": the largest differences of a step from another's, two at most.
[[nodiscard]] std::string difference_by_term(const Breakdown& time, const Breakdown& from);

}  // namespace headroom
