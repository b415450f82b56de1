// SPDX-License-Identifier: Apache-2.0
// What a post-training software does: the software that it trains and samples with, what it hides, how weights travel.
// One TOML each (model/stacks/post/*.toml).
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/model/post_training/weight_sync.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom {

class ModelData;

struct PostTrainSoftware {
  std::string id, name, source;
  std::vector<std::string> names;  ///< spellings in publications
  std::string engine;              ///< serving engine, of model/stacks/serve
  /// Training backends by their word, the usual one first, with the training stack that prices each.
  std::vector<std::pair<std::string, std::string>> backends;
  std::string trainer_of_experts;  ///< word of the backend of mixtures of experts
  WeightSync sync_local = WeightSync::local, sync_split = WeightSync::broadcast;
  double colocated_fraction = 0.6, split_fraction = 0.9;  ///< of a GPU's memory, for the engine
  bool shares_prefix = true;
  bool async_old_logprobs = true;  ///< whether asynchronous trainers pass over the answers again, or take the engines'
  bool logprob_column_holds_all = true;  ///< whether what it prints as log-probabilities is policy and reference
  std::int64_t recipe_prompts = 0, recipe_samples = 0;  ///< of its recipes, where nobody states a batch; 0: none
  /// Whether sequences of a mini-batch are dealt to data ranks by their tokens; else as they come.
  bool balances_ranks = false;
  bool uses_reference = true;     ///< whether its recipes keep to a frozen policy
  bool async_partial = false;     ///< whether answers under way outlast new weights in its asynchronous order
  bool sync_beside = false;       ///< whether new weights travel beside training and sampling, and stop neither
  std::string usual_recompute;    ///< of its recipes; empty: the fastest that fits
  bool reference_on_host = true;  ///< whether the reference waits in host memory until its pass
  // Numbers that are fitted (`numbers` in the file says which, on what)
  double rollout = 1.0;                                    ///< time over that of the engine under a steady load
  double train = 1.0;                                      ///< time over that of the training stack on equal sequences
  double logprob = 1.0;                                    ///< time of a forward pass over its share of the step
  Seconds fixed{};                                         ///< of a step beside its phases
  Seconds swap{};                                          ///< a change between training and rollout on the same GPUs
  std::array<SyncPath, weight_sync_names.size()> paths{};  ///< by WeightSync
  double width = 0.3;  ///< half-width of the interval that holds 80 % of its rows, relative
  std::string fitted;  ///< what its numbers rest on
};

/// All of them; each file once. ConfigError with all that is wrong in a file.
[[nodiscard]] const std::vector<PostTrainSoftware>& post_train_software(const ModelData& data);
/// By id or a spelling; nullptr: unknown.
[[nodiscard]] const PostTrainSoftware* find_post_train_software(const ModelData& data, std::string_view spelling);

/// Answers of a model where a row or a question states no lengths (model/stacks/step/answer-lengths.toml).
struct UsualAnswers {
  std::vector<std::string> models;      ///< ids of presets
  double prompt = 128.0;                ///< tokens, its template with it
  std::optional<double> mean;           ///< tokens
  std::optional<double> of_most;        ///< share of the most tokens
  std::optional<double> factor, power;  ///< mean = factor x most^power
  std::string source;
  /// Mean of answers cut at `most`: one of the three is stated. No more than 0.6 of the cut where it is a number.
  [[nodiscard]] double mean_of(double most) const noexcept;
};
struct AnswerTables {
  double spread = 0.0;
  std::vector<UsualAnswers> of;  ///< the last one stands for all models
};
[[nodiscard]] const AnswerTables& answer_tables(const ModelData& data);

}  // namespace headroom
