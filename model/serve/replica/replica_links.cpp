// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/diagnostic.hpp>
#include <headroom/model/collectives/collective_library.hpp>
#include <headroom/model/serve/replica/replica.hpp>
#include <headroom/model/serve/replica/replica_links.hpp>

#include <algorithm>
#include <cstdint>

namespace headroom {
namespace {

/// Cards of a box without a switch: beyond a bridge they meet over PCIe, with peer access, in boxes of up to eight.
constexpr std::int64_t cards_of_a_box = 8;

GroupView card_view(const Device& device, std::int64_t ranks) {
  if (!device.pcie.rate) {
    throw ConfigError{device.id + " has no rate of PCIe in the catalog (pcie.rate)"};
  }
  GroupView view;
  view.ranks = view.per_domain = ranks;
  view.inside = LinkKind::pcie;
  view.inside_ring = view.inside_all = view.inside_pair = device.pcie.rate->value;
  return view;
}

}  // namespace

std::int64_t joined_gpus(const Device& device, const Node* node) noexcept {
  return std::max<std::int64_t>(device.scale_up.domain, node != nullptr ? node->gpus : std::int64_t{1});
}

GroupView group_view(const Device& device, const Node* node, std::int64_t ranks) {
  const LinkTopology topology = node != nullptr ? node->topology : device.scale_up.topology;
  const bool plain =
      topology == LinkTopology::bridge || topology == LinkTopology::pcie || topology == LinkTopology::none;
  const bool cards = plain && !device.power.of_superchip;
  const std::int64_t joined = std::max<std::int64_t>(
      device.scale_up.domain, node != nullptr && topology != LinkTopology::bridge ? node->gpus : std::int64_t{1});
  if (cards && ranks > joined && ranks <= cards_of_a_box) {
    return card_view(device, ranks);
  }
  const std::int64_t each = joined_gpus(device, node);
  const std::int64_t nodes = ranks > each && each > 1 ? (ranks + each - 1) / each : 1;
  return hosts_view(device, node, ranks, nodes);
}

bool experts_over_nics(const Device& device, const Node* node, const ServingLayout& layout) noexcept {
  return layout.attention_groups() > 1 && layout.ep > joined_gpus(device, node);
}

}  // namespace headroom
