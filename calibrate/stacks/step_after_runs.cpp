// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/stacks/step_after_runs.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

namespace headroom {
namespace {

constexpr std::size_t draws = 40;
constexpr std::size_t most_predicted = 60;  ///< runs of a draw: a sweep of a thousand rows says no more
constexpr double longest_error = 0.5;       ///< an error counts no more in the likelihood of a likeness

/// Part of a run's `variance` around numbers and level that like ones do not have in common.
double own_part(double variance, const LeftOutRun& run, const FamilyLikeness& likeness) noexcept {
  // Without a likeness the blank axes of each run are its own too.
  return likeness.length > 0.0 ? (1.0 - likeness.alike) * variance : variance + run.place.blank;
}

/// The rows of a configuration as one run: their mean error.
ToldRun as_one(std::span<const LeftOutRun> runs,
               const std::vector<std::size_t>& rows,
               const FamilyLikeness& likeness,
               std::size_t place) {
  ToldRun told = runs[rows.front()].told;
  told.variance = own_part(told.variance, runs[rows.front()], likeness);
  told.place = static_cast<std::ptrdiff_t>(place);
  double sum = 0.0;
  for (const std::size_t row : rows) {
    sum += runs[row].told.error;
  }
  told.error = sum / static_cast<double>(rows.size());
  return told;
}

/// Places `from` to `count` of a Fisher-Yates shuffle in integers, equal on all machines.
void draw(std::vector<std::size_t>& items, std::size_t count, std::mt19937_64& random, std::size_t from = 0) {
  for (std::size_t i = from; i < std::min(count, items.size()); ++i) {
    std::swap(items[i], items[i + random() % (items.size() - i)]);
  }
}

using Configurations = std::map<std::string, std::vector<std::size_t>>;

Configurations configurations_of(std::span<const LeftOutRun> runs) {
  Configurations rows_of;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    rows_of[runs[i].configuration].push_back(i);
  }
  return rows_of;
}

Likeness likeness_among(std::span<const LeftOutRun> runs, const FamilyLikeness& likeness) noexcept {
  return {likeness.alike * runs.front().told.variance, likeness.length};
}

/// ln of the likelihood of a family's errors over sqrt(configurations), each given those before it.
double log_likelihood(const LeftOutFamily& family, const FamilyLikeness& likeness) {
  const Configurations rows_of = configurations_of(family.runs);
  std::vector<const std::vector<std::size_t>*> taken;
  std::vector<std::size_t> order;
  for (const auto& [key, rows] : rows_of) {
    order.push_back(taken.size());
    taken.push_back(&rows);
  }
  std::mt19937_64 random{1};
  draw(order, most_predicted, random);
  order.resize(std::min(order.size(), most_predicted));
  std::vector<JobPlace> places;
  for (const std::size_t i : order) {
    places.push_back(family.runs[taken[i]->front()].place);
  }
  UpdatedNumbers numbers = at_places(family.before, likeness_among(family.runs, likeness), places);
  double sum = 0.0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    ToldRun run = as_one(family.runs, *taken[order[i]], likeness, i);
    run.error = std::clamp(run.error, -longest_error, longest_error);
    const double all = numbers.variance(run.derivative, run.place) + run.variance;
    const double off = run.error + numbers.departure(run.derivative, run.place);
    sum -= 0.5 * (std::log(all) + off * off / all);
    learn(numbers, run);
  }
  return sum / std::sqrt(static_cast<double>(order.size()));
}

}  // namespace

FamilyLikeness likeness_of(std::span<const LeftOutFamily> families) {
  FamilyLikeness best;
  double most = 0.0;
  for (const LeftOutFamily& family : families) {
    most += log_likelihood(family, best);
  }
  for (const double length : {0.35, 0.5, 0.7, 1.0, 1.4, 2.0, 2.8}) {
    for (const double alike : {0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9}) {
      double sum = 0.0;
      for (const LeftOutFamily& family : families) {
        sum += log_likelihood(family, {alike, length});
      }
      if (sum > most) {
        most = sum;
        best = {alike, length};
      }
    }
  }
  return best;
}

std::vector<ToldError> told_errors(const UpdatedNumbers& before,
                                   std::span<const LeftOutRun> runs,
                                   std::size_t given,
                                   const FamilyLikeness& likeness) {
  const Configurations rows_of = configurations_of(runs);
  std::vector<ToldError> errors;
  if (rows_of.size() <= given) {
    return errors;
  }
  std::vector<const std::vector<std::size_t>*> configurations;
  std::vector<std::size_t> order;
  for (const auto& [key, rows] : rows_of) {
    order.push_back(configurations.size());
    configurations.push_back(&rows);
  }
  std::mt19937_64 random{1};
  // Each configuration is given first as often as the next: which of a few an uneven draw repeats would decide the
  // mean.
  std::vector<std::size_t> turns = order;
  draw(turns, turns.size(), random);
  const std::size_t rounds = std::max<std::size_t>(1, (draws + turns.size() / 2) / turns.size());
  const std::size_t all = turns.size() > draws ? draws : rounds * turns.size();
  for (std::size_t d = 0; d < all; ++d) {
    std::swap(order.front(), *std::find(order.begin(), order.end(), turns[d % turns.size()]));
    draw(order, given, random, 1);
    std::vector<std::size_t> others;
    for (std::size_t i = given; i < order.size(); ++i) {
      const std::vector<std::size_t>& rows = *configurations[order[i]];
      others.insert(others.end(), rows.begin(), rows.end());
    }
    draw(others, most_predicted, random);
    others.resize(std::min(others.size(), most_predicted));
    std::vector<JobPlace> places;
    for (std::size_t i = 0; i < given; ++i) {
      places.push_back(runs[configurations[order[i]]->front()].place);
    }
    for (const std::size_t i : others) {
      places.push_back(runs[i].place);
    }
    const UpdatedNumbers first = at_places(before, likeness_among(runs, likeness), places);
    UpdatedNumbers after = first;
    std::vector<ToldRun> told_runs;
    for (std::size_t i = 0; i < given; ++i) {
      told_runs.push_back(as_one(runs, *configurations[order[i]], likeness, i));
    }
    learn_all(after, told_runs);
    for (std::size_t i = 0; i < others.size(); ++i) {
      const LeftOutRun& run = runs[others[i]];
      const std::span<const double> derivative{run.told.derivative};
      const auto place = static_cast<std::ptrdiff_t>(given + i);
      const double known = first.variance(derivative, place);
      const double left = known > 0.0 ? after.variance(derivative, place) / known : 1.0;
      // As a plan's interval narrows: what the runs tell of shrinks, what single runs differ by stays.
      const double own = own_part(run.spread, run, likeness);
      const double told = std::max(0.0, run.variance - own);
      errors.push_back({run.run, run.told.error + after.departure(derivative, place), std::sqrt(told * left + own)});
    }
  }
  return errors;
}

}  // namespace headroom
