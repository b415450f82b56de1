// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/hardware/catalog/node_wiring.hpp>
#include <headroom/hardware/fabric/fabric.hpp>
#include <headroom/hardware/fabric/group_sight.hpp>
#include <headroom/hardware/fabric/max_min.hpp>

#include <algorithm>

namespace headroom {
namespace {

std::string counts(std::int64_t ranks, std::int64_t gpus) {
  return counted(ranks, "rank") + " on hosts of " + std::to_string(gpus) + " GPUs";
}

/// The most ranks that every domain can take equally; 0 if no number fills hosts.
std::int64_t even_share(std::int64_t ranks, std::int64_t domain, std::int64_t host) {
  if (ranks <= domain) {
    return ranks <= host || ranks % host == 0 ? ranks : 0;
  }
  for (std::int64_t share = domain / host * host; share >= host; share -= host) {
    if (ranks % share == 0) {
      return share;
    }
  }
  return 0;
}

[[noreturn]] void refuse_ranks(std::int64_t ranks, std::int64_t host) {
  throw ConfigError(counts(ranks, host) + " do not fill hosts; take " +
                    (ranks < host ? "1" : std::to_string(ranks / host * host)) + " or " +
                    std::to_string((std::max<std::int64_t>(ranks, 0) / host + 1) * host));
}

std::int64_t domain_of(const NodeWiring& wiring) {
  return wiring.planes.planes > 0 ? wiring.planes.domain : wiring.gpus;
}

}  // namespace

std::int64_t hosts_for(const NodeWiring& wiring, std::int64_t ranks) {
  const std::int64_t domain = domain_of(wiring);
  const std::int64_t share = ranks < 1 ? 0 : even_share(ranks, domain, wiring.gpus);
  if (share == 0) {
    refuse_ranks(ranks, wiring.gpus);
  }
  // A rack-scale domain is used whole, however few of its GPUs the job takes.
  return ranks <= domain ? (ranks + wiring.gpus - 1) / wiring.gpus : ranks / share * (domain / wiring.gpus);
}

FabricGraph graph_of(const Catalog& catalog, const Cluster& cluster, std::int64_t ranks) {
  const Node& node = catalog.node(cluster.node);
  NodeWiring wiring = wire(node, catalog.device(node.gpu));
  const std::int64_t hosts = hosts_for(wiring, ranks);
  if (cluster.nodes && hosts > cluster.nodes->value) {
    throw ConfigError(std::to_string(ranks) + " ranks need " + std::to_string(hosts) + " hosts; " + cluster.id +
                      " has " + std::to_string(cluster.nodes->value));
  }
  return {std::move(wiring), hosts, {cluster.tiers, cluster.rail_optimised}, FabricPart::two_domains};
}

Fabric::Fabric(const FabricGraph& graph, std::int64_t ranks)
    : graph_(&graph),
      ranks_(ranks),
      gpus_per_node_(graph.wiring().gpus),
      nodes_per_domain_(graph.domain_gpus() / graph.wiring().gpus) {
  const std::int64_t host = graph.wiring().gpus;
  per_domain_ = ranks < 1 ? 0 : even_share(ranks, graph.domain_gpus(), host);
  if (per_domain_ == 0) {
    refuse_ranks(ranks, host);
  }
  const std::int64_t domains = ranks / per_domain_;
  const std::int64_t last = (domains - 1) * graph.domain_gpus() + per_domain_;
  if (last > graph.gpus()) {
    throw ConfigError(counts(ranks, host) + ", " + std::to_string(per_domain_) + " in each scale-up domain, need " +
                      std::to_string(last) + " GPUs; the fabric has " + std::to_string(graph.gpus()));
  }
  if (domains > 1) {
    std::vector<Flow> flows;
    for (std::int64_t gpu = 0; gpu < host; ++gpu) {
      flows.push_back({graph.route(gpu, graph.domain_gpus() + gpu)});
      std::erase_if(flows.back().route, [&](const RouteStep& step) {
        return graph.elements()[static_cast<std::size_t>(graph.links()[static_cast<std::size_t>(step.link)].from)]
                       .kind == ElementKind::network_switch &&
               graph.elements()[static_cast<std::size_t>(graph.links()[static_cast<std::size_t>(step.link)].to)].kind ==
                   ElementKind::network_switch;
      });
    }
    const SlowestFlow slowest = slowest_flow(graph.links(), flows);
    host_out_ = slowest.rate;
    host_binds_ = graph.links()[static_cast<std::size_t>(slowest.link)].kind;
  }
}

GroupView Fabric::view(std::int64_t ranks, std::int64_t stride) const {
  return view(GroupForm{ranks, stride});
}

GroupView Fabric::view(const GroupForm& form) const {
  if (form.ranks < 1 || form.stride < 1 || form.runs < 1 || form.span() < 1 || ranks_ % form.span() != 0) {
    throw ConfigError("groups of " + std::to_string(form.ranks) + " ranks, " + std::to_string(form.stride) +
                      " apart, do not tile " + std::to_string(ranks_) + " ranks: the product must divide them");
  }
  if (form.runs > 1 && form.apart % (form.ranks * form.stride) != 0) {
    throw ConfigError("runs of " + std::to_string(form.ranks) + " ranks, " + std::to_string(form.stride) +
                      " apart, do not tile the " + std::to_string(form.apart) + " ranks up to the next run");
  }
  GroupView view;
  view.ranks = form.size();
  view.stride = form.stride;
  view.one_rail = graph_->rails() > 1;
  if (view.ranks == 1) {
    view.one_rail = true;
    return view;
  }
  const GroupShape shape{form};
  see_inside(*this, shape, view);
  see_outside(*this, shape, view);
  return view;
}

GroupTable::GroupTable(const Fabric& fabric) {
  const std::int64_t job = fabric.ranks();
  for (std::int64_t ranks = 1; ranks <= job; ++ranks) {
    for (std::int64_t stride = 1; job % ranks == 0 && stride <= job / ranks; ++stride) {
      if (job / ranks % stride == 0) {
        views_.push_back(fabric.view(ranks, stride));
      }
    }
  }
  std::size_t size = 8;
  while (size < 4 * views_.size()) {
    size *= 2;
  }
  slots_.assign(size, -1);
  for (std::size_t i = 0; i < views_.size(); ++i) {
    std::size_t at = slot(views_[i].ranks, views_[i].stride);
    while (slots_[at] >= 0) {
      at = (at + 1) & (size - 1);
    }
    slots_[at] = static_cast<std::int32_t>(i);
  }
}

std::size_t GroupTable::slot(std::int64_t ranks, std::int64_t stride) const noexcept {
  // Multiplicative hashing by 2^64 / phi, upper bits (Knuth 1998, section 6.4).
  const std::uint64_t mixed = (static_cast<std::uint64_t>(ranks) * 0x9E3779B97F4A7C15ULL) ^
                              (static_cast<std::uint64_t>(stride) * 0xC2B2AE3D27D4EB4FULL);
  return static_cast<std::size_t>(mixed >> 40U) & (slots_.size() - 1);
}

const GroupView* GroupTable::find(std::int64_t ranks, std::int64_t stride) const noexcept {
  for (std::size_t at = slot(ranks, stride);; at = (at + 1) & (slots_.size() - 1)) {
    if (slots_[at] < 0) {
      return nullptr;
    }
    const GroupView& view = views_[static_cast<std::size_t>(slots_[at])];
    if (view.ranks == ranks && view.stride == stride) {
      return &view;
    }
  }
}

}  // namespace headroom
