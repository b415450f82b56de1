// SPDX-License-Identifier: Apache-2.0
// Branch and bound over one layout of a job: legality first, then memory, then bounds, then the price of what is left.
#pragma once

#include <headroom/scenarios/search/incumbents.hpp>

#include <cstdint>

namespace headroom {

struct LayerRanks;
struct SearchJob;

/// What became of the strategies of a space. Their sum is the space.
struct SearchCounts {
  std::uint64_t priced = 0;        ///< evaluated: legal, fits, timed
  std::uint64_t no_room = 0;       ///< evaluated: legal, does not surely fit
  std::uint64_t broken = 0;        ///< evaluated: breaks a rule
  std::uint64_t bound_time = 0;    ///< left out: cannot be better than what is known
  std::uint64_t bound_memory = 0;  ///< left out: cannot fit
  std::uint64_t too_slow = 0;      ///< of `priced`: beyond the deadline
  std::uint64_t too_dear = 0;      ///< of `priced`: beyond the budget
  SearchCounts& operator+=(const SearchCounts& o) noexcept;
  [[nodiscard]] constexpr std::uint64_t evaluated() const noexcept { return priced + no_room + broken; }
  [[nodiscard]] constexpr std::uint64_t pruned() const noexcept { return bound_time + bound_memory; }
  [[nodiscard]] constexpr std::uint64_t all() const noexcept { return evaluated() + pruned(); }
  friend bool operator==(const SearchCounts&, const SearchCounts&) = default;
};

/// A job as its layouts are searched.
struct BranchContext {
  const SearchJob* job = nullptr;
  const Objective* objective = nullptr;
  std::vector<Goal> front;
  bool bounded = true;  ///< false: every strategy is evaluated, for tests and benchmarks
};

/// No strategy of the layout has a lower goal, nor a shorter step.
struct LayoutBound {
  double goal = 0.0;
  Seconds step{};
};
[[nodiscard]] LayoutBound bound_layout(const BranchContext& context, const LayerRanks& layout);

/// Searches a layout of that bound against `found`, which takes what it finds. `broken_example` takes the plainest
/// strategy that breaks a rule, for answers without any plan.
struct BrokenExample {
  std::optional<Candidate> candidate;
  Legality rule;
};
void search_layout(const BranchContext& context,
                   const LayerRanks& layout,
                   const LayoutBound& least,
                   Incumbents& found,
                   SearchCounts& counts,
                   BrokenExample& broken);
/// Prices one strategy of the layout, the plainest that surely fits; none where none does.
void price_plain(const BranchContext& context,
                 const LayerRanks& layout,
                 Incumbents& found,
                 SearchCounts& counts,
                 BrokenExample& broken);

}  // namespace headroom
