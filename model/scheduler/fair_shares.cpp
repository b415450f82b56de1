// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/scheduler/fair_shares.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>

namespace headroom::scheduler {

std::vector<double> fair_shares(std::span<const double> demands, std::span<const double> weights, double capacity) {
  std::vector<std::size_t> order(demands.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  // The first to be satisfied has the least demand for its weight.
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return demands[a] * weights[b] < demands[b] * weights[a]; });
  double weight = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<double> shares(demands.size());
  for (const std::size_t user : order) {
    shares[user] = std::min(demands[user], std::max(capacity, 0.0) * (weights[user] / weight));
    capacity -= shares[user];
    weight -= weights[user];
  }
  return shares;
}

std::vector<double> dominant_fair_tasks(std::span<const TaskDemand> users, std::span<const double> capacity) {
  std::vector<double> tasks(users.size(), 0.0), rate(users.size(), 0.0);
  std::vector<double> left(capacity.begin(), capacity.end());
  for (std::size_t user = 0; user < users.size(); ++user) {
    double dominant = 0.0;  // share of one task
    for (std::size_t r = 0; r < capacity.size(); ++r) {
      dominant = std::max(dominant, users[user].each[r] / capacity[r]);
    }
    rate[user] = users[user].tasks > 0.0 ? users[user].weight / dominant : 0.0;
  }
  while (std::any_of(rate.begin(), rate.end(), [](double each) { return each > 0.0; })) {
    // Until a resource is used up, or a user has all its tasks.
    std::vector<double> draw(capacity.size(), 0.0);
    double step = std::numeric_limits<double>::infinity();
    for (std::size_t user = 0; user < users.size(); ++user) {
      if (rate[user] > 0.0) {
        step = std::min(step, (users[user].tasks - tasks[user]) / rate[user]);
        for (std::size_t r = 0; r < capacity.size(); ++r) {
          draw[r] += rate[user] * users[user].each[r];
        }
      }
    }
    std::size_t full = capacity.size();
    for (std::size_t r = 0; r < capacity.size(); ++r) {
      if (draw[r] > 0.0 && left[r] / draw[r] <= step) {
        step = left[r] / draw[r];
        full = r;
      }
    }
    for (std::size_t r = 0; r < capacity.size(); ++r) {
      left[r] = r == full ? 0.0 : std::max(left[r] - draw[r] * step, 0.0);
    }
    for (std::size_t user = 0; user < users.size(); ++user) {
      const bool done = rate[user] > 0.0 && (users[user].tasks - tasks[user]) / rate[user] <= step;
      tasks[user] = done ? users[user].tasks : tasks[user] + rate[user] * step;
      if (done || (full < capacity.size() && users[user].each[full] > 0.0)) {
        rate[user] = 0.0;
      }
    }
  }
  return tasks;
}

double jain_index(std::span<const double> shares) noexcept {
  double sum = 0.0, squares = 0.0;
  for (const double share : shares) {
    sum += share;
    squares += share * share;
  }
  return squares > 0.0 ? sum * sum / (static_cast<double>(shares.size()) * squares) : 1.0;
}

}  // namespace headroom::scheduler
