// SPDX-License-Identifier: Apache-2.0
#include <headroom/scenarios/read/advice_reader.hpp>

#include <array>

namespace headroom {
namespace {

constexpr std::int64_t most_batch = 1'000'000'000;
constexpr std::int64_t most_gpus = 10'000'000;

}  // namespace

std::optional<BatchChange> read_batch_change(ConfigTable& training) {
  const std::optional<std::int64_t> base = training.maybe_integer("base_batch", {1, most_batch});
  BatchChange change;
  change.rate = training.maybe_number("base_learning_rate", {1e-12, 1e3});
  change.critical = training.maybe_number("critical_batch", {1.0, 1e12});
  change.loss = training.maybe_number("target_loss", {0.1, 20.0});
  change.epoch_samples = training.maybe_number("epoch_samples", {1.0, 1e18});
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
  for (const std::int64_t gpus : counts) {
    if (gpus < 1 || gpus > most_gpus) {
      training.problem(
          "elastic", "'elastic' holds " + std::to_string(gpus) + "; GPU counts are 1 to " + std::to_string(most_gpus));
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
  sweep.configurations = table->integer("configurations", {1, most_batch});
  sweep.most = table->integer("max_resource", {1, most_batch});
  sweep.least = table->maybe_integer("min_resource", {1, most_batch}).value_or(1);
  sweep.eta = table->maybe_integer("eta", {2, 1000}).value_or(3);
  sweep.parallel = table->maybe_integer("parallel", {1, 1'000'000}).value_or(1);
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
