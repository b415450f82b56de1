// SPDX-License-Identifier: Apache-2.0
// A job of records, whatever works on it: the verdict, the rows of its times and of its price, and its document.
#pragma once

#include <headroom/answers/document/value.hpp>
#include <headroom/answers/markup/table.hpp>
#include <headroom/scenarios/inference/batch_plan.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// What the verdict on a job tells.
struct JobVerdict {
  const BatchJob& asked;
  const JobPlan& job;
  std::string taken;         ///< "12 GPUs (t4), batches of 64"
  bool gpus_stated = false;  ///< they are no answer
  double confidence = 0.8;
};
/// "take 12 GPUs (t4), batches of 64", the probability of the deadline, and what the middle would do.
[[nodiscard]] std::string job_verdict_text(const JobVerdict& verdict);

void add_records(Table& table, const BatchJob& asked, const JobPlan& job);
/// What is lost to interruptions, and when half, 80 % and 95 % of runs end.
void add_times(Table& table, const JobPlan& job);
void add_cost(Table& table, const JobPlan& job);
void add_energy(Table& table, const JobPlan& job);

/// Members that a job of a language model alone has.
struct TokenMembers {
  std::optional<Dollars> per_million_output_tokens;
};
[[nodiscard]] Value job_value(const JobPlan& job, const std::optional<TokenMembers>& tokens = std::nullopt);

/// What was assumed, a line each; empty of nothing.
[[nodiscard]] std::string assumed_text(const std::vector<std::string>& notes);

}  // namespace headroom
