// SPDX-License-Identifier: Apache-2.0
// Published acceptances of drafts (model/stacks/step/draft-acceptance.toml), for questions that state none.
#pragma once

#include <headroom/core/config_reader.hpp>
#include <headroom/model/workload/model_data.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// The acceptance (0 to 1) at which a step that drafts `draft` tokens yields `tokens` on average: Leviathan, Kalman and
/// Matias 2023, equation 1, solved for it. Precondition: 1 < tokens < draft + 1.
[[nodiscard]] double acceptance_of(double tokens, std::int64_t draft);

/// What one publication says of a model's drafts on one task.
struct AcceptedDrafts {
  std::string model;   ///< as published
  std::string preset;  ///< its architecture here; empty: there is none
  std::string method;  ///< as the key serving.speculative.method spells it
  std::string task;
  std::vector<std::int64_t> drafts;  ///< ascending
  std::vector<double> tokens;        ///< of a step with so many drafts, the model's own token counted
  /// From the step with `draft` tokens, else with the most of those below, else with the fewest.
  [[nodiscard]] double acceptance(std::int64_t draft) const;
};

/// An acceptance that nobody stated: the mean of what is published, and an interval that holds a further model's, or a
/// further task's of the same model, in 80 % of cases (Student's t). Tables of one task count once, whatever their mode
/// (thinking or not).
struct AssumedAcceptance {
  double mid = 0.0, low = 0.0, high = 0.0;
  std::int64_t count = 0;  ///< tasks of the model, else models
  bool own = false;        ///< tasks of the very model
  std::string of;          ///< models that it rests on, as published
};

struct PublishedDrafts {
  std::vector<AcceptedDrafts> tables;
  /// nullopt: fewer than two models of the method are published.
  [[nodiscard]] std::optional<AssumedAcceptance> assumed(std::string_view preset,
                                                         std::string_view method,
                                                         std::int64_t draft) const;
};

[[nodiscard]] PublishedDrafts read_published_drafts(const ConfigValue& document, Diagnostics& diagnostics);
[[nodiscard]] const PublishedDrafts& published_drafts(const ModelData& data);

}  // namespace headroom
