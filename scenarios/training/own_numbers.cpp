// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/train/errors/posterior.hpp>
#include <headroom/scenarios/question/scenario.hpp>
#include <headroom/scenarios/training/confidence.hpp>
#include <headroom/scenarios/training/own_numbers.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace headroom {

bool states_network(const TrainScenario& train) noexcept {
  return train.cluster && train.cluster->nic_reach;
}

StepNumbers numbers_of(const TrainScenario& train) {
  StepNumbers numbers{step_parameters(*train.data), train.software.time};
  if (states_network(train)) {
    numbers.parameters.physics.nic = train.cluster->nic_reach->value;
    numbers.time.plain.nic = numbers.time.moe.nic = 1.0;
  }
  return numbers;
}

KeyedNumbers::KeyedNumbers(const ModelData& data, StepNumbers numbers, const Device& device, bool experts)
    : numbers_{std::move(numbers)}, experts_{experts} {
  const FitPriors& priors = step_priors(data);
  for (const std::string& name : step_posterior(data).keys) {
    Keyed k;
    const std::size_t dot = name.find('.');
    k.scope = std::string_view{name}.substr(0, dot);
    k.key = std::string_view{name}.substr(dot + 1);
    k.value = std::numeric_limits<double>::quiet_NaN();
    if (k.scope == "physics") {
      k.value = step_number(numbers_.parameters.physics, k.key);
    } else if (k.scope == "stack") {
      k.value = step_number(experts ? numbers_.time.moe : numbers_.time.plain, k.key);
    } else {
      for (const std::string& id : {device.id, device.generation, std::string{"any"}}) {
        const auto stated = numbers_.parameters.levels.stated().find(id);
        if (const std::optional<double> value = stated == numbers_.parameters.levels.stated().end()
                                                    ? std::nullopt
                                                    : step_number(stated->second, k.key)) {
          k.value = *value;
          k.level = id;
          break;
        }
      }
    }
    const auto prior = priors.find(name);
    if (prior == priors.end()) {
      throw ConfigError{"posterior.toml has " + quoted(name) + ", but priors.toml says nothing about it"};
    }
    k.linear = prior->second.linear;
    // A number that a file states outside of the bounds of the fit moves from where it is.
    k.low = std::min(prior->second.low, k.value);
    k.high = std::max(prior->second.high, k.value);
    keys_.push_back(std::move(k));
  }
}

double KeyedNumbers::value(std::size_t key, double by) const noexcept {
  const Keyed& k = keys_[key];
  return std::clamp(k.linear ? k.value + by : k.value * std::exp(by), k.low, k.high);
}

double KeyedNumbers::reach(std::size_t key, double by) const noexcept {
  const Keyed& k = keys_[key];
  if (!std::isfinite(k.value) || (!k.linear && k.value <= 0.0)) {
    return 0.0;
  }
  const double to = value(key, by);
  return k.linear ? to - k.value : std::log(to / k.value);
}

StepNumbers KeyedNumbers::moved(std::span<const double> by) const {
  StepNumbers numbers = numbers_;
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    const Keyed& k = keys_[i];
    if (by[i] == 0.0 || reach(i, by[i]) == 0.0) {
      continue;
    }
    const double to = value(i, by[i]);
    if (k.scope == "physics") {
      set_step_number(numbers.parameters.physics, k.key, to);
    } else if (k.scope == "stack") {
      set_step_number(experts_ ? numbers.time.moe : numbers.time.plain, k.key, to);
    } else {
      numbers.parameters.levels.set(k.level, k.key, to);
    }
  }
  return numbers;
}

namespace {

/// An axis that the scenario leaves open counts as one that a row leaves blank.
JobPlace place_of_question(const TrainScenario& train) {
  const auto axis = [](auto value) { return std::log(static_cast<double>(value)); };
  JobPlace place;
  place.axes = {axis(train.architecture.hidden), axis(train.work.shape.seq_len),
                axis(train.strategy.tp),         axis(train.strategy.pp),
                axis(train.strategy.cp),         train.micro_batch_open ? 0.0 : axis(train.strategy.micro_batch),
                axis(train.work.shape.gpus)};
  place.recipe = static_cast<int>(train.work.precision);
  return place;
}

}  // namespace

OwnNumbers numbers_without_runs(const TrainScenario& train, RunClass run_class, std::span<const JobPlace> runs) {
  const ModelData& data = *train.data;
  const StepPosterior& posterior = step_posterior(data);
  StepUnknown unknown = unknown_of(train, run_class);
  double noise = std::pow(posterior.run_noise(unknown.kind), 2);
  Likeness likeness{posterior.alike * noise, posterior.length};
  // Classes are of errors; a step takes a software's numbers with experts where its network has experts.
  const bool experts = train.architecture.moe.has_value();
  unknown.kind = experts ? StepKind::experts : unknown.kind == StepKind::experts ? StepKind::dense : unknown.kind;
  double level = posterior.level * posterior.level;
  if (run_class == RunClass::other_kernels) {
    const ClassErrors& past = step_confidence(data)[run_class];
    const StepVariance known = posterior.variance(unknown);
    level = std::max(level, past.level * past.level - known.numbers - known.software - known.sku);
    noise = past.shape * past.shape;
    likeness.variance = 0.0;  // nobody saw how like such runs are
  }
  const StepNumbers numbers = numbers_of(train);
  std::vector<JobPlace> places{place_of_question(train)};
  places.insert(places.end(), runs.begin(), runs.end());
  const UpdatedNumbers before = at_places(without_runs(posterior.prior_of(unknown), level), likeness, places);
  return {numbers, KeyedNumbers{data, numbers, train.device, experts}, before, before, noise - likeness.variance, {},
          {}};
}

std::vector<std::vector<double>> derivatives_of(const KeyedNumbers& keyed,
                                                const UpdatedNumbers& prior,
                                                const LogSteps& steps) {
  constexpr double distance = 0.01;
  std::vector<double> by(keyed.size(), 0.0);
  const std::vector<double> base = steps(keyed.moved(by));
  std::vector<std::vector<double>> derivatives(base.size(), std::vector<double>(keyed.size(), 0.0));
  for (std::size_t key = 0; key < keyed.size(); ++key) {
    if (prior.covariance(key, key) <= 0.0) {
      continue;
    }
    double reach = keyed.reach(key, distance);
    reach = reach < 0.5 * distance ? keyed.reach(key, -distance) : reach;
    if (reach == 0.0) {
      continue;
    }
    by[key] = reach;
    const std::vector<double> moved = steps(keyed.moved(by));
    by[key] = 0.0;
    for (std::size_t job = 0; job < base.size(); ++job) {
      const double by_key = (moved[job] - base[job]) / reach;
      derivatives[job][key] = std::isfinite(by_key) ? by_key : 0.0;  // a job that is refused with these numbers
    }
  }
  return derivatives;
}

}  // namespace headroom
