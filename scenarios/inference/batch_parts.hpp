// SPDX-License-Identifier: Apache-2.0
// The parts of an answer to a batch question, each planned by a file of its own.
#pragma once

#include <headroom/core/statistics.hpp>
#include <headroom/scenarios/inference/batch_plan.hpp>

#include <cmath>
#include <limits>

namespace headroom {

/// Standard deviation of the logarithm whose middle 80 % lie within a factor of 1 / (1 + width) .. 1 + width.
[[nodiscard]] inline double lognormal_sigma(double width) noexcept {
  return std::log1p(width) / normal_quantile(0.9);
}

/// The batch of a job: of those that max_batch and longest_call allow the smallest with nearly the most samples a
/// second; without a network one that was stated. 1 where none may be taken.
[[nodiscard]] std::int64_t best_batch(const BatchScenario& scenario, const CallBook& book) noexcept;

/// What lies around the calls of one GPU.
struct Surroundings {
  double fed = std::numeric_limits<double>::infinity();  ///< samples a second that its input brings
  Seconds beside{};                                      ///< of a sample: stages, copies, the way over the network
};

/// GPUs, batch and window for requests. Precondition: the scenario has requests, and one sample fits.
/// A rate that is asked for is put into the scenario.
[[nodiscard]] OnlinePlan plan_requests(BatchScenario& scenario, const CallBook& book, const Surroundings& around);

/// GPUs and time of a job. `fed`: records a second that the input of one GPU brings; infinity where it is not stated.
[[nodiscard]] JobPlan plan_job(const BatchScenario& scenario, const CallBook& book, double fed);

}  // namespace headroom
