// SPDX-License-Identifier: Apache-2.0
// What the two sides of post-training take: a trainer on so many GPUs, and an engine of a rollout.
#pragma once

#include <headroom/model/estimate/estimate.hpp>
#include <headroom/model/post_training/rollout.hpp>
#include <headroom/model/serve/memory/serving.hpp>
#include <headroom/model/serve/tables/iteration_tables.hpp>
#include <headroom/model/train/step/job_groups.hpp>
#include <headroom/model/train/strategy/strategy.hpp>
#include <headroom/scenarios/post_training/post_train_question.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace headroom {

/// The word of a question's backend, and the training stack that prices it: the stated one, of mixtures that of
/// experts, else the software's first.
[[nodiscard]] std::pair<std::string, std::string> backend_of(const PostTrainQuestion& question);

/// A trainer under one layout.
struct TrainerPrice {
  Strategy strategy;
  Seconds train{};      ///< of all mini-batches of a step, before the software's own stretch
  Seconds forward{};    ///< of one pass over all sequences, likewise
  Seconds attention{};  ///< of `train`, attention: its kernels do not know what the tokens are for
  MemoryBreakdown memory;
  Bytes device{};  ///< as the device shows it, at the upper end of its interval
  bool fits = false;
  std::string why_not;
};

/// One engine of the rollout.
struct EnginePrice {
  std::int64_t tp = 1;
  std::shared_ptr<const IterationTables> tables;
  std::int64_t slots = 0;  ///< answers that decode together
  MemoryBreakdown memory;
  Bytes weights{};  ///< of the whole model as served
  Seconds prompt{};
  std::string why_not;  ///< empty: it runs
};

/// Prices what a question's pools may be; each layout once.
class PoolPrices {
 public:
  explicit PoolPrices(const PostTrainQuestion& question) : q_{question} {}

  /// The fastest layout of `gpus` that fits beside `resident` bytes a GPU, of those that the question leaves open; its
  /// open micro-batch and recomputation with it. Not fitting: the one that needs the least.
  [[nodiscard]] const TrainerPrice& trainer(std::int64_t gpus, Bytes resident = {});
  /// An engine over `tp` ranks at a share of the memory.
  [[nodiscard]] const EnginePrice& engine(std::int64_t tp, double fraction, const Device& device);
  /// Layouts that were priced.
  [[nodiscard]] std::int64_t priced() const noexcept { return priced_; }

 private:
  [[nodiscard]] TrainerPrice price_trainer(std::int64_t gpus, Bytes resident);
  [[nodiscard]] std::vector<TrainerLayout> layouts(std::int64_t gpus) const;
  [[nodiscard]] TrainerPrice price_layout(std::int64_t gpus,
                                          const TrainerLayout& layout,
                                          Bytes resident,
                                          std::shared_ptr<const JobGroups>& groups) const;
  [[nodiscard]] EnginePrice price_engine(std::int64_t tp,
                                         double fraction,
                                         const Device& device,
                                         std::int64_t sequences);

  const PostTrainQuestion& q_;
  std::int64_t priced_ = 0;
  std::map<std::pair<std::int64_t, double>, TrainerPrice> trainers_;
  std::map<std::tuple<std::int64_t, double, std::string>, EnginePrice> engines_;
};

/// The batch of a question on so many engines.
struct PricedRollout {
  RolloutTimes times;  ///< of the engine that ends last
  Seconds steady{};    ///< a batch of engines that never empty
  Seconds group{};     ///< that a group is under way in them, to its longest answer
  std::int64_t engines = 1;
};
[[nodiscard]] PricedRollout price_rollout(const PostTrainQuestion& question,
                                          const EnginePrice& engine,
                                          std::int64_t engines,
                                          bool steady);

}  // namespace headroom
