// SPDX-License-Identifier: Apache-2.0
// A host, the network around it and what a placed job sees of both: text, JSON and a drawing.
#pragma once

#include <headroom/answers/document/value.hpp>
#include <headroom/hardware/fabric/fabric.hpp>
#include <headroom/hardware/fabric/placement.hpp>

#include <optional>
#include <string>
#include <vector>

namespace headroom::cli {

/// What one GPU of a host has, the same on every host.
struct GpuPorts {
  BytesPerSecond links{};            ///< into direct links and switch planes together
  std::vector<std::int32_t> nics;    ///< of the host
  BytesPerSecond out{};              ///< its share of them
  std::optional<std::int32_t> rail;  ///< where NICs are rails
};

struct FabricTier {
  ClusterTier tier;
  BytesPerSecond uplink{};   ///< out of one block of hosts below it; 0 for the last
  BytesPerSecond per_gpu{};  ///< of each GPU when all send beyond the tier below
};

/// One row of the table of axes.
struct AxisView {
  std::string axis;
  GroupView view;
  [[nodiscard]] bool leaves_domain() const { return view.domains > 1; }
  /// The slower of the ring within the domain and the ring between domains.
  [[nodiscard]] bool bound_outside() const {
    return leaves_domain() && (view.per_domain == 1 || view.outside_ring <= view.inside_ring);
  }
};

struct FabricReport {
  std::string id, name, gpu, node;  ///< node: of a cluster, else empty
  NodeWiring wiring;
  std::int64_t nodes = 1;
  NetworkTiers network;
  std::vector<GpuPorts> gpus;
  std::vector<FabricTier> tiers;  ///< none where there is one host
  BytesPerSecond host_bisection{};
  BytesPerSecond bisection{};  ///< 0 where there is one host
  std::int64_t ranks = 0;      ///< of the job; 0: none was asked for
  std::int64_t ranks_per_domain = 0;
  std::string order;
  std::vector<AxisView> axes;
  std::vector<std::string> remarks;  ///< what a planner would not want of the placement
  std::vector<std::string> assumed;
};

[[nodiscard]] std::string fabric_text(const FabricReport& report);
/// Schema "headroom.fabric/1": raw SI, the unit in the key.
[[nodiscard]] Value fabric_document(const FabricReport& report);
/// One host for Graphviz.
[[nodiscard]] std::string fabric_dot(const FabricReport& report);

}  // namespace headroom::cli
