// SPDX-License-Identifier: Apache-2.0
// The answer to a job of a language model: the replica that does most of it per GPU, and how many GPUs end it in time.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/model/estimate/estimate.hpp>
#include <headroom/scenarios/inference/batch_plan.hpp>
#include <headroom/scenarios/plan/plan.hpp>
#include <headroom/scenarios/token_job/token_job.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headroom {

/// One layout of a replica with so many requests in flight.
struct TriedReplica {
  ServingLayout layout;
  std::int64_t in_flight = 1;
  bool fits = false;          ///< surely, and at the stated or tried number in flight
  double rate_per_gpu = 0.0;  ///< records a second; 0 where it does not fit or no kernels time it
  std::string why;            ///< where there is no rate
};

struct TokenJobPlan {
  TokenJob question;
  std::vector<TriedReplica> tried;
  std::optional<Plan> replica;  ///< the one that is taken; nothing: none fits and has times
  std::optional<JobPlan> job;   ///< on such replicas
  /// Why nothing is taken, of the last layout that was tried; the least replica that holds the model, and the weights
  /// with which that layout does.
  std::string why;
  Changes way_out, way_out_of_weights;
  std::string interval_source;           ///< of the rate
  std::vector<std::string> assumptions;  ///< of the question and of what was chosen
  std::vector<std::string> notes;

  [[nodiscard]] bool feasible() const noexcept { return job && job->holds; }
  [[nodiscard]] const ServeScenario& serve() const;  ///< of what is taken, else as stated
  /// Of what is taken. Precondition: there is one.
  [[nodiscard]] const ServePlan& served() const { return std::get<ServePlan>(replica->answer); }
  /// Output tokens of a record, on the mean. Precondition: as served().
  [[nodiscard]] double tokens_of_record() const;
  /// Precondition: there is a job. Nothing without a price.
  [[nodiscard]] std::optional<Dollars> per_million_output_tokens() const;
};

/// Pipeline stages are tried where no tensor ranks of one host hold the model, up to so many GPUs of a replica.
inline constexpr std::int64_t most_replica_gpus = 64;

/// `explain`: the terms of an iteration of what is taken are recorded.
[[nodiscard]] TokenJobPlan plan_token_job(TokenJob question, bool explain);

}  // namespace headroom
