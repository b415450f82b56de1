// SPDX-License-Identifier: Apache-2.0
// How a view is made: what groups of one form see within their domains, and between them while all move at once.
#pragma once

#include <headroom/hardware/fabric/fabric.hpp>
#include <headroom/hardware/fabric/group_shape.hpp>

namespace headroom {

/// Kinds, rates and ranks within a domain.
void see_inside(const Fabric& fabric, const GroupShape& shape, GroupView& view);

/// Hosts, domains and tiers that the groups span, and rates between domains.
void see_outside(const Fabric& fabric, const GroupShape& shape, GroupView& view);

}  // namespace headroom
