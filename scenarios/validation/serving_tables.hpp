// SPDX-License-Identifier: Apache-2.0
// The serving part of the accuracy page: errors by metric, load, source, engine, SKU and family beside bars and what
// other predictors claim, the ranking of layouts, and what the pools hold.
#pragma once

#include <headroom/scenarios/validation/accuracy_reference.hpp>
#include <headroom/scenarios/validation/validation.hpp>

#include <string>

namespace headroom {

/// Of serving rows alone, scored with the reference's groups. Metrics and groups are those that the rows name; tables
/// without a scored row are left out. One sentence where there is no serving row.
[[nodiscard]] std::string serving_tables(const Validation& serving, const AccuracyReference& reference);

}  // namespace headroom
