// SPDX-License-Identifier: Apache-2.0
// Dollars, GPU-hours and joules from rates and times; what owning costs, and where two ways to pay break even.
#pragma once

#include <headroom/core/quantity.hpp>

#include <cmath>
#include <limits>

namespace headroom {

/// $ per million items of a machine that costs `price` whether it is busy or idle, at a served load.
[[nodiscard]] constexpr Dollars cost_per_million(DollarsPerSecond price, Hertz load) noexcept {
  return 1e6 * (price / load);
}

[[nodiscard]] constexpr Dollars rent(DollarsPerSecond price_per_gpu, double gpus, Seconds time) noexcept {
  return gpus * (price_per_gpu * time);
}

/// GPU-hours that a million samples take at a rate of all GPUs together.
[[nodiscard]] constexpr double gpu_hours_per_million(double gpus, Hertz rate) noexcept {
  return 1e6 * gpus / (rate * hour);
}

/// Energy of one item of a machine that draws `power` at a rate.
[[nodiscard]] constexpr Joules energy_per_item(Watts power, Hertz rate) noexcept {
  return power / rate;
}

/// Time to accuracy without evaluation, start and checkpoints: samples x epochs / rate.
[[nodiscard]] constexpr Seconds ideal_time(double samples, double epochs, Hertz rate) noexcept {
  return samples * epochs / rate;
}
/// What a published or measured time took of that: above 1 by evaluation, start, checkpoints, data.
[[nodiscard]] constexpr double overhead_factor(Seconds published, Seconds ideal) noexcept {
  return published / ideal;
}

/// What an owned GPU costs per second of use, by part. Capital and upkeep go on in idle hours, so that use bears them:
/// (capex - residual) / (lifetime x utilisation); upkeep / utilisation; power x PUE x power price.
struct OwnedCost {
  DollarsPerSecond capital{}, upkeep{}, electricity{};
  [[nodiscard]] constexpr DollarsPerSecond total() const noexcept { return capital + upkeep + electricity; }
};
/// One GPU with its share of host and network.
struct Ownership {
  Dollars capex{}, residual{};
  Seconds lifetime{};
  double utilisation = 1.0;  ///< share of the lifetime that it works
  DollarsPerSecond upkeep{};
  Watts power{};  ///< while it works, its share of the host included
  double pue = 1.0;
  DollarsPerJoule power_price{};
};
[[nodiscard]] constexpr OwnedCost owned_cost(const Ownership& o) noexcept {
  return {(o.capex - o.residual) / (o.utilisation * o.lifetime), o.upkeep / o.utilisation,
          o.pue * o.power * o.power_price};
}

/// Hours of use after which a GPU bought now has cost less than the rent: capex / (rent - running cost of use). Upkeep
/// runs in idle hours too and is charged by use. Infinite when renting costs no more than running.
[[nodiscard]] constexpr Seconds buying_breaks_even(const Ownership& o, DollarsPerSecond rent) noexcept {
  const OwnedCost cost = owned_cost(o);
  const DollarsPerSecond saved = rent - cost.electricity - cost.upkeep;
  return saved > DollarsPerSecond{} ? (o.capex - o.residual) / saved : Seconds{std::numeric_limits<double>::infinity()};
}

/// Share of the hours of a reservation that must be used before it beats paying on demand by the hour.
[[nodiscard]] constexpr double reservation_breaks_even(DollarsPerSecond reserved, DollarsPerSecond on_demand) noexcept {
  return reserved / on_demand;
}

/// Requests per second from which a machine costs less than an API that charges `per_request`.
[[nodiscard]] constexpr Hertz hosting_breaks_even(DollarsPerSecond machine, Dollars per_request) noexcept {
  return machine / per_request;
}

/// Whole machines that a rack feeds.
[[nodiscard]] inline double nodes_per_rack(Watts rack, Watts node) noexcept {
  return std::floor(rack / node);
}

}  // namespace headroom
