// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/number_words.hpp>
#include <headroom/core/real.hpp>
#include <headroom/model/train/step/step_parts.hpp>
#include <headroom/model/train/strategy/rank_order.hpp>
#include <headroom/scenarios/training/confidence.hpp>
#include <headroom/scenarios/training/own_numbers.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace headroom {
namespace {

std::string range_text(const MeasuredRange& range) {
  return std::to_string(range.low) + " to " + std::to_string(range.high);
}

bool lists(const std::vector<std::string>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

/// Recipes that nobody ran on the generation.
std::string unmeasured_precision(const TrainScenario& t, const MeasuredGround& measured) {
  const std::string precision{name_of(t.work.precision)};
  const auto found = measured.precisions.find(t.device.generation);
  if (found == measured.precisions.end()) {
    return "generation " + t.device.generation + ": no measured row of it";
  }
  return lists(found->second, precision)
             ? std::string{}
             : precision + " on " + t.device.generation + ": measured there are " + joined(found->second);
}

std::vector<std::string> outside_of(const TrainScenario& t, const MeasuredGround& measured) {
  std::vector<std::string> outside;
  if (!lists(measured.skus, t.device.id)) {
    outside.push_back(t.device.id + ": no measured row on this SKU");
  }
  if (std::string precision = unmeasured_precision(t, measured); !precision.empty()) {
    outside.push_back(std::move(precision));
  }
  if (!lists(measured.software, t.software.id)) {
    outside.push_back(t.software.id + ": no measured row under this software");
  }
  if (t.work.shape.gpus > measured.gpus) {
    outside.push_back(std::to_string(t.work.shape.gpus) + " GPUs: the largest measured run had " +
                      std::to_string(measured.gpus));
  }
  if (!measured.hidden.holds(t.architecture.hidden)) {
    outside.push_back("hidden " + std::to_string(t.architecture.hidden) + ": measured " + range_text(measured.hidden));
  }
  if (!measured.seq_len.holds(t.work.shape.seq_len)) {
    outside.push_back("sequence " + std::to_string(t.work.shape.seq_len) + ": measured " +
                      range_text(measured.seq_len));
  }
  return outside;
}

}  // namespace

StepUnknown unknown_of(const TrainScenario& t, RunClass run_class) {
  StepUnknown unknown;
  unknown.kind = kind_of(run_class);
  unknown.hosts = t.work.shape.gpus > t.work.host_gpus;
  unknown.stacks = lineage_of(memory_stacks(*t.data), t.software);
  unknown.sku = t.device.id;
  unknown.generation = t.device.generation;
  unknown.network_known = states_network(t);
  unknown.blank[static_cast<std::size_t>(BlankAxis::experts)] = expert_habits_of(t).usual;
  unknown.stragglers = straggler_share(step_parameters(*t.data).physics, real(t.work.shape.gpus));
  return unknown;
}

bool exchanges_between_domains(const Strategy& s, const JobGroups& groups) {
  const GroupCollectives* const experts =
      s.ep > 1 ? groups.find(groups_of(s.order, {s.tp, s.cp, s.dp, s.pp, s.ep, s.etp}).experts) : nullptr;
  return experts != nullptr && experts->view().domains > 1;
}

std::string PlanConfidence::classes() const {
  const std::string text = joined(
      basis, [&](const ClassBasis& each) { return run_class_texts[static_cast<std::size_t>(each.run_class)]; },
      ", with ");
  return text;
}

PlanConfidence confidence_of(const TrainScenario& t, const Confidence& table, bool wide_experts) {
  PlanConfidence confidence;
  confidence.run_class = class_of(t.device, t.architecture, t.work.options.method != Method::full, table.measured);
  const StepPosterior& posterior = step_posterior(*t.data);
  const StepUnknown unknown = unknown_of(t, confidence.run_class);
  confidence.errors = errors_of(table, confidence.run_class, posterior, unknown);
  confidence.basis.push_back({confidence.run_class, confidence.errors});
  if (wide_experts) {
    confidence.errors = wide_errors(table, confidence.errors);
    confidence.basis.push_back({RunClass::wide_experts, table[RunClass::wide_experts]});
  }
  confidence.width = confidence.errors.width_80;
  confidence.outside = outside_of(t, table.measured);
  return confidence;
}

double ratio_width(const PlanConfidence& a, const PlanConfidence& b, bool same_level) noexcept {
  constexpr double z80 = 1.2815515655446004;  // quantile 0.9 of the standard normal
  const double width =
      same_level ? z80 * std::numbers::sqrt2 * a.errors.shape : std::hypot(std::log1p(a.width), std::log1p(b.width));
  return std::expm1(width);
}

bool same_level(const TrainScenario& a,
                const PlanConfidence& of_a,
                const TrainScenario& b,
                const PlanConfidence& of_b) noexcept {
  return of_a.run_class == of_b.run_class && of_a.wide_experts() == of_b.wide_experts() && a.device.id == b.device.id &&
         a.software.id == b.software.id;
}

}  // namespace headroom
