// SPDX-License-Identifier: Apache-2.0
// Pools of unlike SKUs in one training job or one fleet, as text and as documents.
#pragma once

#include <headroom/answers/document/value.hpp>

#include <string>

namespace headroom {
struct MixedFleet;
struct MixedTraining;

[[nodiscard]] std::string mixed_training_text(const MixedTraining& plan);
/// Schema "headroom.mixed_training/1".
[[nodiscard]] Value mixed_training_document(const MixedTraining& plan);

[[nodiscard]] std::string mixed_fleet_text(const MixedFleet& plan);
/// Schema "headroom.mixed_fleet/1".
[[nodiscard]] Value mixed_fleet_document(const MixedFleet& plan);

}  // namespace headroom
