// SPDX-License-Identifier: Apache-2.0
// Slices of a card as a configuration of NVIDIA's MIG partition editor.
#pragma once

#include <headroom/hardware/catalog/device.hpp>

#include <span>
#include <string>
#include <vector>

namespace headroom {

/// One entry of a file of nvidia-mig-parted (NVIDIA/mig-parted, README and examples/config.yaml, version v1): every GPU
/// of the node is cut into `profiles`, each as often as it is listed, in the order in which they are listed first.
/// `devices`: "all", or indices as "[0, 1]". Without profiles MIG is turned off.
struct MigLayout {
  std::string name;  ///< of the entry: what `nvidia-mig-parted apply -c` and the label nvidia.com/mig.config take
  std::string devices = "all";
  std::vector<std::string> profiles;
};

/// The whole file, with comments of the card that it is for and of the notes.
[[nodiscard]] std::string mig_parted(const Device& card,
                                     std::span<const MigLayout> layouts,
                                     std::span<const std::string> notes = {});

}  // namespace headroom
