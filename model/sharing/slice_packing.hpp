// SPDX-License-Identifier: Apache-2.0
// Which profile each tenant of a card gets, so that all stand on it together and the least is stranded.
#pragma once

#include <headroom/core/quantity.hpp>
#include <headroom/hardware/catalog/partition.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace headroom {

/// A profile that holds a tenant.
struct SliceOption {
  const PartitionProfile* profile = nullptr;
  Bytes stranded{};         ///< of the slice's memory, that the tenant does not ask for
  std::int64_t missed = 0;  ///< promises that the tenant does not keep on it
};

struct SlicePacking {
  std::vector<const PartitionProfile*> profiles;  ///< of each tenant
  std::vector<std::int64_t> starts;               ///< memory slice at which each begins
  std::string why;                                ///< why there is none; empty: there is one
  [[nodiscard]] bool possible() const noexcept { return why.empty(); }
};

/// Exhaustive over the options of every tenant (variable-sized bin packing with placements; the cards have seven slices
/// at most). Of packings that place_slices() allows the one with the fewest missed promises; then the least memory in
/// slices beyond what is asked, memory outside of slices being free for others; then the largest product of the
/// tenants' compute slices, the proportionally fair of them (Kelly 1997). Pointers into `scheme.profiles`.
[[nodiscard]] SlicePacking pack_slices(const PartitionScheme& scheme,
                                       std::span<const std::vector<SliceOption>> tenants);

}  // namespace headroom
