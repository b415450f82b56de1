// SPDX-License-Identifier: Apache-2.0
// One step of post-training as its planner states it: who samples, who judges, who trains, on which GPUs, in which
// order.
#pragma once

#include <headroom/core/config_value.hpp>
#include <headroom/core/quantity.hpp>
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/post_training/answer_lengths.hpp>
#include <headroom/model/post_training/software.hpp>
#include <headroom/model/post_training/stage_balance.hpp>
#include <headroom/model/post_training/step_phases.hpp>
#include <headroom/model/post_training/weight_sync.hpp>
#include <headroom/model/workload/architecture.hpp>
#include <headroom/scenarios/question/scenario.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

enum class PostTrainAlgorithm : std::uint8_t { sft, dpo, ppo, grpo, dapo, rloo };
inline constexpr std::array<std::string_view, 6> post_train_algorithm_names{"sft",  "dpo",  "ppo",
                                                                            "grpo", "dapo", "rloo"};

/// What an algorithm asks of a step (Schulman et al. 2017; Rafailov et al. 2023; Shao et al. 2024; Yu et al. 2025).
struct AlgorithmForm {
  bool samples = true;     ///< answers are sampled; else the data has them
  bool critic = false;     ///< a network as large as the policy values every token, and is trained
  bool reference = true;   ///< a pass of the frozen policy, unless the question says otherwise
  double sequences = 1.0;  ///< that a sample trains: a preference is two
};
[[nodiscard]] AlgorithmForm form_of(PostTrainAlgorithm algorithm) noexcept;

/// Ranks of the trainer; 0: open.
struct TrainerLayout {
  std::int64_t tp = 0, pp = 0, cp = 0, ep = 0;
  friend bool operator==(const TrainerLayout&, const TrainerLayout&) = default;
};

struct PostTrainQuestion {
  const Sources* sources = nullptr;  ///< must outlive the question
  std::string name, file;
  Device device;
  std::string node;                ///< id; empty: the SKU's reference node
  std::string cluster;             ///< id; empty: one switch without oversubscription
  std::optional<Watts> power_cap;  ///< of one GPU
  std::int64_t gpus = 1;           ///< of both pools; with a SKU of its own for rollouts those that train
  std::int64_t per_node = 1;
  std::optional<BytesPerSecond> outside;  ///< of one GPU's NIC
  std::optional<Device> rollout_device;   ///< unlike SKU of the rollout pool
  std::int64_t rollout_device_gpus = 0;
  Money money;
  std::optional<DollarsPerSecond> rollout_price;  ///< of a GPU of `rollout_device`
  EnergyQuestion energy;

  std::string model;  ///< id of a preset
  double parameters = 0.0;
  double tensors = 0.0;      ///< of its weights, each expert's for itself; 0: unknown
  std::string reward_model;  ///< id; empty: a rule or a verifier, whose time is `reward`
  std::string critic_model;  ///< id; empty: as the policy, where the algorithm has one
  PostTrainAlgorithm algorithm = PostTrainAlgorithm::grpo;
  PostTrainSoftware software;
  std::string backend;  ///< word of the software's; empty: its usual one
  std::string engine;   ///< empty: the software's
  std::int64_t prompts = 1, samples = 1;
  double prompt_tokens = 128.0;
  AnswerLengths lengths;
  /// Log standard deviation of the answers' mean about what stands here: 0 where it is stated.
  double length_doubt = 0.0;
  std::int64_t mini_batch = 0;  ///< sequences of an optimizer step; 0: all
  bool reference = true;
  bool old_logprobs = true;  ///< whether the trainer passes over the answers with the weights that sampled them
  bool lora = false;
  std::string precision = "bf16", rollout_precision = "bf16";
  std::int64_t micro_batch = 0;  ///< sequences of a pass; 0: the fastest that fit
  std::int64_t shard_ranks = 0;  ///< data ranks that share the states which a trainer shards; 0: all
  std::string attention;         ///< implementation in the trainer (attention_training.hpp); empty: the stack's
  std::string recompute;         ///< empty: the fastest that fits
  std::int64_t most_sequences = 1024;
  bool least_tp = false;  ///< an open width of an engine: the least that holds the model, else the fastest
  bool padded = false;    ///< whether trainers fill sequences up to the longest there may be
  bool optimizer_on_host = false;
  bool eager = false;  ///< whether engines launch their decodes one by one, without CUDA graphs
  std::optional<double> memory_fraction;
  Seconds reward{};           ///< of a step, beside the rollout's end
  Seconds pause{};            ///< that answers under way are given to end before new weights come
  Seconds turn{};             ///< that an answer waits for tools and environment in all
  double oversampling = 1.0;  ///< prompts sampled for one that trains (dynamic sampling drops groups of one reward)
  double step_tokens = 1.0;   ///< of an answer in one iteration of decodes

  std::optional<PostTrainPlacement> placement;
  std::optional<PostTrainOrder> order;
  double staleness = 0.0;
  bool partial = false;
  double parts = 1.0;  ///< in which the trainer takes a batch as it comes
  std::optional<WeightSync> sync;
  std::int64_t rollout_gpus = 0;  ///< 0: open
  std::int64_t rollout_tp = 0;    ///< 0: open
  TrainerLayout trainer;
  double steps = 0.0;                 ///< of the run; 0: not asked
  std::vector<BalancedStage> stages;  ///< rates that must balance; then nothing else is asked
  double stage_demand = 0.0;          ///< units of the first stage in all; 0: rates alone
  std::vector<std::string> assumptions;

  [[nodiscard]] std::int64_t answers() const noexcept { return prompts * samples; }
};

/// Whether the software's recipes run engines beside this question's trainer without CUDA graphs.
[[nodiscard]] bool recipe_is_eager(const PostTrainQuestion& question);

/// Whether the software's trainers pad this question's sequences: of models with recurrent mixers, where its packing
/// does not know them.
[[nodiscard]] bool recipe_pads(const PostTrainQuestion& question);

/// Tensors of a network's weights as frameworks name them: of a layer four of the mixer, two norms, and of the
/// feed-forward three, or three an expert with the router's one; the tables at both ends and the last norm. `together`:
/// experts that come at once.
[[nodiscard]] double weight_tensors(const Architecture& architecture, double together = 1.0) noexcept;

/// Whether a document asks for it: kind post_train.
[[nodiscard]] bool asks_for_post_training(const ConfigValue& root) noexcept;

/// ConfigError with every problem at once: staleness without asynchrony, a group or a mini-batch larger than the batch,
/// answers beyond the model's context, pools of more GPUs than there are.
[[nodiscard]] PostTrainQuestion read_post_training(const ConfigValue& root,
                                                   const std::string& file,
                                                   const Sources& sources);
PostTrainQuestion read_post_training(const ConfigValue& root, const std::string& file, const Sources&& gone) = delete;

}  // namespace headroom
