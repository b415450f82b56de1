// SPDX-License-Identifier: Apache-2.0
#include <headroom/scenarios/plan/sensitivity.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace headroom {
namespace {

template <class Q>
void scale(std::optional<Sourced<Q>>& number, double factor) {
  if (number) {
    number->value *= factor;
  }
}

/// Links between GPUs that the SKU or its node states. PCIe has the rates of its generations and none between.
bool states_scale_up(const TrainScenario& t) noexcept {
  const Device::ScaleUp& link = t.device.scale_up;
  const LinkTopology topology = t.host ? t.host->topology : link.topology;
  if (topology == LinkTopology::pcie || topology == LinkTopology::none) {
    return false;
  }
  return link.per_gpu || link.per_pair || link.link_rate || (t.host && (t.host->per_gpu || t.host->per_pair));
}

/// Whether more of the resource can reach the step at all.
bool matters(const TrainScenario& t, Resource resource) noexcept {
  const std::int64_t gpus = t.work.shape.gpus;
  switch (resource) {
    case Resource::scale_up: return gpus > 1 && states_scale_up(t);
    case Resource::scale_out: return t.host && t.host->nic_rate && gpus > t.domain;
    case Resource::matrix_rate:
    case Resource::memory_bandwidth:
    case Resource::memory_capacity:
    case Resource::count: break;
  }
  return true;
}

/// Axes that a larger memory closes anew.
OpenStrategy reopened(const TrainScenario& t, const Strategy& strategy) noexcept {
  const bool recomputes = strategy.recompute != Recompute::none;
  return {strategy, t.micro_batch_open, t.recompute_open || recomputes, false};
}

/// What a stated recomputation would be today if it were left open, where that is faster.
std::optional<Choice> faster_today(const TrainScenario& t,
                                   const Strategy& strategy,
                                   Seconds base,
                                   const std::shared_ptr<const JobGroups>& groups,
                                   TermSet without) {
  if (t.recompute_open || strategy.recompute == Recompute::none) {
    return std::nullopt;
  }
  const CompiledTraining compiled = compile_question(t, PlanPart::all, groups, without).compiled;
  const TrainAnswer open = answer_question(compiled, reopened(t, strategy));
  const Seconds step = open.estimate.step;
  if (open.estimate.verdict != Verdict::feasible || step <= Seconds{} || step >= base) {
    return std::nullopt;
  }
  return Choice{open.strategy, step, base / step - 1.0};
}

/// Capacity gains by strategies that do not fit today; one that does is told apart, and is no gain.
void credit_memory(const Strategy& strategy, Seconds base, Sensitivity& found) {
  if (found.today && found.strategy == found.today->strategy) {
    found.strategy = strategy;
    found.step = base;
  }
}

/// The strategy that answers, and its step.
Sensitivity priced(const TrainScenario& more,
                   Resource resource,
                   const Strategy& strategy,
                   const std::shared_ptr<const JobGroups>& groups,
                   TermSet without) {
  const CompiledTraining compiled = compile_question(more, PlanPart::all, groups, without).compiled;
  Sensitivity result{resource, 0.0, {}, strategy, std::nullopt};
  if (resource == Resource::memory_capacity) {
    result.strategy = close_open_axes(compiled, reopened(more, strategy), FitRule::surely);
  }
  result.step = evaluate(compiled, table_for(compiled, result.strategy), result.strategy).step;
  return result;
}

}  // namespace

TrainScenario with_more(const TrainScenario& train, Resource resource, double factor) {
  TrainScenario more = train;
  Device& d = more.device;
  switch (resource) {
    case Resource::matrix_rate:
      for (auto& peak : d.peak) {
        scale(peak, factor);
      }
      break;
    case Resource::memory_bandwidth: scale(d.memory.bandwidth, factor); break;
    case Resource::memory_capacity:
      scale(d.memory.marketed, factor);
      scale(d.memory.usable, factor);
      scale(d.memory.visible, factor);
      break;
    case Resource::scale_up:
      scale(d.scale_up.link_rate, factor);
      scale(d.scale_up.per_gpu, factor);
      scale(d.scale_up.per_pair, factor);
      if (more.host) {
        scale(more.host->per_gpu, factor);
        scale(more.host->per_pair, factor);
      }
      break;
    case Resource::scale_out:
      if (more.host) {
        scale(more.host->nic_rate, factor);
      }
      break;
    case Resource::count: break;
  }
  return more;
}

std::vector<Sensitivity> sensitivities_of(const TrainScenario& train,
                                          const Strategy& strategy,
                                          Seconds base,
                                          TermSet without,
                                          std::shared_ptr<const JobGroups> groups) {
  std::vector<Sensitivity> result;
  if (base <= Seconds{}) {
    return result;
  }
  groups = groups ? std::move(groups) : groups_of(train);
  for (std::size_t i = 0; i < resource_count; ++i) {
    const auto resource = static_cast<Resource>(i);
    if (!matters(train, resource)) {
      continue;
    }
    const bool links = resource == Resource::scale_up || resource == Resource::scale_out;
    Sensitivity found = priced(with_more(train, resource, 1.0 + sensitivity_more), resource, strategy,
                               links ? nullptr : groups, without);
    if (found.step > Seconds{}) {
      if (resource == Resource::memory_capacity) {
        found.today = faster_today(train, strategy, base, groups, without);
        credit_memory(strategy, base, found);
      }
      found.faster = base / found.step - 1.0;
      result.push_back(found);
    }
  }
  return result;
}

}  // namespace headroom
