// SPDX-License-Identifier: Apache-2.0
#include <headroom/hardware/fabric/group_sight.hpp>
#include <headroom/hardware/fabric/max_min.hpp>

#include <algorithm>
#include <limits>
#include <set>

namespace headroom {
namespace {

using Ranks = std::vector<std::int64_t>;

constexpr double unlimited = std::numeric_limits<double>::infinity();

void keep_least(BytesPerSecond& least, BytesPerSecond rate) {
  least = std::min(least, rate);
}

class InsideSight {
 public:
  InsideSight(const Fabric& fabric, const GroupShape& shape, GroupView& view)
      : fabric_(fabric), graph_(fabric.graph()), shape_(shape), view_(view) {}

  void see() {
    const std::int64_t domain = fabric_.ranks_per_domain();
    view_.inside_ring = view_.inside_all = view_.inside_pair = BytesPerSecond{unlimited};
    view_.per_domain = 0;
    view_.fewest = domain;
    // distance to the start of the next block of groups, which decides everything for groups of one run
    std::set<std::int64_t> cuts;
    std::set<std::vector<Ranks>> seen;
    for (const std::int64_t unit : typical_units(shape_, domain, fabric_.ranks())) {
      const std::int64_t first = unit * domain;
      const std::int64_t cut = std::min(shape_.span - first % shape_.span, domain);
      if (shape_.runs == 1 && !cuts.insert(cut).second) {
        continue;
      }
      const auto [groups, fresh] = seen.insert(groups_in_domain(first));
      if (fresh) {
        see_domain(*groups);
      }
    }
    if (view_.per_domain <= 1) {
      view_.inside_ring = view_.inside_all = view_.inside_pair = BytesPerSecond{};
    }
  }

 private:
  /// Members of each group in a domain, as positions within it; groups in the order of their first member.
  [[nodiscard]] std::vector<Ranks> groups_in_domain(std::int64_t first) const {
    std::vector<Ranks> groups;
    std::vector<std::int64_t> leaders;
    for (std::int64_t place = 0; place < fabric_.ranks_per_domain(); ++place) {
      const std::int64_t led = shape_.leader(first + place);
      const auto found = std::find(leaders.begin(), leaders.end(), led);
      const auto at = static_cast<std::size_t>(found - leaders.begin());
      if (found == leaders.end()) {
        leaders.push_back(led);
        groups.emplace_back();
      }
      groups[at].push_back(place);
    }
    return groups;
  }

  void see_domain(const std::vector<Ranks>& groups) {
    for (const Ranks& members : groups) {
      const auto size = static_cast<std::int64_t>(members.size());
      view_.per_domain = std::max(view_.per_domain, size);
      view_.fewest = std::min(view_.fewest, size);
    }
    if (view_.per_domain <= 1) {
      return;
    }
    const NodeWiring& wiring = graph_.wiring();
    if (wiring.planes.planes > 0) {
      // Through switches any GPU reaches any other at its full rate; only its own links are shared.
      const BytesPerSecond rate = static_cast<double>(wiring.planes.planes) * wiring.planes.rate;
      view_.inside = wiring.planes.kind;
      view_.in_switch = true;
      view_.inside_ring = view_.inside_all = view_.inside_pair = rate;
    } else {
      see_wired(groups);
    }
  }

  /// A domain without switches is a single host, so that positions are local GPUs.
  void see_wired(const std::vector<Ranks>& groups) {
    std::vector<Flow> ring, all, pair;
    std::vector<double> shares;
    for (const Ranks& members : groups) {
      for (std::size_t i = 0; i < members.size() && members.size() > 1; ++i) {
        ring.push_back({graph_.route(members[i], members[(i + 1) % members.size()])});
        if (i + 1 < members.size()) {
          pair.push_back(ring.back());
        }
        for (const std::int64_t other : members) {
          if (other != members[i]) {
            all.push_back({graph_.route(members[i], other)});
            shares.push_back(1.0 / static_cast<double>(members.size() - 1));
          }
        }
      }
    }
    const SlowestFlow around = slowest_flow(graph_.links(), ring);
    if (around.link < 0) {
      return;  // where groups do not fill domains evenly, a domain may hold a single rank of each group
    }
    const FabricLink& slow = graph_.links()[static_cast<std::size_t>(around.link)];
    BytesPerSecond ring_rate = around.rate;
    view_.inside = slow.kind;
    view_.staged = !graph_.wiring().peer_access && slow.kind != LinkKind::nvlink && slow.kind != LinkKind::xgmi;
    if (const BytesPerSecond woven = woven_rings(groups); woven > ring_rate) {
      ring_rate = woven;
    }
    keep_least(view_.inside_ring, ring_rate);
    keep_least(view_.inside_all, slowest_flow(graph_.links(), all, shares).rate);
    keep_least(view_.inside_pair, slowest_flow(graph_.links(), pair).rate);
  }

  /// Rate of rings over direct links that together use every link of a member once, as a complete graph (Alspach 2008)
  /// and the hybrid cube mesh allow: the smallest summed rate of a member's links into its group, which may be 0.
  [[nodiscard]] BytesPerSecond woven_rings(const std::vector<Ranks>& groups) const {
    BytesPerSecond least{unlimited};
    for (const Ranks& members : groups) {
      for (const std::int64_t a : members) {
        BytesPerSecond degree{};
        for (const NodeWiring::Pair& pair : graph_.wiring().pairs) {
          const bool joins = (pair.a == a && contains(members, pair.b)) || (pair.b == a && contains(members, pair.a));
          degree += joins ? pair.rate : BytesPerSecond{};
        }
        if (members.size() > 1) {
          keep_least(least, degree);
        }
      }
    }
    return least;
  }

  [[nodiscard]] static bool contains(const Ranks& members, std::int64_t place) {
    return std::binary_search(members.begin(), members.end(), place);
  }

  const Fabric& fabric_;
  const FabricGraph& graph_;
  const GroupShape& shape_;
  GroupView& view_;
};

}  // namespace

void see_inside(const Fabric& fabric, const GroupShape& shape, GroupView& view) {
  InsideSight{fabric, shape, view}.see();
}

}  // namespace headroom
