// SPDX-License-Identifier: Apache-2.0
#include <headroom/scenarios/keys/read_key.hpp>
#include <headroom/scenarios/read/advice_reader.hpp>

#include <array>

namespace headroom {
namespace {

/// A row of the table of keys, for its bounds and words.
const Key& row(std::string_view path) {
  return key_of(path, Kinds::train);
}

}  // namespace

std::optional<BatchChange> read_batch_change(ConfigTable& training) {
  const std::optional<std::int64_t> base = maybe_integer_at(training, row("training.base_batch"));
  BatchChange change;
  change.rate = maybe_number_at(training, row("training.base_learning_rate"));
  change.critical = maybe_number_at(training, row("training.critical_batch"));
  change.loss = maybe_number_at(training, row("training.target_loss"));
  change.epoch_samples = maybe_number_at(training, row("training.epoch_samples"));
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

std::vector<std::int64_t> read_elastic(ConfigTable& training) {
  if (!training.has("elastic")) {
    return {};
  }
  const std::vector<std::int64_t> counts = training.integers("elastic");
  const Range<std::int64_t> range = integers_of(row("training.elastic"));
  for (const std::int64_t gpus : counts) {
    if (gpus < range.low || gpus > range.high) {
      training.problem("elastic", "'elastic' holds " + std::to_string(gpus) + "; GPU counts are " +
                                      std::to_string(range.low) + " to " + std::to_string(range.high));
    }
  }
  return counts;
}

std::optional<SweepQuestion> read_sweep(ConfigTable& root, double tokens) {
  std::optional<ConfigTable> table = root.maybe_table("sweep");
  if (!table) {
    return std::nullopt;
  }
  SweepQuestion sweep;
  sweep.configurations = integer_at(*table, row("sweep.configurations"));
  sweep.most = integer_at(*table, row("sweep.max_resource"));
  sweep.least = maybe_integer_at(*table, row("sweep.min_resource")).value_or(1);
  sweep.eta = maybe_integer_at(*table, row("sweep.eta")).value_or(3);
  sweep.parallel = maybe_integer_at(*table, row("sweep.parallel")).value_or(1);
  sweep.resume = table->maybe_boolean("resume").value_or(false);
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
