// SPDX-License-Identifier: Apache-2.0
#include <headroom/hardware/catalog/wiring.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace headroom {
namespace {

bool same_rate(BytesPerSecond a, BytesPerSecond b) {
  return std::abs(a.raw() - b.raw()) <= 1e-6 * std::max(std::abs(a.raw()), std::abs(b.raw()));
}

/// Renumbers in the order of first mention; -1 stays.
class Renumbering {
 public:
  std::int64_t of(std::int64_t old) {
    return old < 0 ? -1 : numbers_.emplace(old, static_cast<std::int64_t>(numbers_.size())).first->second;
  }

 private:
  std::map<std::int64_t, std::int64_t> numbers_;
};

/// The tree with switches and sockets numbered in the order in which GPUs, then NICs mention them.
struct Tree {
  using Leaf = std::tuple<std::int64_t, std::int64_t, std::int64_t, double>;  ///< GPU, switch, socket, rate (bytes/s)
  std::vector<Leaf> gpus, nics;
  std::int64_t switches = 0;
};

Tree tree_of(const NodeWiring& w) {
  Renumbering switches;
  Renumbering sockets;
  Tree tree;
  const auto leaf = [&](std::int64_t gpu, std::int64_t pcie_switch, std::int64_t socket, BytesPerSecond rate) {
    return Tree::Leaf{gpu, switches.of(pcie_switch), sockets.of(socket), rate.raw()};
  };
  for (std::size_t i = 0; i < w.gpu_socket.size(); ++i) {
    tree.gpus.push_back(leaf(static_cast<std::int64_t>(i), i < w.gpu_switch.size() ? w.gpu_switch[i] : -1,
                             w.gpu_socket[i], w.gpu_pcie));
  }
  for (const NodeWiring::Nic& nic : w.nics) {
    tree.nics.push_back(leaf(nic.gpu, nic.pcie_switch, nic.socket, nic.rate));
  }
  std::sort(tree.nics.begin(), tree.nics.end());
  tree.switches = std::ssize(w.switch_socket);
  return tree;
}

bool same_leaves(const std::vector<Tree::Leaf>& a, const std::vector<Tree::Leaf>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Tree::Leaf& x, const Tree::Leaf& y) {
    return std::get<0>(x) == std::get<0>(y) && std::get<1>(x) == std::get<1>(y) && std::get<2>(x) == std::get<2>(y) &&
           same_rate(BytesPerSecond{std::get<3>(x)}, BytesPerSecond{std::get<3>(y)});
  });
}

bool same_pairs(std::vector<NodeWiring::Pair> a, std::vector<NodeWiring::Pair> b) {
  const auto before = [](const NodeWiring::Pair& x, const NodeWiring::Pair& y) {
    return std::tie(x.a, x.b) < std::tie(y.a, y.b);
  };
  std::sort(a.begin(), a.end(), before);
  std::sort(b.begin(), b.end(), before);
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const NodeWiring::Pair& x, const NodeWiring::Pair& y) {
    return std::tie(x.a, x.b, x.kind, x.links) == std::tie(y.a, y.b, y.kind, y.links) && same_rate(x.rate, y.rate);
  });
}

}  // namespace

bool NodeWiring::same_as(const NodeWiring& other) const {
  const Planes& p = planes;
  const Planes& q = other.planes;
  const bool same_planes = p.planes == q.planes &&
                           (p.planes == 0 || (p.kind == q.kind && p.domain == q.domain && same_rate(p.rate, q.rate)));
  const Tree mine = tree_of(*this);
  const Tree theirs = tree_of(other);
  return gpus == other.gpus && same_pairs(pairs, other.pairs) && same_planes && sockets == other.sockets &&
         mine.switches == theirs.switches && same_leaves(mine.gpus, theirs.gpus) &&
         same_leaves(mine.nics, theirs.nics) && host_link == other.host_link &&
         same_rate(switch_pcie, other.switch_pcie) && same_rate(socket_link, other.socket_link) &&
         peer_access == other.peer_access;
}

}  // namespace headroom
