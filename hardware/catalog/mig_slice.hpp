// SPDX-License-Identifier: Apache-2.0
// A slice of a card under MIG as rows name it, and the share of the card that it has.
#pragma once

#include <headroom/hardware/catalog/device.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace headroom {

/// "MIG:A100-SXM-80GB (7x1g.10gb MIG)".
struct MigSpelling {
  std::string card;    ///< "A100-SXM-80GB"
  double slices = 1;   ///< 7, all of one card and busy
  double compute = 1;  ///< 1 compute slice
  double gigabytes = 0;
};
/// nullopt where the spelling is no slice.
[[nodiscard]] std::optional<MigSpelling> mig_spelling(std::string_view gpu);

/// The slice as a device of its own: rates by its streaming multiprocessors, 14 a compute slice on compute capability
/// 8.0 (NVIDIA, Multi-Instance GPU user guide, profiles), times `clock`; bandwidth and capacity by its memory. nullopt
/// where the SMs of a slice of the card's generation are not known.
[[nodiscard]] std::optional<Device> mig_slice(const Device& card, const MigSpelling& slice, double clock);

}  // namespace headroom
