// SPDX-License-Identifier: Apache-2.0
// What the oracle of the search is asked and answers, and its choice among priced plans, by plain lists.
#pragma once

#include <headroom/scenarios/question/scenario.hpp>
#include <headroom/scenarios/search/objective.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace headroom::test {

/// What a space says of one axis: fixed by [strategy], listed or "any" in [search], or none of it.
struct AxisChoice {
  enum class Kind : std::uint8_t { blank, stated, listed, any } kind = Kind::blank;
  std::vector<int> values;  ///< stated: one
  [[nodiscard]] bool free() const { return kind == Kind::listed || kind == Kind::any; }
};

struct Priced {
  std::size_t job = 0;
  std::string rental;
  Strategy strategy;
  Seconds step{};
  Bytes memory{};
  double goal = 0.0, time = 0.0, dollars = 0.0;
  double slow_time = 0.0, slow_dollars = 0.0;  ///< at the slow end
  std::array<double, 4> front{};
  bool operator==(const Priced& o) const { return job == o.job && strategy == o.strategy; }
};

/// The space and what is looked for, as the test drew them.
struct OracleQuestion {
  std::map<std::string, AxisChoice> axes;
  std::vector<std::vector<std::string>> jobs;  ///< whole scenarios as assignments, in the order of jobs
  Goal minimize = Goal::step_time;
  std::vector<Goal> pareto;
  std::size_t plans = 5;
  double simplicity = 0.05, margin = 0.0;
  std::optional<double> deadline, budget;  ///< s, $
  [[nodiscard]] AxisChoice axis(const std::string& name) const {
    const auto found = axes.find(name);
    return found == axes.end() ? AxisChoice{} : found->second;
  }
};

struct OracleAnswer {
  std::uint64_t strategies = 0, broken = 0, no_room = 0, priced = 0;
  std::vector<Priced> fits;  ///< whatever deadline and budget say
  std::vector<Priced> best, front;
  std::optional<Priced> chosen;
  std::optional<Priced> middle;  ///< chosen of what keeps the limits at the middle
  bool sure = true;              ///< chosen keeps them at the slow end
};

/// One plan a layout; where GPUs or their number are searched one a rental.
inline bool one_layout(const Priced& a, const Priced& b, bool several_rentals) {
  if (several_rentals) {
    return a.rental == b.rental;
  }
  return a.job == b.job && a.strategy.tp == b.strategy.tp && a.strategy.pp == b.strategy.pp &&
         a.strategy.cp == b.strategy.cp && a.strategy.ep == b.strategy.ep;
}

/// The first of each layout, or rental, as many as are listed.
inline std::vector<Priced> best_of(const std::vector<Priced>& sorted, std::size_t plans, bool several_rentals) {
  std::vector<Priced> best;
  for (const Priced& p : sorted) {
    const bool known =
        std::any_of(best.begin(), best.end(), [&](const Priced& b) { return one_layout(b, p, several_rentals); });
    if (!known && best.size() < plans) {
      best.push_back(p);
    }
  }
  return best;
}

/// Sorted by coordinates, each point once, of what no other point is as good as and better somewhere.
inline std::vector<Priced> front_of(const std::vector<Priced>& sorted, std::size_t goals) {
  std::vector<Priced> front;
  std::map<std::array<double, 4>, Priced> points;
  for (const Priced& p : sorted) {
    points.emplace(p.front, p);
  }
  for (const auto& [point, p] : points) {
    const bool beaten = std::any_of(points.begin(), points.end(), [&](const auto& other) {
      bool no_worse = other.first != point;
      for (std::size_t i = 0; i < goals; ++i) {
        no_worse = no_worse && other.first[i] <= point[i];
      }
      return no_worse;
    });
    if (!beaten) {
      front.push_back(p);
    }
  }
  return front;
}

inline int kinds(const Priced& p) {
  const Strategy& s = p.strategy;
  return (s.tp > 1) + (s.pp > 1) + (s.cp > 1) + (s.ep > 1);
}

inline bool within(double share, const Priced& from, const Priced& p) {
  return p.goal <= (1.0 + share) * from.goal && p.time <= (1.0 + share) * from.time &&
         p.dollars <= (1.0 + share) * from.dollars;
}

/// Of those near the best, in goal, time and money, the fewest kinds; of these, near the best of them, the lowest
/// stage; then the first.
inline std::optional<Priced> chosen_of(const std::vector<Priced>& sorted, double simplicity) {
  if (sorted.empty()) {
    return std::nullopt;
  }
  if (simplicity <= 0.0) {
    return sorted.front();
  }
  std::vector<Priced> near;
  for (const Priced& p : sorted) {
    if (within(simplicity, sorted.front(), p)) {
      near.push_back(p);
    }
  }
  int fewest = 9;
  for (const Priced& p : near) {
    fewest = std::min(fewest, kinds(p));
  }
  std::erase_if(near, [&](const Priced& p) { return kinds(p) != fewest; });
  const Priced first = near.front();
  Priced chosen = first;
  for (const Priced& p : near) {
    if (within((fewest == 0 ? 1.0 : 0.2) * simplicity, first, p) && p.strategy.zero < chosen.strategy.zero) {
      chosen = p;
    }
  }
  return chosen;
}

}  // namespace headroom::test
