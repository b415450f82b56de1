// SPDX-License-Identifier: Apache-2.0
// The answer to a step of post-training: the best way to lay it out, where its time and memory go, and its neighbours.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/model/post_training/stage_balance.hpp>
#include <headroom/model/post_training/step_phases.hpp>
#include <headroom/scenarios/money/energy.hpp>
#include <headroom/scenarios/post_training/pool_price.hpp>
#include <headroom/scenarios/post_training/post_train_question.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// One way to lay a step out, priced.
struct PostTrainWay {
  PostTrainFlow flow;
  std::int64_t rollout_gpus = 0, train_gpus = 0;  ///< colocated: both are all
  std::int64_t gpus = 0;
  std::int64_t engines = 0, engine_tp = 0, slots = 0;
  TrainerPrice trainer;
  MemoryBreakdown engine_memory;
  PricedRollout rollout;
  PhaseTimes phases;
  StepPhases step;
  WeightSync sync = WeightSync::broadcast;
  Seconds swap_bytes{};  ///< states of the trainer to the host and back; split: none
  bool possible = true;
  std::string why_not;  ///< why it cannot be; of a neighbour why it loses
};

/// What is resident on a GPU of one pool while a phase runs. Colocated, engines give all of it back before a trainer
/// works, but for what the next new weights go into; a trainer's states wait in host memory during the rollout.
struct PhaseMemory {
  Phase phase = Phase::rollout;
  bool samples = true;  ///< the pool that samples, which colocated is that of all
  Bytes engine{}, policy{}, reference{};
  [[nodiscard]] Bytes total() const noexcept { return engine + policy + reference; }
};
[[nodiscard]] std::vector<PhaseMemory> phase_memory(const PostTrainQuestion& question, const PostTrainWay& way);

/// The taken way with one thing changed.
struct PostTrainNeighbour {
  std::string change;  ///< "rollout_gpus 24"
  bool possible = true;
  Seconds step{};
  std::string why_not;  ///< what it loses, or why it cannot be
};

/// What binds a step under a bound on age.
enum class PostTrainBinds : std::uint8_t { rollout, train, age };
inline constexpr std::array<std::string_view, 3> post_train_binds_names{"rollout", "train", "age"};

struct PostTrainPlan {
  PostTrainQuestion question;
  std::vector<PostTrainWay> ways;  ///< the best of each placement and order, and split of the taken one; fastest first
  std::optional<std::size_t> taken;  ///< of them; nothing: none is possible
  std::int64_t priced = 0;           ///< layouts
  double low = 0.0, high = 0.0;      ///< factors of the 80 % interval of the step
  double samples_per_s = 0.0, tokens_per_s = 0.0;
  std::optional<DollarsPerSecond> price;  ///< of all GPUs
  std::optional<Dollars> step_cost, run_cost;
  std::optional<double> samples_per_dollar, tokens_per_dollar;
  std::optional<Seconds> run;
  std::optional<PlanEnergy> power;
  Seconds tail{};           ///< of the rollout after 90 % of the answers are there
  Seconds partial_saves{};  ///< of the step, where answers under way outlast new weights
  double cut = 0.0;         ///< share of answers that reach the most tokens
  struct Staleness {
    double bound = 0.0;
    Seconds step{};
    PostTrainBinds binds = PostTrainBinds::rollout;
  };
  std::vector<PostTrainNeighbour> neighbours;
  std::vector<Staleness> staleness;     ///< what a bound on age leaves of the step, on the taken split or the best one
  std::optional<StageBalance> balance;  ///< of stages with rates
  std::optional<Seconds> stage_time;    ///< of their demand
  std::vector<std::string> notes;
  [[nodiscard]] bool feasible() const noexcept { return taken.has_value() || balance.has_value(); }
};

/// Prices one way; `engine_tp` 0: the fastest of the powers of two that hold the model.
[[nodiscard]] PostTrainWay price_way(const PostTrainQuestion& question,
                                     PoolPrices& prices,
                                     const PostTrainFlow& flow,
                                     std::int64_t rollout_gpus);

/// Phases and step of a way whose pools are priced, under a software's numbers.
void set_phases(const PostTrainQuestion& question,
                const PostTrainNumbers& numbers,
                std::span<const SyncPath> paths,
                PostTrainWay& way);

/// "split, asynchronous, 16 GPUs sample and 48 train".
[[nodiscard]] std::string way_words(const PostTrainWay& way);

/// Every placement, order, split of the GPUs and layout that the question leaves open; the fastest that fits is taken.
[[nodiscard]] PostTrainPlan make_post_train_plan(PostTrainQuestion question);

/// Of new weights under a way of sending: `engine_ranks` of one engine, `trainer_ranks` that hold the trainer's shards,
/// `hosts` whether they leave a host.
[[nodiscard]] Seconds sync_time(const PostTrainQuestion& question,
                                std::span<const SyncPath> paths,
                                WeightSync way,
                                double engine_ranks,
                                double trainer_ranks,
                                bool hosts);

/// One phase of one step on one pool.
struct PhaseEvent {
  Phase phase = Phase::rollout;
  bool samples = true;  ///< on the pool that samples, which colocated is that of all
  Seconds from{}, to{};
};
/// The phases of so many steps of a way in their steady state.
[[nodiscard]] std::vector<PhaseEvent> phase_events(const PostTrainWay& way, int steps);

/// The phases of the taken way as trace-event JSON, one process a pool, three steps long. ConfigError: none is taken.
[[nodiscard]] std::string phase_trace(const PostTrainPlan& plan);

}  // namespace headroom
