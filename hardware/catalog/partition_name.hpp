// SPDX-License-Identifier: Apache-2.0
// How slices of a card are spelled, and which card and profile a spelling means.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace headroom {

/// "a100-sxm-80gb/1g.10gb", or "MIG:A100-SXM-80GB (7x1g.10gb MIG)" with 7 of them at work.
struct PartitionName {
  std::string card;        ///< as spelled: "A100-SXM-80GB"
  std::string profile;     ///< in lower case: "1g.10gb"
  std::int64_t count = 1;  ///< slices of one card that the spelling speaks of
};

/// Reads the catalog's own form CARD/PROFILE, MLPerf's "MIG:CARD (NxPROFILE MIG)", and the names that NVIDIA's software
/// gives: "CARD MIG PROFILE" and "CARD-MIG-PROFILE". nullopt where the spelling is no slice.
[[nodiscard]] std::optional<PartitionName> partition_name(std::string_view spelling);

}  // namespace headroom
