// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/cluster/render_cluster.hpp>
#include <headroom/answers/door/answer.hpp>
#include <headroom/answers/door/job_cost.hpp>
#include <headroom/scenarios/keys/key.hpp>

#include <utility>

namespace headroom::kinds {

bool cluster::asks(const ConfigValue& document, const QuestionLibrary& /*library*/) {
  const ConfigValue* const kind = document.find("kind");
  return kind != nullptr && kinds_of_word(kind->text) == Kinds::cluster;
}

pools::ClusterQuestion cluster::read(const ConfigValue& document,
                                     const std::string& file,
                                     const QuestionLibrary& library) {
  return pools::read_cluster(document, file, library.sources, job_reader(library));
}

pools::ClusterPlan cluster::answer(pools::ClusterQuestion& question, const AnswerOptions& options) {
  return pools::plan_cluster(std::move(question), options.threads);
}

bool cluster::good(const pools::ClusterPlan& plan) noexcept {
  return plan.feasible();
}

std::string cluster::text(const pools::ClusterPlan& plan, bool explained) {
  return cluster_text(plan, explained);
}

Value cluster::document(const pools::ClusterPlan& plan) {
  return cluster_document(plan);
}

std::string cluster::csv(const pools::ClusterPlan& plan) {
  return cluster_csv(plan);
}

}  // namespace headroom::kinds
