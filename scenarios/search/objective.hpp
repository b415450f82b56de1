// SPDX-License-Identifier: Apache-2.0
// What a search looks for: the goal, the trade-offs to show, the limits that a plan must keep.
#pragma once

#include <headroom/core/config_reader.hpp>
#include <headroom/core/quantity.hpp>
#include <headroom/scenarios/keys/words.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

/// Less is better. All but `memory` and `gpus` grow with the step of a job; energy by what the step is spent on.
enum class Goal : std::uint8_t { step_time, time, cost, energy, gpu_hours, gpus, memory };
inline constexpr std::size_t goal_count = goal_names.size();

/// Limits of a plan, in the order in which they are judged.
enum class Limit : std::uint8_t { gpus_on_hand, memory, host_memory, deadline, budget, count };
inline constexpr std::size_t limit_count = static_cast<std::size_t>(Limit::count);

struct Objective {
  Goal minimize = Goal::step_time;
  bool minimize_stated = false;
  std::vector<Goal> pareto;  ///< coordinates of the front; empty: chosen by what is freed
  std::size_t plans = 5;     ///< of the list of the best
  /// A plan of fewer kinds of parallelism wins when it is no more than this behind in goal, time and money each.
  double simplicity = 0.05;
  double memory_margin = 0.0;
  std::optional<Seconds> deadline;  ///< of the whole run
  std::string deadline_text;        ///< "30 d", "31 d from 2026-12-01 to 2027-01-01"
  std::optional<Dollars> budget;
  std::optional<std::int64_t> gpus_on_hand;
  /// Whether the run must end in time or within its money.
  [[nodiscard]] bool limited() const noexcept { return deadline || budget; }
};

/// Reads [objective] where there is one. Problems: a goal or limit without what it needs (tokens, a price), a deadline
/// that lies before its start, a budget that is not positive.
[[nodiscard]] Objective read_objective(ConfigTable* table, const ConfigValue& root);

/// Whether a document speaks of a whole run: training.tokens, or the loss that they follow from.
[[nodiscard]] bool asks_run(const ConfigValue& root) noexcept;

/// Days from one ISO date to another ("2026-12-01"); nullopt when one is no date.
[[nodiscard]] std::optional<double> days_between(std::string_view from, std::string_view to) noexcept;

}  // namespace headroom
