// SPDX-License-Identifier: Apache-2.0
// How a GroupView is computed: within domains, and between domains while all groups of the form communicate at once.
#pragma once

#include <headroom/hardware/fabric/fabric.hpp>
#include <headroom/hardware/fabric/group_shape.hpp>

namespace headroom {

/// Sets the kinds, rates and numbers of ranks within a domain.
void see_inside(const Fabric& fabric, const GroupShape& shape, GroupView& view);

/// Sets the hosts, domains and tiers that the groups span, and the rates between domains.
void see_outside(const Fabric& fabric, const GroupShape& shape, GroupView& view);

}  // namespace headroom
