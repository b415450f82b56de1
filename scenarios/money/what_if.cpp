// SPDX-License-Identifier: Apache-2.0
#include <headroom/scenarios/money/what_if.hpp>

namespace headroom {
namespace {

/// A run with these shares of the plan's parameters and tokens; FLOP = 6 N D, so the shares multiply.
Variant scaled(const VariedPlan& plan, std::string what, double parameters, double tokens) {
  Variant variant;
  variant.what = std::move(what);
  variant.flops = parameters * tokens;
  variant.time = variant.flops;
  variant.basis = "6 N D at the plan's utilisation";
  if (plan.cost) {
    variant.cost = variant.time * *plan.cost;
  }
  return variant;
}

}  // namespace

std::vector<Variant> cheaper_variants(const VariedPlan& plan) {
  constexpr double half = 0.5;
  std::vector<Variant> variants{scaled(plan, "half the tokens", 1.0, half),
                                scaled(plan, "half the parameters", half, 1.0),
                                scaled(plan, "half of both", half, half)};
  for (const VariedPlan::Recipe& recipe : plan.recipes) {
    Variant variant;
    variant.what = recipe.precision;
    variant.time = recipe.step / plan.step;
    variant.basis = "planned";
    if (plan.cost) {
      variant.cost = variant.time * *plan.cost;
    }
    variants.push_back(std::move(variant));
  }
  return variants;
}

}  // namespace headroom
