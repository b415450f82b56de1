// SPDX-License-Identifier: Apache-2.0
// The times of a network of ops: step, rates, utilisation against what was asked for, traffic hidden and exposed.
#include <headroom/answers/markup/table.hpp>
#include <headroom/answers/views/render.hpp>
#include <headroom/answers/views/render_money.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/scenarios/plan/network_plan.hpp>

namespace headroom {
namespace {

constexpr std::string_view memory_alone = "memory alone was asked for";

std::string samples_text(double samples) {
  return samples < 1e9 ? format_number(samples / 1e6) + " M samples" : format_number(samples / 1e9) + " G samples";
}

std::string traffic_text(const NetworkStepTime& t) {
  return format(t.traffic) + " of traffic, " + format(t.time[Term::dp_comm]) +
         " exposed: " + percent(t.hidden_share()) + " hidden beside compute";
}

Value parts_value(const NetworkStepTime& t) {
  return object("step_terms_s"_m = step_terms(t.time.exposed), "traffic_s"_m = t.traffic,
                "traffic_exposed_s"_m = t.time[Term::dp_comm], "traffic_hidden_share"_m = share(t.hidden_share()),
                "computing_share"_m = share(t.computing_share()));
}

Value run_value(const NetworkScenario& s, const NetworkTimes& t) {
  const bool run = s.samples > 0.0;
  const bool priced = s.money.price.has_value();
  return object("duration_s"_m = when(run, t.duration),
                "overhead_factor"_m = run && s.measured_time ? Value{*s.measured_time / t.duration.mid} : Value{},
                "gpu_hours"_m = when(run, t.gpu_hours), price(s.money),
                "usd_per_million_samples"_m = when(priced, t.cost_per_million_samples),
                "cost_usd"_m = when(priced && run, t.cost));
}

Value target_value(const NetworkTimes& t) {
  return t.target ? object("utilisation_target"_m =
                               row("asked"_m = share(t.target->asked),
                                   "verdict"_m = target_verdict_names[static_cast<std::size_t>(t.target->verdict)]),
                           "utilisation_text"_m = t.target->text)
                  : Value{};
}

/// "image" where a sample is one, which its only input is then called.
std::string sample_noun(const Network& network) {
  const bool image = network.inputs.size() == 1 && network.inputs.front().name == "image";
  return image ? "image" : "sample";
}

}  // namespace

std::string network_times_text(const NetworkPlan& p) {
  if (!p.times) {
    return p.part == PlanPart::all ? "time: not priced: " + p.untimed + "\n" : "";
  }
  const NetworkScenario& s = p.scenario;
  const NetworkTimes& t = *p.times;
  Table answer{{"", "<"}};
  answer.row({"step", interval_text(t.step)});
  const std::string samples = sample_noun(s.network) + "s/s";
  answer.row({samples, interval_text(t.samples_per_s)});
  answer.row({samples + " per GPU", interval_text(t.samples_per_s_per_gpu)});
  answer.row({"utilisation", interval_text(t.utilisation, 100.0) + " % of the peak by the model's own FLOP" +
                                 (t.executed > t.utilisation.mid ? "; " + percent(t.executed) + " with what runs again"
                                                                 : std::string{})});
  answer.row({"GPU computing", percent(t.parts.computing_share()) + " of the step"});
  if (t.parts.traffic > Seconds{}) {
    answer.row({"data parallelism", traffic_text(t.parts)});
  }
  if (s.samples > 0.0) {
    answer.row({samples_text(s.samples), interval_text(t.duration)});
    if (s.measured_time) {
      answer.row({"as measured", format(*s.measured_time) + ", " + format_number(*s.measured_time / t.duration.mid) +
                                     " times the steps: evaluation, checkpoints, waits"});
    }
    answer.row({"GPU-hours", interval_text(t.gpu_hours)});
  }
  if (s.money.price) {
    if (s.samples > 0.0) {
      answer.row({"cost", interval_text(t.cost)});
    }
    answer.row({"cost per M samples", interval_text(t.cost_per_million_samples)});
  }
  answer.row({"GPU-hours per M samples", format_number(t.gpu_hours_per_million_samples)});
  energy_row(answer, t.energy, "samples");
  return (p.fits() ? "" : "\nif it did fit:\n") + answer.text() + "binds: " + t.binds + "\n" +
         (t.target ? t.target->text + "\n" : "") + "\n" + time_table(t.parts.time) + bill_text(t.bill) + "\n";
}

std::string network_confidence_text(const NetworkTimes& t) {
  return "\nconfidence: no measured run is a network of ops; the widest class, " +
         std::string{run_class_texts[static_cast<std::size_t>(t.run_class)]} +
         ", with the errors of kernels that nobody measured beside it: expect the step within +/- " +
         percent(t.errors.width_80) + "; 8 of 10 of " + format_count(static_cast<double>(t.errors.rows)) +
         " runs of that class, of " + format_count(static_cast<double>(t.errors.sources)) + " sources, were nearer (" +
         t.errors.source + ")\n";
}

Value network_times(const NetworkPlan& p) {
  if (!p.times) {
    const std::string_view reason = p.problems.empty() ? p.untimed : p.problems.front();
    return object("step_time_s"_m = nullptr, "step_time_why"_m = p.part == PlanPart::memory ? memory_alone : reason);
  }
  const NetworkTimes& t = *p.times;
  return object(
      "software"_m = p.scenario.software.id, "step_time_s"_m = t.step, "samples_per_s"_m = per_second(t.samples_per_s),
      "samples_per_s_per_gpu"_m = per_second(t.samples_per_s_per_gpu), "utilisation"_m = share(t.utilisation),
      "utilisation_with_recomputation"_m = share(t.executed), target_value(t), run_value(p.scenario, t),
      "gpu_hours_per_million_samples"_m = t.gpu_hours_per_million_samples,
      "money"_m = money_value(p.scenario.money, t.bill), "energy"_m = energy_value(t.energy, "j_per_million_samples"),
      "binds"_m = t.binds, parts_value(t.parts), "data"_m = p.scenario.feed ? data(t.parts.fed) : Value{},
      "confidence"_m = run_class_names[static_cast<std::size_t>(t.run_class)],
      "confidence_basis"_m = error_widths(t.errors));
}

}  // namespace headroom
