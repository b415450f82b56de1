// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/door/blank_layout.hpp>
#include <headroom/core/config_reader.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/real.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace headroom {
namespace {

/// Whether a document says how its ranks are laid out, or frees it.
bool states_layout(const ConfigValue& document) {
  constexpr std::array<std::string_view, 8> keys{"tp", "pp", "cp", "ep", "etp", "dp", "vpp", "zero"};
  const ConfigValue* const strategy = document.find("strategy");
  return document.find("search") != nullptr ||
         (strategy != nullptr &&
          std::any_of(keys.begin(), keys.end(), [&](std::string_view key) { return strategy->find(key) != nullptr; }));
}

bool states_gpus(const ConfigValue& document) {
  const ConfigValue* const hardware = document.find("hardware");
  return hardware != nullptr && hardware->find("gpus") != nullptr;
}

/// Requests of a fixed load that surely run at once; 0 where the replica does not surely fit.
double surely_running(const Scenario& scenario) {
  const Plan plan = make_plan(scenario, false, PlanPart::memory);
  const auto& served = std::get<ServePlan>(plan.answer);
  const bool fits = served.problems.empty() && served.estimate.verdict == Verdict::feasible;
  return fits ? served.running.low : 0.0;
}

Scenario sized(const Scenario& scenario, std::int64_t gpus, const Changes& layout) {
  Changes changes = layout;
  changes.insert(changes.begin(), Change{Knob::gpus, gpus});
  Scenario found = changed(scenario, changes);
  const ServingLayout& ranks = std::get<ServeScenario>(found.question).work.layout;
  found.assumptions.push_back(
      "hardware.gpus = " + std::to_string(gpus) + " (not stated; " +
      (layout.empty() ? "replicas that surely hold" : "the least power of two that surely holds") +
      " all requests at once: " + counted(gpus / ranks.gpus(), "replica") + " of tp " + std::to_string(ranks.tp) +
      ", pp " + std::to_string(ranks.pp) + ")");
  return found;
}

/// Of replicas whose layout is stated: each holds its share of the requests, however many they are.
std::optional<Scenario> least_replicas(const Scenario& scenario, const ServeScenario& serve) {
  const std::int64_t ranks = serve.work.layout.gpus();
  const double asked = real(serve.work.concurrency);
  std::int64_t replicas = serve.work.gpus / ranks;
  while (replicas * ranks <= most_sized_gpus) {
    Scenario found = sized(scenario, replicas * ranks, {});
    const double running = surely_running(found);
    if (running >= asked) {
      return found;
    }
    if (running <= 0.0) {
      break;
    }
    const double enough = std::ceil(real(replicas) * asked / running);
    replicas = std::max(replicas + 1, static_cast<std::int64_t>(std::min(enough, real(most_sized_gpus) + 1.0)));
  }
  return std::nullopt;
}

std::optional<Scenario> least_layout(const Scenario& scenario, const ServeScenario& serve) {
  const std::int64_t host = serve.host ? serve.host->gpus : 8;
  const double asked = real(serve.work.concurrency);
  for (std::int64_t gpus = 1; gpus <= most_sized_gpus; gpus *= 2) {
    std::int64_t tp = gpus;
    while (tp > host) {
      tp /= 2;
    }
    for (std::int64_t pp = 1; pp <= gpus / tp; pp *= 2) {
      if (Scenario found = sized(scenario, gpus, {{Knob::tp, tp}, {Knob::pp, pp}}); surely_running(found) >= asked) {
        return found;
      }
    }
  }
  return std::nullopt;
}

bool is_blank(const Plan& plan) {
  return plan.part == PlanPart::all && plan.scenario.document && !states_layout(*plan.scenario.document);
}

}  // namespace

std::optional<SearchQuestion> search_of_blank(const Plan& plan) {
  const auto* const train = std::get_if<TrainPlan>(&plan.answer);
  const auto is = [&](Verdict verdict) { return train->estimate.verdict == verdict; };
  const bool misfit =
      train != nullptr && (is(Verdict::out_of_memory) || is(Verdict::may_not_fit) || is(Verdict::batch_not_divisible));
  if (!misfit || !is_blank(plan) || std::get<TrainScenario>(plan.scenario.question).work.shape.gpus == 1) {
    return std::nullopt;
  }
  ConfigValue document = *plan.scenario.document;
  Diagnostics diagnostics;
  apply_override(document, Assignment{"search.strategy=any"}, diagnostics);
  return read_search(document, plan.scenario.file, *plan.scenario.sources);
}

std::optional<BoxQuestion> box_of_blank(const Plan& plan) {
  const auto* const served = std::get_if<ServePlan>(&plan.answer);
  const bool short_of_memory = served != nullptr && served->problems.empty() && !plan.feasible();
  if (!short_of_memory || !is_blank(plan) || std::get<ServeScenario>(plan.scenario.question).work.gpus == 1) {
    return std::nullopt;
  }
  return read_box(*plan.scenario.document, plan.scenario.file, *plan.scenario.sources);
}

std::optional<Scenario> on_least_gpus(const Scenario& scenario) {
  const auto* const serve = std::get_if<ServeScenario>(&scenario.question);
  if (serve == nullptr || serve->traffic || !scenario.document || states_gpus(*scenario.document)) {
    return std::nullopt;
  }
  return states_layout(*scenario.document) ? least_replicas(scenario, *serve) : least_layout(scenario, *serve);
}

std::string blank_layout_note(const Plan& plan, bool complete) {
  const auto* const train = std::get_if<TrainPlan>(&plan.answer);
  const bool divides = train == nullptr || train->estimate.verdict != Verdict::batch_not_divisible;
  return std::string{"strategy: not stated; "} + (train != nullptr ? "a data-parallel replica" : "a replica") +
         " on one rank does not " + (divides ? "surely fit" : "divide the global batch") + ", so that " +
         (complete ? "every layout was tried" : "layouts were tried until the search was stopped");
}

}  // namespace headroom
