// SPDX-License-Identifier: Apache-2.0
// A cluster of unlike pools: kind cluster, a question whose jobs are questions.
#pragma once

#include <headroom/answers/document/value.hpp>
#include <headroom/core/config_value.hpp>
#include <headroom/scenarios/pools/cluster_plan.hpp>

#include <string>

namespace headroom {

struct AnswerOptions;
struct QuestionLibrary;

namespace kinds {
/// How a cluster is asked, read, answered and shown (docs/design.md, "What an addition asks").
struct cluster {
  using Asked = pools::ClusterQuestion;
  using Given = pools::ClusterPlan;
  static constexpr const char* page = "cluster";
  [[nodiscard]] static bool asks(const ConfigValue& document, const QuestionLibrary& library);
  [[nodiscard]] static Asked read(const ConfigValue& document, const std::string& file, const QuestionLibrary& library);
  [[nodiscard]] static Given answer(Asked& question, const AnswerOptions& options);
  [[nodiscard]] static Value document(const Given& plan);
  /// A row of each stretch in which a job holds GPUs of a node.
  [[nodiscard]] static std::string csv(const Given& plan);
  [[nodiscard]] static std::string text(const Given& plan, bool explained);
  [[nodiscard]] static bool good(const Given& plan) noexcept;
};
}  // namespace kinds

}  // namespace headroom
