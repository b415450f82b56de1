// SPDX-License-Identifier: Apache-2.0
// Cheaper variants of a training run: fewer tokens, a smaller model, a narrower recipe.
#pragma once

#include <headroom/core/quantity.hpp>

#include <optional>
#include <string>
#include <vector>

namespace headroom {

/// A variant over the plan.
struct Variant {
  std::string what;
  double flops = 1.0;  ///< over those of the plan
  double time = 1.0;
  std::optional<Dollars> cost;  ///< of the GPUs, where they have a price
  std::string basis;            ///< how the time was got
};

/// What the plan is, and what the step takes in other recipes that the SKU has.
struct VariedPlan {
  Seconds step{};
  std::optional<Dollars> cost;
  struct Recipe {
    std::string precision;
    Seconds step{};
  };
  std::vector<Recipe> recipes;
};

/// FLOP of training are 6 N D (Kaplan et al. 2020, section 2.1): half the tokens, half the parameters and half of both
/// as the law has it, at the plan's utilisation; other recipes as planned.
[[nodiscard]] std::vector<Variant> cheaper_variants(const VariedPlan& plan);

}  // namespace headroom
