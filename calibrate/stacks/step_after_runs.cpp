// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/stacks/step_after_runs.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

namespace headroom {
namespace {

constexpr int draws = 40;
constexpr std::size_t most_predicted = 60;  ///< runs of a draw: a sweep of a thousand rows says no more

/// The rows of a configuration as one run: their mean error.
ToldRun as_one(std::span<const LeftOutRun> runs, const std::vector<std::size_t>& rows) {
  ToldRun told = runs[rows.front()].told;
  double sum = 0.0;
  for (const std::size_t row : rows) {
    sum += runs[row].told.error;
  }
  told.error = sum / static_cast<double>(rows.size());
  return told;
}

/// The first `count` of a Fisher-Yates shuffle in integers, equal on all machines.
void draw(std::vector<std::size_t>& items, std::size_t count, std::mt19937_64& random) {
  for (std::size_t i = 0; i < std::min(count, items.size()); ++i) {
    std::swap(items[i], items[i + random() % (items.size() - i)]);
  }
}

}  // namespace

std::vector<ToldError> told_errors(const UpdatedNumbers& before, std::span<const LeftOutRun> runs, std::size_t given) {
  std::map<std::string, std::vector<std::size_t>> rows_of;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    rows_of[runs[i].configuration].push_back(i);
  }
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
  for (int d = 0; d < draws; ++d) {
    draw(order, given, random);
    UpdatedNumbers after = before;
    for (std::size_t i = 0; i < given; ++i) {
      learn(after, as_one(runs, *configurations[order[i]]));
    }
    std::vector<std::size_t> others;
    for (std::size_t i = given; i < order.size(); ++i) {
      const std::vector<std::size_t>& rows = *configurations[order[i]];
      others.insert(others.end(), rows.begin(), rows.end());
    }
    draw(others, most_predicted, random);
    others.resize(std::min(others.size(), most_predicted));
    for (const std::size_t i : others) {
      const LeftOutRun& run = runs[i];
      const double first = before.variance(run.told.derivative);
      const double left = first > 0.0 ? after.variance(run.told.derivative) / first : 1.0;
      // As a plan's interval narrows: what the numbers and the level are uncertain by shrinks, the noise stays.
      const double told = std::max(0.0, run.variance - run.told.variance);
      errors.push_back(
          {run.run, run.told.error + after.departure(run.told.derivative), std::sqrt(told * left + run.told.variance)});
    }
  }
  return errors;
}

}  // namespace headroom
