// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/train/software/rough_stack.hpp>
#include <headroom/scenarios/plan/network_plan.hpp>
#include <headroom/scenarios/plan/plan.hpp>
#include <headroom/scenarios/training/data_feed.hpp>
#include <headroom/scenarios/words/verdict_text.hpp>

#include <algorithm>

namespace headroom {
namespace {

constexpr std::int64_t largest_open_micro_batch = 1024;

/// The rules of data parallelism, each with the nearest values that obey.
std::vector<std::string> broken_rules(const NetworkScenario& s) {
  std::vector<std::string> problems;
  if (s.dp != s.gpus) {
    problems.push_back("dp " + std::to_string(s.dp) + " does not use " + std::to_string(s.gpus) +
                       " GPUs; set strategy.dp = " + std::to_string(s.gpus) +
                       " or hardware.gpus = " + std::to_string(s.dp));
  }
  const std::int64_t pass = s.dp * s.training.micro_batch;
  if (s.global_batch % pass != 0) {
    const std::int64_t below = s.global_batch / pass * pass;
    problems.push_back("global batch " + std::to_string(s.global_batch) + " does not divide by dp x micro-batch " +
                       std::to_string(pass) + "; set training.global_batch = " +
                       (below > 0 ? std::to_string(below) + " or " : "") + std::to_string(below + pass));
  }
  return problems;
}

/// What lies on top of the op list's own bytes.
struct Overhead {
  double fragmentation = 0.0;
  Bytes framework{};
  [[nodiscard]] Bytes on(Bytes allocated) const noexcept { return fragmentation * allocated + framework; }
};

Bytes needs(const NetworkScenario& s, const NetworkTraining& training, const Overhead& overhead) {
  const Bytes allocated = training_memory(s.network, training).total();
  return allocated + overhead.on(allocated);
}

/// Micro-batches that make the global batch, the largest first.
std::vector<std::int64_t> legal_micro_batches(const NetworkScenario& s) {
  std::vector<std::int64_t> result;
  if (s.global_batch % s.dp == 0) {
    const std::int64_t per_rank = s.global_batch / s.dp;
    for (std::int64_t b = std::min(per_rank, largest_open_micro_batch); b >= 1; --b) {
      if (per_rank % b == 0) {
        result.push_back(b);
      }
    }
  }
  return result;
}

/// No recomputation when that fits, else full; the largest micro-batch that fits, else the smallest.
void close_open_axes(NetworkScenario& s, const Overhead& overhead, Bytes capacity, std::vector<std::string>& notes) {
  std::vector<SegmentRecompute> modes{s.training.recompute};
  if (s.recompute_open) {
    modes = {SegmentRecompute{}, SegmentRecompute{1, {}}};
  }
  std::vector<std::int64_t> batches{s.training.micro_batch};
  if (s.micro_batch_open) {
    batches = legal_micro_batches(s);
  }
  NetworkTraining chosen = s.training;
  bool found = false;
  for (std::size_t m = 0; m < modes.size() && !found; ++m) {
    for (std::size_t b = 0; b < batches.size() && !found; ++b) {
      chosen.recompute = modes[m];
      chosen.micro_batch = batches[b];
      found = needs(s, chosen, overhead) <= capacity;
    }
  }
  s.training = chosen;
  if (s.micro_batch_open) {
    notes.push_back("strategy.micro_batch = " + std::to_string(chosen.micro_batch) +
                    (found ? " (the largest that fits)" : " (the smallest)"));
  }
  if (s.recompute_open) {
    notes.push_back(std::string{"strategy.recompute = "} + (chosen.recompute.every == 0 ? "none" : "full") +
                    (chosen.recompute.every == 0 ? " (it fits without)" : " (it does not fit without)"));
  }
}

/// Every combination of full recomputation, micro-batch 1 and higher ZeRO stages that fits, the fewest changes first.
std::vector<NetworkRemedy> find_remedies(const NetworkScenario& s, const Overhead& overhead, Bytes capacity) {
  std::vector<NetworkRemedy> found;
  for (const bool full : {false, true}) {
    for (const bool one : {false, true}) {
      for (int zero = s.training.zero; zero <= 3; ++zero) {
        NetworkTraining t = s.training;
        NetworkRemedy remedy;
        if (full && (t.recompute.every != 1 || !t.recompute.parts.empty())) {
          t.recompute = {1, {}};
          remedy.changes.emplace_back(Knob::recompute, Recompute::full);
        }
        if (one && t.micro_batch > 1) {
          t.micro_batch = 1;
          remedy.changes.emplace_back(Knob::micro_batch, 1);
        }
        if (zero != t.zero) {
          t.zero = zero;
          t.states.gradients =
              s.gradients_open ? default_gradient_bytes(s.precision, zero) : s.training.states.gradients;
          remedy.changes.emplace_back(Knob::zero, zero);
        }
        remedy.memory = needs(s, t, overhead);
        const bool again = std::any_of(found.begin(), found.end(),
                                       [&](const NetworkRemedy& r) { return r.changes == remedy.changes; });
        if (!remedy.changes.empty() && !again && remedy.memory <= capacity) {
          found.push_back(std::move(remedy));
        }
      }
    }
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.changes.size() < b.changes.size(); });
  std::vector<NetworkRemedy> least;  // without those that only add to another
  for (NetworkRemedy& remedy : found) {
    const auto holds = [&](const Change& change) {
      return std::find(remedy.changes.begin(), remedy.changes.end(), change) != remedy.changes.end();
    };
    const bool more = std::any_of(least.begin(), least.end(), [&](const NetworkRemedy& other) {
      return std::all_of(other.changes.begin(), other.changes.end(), holds);
    });
    if (!more && least.size() < 3) {
      least.push_back(std::move(remedy));
    }
  }
  return least;
}

}  // namespace

