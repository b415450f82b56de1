// SPDX-License-Identifier: Apache-2.0
// Fitted collectives: one TOML per measured SKU and one per class of network, and the choice among them.
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

/// The SM clock of the boards that a set was measured on.
struct MeasuredClock {
  std::string generation;  ///< of the SKU, as the catalog names it
  Hertz highest{};         ///< that kernels run at which are not bound by power
  std::string source;
};

/// The collectives of one measured SKU. The `format` of a curve's provenance is the op; for custom all-reduce it is the
/// implementation, for MoE the transport.
struct CollectiveSet {
  std::string id;  ///< id of the SKU
  std::string file;
  std::string base;  ///< set that provides what this one lacks; empty: none
  NcclGraphs graphs;
  std::string graphs_source;
  bool staged_shares = false;
  Seconds eager_launch{};  ///< time that a call outside a CUDA graph adds
  std::string eager_source;
  std::optional<MeasuredClock> clock;
  std::vector<FittedRing> ring;
  std::vector<FittedPairs> all_to_all;
  std::vector<FittedCustom> custom;
  std::vector<FittedExchange> moe;

  /// NCCL's curves for all ops, of `version` where it was measured, else of the set's first version. ConfigError naming
  /// the ops that are missing.
  [[nodiscard]] CollectiveCurves curves(std::string_view version = {}) const;
};

/// A class of network, and the measurements behind its numbers.
struct Transport {
  std::string id, name, file, source;
  std::string fitted;  ///< measurements that the numbers were fitted to, and the errors
  double p90 = 0.0;    ///< 90 % quantile of |predicted/measured - 1|
  NetworkCurve curve;
};

/// Read one document; problems are added to `diagnostics`. A set with a base may omit graphs and eager.
[[nodiscard]] CollectiveSet read_collective_set(const ConfigValue& document,
                                                const std::string& file,
                                                Diagnostics& diagnostics);
[[nodiscard]] Transport read_transport(const ConfigValue& document, const std::string& file, Diagnostics& diagnostics);

/// How many times as long the code of an SM takes on a device as on the boards of a set, by the set's highest clock and
/// the device's, which SKUs print but for Hopper's. 1 for SKUs of the set's generation, whose hosts and links part them
/// more than their clocks do (docs/collectives.md), and where a clock is not known.
[[nodiscard]] double clock_ratio(const CollectiveSet& set, const Device& device) noexcept;

/// A set as another SKU's boards would have it: what SMs run takes clock_ratio() times as long. That is the launch, and
/// over NVLink every step, chunk, segment and barrier, whose flight is a small part of them and not known apart; over
/// PCIe steps are the bus's and stay, as do rates, shares and what hosts do.
[[nodiscard]] CollectiveSet at_clock_of(CollectiveSet set, const Device& device);

/// The set of an id, extended by the curves of its chain of bases. ConfigError for an unknown id (naming the known
/// ones) or a cyclic chain.
[[nodiscard]] const CollectiveSet& find_collective_set(const ModelData& data, std::string_view id);

/// The set that applies to a group of a SKU, and the reason in words: the SKU's own set, or the set of its generation
/// with the SKU's link rate and latencies at its clock (at_clock_of()); for GPUs joined only by PCIe the set of a
/// measured PCIe server with or without peer access, as the group has it. ConfigError for links that were never
/// measured (xGMI, Ethernet).
struct ChosenCollectives {
  CollectiveSet set;
  std::string why;
  BytesPerSecond link{};  ///< rate of the SKU's PCIe link, for groups joined by PCIe; else 0

  /// The set's curves together with the link rate that their shares refer to.
  [[nodiscard]] CollectiveCurves curves(std::string_view version = {}) const;
};
[[nodiscard]] ChosenCollectives choose_collectives(const ModelData& data, const Device& device, const GroupView& view);

/// Measured dispatch or combine kernels of experts for a group of a SKU.
struct ChosenExchange {
  MoeExchangeModel model;
  std::string why;       ///< "deepep_ll_dispatch, sglang 0.5.12 on h200-sxm-141gb"
  bool measured = true;  ///< measured across hosts, if the group spans several
};

/// The SKU's own kernels. For a group of several hosts, kernels measured across hosts, of the SKU's set or another set
/// of its generation; else the SKU's own with prior network parameters. nullopt if the SKU's was never measured.
[[nodiscard]] std::optional<ChosenExchange> choose_exchange(const ModelData& data,
                                                            const Device& device,
                                                            const GroupView& view,
                                                            std::string_view transport);

/// The network class of an id or alias ("efa", "infiniband", "roce"). ConfigError if it is unknown.
[[nodiscard]] const Transport& find_transport(const ModelData& data, std::string_view spelling);

/// The view of `ranks` GPUs that have one host to themselves, at the node's rate per GPU, else the SKU's link rate,
/// else its PCIe rate. With `nodes` > 1, `ranks` / `nodes` GPUs on each host, joined by the node's NICs on one rail.
/// ConfigError for numbers that the catalog lacks, or more ranks than the hosts hold.
[[nodiscard]] GroupView hosts_view(const Device& device, const Node* node, std::int64_t ranks, std::int64_t nodes = 1);

}  // namespace headroom
