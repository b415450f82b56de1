// SPDX-License-Identifier: Apache-2.0
// Cheaper variants of a training run: fewer tokens, a smaller model, a narrower recipe.
#pragma once

#include <headroom/core/quantity.hpp>

#include <optional>
#include <string>
#include <vector>

namespace headroom {

/// A variant of the plan, relative to it.
struct Variant {
  std::string what;
  double flops = 1.0;  ///< training FLOP over the plan's
  double time = 1.0;
  std::optional<Dollars> cost;  ///< dollars of GPU time; absent without a price
  std::string basis;            ///< how the time was obtained
};

/// The plan, and its step time in the other precisions that the SKU supports.
struct VariedPlan {
  Seconds step{};
  std::optional<Dollars> cost;
  struct Recipe {
    std::string precision;
    Seconds step{};
  };
  std::vector<Recipe> recipes;
};

/// Training takes 6 N D FLOP (Kaplan et al. 2020, section 2.1). Variants with half the tokens, half the parameters, or
/// half of both scale by that law at the plan's utilisation; other precisions use their own step time.
[[nodiscard]] std::vector<Variant> cheaper_variants(const VariedPlan& plan);

}  // namespace headroom
