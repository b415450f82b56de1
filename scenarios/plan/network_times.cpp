// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/number_words.hpp>
#include <headroom/core/real.hpp>
#include <headroom/scenarios/money/formulas.hpp>
#include <headroom/scenarios/plan/network_times.hpp>
#include <headroom/scenarios/plan/plan.hpp>
#include <headroom/scenarios/words/verdict_text.hpp>

#include <algorithm>
#include <memory>

namespace headroom {
namespace {

NetworkRecipe recipe_of(const NetworkScenario& s, TermSet without) {
  const StepParameters& parameters = step_parameters(*s.data);
  NetworkRecipe recipe;
  recipe.device = s.device;
  recipe.stack = s.software.time.plain;
  recipe.physics = parameters.physics;
  recipe.level = parameters.levels.of(s.device, parameters.physics.power_clock)
                     .at_clock(std::min(s.clock, matrix_clock(s.device, s.power_cap, power_form(*s.data))));
  recipe.precision = s.precision;
  recipe.training = s.training;
  recipe.global_batch = real(s.global_batch);
  recipe.host_link = host_link_of(s.device, s.host ? &*s.host : nullptr);
  recipe.host_gpus = std::min(s.gpus_per_node, s.gpus);
  recipe.feed = s.feed;
  recipe.without = without;
  return recipe;
}

/// Days and dollars of a run, where they are asked for.
void price_run(const NetworkScenario& s, double width, NetworkTimes& t) {
  const double gpus = real(s.gpus);
  const double batch = real(s.global_batch);
  t.gpu_hours_per_million_samples = gpu_hours_per_million(gpus, Hertz{t.samples_per_s.mid});
  if (s.samples > 0.0) {
    t.duration = widened(s.samples / batch * t.step.mid, width);
    t.gpu_hours = widened(gpus * (t.duration.mid / hour), width);
  }
  if (!s.money.price) {
    return;
  }
  t.cost_per_million_samples = widened(cost_per_million(gpus * *s.money.price, Hertz{t.samples_per_s.mid}), width);
  if (s.samples > 0.0) {
    t.cost = widened(rent(*s.money.price, gpus, t.duration.mid), width);
  }
}

std::optional<PlanEnergy> energy_of_run(const NetworkScenario& s, double width, const NetworkTimes& t) {
  const std::optional<GpuPower> power =
      gpu_power(s.device, s.host ? &*s.host : nullptr, s.power_cap, power_form(*s.data));
  if (!power) {
    return std::nullopt;
  }
  EnergyWork work;
  work.gpus = real(s.gpus);
  work.gpus_per_node = real(s.gpus_per_node);
  work.shares = shares_of(t.parts.time);
  work.step = t.step.mid;
  work.run = t.duration.mid;
  work.rate = Hertz{t.samples_per_s.mid};
  work.width = width;
  return energy_of(*power, matrix_clock(s.device, s.power_cap, power_form(*s.data)), s.energy, work);
}

NetworkTimes times_of(const NetworkScenario& s, const NetworkStepTime& parts) {
  const Confidence& confidence = step_confidence(*s.data);
  NetworkTimes t;
  t.parts = parts;
  // No row says how the kernels of a network of ops train; on a SKU without measured kernels nobody measured any.
  t.run_class = widest_class(confidence);
  t.errors = errors_beside(confidence[t.run_class], confidence[RunClass::other_kernels]);
  if (class_of(s.device, {}, false, confidence.measured) == RunClass::other_kernels) {
    t.errors = errors_beside(t.errors, confidence[RunClass::other_kernels]);
  }
  const double width = t.errors.width_80;
  const double gpus = real(s.gpus);
  t.step = widened(parts.step(), width);
  t.samples_per_s = widened(real(s.global_batch) / parts.step().raw(), width);
  t.samples_per_s_per_gpu = widened(t.samples_per_s.mid / gpus, width);
  const Flops own = model_flops(s.network);
  const FlopsPerSecond peak = s.device.peak_of(row_of(s.precision).rate);
  t.utilisation = widened(real(s.global_batch) * own / parts.step() / gpus / peak, width);
  t.utilisation.high = std::min(t.utilisation.high, 1.0);
  const double more = own > Flops{} ? recomputed_flops(s.network, s.training.recompute) / own : 0.0;
  t.executed = t.utilisation.mid * (1.0 + more);
  t.binds = what_binds(parts.time);
  price_run(s, width, t);
  t.bill = bill_of(s.money, gpus, t.duration);
  t.energy = energy_of_run(s, width, t);
  if (s.target) {
    t.target = judge_utilisation(t.utilisation, *s.target, 1.0 / (1.0 + more), t.binds);
  }
  return t;
}

}  // namespace

UtilisationTarget judge_utilisation(const Interval<double>& utilisation,
                                    double asked,
                                    double ceiling,
                                    const std::string& binds) {
  UtilisationTarget target;
  target.asked = asked;
  target.text = "utilisation " + percent(utilisation.mid) + ", ";
  const std::string wanted = "the " + percent(asked) + " asked for";
  if (utilisation.low >= asked) {
    target.verdict = TargetVerdict::reached;
    target.text += "at or above " + wanted + ", at the low end too";
    return target;
  }
  if (utilisation.mid >= asked) {
    target.verdict = TargetVerdict::likely;
    target.text += "at or above " + wanted + ", but not at the low end";
    return target;
  }
  target.verdict = utilisation.high >= asked ? TargetVerdict::unlikely : TargetVerdict::out_of_reach;
  target.text += "below " + wanted + (target.verdict == TargetVerdict::unlikely ? ", which the upper end reaches" : "");
  target.text += ": what binds is " + binds;
  if (ceiling < asked) {
    target.text += "; recomputation alone leaves at most " + percent(ceiling) + " of the peak to the model's own FLOP";
  }
  return target;
}

PricedNetwork price_network(const NetworkScenario& s, bool explain, TermSet without) {
  PricedNetwork priced;
  const std::vector<std::string> missing = ops_without_kernels(s.network);
  if (!missing.empty()) {
    priced.untimed = missing.front();
    if (missing.size() > 1) {
      priced.untimed += " (and " + std::to_string(missing.size() - 1) + " more ops like it)";
    }
    return priced;
  }
  try {
    const auto groups =
        std::make_shared<const JobGroups>(*s.data, s.device, JobHosts{s.host, 0, std::nullopt, s.cluster}, s.gpus);
    const NetworkStep step{s.network, recipe_of(s, without), groups};
    const NetworkStepTime parts = step.time();
    if (parts.step() <= Seconds{}) {
      priced.untimed = "every term of the step is left out";
      return priced;
    }
    priced.times = times_of(s, parts);
    if (explain) {
      ExplainRecorder recorder;
      record_network_step(step, parts, recorder);
      priced.explain = recorder.entries();
    }
  } catch (const ConfigError& error) {
    priced.untimed = error.diagnostics().front().message;
  }
  return priced;
}

}  // namespace headroom
