// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/quantity_text.hpp>
#include <headroom/scenarios/money/energy.hpp>
#include <headroom/scenarios/money/offer.hpp>

#include <cmath>

namespace headroom {
namespace {

/// Interval around `mid` from the errors of time and of power, which are taken as independent.
template <class Q>
Interval<Q> widened_by(Q mid, double factor) noexcept {
  return {mid / factor, mid, mid * factor};
}

}  // namespace

std::array<double, draw_count> shares_of(const Breakdown& time) noexcept {
  std::array<double, draw_count> shares{};
  double sum = 0.0;
  for (std::size_t i = 0; i < term_count; ++i) {
    const Term term = static_cast<Term>(i);
    if (term != Term::measured_level) {
      shares[static_cast<std::size_t>(draw_of(term))] += time.exposed[i].raw();
      sum += time.exposed[i].raw();
    }
  }
  for (double& share : shares) {
    share = sum > 0.0 ? share / sum : 0.0;
  }
  return shares;
}

PlanEnergy energy_of(const GpuPower& power, double clock, const EnergyQuestion& question, const EnergyWork& work) {
  PlanEnergy energy;
  energy.model = power;
  energy.host = power.host;
  energy.clock = clock;
  energy.pue = question.pue;
  for (std::size_t i = 0; i < draw_count; ++i) {
    energy.parts[i] = {static_cast<Draw>(i), work.shares[i], power.draw[i]};
    energy.gpu += work.shares[i] * power.draw[i];
  }
  if (work.drawn && energy.gpu > Watts{}) {
    for (EnergyPart& part : energy.parts) {
      part.power = *work.drawn / energy.gpu * part.power;
    }
    energy.gpu = *work.drawn;
  }
  const double building = question.pue.value_or(1.0);
  const double factor = std::exp(std::hypot(std::log1p(work.width), std::log1p(power.width)));
  const Watts drawn = building * work.gpus * (energy.gpu + power.host);
  energy.step = widened_by(drawn * work.step, factor);
  const Watts held = building * work.gpus * (power.of(Draw::waiting) + power.host);
  const Watts spares = building * work.spare_gpus * (power.idle + power.host);
  energy.run = widened_by(drawn * work.run + held * work.held + spares * (work.run + work.held), factor);
  if (work.items > 0.0) {
    energy.per_million = widened_by(1e6 / work.items * energy.run.mid, factor);
  } else if (work.rate > Hertz{}) {
    energy.per_million = widened_by(1e6 * energy_per_item(drawn, work.rate), factor);
  }
  if (question.power_price) {
    const Interval<Joules>& asked = work.run > Seconds{} ? energy.run : energy.per_million;
    energy.dollars = Interval<Dollars>{*question.power_price * asked.low, *question.power_price * asked.mid,
                                       *question.power_price * asked.high};
  }
  energy.node = work.gpus_per_node * power.busy();
  if (question.rack_power) {
    energy.nodes_per_rack = nodes_per_rack(*question.rack_power, energy.node);
  }
  energy.source = "power by kind of time (docs/money.md); idle: " + power.idle_source + "; host: " + power.host_source;
  if (energy.dollars) {
    energy.source += "; electricity: " + format(*question.power_price) + " (" + text_of(question.stated) + ")";
  }
  return energy;
}

}  // namespace headroom
