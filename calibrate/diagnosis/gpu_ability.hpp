// SPDX-License-Identifier: Apache-2.0
// The SKU that a trace was taken on, and what it can do.
#pragma once

#include <headroom/calibrate/diagnosis/trace_reading.hpp>

#include <span>

namespace headroom {

class Catalog;

/// Fills in, of ranks whose GPU the catalog knows by the name that its driver gives it, what it can do. Others stay as
/// they are.
void tell_abilities(const Catalog& catalog, std::span<TracedRank> ranks);

}  // namespace headroom
