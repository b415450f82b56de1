// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/scenarios/compare/cures.hpp>
#include <headroom/scenarios/read/change_text.hpp>
#include <headroom/scenarios/read/read_scenario.hpp>

#include <algorithm>
#include <set>
#include <utility>

namespace headroom::scaling {
namespace {

/// What to price.
struct Candidate {
  std::string what;
  Changes changes;
};

void check_measurement(const MeasuredSpeedup& m) {
  Diagnostics diagnostics;
  const auto count = [&](std::string_view option, std::int64_t value) {
    if (value < 1) {
      diagnostics.add("", {}, std::string{option} + " is " + std::to_string(value) + "; it must be 1 or more");
    }
  };
  count("--at", m.gpus);
  count("--over", m.of);
  if (m.of >= m.gpus) {
    diagnostics.add("", {}, "--at is " + std::to_string(m.gpus) + "; it must be above --over " + std::to_string(m.of));
  }
  const double ratio = real(m.gpus) / real(std::max<std::int64_t>(1, m.of));
  if (!(m.speedup > 0.0)) {
    diagnostics.add("", {}, "--measured-speedup is " + format_number(m.speedup) + "; it must be above 0, e.g. 3x");
  } else if (m.speedup > ratio && m.gpus > m.of) {
    diagnostics.add("", {},
                    "--measured-speedup is " + format_number(m.speedup) + "x on " + format_number(ratio) +
                        " times the GPUs: faster than perfect division leaves nothing to explain; was the smaller run "
                        "short of memory, or its batch another?");
  }
  diagnostics.throw_if_any();
}

/// More work a GPU and step: fewer reductions a sample, fuller kernels.
void add_batches(const TrainScenario& t, const Strategy& s, std::vector<Candidate>& out) {
  const std::int64_t batch = t.work.shape.global_batch;
  const std::int64_t twice = 2 * std::int64_t{s.micro_batch};
  out.push_back({"a larger batch per GPU: twice the micro-batch and the global batch",
                 {{Knob::micro_batch, twice}, {Knob::global_batch, 2 * batch}}});
  const std::int64_t per_rank = batch / s.dp;
  if (per_rank % twice == 0) {
    out.push_back({"a larger micro-batch at the same global batch", {{Knob::micro_batch, twice}}});
  }
  out.push_back({"gradient accumulation: four times the micro-batches before an update",
                 {{Knob::global_batch, 4 * batch}, {Knob::micro_batch, s.micro_batch}}});
}

/// Traffic beside compute: as far as the software can, and where it already does, the upper bound of what one could
/// hide, which no key states.
void add_overlap(const TrainScenario& t, const Strategy& s, std::vector<Candidate>& out) {
  const bool off = !t.work.options.overlapped;
  if (off) {
    out.push_back({"communication beside compute, as far as the software can", {{Knob::overlap, true}}});
  } else if (s.dp * s.cp > 1) {
    out.push_back({"more overlap: all data-parallel traffic runs beside compute (upper bound)",
                   {{Knob::hidden_dp_traffic, 1.0}}});
  }
  if (s.tp > 1 && !t.work.options.async_tp) {
    Changes changes{{Knob::async_tp, true}};
    if (off) {
      changes.emplace_back(Knob::overlap, true);  // without it nothing runs beside compute
    }
    out.push_back({"tensor-parallel traffic cut up beside its products (async TP)", std::move(changes)});
  }
}

/// Fewer ranks or stages that must exchange.
void add_layouts(const TrainScenario& t, const Strategy& s, std::vector<Candidate>& out) {
  for (int zero = s.zero - 1; zero >= 0; --zero) {
    // A blank software could become another with the stage.
    out.push_back(
        {"sharding less: ZeRO " + std::to_string(zero), {{Knob::zero, zero}, {Knob::software, t.software.id}}});
  }
  const std::int64_t ranks = std::int64_t{s.dp} * s.cp;
  if (s.zero > 0 && s.shard_ranks == 0 && ranks > t.gpus_per_node && t.gpus_per_node > 1 &&
      ranks % t.gpus_per_node == 0) {
    out.push_back({"sharding within a node", {{Knob::shard_ranks, t.gpus_per_node}}});
  }
  const auto halve = [&](Knob axis, int ranks_now) {
    if (ranks_now > 1 && ranks_now % 2 == 0) {
      Candidate c{"a smaller " + std::string{name_of(axis)}, {{axis, ranks_now / 2}}};
      if (axis != Knob::ep && t.stated.strategy.dp) {
        c.changes.emplace_back(Knob::dp, 2 * std::int64_t{s.dp});
      }
      out.push_back(std::move(c));
    }
  };
  halve(Knob::tp, s.tp);
  halve(Knob::pp, s.pp);
  halve(Knob::cp, s.cp);
  halve(Knob::ep, s.ep);
}

/// Rates of a host's links that a job of this size feels.
struct Links {
  BytesPerSecond inside{}, outside{};
  friend bool operator<(const Links& a, const Links& b) {
    return a.inside != b.inside ? a.inside < b.inside : a.outside < b.outside;
  }
};

Links links_of(const Device& device, const Node* node, std::int64_t gpus) {
  Links links;
  if (node != nullptr && node->topology != LinkTopology::pcie && node->topology != LinkTopology::none) {
    links.inside = node->per_gpu             ? node->per_gpu->value
                   : device.scale_up.per_gpu ? device.scale_up.per_gpu->value
                                             : BytesPerSecond{};
  }
  if (node != nullptr && gpus > node->gpus) {
    links.outside = node->scale_out_per_gpu().value_or(BytesPerSecond{});
  }
  return links;
}

bool holds(const Node& node, const Device& device) {
  return node.gpu == device.id || std::find(node.also.begin(), node.also.end(), device.id) != node.also.end();
}

/// The catalog's entries of a kind that can be read; broken or refused ones are no cure.
template <class Look>
void each_entry(const Catalog& catalog, std::string_view kind, Look look) {
  for (const std::string& id : catalog.store().ids(kind)) {
    try {
      look(id);
    } catch (const ConfigError&) {
      continue;
    }
  }
}

/// Nodes of the same SKU with a faster link, one for each pair of rates.
void add_nodes(const Catalog& catalog, const TrainScenario& t, std::vector<Candidate>& out) {
  const std::int64_t gpus = t.work.shape.gpus;
  const Links now = links_of(t.device, t.host ? &*t.host : nullptr, gpus);
  std::set<Links> seen;
  each_entry(catalog, "nodes", [&](const std::string& id) {
    const Node& node = catalog.node(id);
    const Links links = links_of(t.device, &node, gpus);
    const bool slower = links.inside < now.inside || links.outside < now.outside;
    const bool faster = links.inside > now.inside || links.outside > now.outside;
    if (id != t.node && holds(node, t.device) && node.gpus >= t.gpus_per_node && faster && !slower &&
        seen.insert(links).second) {
      out.push_back({"a node with faster links: " + node.name, {{Knob::node, id}}});
    }
  });
}

/// SKUs of the same generation that are sold with a faster scale-up link.
void add_skus(const Catalog& catalog, const TrainScenario& t, std::vector<Candidate>& out) {
  const Links now = links_of(t.device, t.host ? &*t.host : nullptr, 1);
  each_entry(catalog, "gpus", [&](const std::string& id) {
    const Device& device = catalog.device(id);
    const Node* const node = catalog.reference_node(device);
    if (device.id != t.device.id && device.generation == t.device.generation && device.vendor == t.device.vendor &&
        node != nullptr && now.inside < links_of(device, node, 1).inside) {
      out.push_back(
          {"the same generation with a faster scale-up link: " + id, {{Knob::gpu, id}, {Knob::node, node->id}}});
    }
  });
}

std::vector<Candidate> candidates_of(const Scenario& scenario, const TrainScenario& t, const Strategy& s) {
  std::vector<Candidate> all;
  add_batches(t, s, all);
  add_overlap(t, s, all);
  add_layouts(t, s, all);
  if (!t.cluster) {  // a cluster decides its nodes
    add_nodes(scenario.sources->catalog, t, all);
    add_skus(scenario.sources->catalog, t, all);
  }
  return all;
}

/// Exposed communication and the rest, of one sample.
struct Split {
  double communication = 0.0, rest = 0.0;
};
Split split_of(const Plan& plan) {
  const auto& t = std::get<TrainScenario>(plan.scenario.question);
  const Estimate& e = std::get<TrainPlan>(plan.answer).estimate;
  const double batch = real(t.work.shape.global_batch);
  const double communication = communication_of(e).raw();
  return {communication / batch, (e.step.raw() - communication) / batch};
}

Cure priced(const Scenario& scenario, const Candidate& candidate, const SpeedupAnswer& answer) {
  Cure cure;
  cure.what = candidate.what;
  cure.changes = candidate.changes;
  std::optional<Plan> plan;
  try {
    plan = price_plan(changed(scenario, candidate.changes));
  } catch (const ConfigError& error) {
    cure.verdict = error.diagnostics().front().message;
    return cure;
  }
  const auto& train = std::get<TrainPlan>(plan->answer);
  cure.verdict = train.problems.empty() ? train.verdict : train.problems.front().text;
  cure.fits = train.problems.empty() && train.estimate.verdict == Verdict::feasible;
  cure.answered = plan->feasible();
  if (train.estimate.step <= Seconds{}) {
    return cure;
  }
  cure.step = train.estimate.step;
  const Split before = split_of(answer.base);
  const Split after = split_of(*plan);
  cure.samples_per_second = 1.0 / (after.communication + after.rest);
  cure.communication = after.communication / (after.communication + after.rest);
  cure.gain = (before.communication + before.rest) / (after.communication + after.rest) - 1.0;
  if (before.communication > 0.0) {
    const MeasuredSpeedup& m = answer.measured;
    const double division = real(m.of) / real(m.gpus);
    const double beyond = 1.0 / m.speedup - division;
    cure.speedup =
        1.0 / (division * (after.rest / before.rest) + beyond * (after.communication / before.communication));
  }
  return cure;
}

/// The model's own speed-up at one micro-batch and recomputation; nullopt where the smaller count breaks a rule. What
/// does not fit there is priced as if: the measured run may have had a smaller model or offloading.
std::optional<double> predicted_speedup(const Scenario& scenario, const SpeedupAnswer& answer) {
  const auto& t = std::get<TrainScenario>(scenario.question);
  const Strategy& s = std::get<TrainPlan>(answer.base.answer).strategy;
  const Plan small = price_plan(changed(at_count(scenario, answer.measured.of, t.work.shape.global_batch),
                                        Changes{{Knob::micro_batch, s.micro_batch}, {Knob::recompute, s.recompute}}));
  const Seconds before = std::get<TrainPlan>(small.answer).estimate.step;
  const Seconds after = std::get<TrainPlan>(answer.base.answer).estimate.step;
  return before > Seconds{} ? std::optional{before / after} : std::nullopt;
}

void rank(std::vector<Cure>& cures) {
  std::stable_sort(cures.begin(), cures.end(), [](const Cure& a, const Cure& b) {
    return a.answered != b.answered ? a.answered : a.gain > b.gain;
  });
}

}  // namespace

SpeedupAnswer explain_speedup(const Scenario& asked, const MeasuredSpeedup& measured) {
  const auto& t = training_of(asked);
  check_measurement(measured);
  // Prices decide nothing here, and a list without an offer for another SKU must not stand in its way.
  const Scenario unpriced = changed(asked, Changes{{Knob::priced, false}});
  const Scenario scenario = at_count(unpriced, measured.gpus, t.work.shape.global_batch);
  SpeedupAnswer answer;
  answer.measured = measured;
  answer.communication = share_beyond_division(measured.speedup, real(measured.gpus) / real(measured.of));
  answer.base = price_plan(scenario);
  if (answer.base.part == PlanPart::memory) {
    throw ConfigError{"'scale' needs the step's time, and no curve describes the kernels of these layers yet"};
  }
  const auto& base = std::get<TrainPlan>(answer.base.answer);
  if (base.estimate.step <= Seconds{}) {
    return answer;
  }
  answer.predicted = predicted_speedup(scenario, answer);
  answer.predicted_communication = communication_of(base.estimate) / base.estimate.step;
  for (const Candidate& candidate :
       candidates_of(scenario, std::get<TrainScenario>(scenario.question), base.strategy)) {
    answer.cures.push_back(priced(scenario, candidate, answer));
  }
  rank(answer.cures);
  return answer;
}

}  // namespace headroom::scaling
