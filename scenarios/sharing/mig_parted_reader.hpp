// SPDX-License-Identifier: Apache-2.0
// Configurations of NVIDIA's MIG partition editor read back: each slice as a tenant of its card.
#pragma once

#include <headroom/core/config_reader.hpp>
#include <headroom/core/quantity.hpp>
#include <headroom/hardware/catalog/partition.hpp>
#include <headroom/scenarios/sharing/mig_parted.hpp>

#include <string>
#include <vector>

namespace headroom {

/// The entries of a file of nvidia-mig-parted (version v1), those without MIG with no profiles. A filter of devices is
/// part of `devices`. Throws ConfigError with every problem and its place.
[[nodiscard]] std::vector<MigLayout> read_mig_parted(const ConfigSource& source);

struct ImportedSlices {
  std::string toml;                  ///< a scenario of kind sharing with a tenant a slice
  std::vector<std::string> remarks;  ///< other entries, and what the planner has to state
};
/// The configuration `name`; empty: the only one that cuts cards. A tenant's memory is that of its slice less
/// `context`, what a process keeps. Throws ConfigError for a name that the file lacks, several configurations without a
/// name, a profile that the scheme lacks, and slices that do not stand together.
[[nodiscard]] ImportedSlices sharing_of_slices(const ConfigSource& source,
                                               const std::string& name,
                                               const Device& card,
                                               const PartitionScheme& scheme,
                                               Bytes context);

}  // namespace headroom
