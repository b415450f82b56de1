// SPDX-License-Identifier: Apache-2.0
// The free numbers of a training step for `headroom fit --stack`: their place in the files, their priors, and how
// values become parameters of the model.
#pragma once

#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/train/errors/fit_priors.hpp>
#include <headroom/model/train/errors/posterior.hpp>
#include <headroom/model/train/software/memory_stack.hpp>
#include <headroom/scenarios/question/scenario.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom {

/// A free number. `value`, `low`, `high` and `centre` are in the units of the file, times in seconds.
struct StepKnob {
  StepScope scope = StepScope::physics;
  std::string id;  ///< stack; SKU, generation or "any" for a level; "physics"
  std::string key;
  bool linear = false;  ///< true for a share, fitted as it is; false: fitted as its logarithm
  double value = 0.0, low = 0.0, high = 0.0;
  double centre = 0.0;         ///< centre of the prior without a parent
  double width = 0.0;          ///< standard deviation of the prior, in the fitted scale
  std::ptrdiff_t parent = -1;  ///< index of the knob that the prior is centred on; -1: none
  [[nodiscard]] std::string name() const;
};

/// What decides which numbers a run's prediction depends on.
struct StepOwner {
  std::string stack;
  std::string sku, generation;
  bool experts = false;
};

/// Every free number of the embedded and user files, as listed in `fitted` of a table.
class StepKnobs {
 public:
  /// Throws ConfigError for broken files, or for a fitted number without a prior.
  [[nodiscard]] static StepKnobs of(const Sources& sources);

  [[nodiscard]] const std::vector<StepKnob>& all() const noexcept { return knobs_; }
  /// Indices of the knobs that a run's time can depend on, ascending.
  [[nodiscard]] std::vector<std::size_t> behind(const StepOwner& run) const;

  /// Sets the parameters and stacks to these values, one per knob. Inherited numbers follow their owner.
  void apply(const std::vector<double>& values, StepParameters& parameters, MemoryStacks& stacks) const;

 private:
  struct StackTables {
    std::string id;
    std::string base;
    bool release = false;  ///< of the software that it is based on
    std::vector<std::string> stated, stated_experts;
    std::vector<std::string> fitted, fitted_experts;
  };
  static constexpr std::ptrdiff_t constant = -1;
  [[nodiscard]] static std::vector<StackTables> read_tables(const DataStore& store);
  [[nodiscard]] const StackTables* table_of(std::string_view id) const;
  /// Knob behind a stack's number; `constant` when it is not fitted; nullopt when no table states it.
  [[nodiscard]] std::optional<std::ptrdiff_t> owner(const std::string& stack, bool experts, std::string_view key) const;
  [[nodiscard]] std::optional<std::ptrdiff_t> stated_in(const std::string& stack,
                                                        bool experts,
                                                        std::string_view key) const;
  [[nodiscard]] std::ptrdiff_t find(StepScope scope, std::string_view id, std::string_view key) const noexcept;
  void add_levels(const FitPriors& priors, const Catalog& catalog);
  void add_stacks(const FitPriors& priors, const MemoryStacks& stacks);
  void set_parents(const FitPriors& priors, const StepParameters& parameters, const MemoryStacks& stacks);

  StepLevels levels_;
  std::vector<StackTables> tables_;
  std::vector<StepKnob> knobs_;
  std::vector<std::pair<std::string, std::string>> generations_;  ///< SKU of a level, and its generation
};

}  // namespace headroom
