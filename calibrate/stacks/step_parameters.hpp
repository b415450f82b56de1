// SPDX-License-Identifier: Apache-2.0
// The numbers behind a training step that `headroom fit --stack` may move: where each lives, what is believed of it
// before any run is seen, and how a set of values becomes the parameters of the model.
#pragma once

#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/train/software/memory_stack.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headroom {

/// Whose number it is.
enum class StepScope : std::uint8_t { physics, level, stack, experts };

/// One free number. `value`, `low`, `high` and `centre` are in the units of the file, times in seconds.
struct StepKnob {
  StepScope scope = StepScope::physics;
  std::string id;  ///< of the stack; SKU, generation or "any" of a level; "physics"
  std::string key;
  bool linear = false;  ///< a share: its own scale; else the logarithm's
  double value = 0.0, low = 0.0, high = 0.0;
  double centre = 0.0;         ///< of the prior, where there is no parent
  double width = 0.0;          ///< of the prior, in the scale
  std::ptrdiff_t parent = -1;  ///< the knob that this one is expected near
  [[nodiscard]] std::string name() const;
};

/// What one run's prediction rests on.
struct StepOwner {
  std::string stack;
  std::string sku, generation;
  bool experts = false;
};

/// Every free number of the embedded and user files: those that a table's `fitted` lists.
class StepKnobs {
 public:
  /// ConfigError for broken files, or for a fitted number without a prior.
  [[nodiscard]] static StepKnobs standard(const Catalog& catalog);

  [[nodiscard]] const std::vector<StepKnob>& all() const noexcept { return knobs_; }
  /// Those that a run's time can depend on, in order.
  [[nodiscard]] std::vector<std::size_t> behind(const StepOwner& run) const;

  /// The parameters and stacks at these values, one a knob. What is inherited follows its owner.
  void apply(const std::vector<double>& values, StepParameters& parameters, MemoryStacks& stacks) const;

 private:
  struct StackTables {
    std::string id;
    std::string base;
    std::vector<std::string> stated, stated_experts;
    std::vector<std::string> fitted, fitted_experts;
  };
  static constexpr std::ptrdiff_t constant = -1;
  [[nodiscard]] static std::vector<StackTables> read_tables();
  [[nodiscard]] const StackTables* table_of(std::string_view id) const;
  /// The knob behind a stack's number, `constant` where no fit moves it, nullopt where no table states it.
  [[nodiscard]] std::optional<std::ptrdiff_t> owner(const std::string& stack, bool experts, std::string_view key) const;
  [[nodiscard]] std::optional<std::ptrdiff_t> stated_in(const std::string& stack,
                                                        bool experts,
                                                        std::string_view key) const;
  [[nodiscard]] std::ptrdiff_t find(StepScope scope, std::string_view id, std::string_view key) const noexcept;
  void add_levels(const StepLevels& levels, const Catalog& catalog);
  void add_stacks(const MemoryStacks& stacks);
  void set_parents(const StepParameters& parameters, const MemoryStacks& stacks);

  std::vector<StackTables> tables_;
  std::vector<StepKnob> knobs_;
  std::vector<std::pair<std::string, std::string>> generations_;  ///< a level's SKU, and its generation
};

}  // namespace headroom
