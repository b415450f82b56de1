// SPDX-License-Identifier: Apache-2.0
// Fitted collectives: one TOML per measured SKU, one per class of network, and what they serve.
#pragma once

#include <headroom/hardware/catalog/catalog.hpp>
#include <headroom/hardware/fabric/fabric.hpp>
#include <headroom/model/collectives/collective_time.hpp>
#include <headroom/model/collectives/custom_all_reduce.hpp>
#include <headroom/model/collectives/moe_all_to_all.hpp>
#include <headroom/model/kernels/curve_library.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {

using FittedRing = FittedCurve<ring_parameter_count>;
using FittedPairs = FittedCurve<pair_parameter_count>;
using FittedCustom = FittedCurve<custom_parameter_count>;
using FittedExchange = FittedCurve<moe_exchange_parameter_count>;

/// The collectives of one measured SKU. Of a curve's provenance `format` is the op, of custom all-reduce the
/// implementation, of MoE the transport.
struct CollectiveSet {
  std::string id;  ///< of the SKU
  std::string file;
  std::string base;  ///< another set whose graphs and curves serve where this one has none; empty: none
  NcclGraphs graphs;
  std::string graphs_source;
  bool staged_shares = false;
  Seconds eager_launch{};  ///< what a call outside a graph adds
  std::string eager_source;
  std::vector<FittedRing> ring;
  std::vector<FittedPairs> all_to_all;
  std::vector<FittedCustom> custom;
  std::vector<FittedExchange> moe;

  /// NCCL's curves together, of a version where it was measured apart, else of the set's first. ConfigError naming the
  /// ops that are missing.
  [[nodiscard]] CollectiveCurves curves(std::string_view version = {}) const;
};

/// A class of network and what its numbers stand on.
struct Transport {
  std::string id, name, file, source;
  std::string fitted;  ///< on what, and how far off
  double p90 = 0.0;    ///< nine in ten lie within this share
  NetworkCurve curve;
};

/// Read one document; every problem goes to `diagnostics`. A set with a base may leave out graphs and eager.
[[nodiscard]] CollectiveSet read_collective_set(const ConfigValue& document,
                                                const std::string& file,
                                                Diagnostics& diagnostics);
[[nodiscard]] Transport read_transport(const ConfigValue& document, const std::string& file, Diagnostics& diagnostics);

/// The set of an id, followed by the curves of the sets that its file names as `base`. ConfigError for an unknown one,
/// naming those there are, and for bases that lead back to themselves.
[[nodiscard]] CollectiveSet load_collective_set(std::string_view id);

/// The set that serves a group of a SKU, and in words why: its own; else that of its generation with its own link's
/// rate; for GPUs joined by PCIe alone that of a measured PCIe box, with peer access or without, as the group has it.
/// ConfigError where nobody measured the link (xGMI, Ethernet).
struct ChosenCollectives {
  CollectiveSet set;
  std::string why;
  BytesPerSecond link{};  ///< the SKU's PCIe, of groups joined by it

  /// The set's curves with the link that their shares are of.
  [[nodiscard]] CollectiveCurves curves(std::string_view version = {}) const;
};
[[nodiscard]] ChosenCollectives choose_collectives(const Device& device, const GroupView& view);

/// Measured kernels that send tokens to the ranks of their experts, for a group of a SKU.
struct ChosenExchange {
  MoeExchangeModel model;
  std::string why;       ///< "deepep_ll_dispatch, sglang 0.5.12 on h200-sxm-141gb"
  bool measured = true;  ///< across hosts too, where the group spans several
};

/// The SKU's own; for a group of several hosts those that were measured across hosts, of its own set or of another of
/// its generation, else its own with the network at its prior. nullopt: nobody measured this transport on the SKU.
[[nodiscard]] std::optional<ChosenExchange> choose_exchange(const Device& device,
                                                            const GroupView& view,
                                                            std::string_view transport);

/// The network class of an id or alias ("efa", "infiniband", "roce"). ConfigError for an unknown one.
[[nodiscard]] Transport find_transport(std::string_view spelling);

/// What `ranks` GPUs of one host see, all of it theirs: the node's rate per GPU, else the SKU's link, else its PCIe.
/// With `nodes` > 1 hosts of `ranks` / `nodes` each, over the node's NICs on one rail. ConfigError naming what the
/// catalog lacks, or more ranks than the hosts hold.
[[nodiscard]] GroupView hosts_view(const Device& device, const Node* node, std::int64_t ranks, std::int64_t nodes = 1);

}  // namespace headroom
