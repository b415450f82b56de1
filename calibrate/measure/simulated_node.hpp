// SPDX-License-Identifier: Apache-2.0
// The other GPUs of a simulated device's node: collectives by the model's equations with stated constants.
#pragma once

#include <headroom/calibrate/probe/probe.hpp>
#include <headroom/core/config_reader.hpp>
#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/model/collectives/collective_time.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace headroom {

class SimulatedNode {
 public:
  /// GPUs that a process sees; 1 without a table of collectives.
  [[nodiscard]] std::int64_t gpus() const noexcept { return gpus_; }
  /// Version of its NCCL; empty: not installed.
  [[nodiscard]] const std::string& nccl() const noexcept { return nccl_; }
  /// Seconds of a collective without noise; nullopt for a group that the node does not hold.
  [[nodiscard]] std::optional<Seconds> time(const CollectiveProbe& probe) const noexcept;
  /// Message of a collective that fails or gives wrong results; nullopt for a working one and for other probes.
  [[nodiscard]] std::optional<std::string> fails(const Probe& probe) const;
  /// Curves that a fit should recover.
  [[nodiscard]] const CollectiveCurves& curves() const noexcept { return curves_; }

 private:
  friend SimulatedNode read_simulated_node(ConfigTable& root, const Device& datasheet, const Catalog& catalog);

  std::int64_t gpus_ = 1;
  std::string nccl_, fails_, wrong_;
  CollectiveCurves curves_;
  std::vector<GroupCollectives> groups_;  ///< collectives of groups of 2, 3, ... GPUs
};

/// Reads `[collectives]`: gpus, nccl, [collectives.ring] and [collectives.pairs] with parameters by name (the priors
/// where absent), `fails` and `wrong` (prefixes of names). Problems go to the root's diagnostics. Channels come from
/// the SKU's measured set, links from its reference node.
[[nodiscard]] SimulatedNode read_simulated_node(ConfigTable& root, const Device& datasheet, const Catalog& catalog);

}  // namespace headroom
