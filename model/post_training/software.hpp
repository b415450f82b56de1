// SPDX-License-Identifier: Apache-2.0
// What a post-training software does: the software that it trains and samples with, what it hides, how weights travel.
// One TOML each (model/stacks/post/*.toml).
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/model/post_training/weight_sync.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom {

class ModelData;

/// What is fitted of a software, by `headroom fit --stack post`: five numbers, whatever it trains.
struct PostTrainNumbers {
  double rollout = 1.5;  ///< time over that of the engine under a steady load
  double train = 1.5;    ///< time over that of the training stack on equal sequences, attention apart
  double logprob = 1.5;  ///< time of a forward pass over its share of the step, attention apart
  Seconds fixed{};       ///< of a step beside its phases
  Seconds swap{};        ///< a change between training and rollout on the same GPUs, beside the bytes that move
};

/// What has an interval of its own.
enum class PostTrainFigure : std::uint8_t { step, rollout, train, passes, sync, idle };
inline constexpr std::array<std::string_view, 6> post_train_figure_names{"step",   "rollout", "train",
                                                                         "passes", "sync",    "idle"};

struct PostTrainSoftware {
  std::string id, name, source;
  std::vector<std::string> names;  ///< spellings in publications
  std::string engine;              ///< serving engine, of model/stacks/serve
  /// Training backends by their word, the usual one first, with the training stack that prices each.
  std::vector<std::pair<std::string, std::string>> backends;
  std::vector<std::string> gathers_fp32;  ///< words of backends whose ranks gather fp32 parameters to send them
  std::string trainer_of_experts;         ///< word of the backend of mixtures of experts
  WeightSync sync_local = WeightSync::local, sync_split = WeightSync::broadcast;
  double colocated_fraction = 0.6, split_fraction = 0.9;  ///< of a GPU's memory, for the engine
  bool shares_prefix = true;
  bool async_old_logprobs = true;  ///< whether asynchronous trainers pass over the answers again, or take the engines'
  bool logprob_column_holds_all = true;  ///< whether what it prints as log-probabilities is policy and reference
  /// Words of backends beside which its recipes run engines without CUDA graphs.
  std::vector<std::string> eager_with;
  Seconds eager_launch{};               ///< of a kernel of theirs, launched op by op
  std::int64_t recipe_rollout_tp = 0;   ///< GPUs of an engine in its recipes, for rows that state none; 0: not said
  std::int64_t recipe_cp = 0;           ///< sequence ranks of its first trainer, likewise
  std::int64_t recipe_shard_ranks = 0;  ///< data ranks of a group that shards its states, likewise
  std::int64_t recipe_micro_batch = 0;  ///< sequences of a pass of its trainers, likewise
  std::int64_t recipe_most = 0;         ///< tokens at which its recipes cut answers, likewise
  std::int64_t recipe_slots = 0;  ///< answers that an engine decodes together in its recipes; 0: the engine's own limit
  bool whole_batches = false;     ///< whether engines decode a batch to its longest answer before they begin the next
  bool pads_recurrent = false;    ///< whether its trainers cannot pack sequences of recurrent models, and pad them
  /// Phases that its logs name, of those in `phase_names`; all else of a step is what rows call other. Empty: all.
  std::vector<std::string> prints;
  std::vector<std::string> recompute_of;  ///< ids of models whose recipes recompute all; others then nothing
  std::int64_t recipe_prompts = 0, recipe_samples = 0;  ///< of its recipes, where nobody states a batch; 0: none
  /// Whether sequences of a mini-batch are dealt to data ranks by their tokens; else as they come.
  bool balances_ranks = false;
  /// That one process needs for one token of the padded batch which it hands to a pool's ranks; 0: ranks have their
  /// own.
  Seconds controller{};
  bool uses_reference = true;  ///< whether its recipes keep to a frozen policy
  bool async_partial = false;  ///< whether answers under way outlast new weights in its asynchronous order
  /// Whether its asynchronous trainer waits for nobody but samples: new weights travel beside it, and what else a step
  /// takes is done by those who sample.
  bool sync_beside = false;
  std::string usual_recompute;    ///< of its recipes; empty: the fastest that fits
  bool reference_on_host = true;  ///< whether the reference waits in host memory until its pass
  PostTrainNumbers numbers;
  std::string fitted;                                      ///< what they rest on
  std::array<SyncPath, weight_sync_names.size()> paths{};  ///< by WeightSync
  /// Half-widths of the intervals that held 80 % of the rows of publications that were no part of the fit: relative,
  /// within 1 / (1 + w) .. 1 + w; of an idle share in shares of the step.
  std::array<double, post_train_figure_names.size()> widths{};
  [[nodiscard]] double width(PostTrainFigure of) const noexcept { return widths[static_cast<std::size_t>(of)]; }
  [[nodiscard]] bool runs_eager(std::string_view backend) const noexcept;
  /// Bytes gathered for each byte of bf16 weights that is sent.
  [[nodiscard]] double gathers(std::string_view backend) const noexcept;
};

/// All of them; each file once. ConfigError with all that is wrong in a file.
[[nodiscard]] const std::vector<PostTrainSoftware>& post_train_software(const ModelData& data);
/// By id or a spelling; nullptr: unknown.
[[nodiscard]] const PostTrainSoftware* find_post_train_software(const ModelData& data, std::string_view spelling);

/// Answers of a model where a row or a question states no lengths (model/stacks/step/answer-lengths.toml).
struct UsualAnswers {
  std::vector<std::string> models;  ///< ids of presets
  double prompt = 128.0;            ///< tokens, its template with it
  std::optional<double> mean;       ///< tokens
  std::optional<double> of_most;    ///< share of the most tokens
  std::optional<double> uncut;      ///< tokens, of answers that nothing cuts
  std::string source;
  /// Mean of answers of this spread cut at `most`: one of the three is stated. No more than 0.6 of the cut where the
  /// mean is a number.
  [[nodiscard]] double mean_of(double most, double spread) const noexcept;
};
struct AnswerTables {
  double spread = 0.0;
  std::vector<UsualAnswers> of;  ///< the last one stands for all models
};
[[nodiscard]] const AnswerTables& answer_tables(const ModelData& data);

}  // namespace headroom
