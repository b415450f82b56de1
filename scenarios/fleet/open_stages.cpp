// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/diagnostic.hpp>
#include <headroom/model/serve/memory/serving.hpp>
#include <headroom/scenarios/fleet/open_stages.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <variant>

namespace headroom {
namespace {

bool states(const ConfigValue& root, std::string_view key) {
  const auto in = [&](std::string_view table) {
    const ConfigValue* const found = root.find(table);
    return found != nullptr && found->kind == ConfigValue::Kind::table && found->find(key) != nullptr;
  };
  return in("strategy") || in("search");
}

/// Knobs that say how large the weights are and what holds them; the others stay at their first values.
bool sizes_weights(Knob knob) noexcept {
  return knob == Knob::gpu || knob == Knob::engine || knob == Knob::weights;
}

/// What holding a request was found to take.
enum class Held : std::uint8_t { yes, no, unknown };

Held holds(const Statement& base, const Changes& changes) {
  try {
    const Scenario scenario = changed(base, changes);
    const auto& s = std::get<ServeScenario>(scenario.question);
    ServingWorkload w = s.work;
    if (!s.beside.empty() || (!s.traffic && w.layout.gpus() > w.gpus)) {
      return Held::unknown;
    }
    w.gpus = w.layout.gpus();
    return serve_memory(s.architecture, s.device, s.engine, w).verdict == Verdict::feasible ? Held::yes : Held::no;
  } catch (const ConfigError&) {  // told where the combination is priced
    return Held::unknown;
  }
}

}  // namespace

void free_stages(const ConfigValue& root, const Statement& base, std::vector<FleetAxis>& axes) {
  const auto of_ranks = [](const FleetAxis& axis) { return axis.front().knob == Knob::tp; };
  const auto tp = std::find_if(axes.begin(), axes.end(), of_ranks);
  if (tp == axes.end() || states(root, "tp") || states(root, "pp")) {
    return;
  }
  constexpr std::array<std::int64_t, 3> all_stages{1, 2, 4};
  constexpr std::uint64_t most_looked_at = 512;
  std::array<bool, all_stages.size()> helps{};
  std::vector<FleetAxis> others;
  for (const FleetAxis& axis : axes) {
    if (axis.front().knob != Knob::tp) {
      others.push_back(sizes_weights(axis.front().knob) ? axis : FleetAxis{axis.front()});
    }
  }
  const auto any_holds = [&](const Changes& rest, std::int64_t stages) -> Held {
    bool refused = false;
    for (const Change& ranks : *tp) {
      Changes changes = rest;
      changes.push_back(ranks);
      if (stages > 1) {
        changes.push_back({Knob::pp, stages});
      }
      const Held held = holds(base, changes);
      if (held == Held::yes) {
        return Held::yes;
      }
      refused = refused || held == Held::no;
    }
    return refused ? Held::no : Held::unknown;
  };
  for (std::uint64_t i = 0; i < std::min(most_looked_at, combinations(others)); ++i) {
    const Changes rest = combination(others, i);
    if (any_holds(rest, 1) != Held::no) {
      continue;
    }
    for (std::size_t n = 1; n < all_stages.size(); ++n) {
      helps[n] = helps[n] || any_holds(rest, all_stages[n]) == Held::yes;
    }
  }
  FleetAxis stages{{Knob::pp, all_stages.front()}};
  for (std::size_t n = 1; n < all_stages.size(); ++n) {
    if (helps[n]) {
      stages.push_back({Knob::pp, all_stages[n]});
    }
  }
  if (stages.size() > 1) {
    axes.insert(tp + 1, std::move(stages));
  }
}

void free_experts(const ConfigValue& root, const Statement& base, std::vector<FleetAxis>& axes) {
  const ConfigValue* const search = root.find("search");
  if (search == nullptr || search->find("strategy") == nullptr || states(root, "ep")) {
    return;
  }
  bool experts = false;
  try {
    const Scenario scenario = changed(base, combination(axes, 0));
    experts = std::get<ServeScenario>(scenario.question).architecture.moe.has_value();
  } catch (const ConfigError&) {  // told where the combination is priced
    return;
  }
  if (experts) {
    FleetAxis ranks;
    for (std::int64_t ep = 1; ep <= 8; ep *= 2) {
      ranks.push_back({Knob::ep, ep});
    }
    const auto of_ranks = [](const FleetAxis& axis) {
      return axis.front().knob == Knob::tp || axis.front().knob == Knob::pp;
    };
    const auto last = std::find_if(axes.rbegin(), axes.rend(), of_ranks);
    axes.insert(last == axes.rend() ? axes.end() : last.base(), std::move(ranks));
  }
}

}  // namespace headroom
