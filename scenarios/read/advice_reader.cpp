// SPDX-License-Identifier: Apache-2.0
#include <headroom/scenarios/read/advice_reader.hpp>

namespace headroom {

std::optional<BatchChange> read_batch_change(TrainingKeys& training) {
  const std::optional<std::int64_t> base = training.stated<"base_batch">();
  BatchChange change;
  change.rate = training.stated<"base_learning_rate">();
  change.critical = training.stated<"critical_batch">();
  change.loss = training.stated<"target_loss">();
  change.epoch_samples = training.stated<"epoch_samples">();
  if (change.critical && change.loss) {
    training.problem("target_loss",
                     "state 'critical_batch' or 'target_loss', not both: the one is taken from the other");
  }
  if (!training.has("base_batch")) {
    for (const std::string_view key : {"base_learning_rate", "critical_batch", "target_loss", "epoch_samples"}) {
      if (training.has(key)) {
        training.problem(key, "'" + std::string{key} +
                                  "' means something with 'base_batch' only, the batch of the recipe that was tuned");
      }
    }
    return std::nullopt;
  }
  change.base = base.value_or(1);
  return change;
}

std::vector<std::int64_t> read_elastic(TrainingKeys& training) {
  if (!training.has("elastic")) {
    return {};
  }
  const std::vector<std::int64_t> counts = training.integers("elastic");
  const Range<std::int64_t> range = integers_of(TrainingKeys::row<"elastic">);
  for (const std::int64_t gpus : counts) {
    if (gpus < range.low || gpus > range.high) {
      training.problem("elastic", "'elastic' holds " + std::to_string(gpus) + "; GPU counts are " +
                                      std::to_string(range.low) + " to " + std::to_string(range.high));
    }
  }
  return counts;
}

std::optional<SweepQuestion> read_sweep(ConfigTable& root, double tokens) {
  auto table = KeyedTable<keys::sweep, Kinds::train>::maybe(root);
  if (!table) {
    return std::nullopt;
  }
  SweepQuestion sweep;
  sweep.configurations = table->get<"configurations">();
  sweep.most = table->get<"max_resource">();
  sweep.least = table->get<"min_resource">();
  sweep.eta = table->get<"eta">();
  sweep.parallel = table->get<"parallel">();
  sweep.resume = table->get<"resume">();
  if (table->has("min_resource") && sweep.least > sweep.most) {
    table->problem("min_resource", "'min_resource' is " + std::to_string(sweep.least) + ", above 'max_resource' " +
                                       std::to_string(sweep.most));
  }
  if (tokens <= 0.0) {
    table->problem("max_resource",
                   "[sweep] needs 'training.tokens', the whole run that 'max_resource' units stand for");
  }
  table->finish();
  return sweep;
}

}  // namespace headroom
