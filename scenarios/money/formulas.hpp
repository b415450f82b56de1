// SPDX-License-Identifier: Apache-2.0
// Dollars, GPU-hours and joules from rates and times; what owning costs, and where two ways to pay break even.
#pragma once

#include <headroom/core/quantity.hpp>

#include <cmath>
#include <limits>

namespace headroom {

/// Dollars per million items on a machine that costs `price` per second, busy or idle, at a served load (items/s > 0).
[[nodiscard]] constexpr Dollars cost_per_million(DollarsPerSecond price, Hertz load) noexcept {
  return 1e6 * (price / load);
}

[[nodiscard]] constexpr Dollars rent(DollarsPerSecond price_per_gpu, double gpus, Seconds time) noexcept {
  return gpus * (price_per_gpu * time);
}

/// GPU-hours for a million samples; `rate` (samples/s) is that of all `gpus` GPUs together.
[[nodiscard]] constexpr double gpu_hours_per_million(double gpus, Hertz rate) noexcept {
  return 1e6 * gpus / (rate * hour);
}

/// Joules per item for a machine that draws `power` at `rate` items per second.
[[nodiscard]] constexpr Joules energy_per_item(Watts power, Hertz rate) noexcept {
  return power / rate;
}

/// Cost of an owned GPU per second of use. Idle hours earn nothing, so hours of use pay for them: capital = (capex -
/// residual) / (lifetime x utilisation), upkeep / utilisation, electricity = power x PUE x power price.
struct OwnedCost {
  DollarsPerSecond capital{}, upkeep{}, electricity{};
  [[nodiscard]] constexpr DollarsPerSecond total() const noexcept { return capital + upkeep + electricity; }
};
/// Terms of owning one GPU with its share of host and network.
struct Ownership {
  Dollars capex{}, residual{};
  Seconds lifetime{};
  double utilisation = 1.0;  ///< share of the lifetime in use, in (0, 1]
  DollarsPerSecond upkeep{};
  Watts power{};  ///< power in use, the GPU's share of the host included
  double pue = 1.0;
  DollarsPerJoule power_price{};
};
[[nodiscard]] constexpr OwnedCost owned_cost(const Ownership& o) noexcept {
  return {(o.capex - o.residual) / (o.utilisation * o.lifetime), o.upkeep / o.utilisation,
          o.pue * o.power * o.power_price};
}

/// Time of use after which a bought GPU has cost less than renting: (capex - residual) / (rent - running cost).
/// Infinite when renting costs no more than running.
[[nodiscard]] constexpr Seconds buying_breaks_even(const Ownership& o, DollarsPerSecond rent) noexcept {
  const OwnedCost cost = owned_cost(o);
  const DollarsPerSecond saved = rent - cost.electricity - cost.upkeep;
  return saved > DollarsPerSecond{} ? (o.capex - o.residual) / saved : Seconds{std::numeric_limits<double>::infinity()};
}

/// Share of a reservation's hours that must be used before it costs less than paying on demand.
[[nodiscard]] constexpr double reservation_breaks_even(DollarsPerSecond reserved, DollarsPerSecond on_demand) noexcept {
  return reserved / on_demand;
}

/// Request rate above which a machine costs less than an API that charges `per_request`.
[[nodiscard]] constexpr Hertz hosting_breaks_even(DollarsPerSecond machine, Dollars per_request) noexcept {
  return machine / per_request;
}

/// Whole machines that a rack feeds.
[[nodiscard]] inline double nodes_per_rack(Watts rack, Watts node) noexcept {
  return std::floor(rack / node);
}

}  // namespace headroom
