// SPDX-License-Identifier: Apache-2.0
// What a search may change: the axes that [search] frees, with the values it gives them.
#pragma once

#include <headroom/core/config_reader.hpp>
#include <headroom/scenarios/question/change.hpp>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// Axes of a strategy, as keys of [strategy].
enum class StrategyAxis : std::uint8_t {
  order,
  tp,
  cp,
  ep,
  etp,
  pp,
  micro_batch,
  sequence_parallel,
  recompute,
  recompute_block,
  cp_form,
  overlap_experts,
  cuda_graphs,
  shard_ranks,
  schedule,
  vpp,
  zero,
  count
};
inline constexpr std::size_t strategy_axis_count = static_cast<std::size_t>(StrategyAxis::count);
inline constexpr std::array<std::string_view, strategy_axis_count> strategy_axis_names{
    "order",       "tp",
    "cp",          "ep",
    "etp",         "pp",
    "micro_batch", "sequence_parallel",
    "recompute",   "recompute_block",
    "cp_form",     "overlap_experts",
    "cuda_graphs", "shard_ranks",
    "schedule",    "vpp",
    "zero"};

/// Values of one axis at the most.
inline constexpr std::size_t most_axis_values = 4096;

/// The product of numbers of values, or the largest number where that is more.
[[nodiscard]] constexpr std::uint64_t times_up_to_most(std::uint64_t a, std::uint64_t b) noexcept {
  constexpr std::uint64_t most = ~std::uint64_t{0};
  return b > 0 && a > most / b ? most : a * b;
}

/// `any`: every value that the layout around it allows, as docs/search.md lists them.
struct AxisValues {
  bool free = false;
  bool any = false;
  std::vector<std::int32_t> values;  ///< ascending, no value twice; booleans and words by their number
};

class StrategyAxes {
 public:
  [[nodiscard]] AxisValues& operator[](StrategyAxis axis) noexcept { return axes_[static_cast<std::size_t>(axis)]; }
  [[nodiscard]] const AxisValues& operator[](StrategyAxis axis) const noexcept {
    return axes_[static_cast<std::size_t>(axis)];
  }

 private:
  std::array<AxisValues, strategy_axis_count> axes_;
};

/// An axis whose values make another job: another SKU, another number of GPUs, another recipe.
struct JobAxis {
  std::string_view name;
  Knob knob = Knob::count;
  bool any = false;  ///< what there is, decided where the catalog is known
  Changes values;    ///< of the knob
};

struct FreedAxes {
  StrategyAxes strategy;
  bool all = false;           ///< strategy = "any": with the axes what else does not change a network's numbers
  std::vector<JobAxis> jobs;  ///< in the order of the table of job axes, so that results do not hang on the file's
};

/// Reads [search]: each key an axis, each value a list, a range ("1..16", "8..1024 x2", "0..64 step 8"), one value or
/// "any"; `strategy = "any"` frees what [strategy] does not state. Freed and stated at once is a problem.
[[nodiscard]] FreedAxes read_axes(ConfigTable& search, const ConfigValue& root);

/// "1..16", "8..1024 x2", "0..64 step 8". Empty when it is no range.
[[nodiscard]] std::vector<std::int64_t> parse_range(std::string_view text);
/// Of a range that runs downward, "512..1", the middle of a sentence that says so; empty of any other text.
[[nodiscard]] std::string reversed_range_text(std::string_view text);

}  // namespace headroom
