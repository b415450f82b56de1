// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/scenarios/fleet/fleet_cells.hpp>

#include <cstddef>
#include <memory>
#include <optional>

namespace headroom {
namespace {

/// Beyond so many replicas a router that looks at each costs more than it tells.
constexpr std::int64_t most_of_a_cell = 48;

}  // namespace

ServeScenario cell_of(ServeScenario s, std::int64_t cells) {
  FleetQuestion fleet = *s.fleet;
  const auto share = [&](std::optional<std::int64_t>& replicas) {
    replicas = replicas ? std::optional{*replicas / cells} : std::nullopt;
  };
  share(fleet.replicas);
  if (fleet.prefill) {
    share(fleet.prefill->replicas);
  }
  fleet.spare = 0;
  fleet.failures.reset();
  if (std::optional<KvOffloadTier>& remote = fleet.kv_offload.tiers[shared_tier]) {
    remote->capacity = remote->capacity / real(cells);
  }
  s.fleet = std::make_shared<const FleetQuestion>(fleet);
  s.traffic = std::make_shared<const ServingTraffic>(s.traffic->part(1.0 / real(cells)));
  return s;
}

std::int64_t cells_of(const FleetQuestion& fleet, std::int64_t replicas) {
  std::int64_t cells = (replicas + most_of_a_cell - 1) / most_of_a_cell;
  const std::int64_t most = fleet.replicas.value_or(cells);
  const auto divides = [&](const std::optional<std::int64_t>& stated) { return !stated || *stated % cells == 0; };
  while (cells <= most &&
         !(divides(fleet.replicas) && divides(fleet.prefill ? fleet.prefill->replicas : std::nullopt))) {
    ++cells;
  }
  return cells <= most ? cells : 1;
}

SizedFleet sized_by_cells(
    const ServeScenario& s, const ServedReplica& served, std::int64_t start, std::int64_t cells, SizedFor sized_for) {
  SizedFleet sized = size_fleet(cell_of(s, cells), served, (start + cells - 1) / cells, sized_for);
  const auto whole = [&](FleetSize& size) {
    size = fleet_size(*s.fleet, served, cells * size.replicas, cells * size.prefill_replicas);
  };
  whole(sized);
  if (sized.middle) {
    whole(*sized.middle);
  }
  const double times = real(cells);
  sized.rate = times * sized.rate;
  sized.saturation = times * sized.saturation;
  sized.knee = times * sized.knee;
  return sized;
}

double chance_by_cells(const ServeScenario& s,
                       const ServedReplica& served,
                       const FleetSize& size,
                       std::int64_t cells,
                       const FleetRuns& known) {
  FleetSize cell = size;
  cell.replicas = (size.replicas + cells - 1) / cells;
  cell.prefill_replicas = (size.prefill_replicas + cells - 1) / cells;
  return chance_to_keep(cell_of(s, cells), served, cell, known);
}

}  // namespace headroom
