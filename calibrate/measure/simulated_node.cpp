// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/measure/simulated_node.hpp>
#include <headroom/calibrate/samples/collective_probes.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/model/collectives/collective_library.hpp>
#include <headroom/model/workload/model_data.hpp>

#include <array>
#include <cstddef>
#include <variant>

namespace headroom {
namespace {

/// The priors, with the parameters that a table names in their place.
template <std::size_t N>
std::array<double, N> read_parameters(ConfigTable& collectives,
                                      std::string_view name,
                                      const std::array<CurveParameter, N>& parameters) {
  std::array<double, N> values = prior_values(parameters);
  std::optional<ConfigTable> table = collectives.maybe_table(name);
  if (!table) {
    return values;
  }
  for (std::size_t i = 0; i < N; ++i) {
    const CurveParameter& p = parameters[i];
    std::optional<double> value;
    if (p.unit == CurveUnit::share) {
      value = table->maybe_number(p.name, {p.low, p.high});
    } else if (p.unit == CurveUnit::bytes) {
      const std::optional<Bytes> bytes = table->maybe_quantity<Bytes>(p.name);
      value = bytes ? std::optional{bytes->raw()} : std::nullopt;
    } else {
      const std::optional<Seconds> time = table->maybe_quantity<Seconds>(p.name);
      value = time ? std::optional{time->raw()} : std::nullopt;
    }
    values[i] = value.value_or(values[i]);
  }
  table->finish();
  return values;
}

}  // namespace

std::optional<Seconds> SimulatedNode::time(const CollectiveProbe& probe) const noexcept {
  const std::int64_t at = probe.ranks - 2;
  if (at < 0 || at >= static_cast<std::int64_t>(groups_.size())) {
    return std::nullopt;
  }
  const Bytes bytes{static_cast<double>(probe.bytes)};
  return groups_[static_cast<std::size_t>(at)].time(probe.collective, bytes).time;
}

std::optional<std::string> SimulatedNode::fails(const Probe& probe) const {
  const auto* collective = std::get_if<CollectiveProbe>(&probe);
  if (collective == nullptr) {
    return std::nullopt;
  }
  const std::string name = name_of(*collective);
  if (!fails_.empty() && name.starts_with(fails_)) {
    return "NCCL: unhandled system error (run with NCCL_DEBUG=INFO for details)";
  }
  if (!wrong_.empty() && name.starts_with(wrong_)) {
    return "1 of " + std::to_string(collective->bytes / 2) + " elements came out wrong on rank 1: it was not timed";
  }
  return std::nullopt;
}

SimulatedNode read_simulated_node(ConfigTable& root, const Device& datasheet, const Catalog& catalog) {
  SimulatedNode node;
  std::optional<ConfigTable> table = root.maybe_table("collectives");
  if (!table) {
    return node;
  }
  node.gpus_ = table->integer("gpus", {2, 1024});
  node.nccl_ = table->maybe_text("nccl").value_or("2.28.9");
  node.fails_ = table->maybe_text("fails").value_or("");
  node.wrong_ = table->maybe_text("wrong").value_or("");
  const RingCurve ring = read_parameters(*table, "ring", ring_parameters());
  node.curves_.all_reduce = node.curves_.all_gather = node.curves_.reduce_scatter = ring;
  node.curves_.all_to_all = read_parameters(*table, "pairs", pair_parameters());
  try {
    const ModelData data{catalog.store().shared()};
    const CollectiveSet& set = find_collective_set(data, datasheet.curves);
    node.curves_.graphs = set.graphs;
    node.curves_.staged_shares = set.staged_shares;
    const Node* box = catalog.reference_node(datasheet);
    static_cast<void>(hosts_view(datasheet, box, node.gpus_));  // throws when a node holds fewer GPUs
    for (std::int64_t ranks = 2; ranks <= node.gpus_; ++ranks) {
      node.groups_.emplace_back(node.curves_, NetworkCurve{}, hosts_view(datasheet, box, ranks));
    }
  } catch (const ConfigError& error) {
    table->problem("gpus", error.diagnostics().front().message);
  }
  table->finish();
  return node;
}

}  // namespace headroom
