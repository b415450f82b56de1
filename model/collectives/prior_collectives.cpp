// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/real.hpp>
#include <headroom/model/collectives/prior_collectives.hpp>
#include <headroom/model/kernels/curve_mean.hpp>
#include <headroom/model/workload/model_data.hpp>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

namespace headroom {
namespace {

/// The server without NVLink and with peer access between its GPUs.
constexpr std::string_view measured_over_pcie = "rtx-pro-6000-server";

bool over_pcie(const GroupView& view) noexcept {
  return view.inside == LinkKind::pcie || view.inside == LinkKind::socket;
}

/// Adds the first curve of each op: sets begin with their newest library.
template <class Mean, class Curves>
void add_first(Mean& mean, const std::string& generation, const Curves& curves) {
  std::set<std::string_view> seen;
  for (const auto& curve : curves) {
    if (seen.insert(curve.provenance.format).second) {
      mean.add(generation, curve);
    }
  }
}

CollectiveSet prior_collective_set(const ModelData& data) {
  CurveMean<ring_parameter_count> ring;
  CurveMean<pair_parameter_count> pairs;
  CurveMean<custom_parameter_count> custom;
  CollectiveSet prior;
  prior.id = "the measured generations";
  data.files().each("collectives", [&](const std::string& id) {
    const CollectiveSet& set = find_collective_set(data, id);
    if (!set.base.empty() || !set.graphs.ll128) {  // a user's own, or over PCIe
      return;
    }
    const std::string generation = std::to_string(static_cast<int>(set.graphs.generation));
    add_first(ring, generation, set.ring);
    add_first(pairs, generation, set.all_to_all);
    add_first(custom, generation, set.custom);
    if (set.graphs.generation == nccl::Generation::hopper && prior.graphs_source.empty()) {
      prior.graphs = set.graphs;
      prior.graphs_source = set.graphs_source;
      prior.eager_launch = set.eager_launch;
      prior.eager_source = set.eager_source;
    }
  });
  prior.graphs.nvls_ranks = 0;
  prior.ring = ring.means();
  prior.all_to_all = pairs.means();
  prior.custom = custom.means();
  return prior;
}

}  // namespace

bool collectives_unmeasured(const Device& device, const GroupView& view) noexcept {
  return device.curves.empty() || (!over_pcie(view) && view.inside != LinkKind::nvlink && view.inside != LinkKind::c2c);
}

ChosenCollectives collectives_or_prior(const ModelData& data, const Device& device, const GroupView& view) {
  if (!collectives_unmeasured(device, view)) {
    return choose_collectives(data, device, view);
  }
  if (over_pcie(view)) {
    Device borrower = device;
    borrower.curves = measured_over_pcie;
    return choose_collectives(data, borrower, view);
  }
  ChosenCollectives chosen;
  chosen.set = data.once("mean of generations", [&] { return prior_collective_set(data); });
  chosen.why = "nobody measured collectives over " + std::string{name_of(view.inside)} + " of " + device.id +
               ": the mean of those over NVLink, at the rate of its links";
  return chosen;
}

GroupView mesh_view(const Device& device, const Node* node, GroupView view) {
  const LinkTopology topology = node != nullptr ? node->topology : device.scale_up.topology;
  if (!collectives_unmeasured(device, view) || over_pcie(view)) {
    return view;
  }
  view.inside = LinkKind::nvlink;
  const auto& pair = node != nullptr && node->per_pair ? node->per_pair : device.scale_up.per_pair;
  if (topology == LinkTopology::full_mesh && pair && view.per_domain > 1) {
    const BytesPerSecond reached = std::min(view.inside_ring, real(view.per_domain - 1) * pair->value);
    view.inside_ring = view.inside_all = reached;
    view.inside_pair = std::min(view.inside_pair, pair->value);
  }
  return view;
}

}  // namespace headroom
