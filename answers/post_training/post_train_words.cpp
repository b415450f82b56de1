// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/post_training/post_train_words.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>
#include <headroom/scenarios/post_training/post_train_plan.hpp>

namespace headroom {

std::string verdict_of(const PostTrainPlan& plan) {
  const PostTrainQuestion& q = plan.question;
  if (plan.balance) {
    return "the stages carry " + format_number(plan.balance->flow) + " units a second, and " +
           q.stages[plan.balance->binds].name + " binds";
  }
  const std::string what = std::string{post_train_algorithm_names[static_cast<std::size_t>(q.algorithm)]} + " of " +
                           q.model + " on " + counted(q.gpus, "GPU") + " by " + q.software.name;
  if (!plan.taken) {
    return what + " has no way that fits" + (plan.ways.empty() ? std::string{} : ": " + plan.ways.front().why_not);
  }
  const PostTrainWay& way = plan.ways[*plan.taken];
  return what + " takes " + format(way.step.step) + " a step: " + way_words(way);
}

}  // namespace headroom