namespace {

/// Step, rates and money, and what they are taken to stand on.
void add_times(const NetworkScenario& s, bool explain, TermSet without, NetworkPlan& plan) {
  PricedNetwork priced = price_network(s, explain, without);
  plan.times = std::move(priced.times);
  plan.untimed = std::move(priced.untimed);
  plan.explain = std::move(priced.explain);
  if (!plan.times) {
    plan.notes.push_back("time: not priced: " + plan.untimed + "; memory alone is answered");
    return;
  }
  plan.notes.push_back(data_text(s.feed, plan.times->parts.fed));
}

}  // namespace

NetworkPlan make_network_plan(NetworkScenario scenario, PlanPart part, bool explain, TermSet without) {
  const RoughStack stack = find_rough_stack(*scenario.data, "rough-train");
  const Overhead overhead{stack.fragmentation.value, stack.framework};
  NetworkPlan plan;
  plan.part = part;
  plan.capacity = scenario.device.visible_capacity().value;
  plan.notes = scenario.assumptions;
  if (scenario.micro_batch_open && scenario.global_batch % scenario.dp != 0) {
    scenario.micro_batch_open = false;  // no micro-batch can help; the broken rule is told
  }
  close_open_axes(scenario, overhead, plan.capacity, plan.notes);
  plan.problems = broken_rules(scenario);
  const NetworkTraining& t = scenario.training;
  plan.memory = training_memory(scenario.network, t);
  plan.fragmentation = overhead.fragmentation * plan.memory.total();
  plan.framework = overhead.framework;
  plan.interval = widened(plan.total(), stack.memory_interval);
  plan.interval_source = stack.memory_interval_source;
  plan.accumulation = std::max<std::int64_t>(1, scenario.global_batch / (scenario.dp * t.micro_batch));
  plan.step_flops = real(scenario.global_batch) *
                    (scenario.network.forward + scenario.network.backward + plan.memory.recompute_flops);
  plan.traffic = data_parallel_bytes(scenario.network.parameters, t.states, t.zero, t.ranks, plan.accumulation);
  if (scenario.checkpoint_form) {
    plan.load = load_peak(*scenario.checkpoint_form, scenario.network.parameters, t.states, plan.memory.states.total(),
                          plan.capacity);
  }
  plan.inference = inference_memory(scenario.network, t.activation_bytes);
  plan.inference_batch =
      largest_batch(plan.capacity, plan.inference.weights, plan.framework, plan.inference.per_sample);
  if (!plan.problems.empty()) {
    plan.scenario = std::move(scenario);
    return plan;
  }
  if (!plan.fits()) {
    plan.remedies = find_remedies(scenario, overhead, plan.capacity);
  } else if (plan.interval.high > plan.capacity) {
    plan.notes.emplace_back("memory: the upper end of the interval does not fit; keep a fallback such as recompute");
  }
  if (part == PlanPart::all) {
    add_times(scenario, explain, without, plan);
  }
  plan.notes.push_back("fragmentation: " + stack.fragmentation.source);
  plan.notes.push_back("framework: " + stack.framework_source);
  plan.scenario = std::move(scenario);
  return plan;
}

}  // namespace headroom
