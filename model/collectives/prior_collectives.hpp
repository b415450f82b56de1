// SPDX-License-Identifier: Apache-2.0
// Collectives over links that nobody measured: the mean of those measured over NVLink, at the link's own rate.
#pragma once

#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/hardware/fabric/fabric.hpp>
#include <headroom/model/collectives/collective_library.hpp>

namespace headroom {

class ModelData;

/// A SKU without measured collectives, or a group over a link that nobody measured (xGMI, Ethernet).
[[nodiscard]] bool collectives_unmeasured(const Device& device, const GroupView& view) noexcept;

/// choose_collectives() where somebody measured them; else the mean over the generations of the SKUs measured over
/// NVLink (curve_mean.hpp), with the channels of Hopper and no reduction in switches. GPUs joined by PCIe take the
/// measured PCIe servers. ConfigError as of choose_collectives().
[[nodiscard]] ChosenCollectives collectives_or_prior(const ModelData& data,
                                                     const Device& device,
                                                     const GroupView& view);

/// The view of a group whose collectives nobody measured: r ranks of a full mesh reach r - 1 of their links, so that a
/// ring, as all traffic, has the rate of those, and a pair that of one. Other views are returned as they are.
[[nodiscard]] GroupView mesh_view(const Device& device, const Node* node, GroupView view);

}  // namespace headroom
