// SPDX-License-Identifier: Apache-2.0
// Serving part of the accuracy page: errors by metric, load, source, engine, SKU and family, with bars and other
// predictors' claims, the ranking of layouts, and capacities.
#pragma once

#include <headroom/scenarios/validation/accuracy_reference.hpp>
#include <headroom/scenarios/validation/validation.hpp>

#include <string>

namespace headroom {

/// `serving` holds serving rows only, scored with the reference's groups. Tables without a scored row are left out;
/// without any serving row the text is one sentence.
[[nodiscard]] std::string serving_tables(const Validation& serving, const AccuracyReference& reference);

}  // namespace headroom
