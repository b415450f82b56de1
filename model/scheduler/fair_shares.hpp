// SPDX-License-Identifier: Apache-2.0
// Fair shares of what several want, and how even shares are.
#pragma once

#include <span>
#include <vector>

namespace headroom::scheduler {

/// Weighted max-min shares of one resource by progressive filling (Bertsekas and Gallager 1992, section 6.5.2): all
/// rise in proportion to their weights until each has what it demands or nothing is left. No one has less than the
/// lesser of its demand and capacity * weight / sum of weights. `demands` >= 0, `weights` > 0 of the same length,
/// `capacity` >= 0, all in one unit, which is the result's too.
[[nodiscard]] std::vector<double> fair_shares(std::span<const double> demands,
                                              std::span<const double> weights,
                                              double capacity);

/// What one of several users wants of several resources.
struct TaskDemand {
  std::vector<double> each;  ///< of one task, by resource, >= 0, one of them > 0
  double tasks = 0.0;        ///< that it can use, >= 0; infinity is allowed
  double weight = 1.0;       ///< > 0
};

/// Tasks of each user under weighted dominant-resource fairness (Ghodsi, Zaharia, Hindman, Konwinski, Shenker and
/// Stoica 2011, section 4), tasks divisible: dominant shares rise in proportion to weights; who has all its tasks, or
/// needs a resource that is used up, rises no more. `capacity`: by resource, > 0.
[[nodiscard]] std::vector<double> dominant_fair_tasks(std::span<const TaskDemand> users,
                                                      std::span<const double> capacity);

/// Jain's index of fairness (Jain, Chiu and Hawe 1984, equation 1): the square of the sum over n times the sum of
/// squares; 1 where all are equal, 1/n where one has all. Of shares over their weights. 1 where none has any.
[[nodiscard]] double jain_index(std::span<const double> shares) noexcept;

}  // namespace headroom::scheduler
