// SPDX-License-Identifier: Apache-2.0
// What groups see, walked one by one over the whole job: slow, and plain enough to hold the views against.
#pragma once

#include <headroom/hardware/fabric/fabric.hpp>
#include <headroom/hardware/fabric/max_min.hpp>

#include <algorithm>
#include <limits>
#include <set>
#include <vector>

namespace headroom::test {

using Ranks = std::vector<std::int64_t>;

inline void keep_least(BytesPerSecond& least, BytesPerSecond rate) {
  least = std::min(least, rate);
}

/// Fills one view: the groups are walked once, domain by domain.
class WalkedGroups {
 public:
  WalkedGroups(const Fabric& fabric, const GroupForm& form, GroupView& view)
      : fabric_(fabric), graph_(fabric.graph()), view_(view), form_(form), span_(form.span()) {}

  void see() {
    see_inside();
    see_outside();
  }

 private:
  static constexpr double unlimited = std::numeric_limits<double>::infinity();

  // ---- within a domain ----

  /// The first member of a rank's group.
  [[nodiscard]] std::int64_t leader(std::int64_t rank) const {
    const std::int64_t run = form_.ranks * form_.stride;
    const std::int64_t led = rank - rank % run / form_.stride * form_.stride;
    return form_.runs > 1 ? led - rank % span_ / form_.apart * form_.apart : led;
  }

  /// Members of each group among a domain's ranks, as places within it, groups in the order of their first place.
  [[nodiscard]] std::vector<Ranks> groups_in_domain(std::int64_t first) const {
    std::vector<Ranks> groups;
    std::vector<std::int64_t> leaders;
    for (std::int64_t place = 0; place < fabric_.ranks_per_domain(); ++place) {
      const std::int64_t led = leader(first + place);
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

  void see_inside() {
    view_.inside_ring = view_.inside_all = view_.inside_pair = BytesPerSecond{unlimited};
    view_.per_domain = 0;
    view_.fewest = fabric_.ranks_per_domain();
    std::set<std::int64_t> cuts;  // where a new block of groups begins: of one run it decides all
    std::set<std::vector<Ranks>> seen;
    for (std::int64_t first = 0; first < fabric_.ranks(); first += fabric_.ranks_per_domain()) {
      const std::int64_t cut = std::min(span_ - first % span_, fabric_.ranks_per_domain());
      if (form_.runs == 1 && !cuts.insert(cut).second) {
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
      // Any GPU sends at its full rate to any other: nothing is shared but its own links.
      const BytesPerSecond rate = static_cast<double>(wiring.planes.planes) * wiring.planes.rate;
      view_.inside = wiring.planes.kind;
      view_.in_switch = true;
      view_.inside_ring = view_.inside_all = view_.inside_pair = rate;
    } else {
      see_wired(groups);
    }
  }

  /// Domains without switches are single hosts, so that places are local GPUs.
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
      return;  // where groups do not fill domains alike, one may hold a single rank of each
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

  /// Rings over direct links use every link of a member once (a complete graph falls into such rings; Alspach 2008, and
  /// so does the hybrid cube mesh): what the least connected member has towards its group. 0 where one has none.
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

  // ---- between domains ----

  /// Flows out of and into each block of hosts, by tier, and each NIC, by host.
  struct Loads {
    std::vector<std::vector<double>> up, down;
    std::vector<double> nic_out, nic_in;
  };

  [[nodiscard]] Loads no_loads() const {
    Loads loads;
    const auto& tiers = graph_.network().tiers;
    for (std::size_t tier = 0; tier + 1 < tiers.size(); ++tier) {
      const auto blocks = static_cast<std::size_t>((graph_.nodes() + tiers[tier].nodes - 1) / tiers[tier].nodes);
      loads.up.emplace_back(blocks * switches(tier), 0.0);
      loads.down.emplace_back(blocks * switches(tier), 0.0);
    }
    loads.nic_out.assign(static_cast<std::size_t>(graph_.nodes()) * graph_.wiring().nics.size(), 0.0);
    loads.nic_in = loads.nic_out;
    return loads;
  }

  [[nodiscard]] std::size_t block(std::size_t tier, std::int64_t rank) const {
    return static_cast<std::size_t>(fabric_.node(rank) / graph_.network().tiers[tier].nodes);
  }

  /// Whether leaf switches part two ranks even below one block: another rail, and no NVLink to change it on.
  [[nodiscard]] bool rails_part(std::int64_t a, std::int64_t b) const {
    return graph_.rails() > 1 && graph_.wiring().planes.planes == 0 && graph_.network().tiers.size() > 1 &&
           rail(a) != rail(b);
  }

  [[nodiscard]] std::int32_t rail(std::int64_t rank) const { return graph_.rail_of(fabric_.local(rank)); }

  void add_nic(std::vector<double>& load, std::int64_t rank, std::int64_t local) const {
    const std::span<const std::int32_t> nics = graph_.nics_of(local);
    const auto first = static_cast<std::size_t>(fabric_.node(rank)) * graph_.wiring().nics.size();
    for (const std::int32_t nic : nics) {
      load[first + static_cast<std::size_t>(nic)] += 1.0 / static_cast<double>(nics.size());
    }
  }

  void add_flow(Loads& loads, std::int64_t from, std::int64_t to) {
    const std::int64_t local = fabric_.local(to);
    // Over NVLink to the GPU of the other's rail, and out through its NIC.
    const bool relayed = graph_.rails() > 1 && rail(from) != rail(to) && !rails_part(from, to);
    const std::int64_t leaves = relayed ? local : fabric_.local(from);
    add_nic(loads.nic_out, from, leaves);
    add_nic(loads.nic_in, to, local);
    view_.tier = std::max<std::int64_t>(view_.tier, 1);
    for (std::size_t tier = 0; tier < loads.up.size(); ++tier) {
      const std::size_t a = block(tier, from), b = block(tier, to);
      const bool parted = tier == 0 && rails_part(from, to);
      if (a == b && !parted) {
        continue;
      }
      add_uplink(loads.up[tier], tier, a, leaves);
      add_uplink(loads.down[tier], tier, b, local);
      view_.tier = std::max(view_.tier, static_cast<std::int64_t>(tier) + 2);
    }
  }

  /// A leaf of each rail stands alone below the first tier; higher up a block is one.
  void add_uplink(std::vector<double>& load, std::size_t tier, std::size_t block, std::int64_t local) const {
    if (tier > 0) {
      load[block] += 1.0;
      return;
    }
    const std::span<const std::int32_t> nics = graph_.nics_of(local);
    for (const std::int32_t nic : nics) {
      load[block * static_cast<std::size_t>(graph_.rails()) + static_cast<std::size_t>(nic % graph_.rails())] +=
          1.0 / static_cast<double>(nics.size());
    }
  }

  [[nodiscard]] std::size_t switches(std::size_t tier) const {
    return tier == 0 ? static_cast<std::size_t>(graph_.rails()) : 1;
  }

  /// A group's members fall into runs, one for each domain.
  void split(const Ranks& members, std::vector<std::size_t>& runs) const {
    runs.clear();
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (i == 0 || domain(members[i]) != domain(members[i - 1])) {
        runs.push_back(i);
      }
    }
    runs.push_back(members.size());
  }

  [[nodiscard]] std::int64_t domain(std::int64_t rank) const { return fabric_.domain(rank); }

  /// Each member sends to its counterpart in the next domain: NCCL's rings leave a host through the NIC of another
  /// member each. A single pair of neighbours sends only where a domain ends.
  void add_ring(const Ranks& members, const std::vector<std::size_t>& runs, Loads& ring, Loads& pair) {
    const std::size_t count = runs.size() - 1;
    for (std::size_t run = 0; run < count; ++run) {
      const std::size_t next = (run + 1) % count;
      const std::size_t next_size = runs[next + 1] - runs[next];
      for (std::size_t i = runs[run]; i < runs[run + 1]; ++i) {
        add_flow(ring, members[i], members[runs[next] + (i - runs[run]) % next_size]);
      }
      if (run + 1 < count) {
        add_flow(pair, members[runs[run + 1] - 1], members[runs[run + 1]]);
      }
    }
  }

  /// Each member sends one unit, spread over all ranks of other domains; of it leaves a block what goes to ranks
  /// outside.
  void add_all(const Ranks& members, const std::vector<std::size_t>& runs, Loads& all) {
    const auto n = static_cast<double>(members.size());
    for (std::size_t tier = 0; tier < all.up.size(); ++tier) {
      for (std::size_t i = 0; i < members.size();) {
        std::size_t end = i;
        while (end < members.size() && block(tier, members[end]) == block(tier, members[i])) {
          ++end;
        }
        for (std::size_t j = i; j < end; ++j) {
          const double home = home_size(runs, j);
          const double near = std::max(home, near_ranks(members, tier, i, end, j));
          for (std::size_t k = 0; k < switches(tier); ++k) {  // uniform sends meet the rails evenly
            all.up[tier][block(tier, members[i]) * switches(tier) + k] +=
                (n - near) / (n - home) / static_cast<double>(switches(tier));
          }
        }
        i = end;
      }
    }
  }

  [[nodiscard]] static double home_size(const std::vector<std::size_t>& runs, std::size_t member) {
    const auto after = std::upper_bound(runs.begin(), runs.end(), member);
    return static_cast<double>(*after - *(after - 1));
  }

  /// Members of the block [first, end) that a member reaches without leaving it.
  [[nodiscard]] double near_ranks(
      const Ranks& members, std::size_t tier, std::size_t first, std::size_t end, std::size_t member) const {
    if (tier > 0 || graph_.rails() == 1 || graph_.wiring().planes.planes > 0) {
      return static_cast<double>(end - first);
    }
    double near = 0.0;
    for (std::size_t i = first; i < end; ++i) {
      const bool beyond = rails_part(members[i], members[member]) && domain(members[i]) != domain(members[member]);
      near += beyond ? 0.0 : 1.0;
    }
    return near;
  }

  /// The least of capacity over load; `tier` is set to the tier whose uplinks bind, 0 where the hosts' own links do.
  [[nodiscard]] BytesPerSecond share(const Loads& loads, std::int64_t& tier) const {
    BytesPerSecond least = fabric_.host_out();
    tier = 0;
    for (std::size_t i = 0; i < loads.nic_out.size(); ++i) {
      const NodeWiring::Nic& nic = graph_.wiring().nics[i % graph_.wiring().nics.size()];
      const double load = std::max(loads.nic_out[i], loads.nic_in[i]);
      least = load > 0.0 ? std::min(least, nic.rate / graph_.network().tiers[0].oversubscription / load) : least;
    }
    for (std::size_t t = 0; t < loads.up.size(); ++t) {
      const BytesPerSecond capacity =
          graph_.uplink(static_cast<std::int64_t>(t) + 1) / static_cast<double>(switches(t));
      double most = 0.0;
      for (std::size_t b = 0; b < loads.up[t].size(); ++b) {
        most = std::max({most, loads.up[t][b], loads.down[t][b]});
      }
      if (most > 0.0 && capacity / most < least) {
        least = capacity / most;
        tier = static_cast<std::int64_t>(t) + 1;
      }
    }
    return least;
  }

  void count_hosts(const Ranks& members, const std::vector<std::size_t>& runs) {
    std::int64_t hosts = 1;
    bool one_rail = graph_.rails() > 1;
    for (std::size_t i = 1; i < members.size(); ++i) {
      const bool next = fabric_.node(members[i]) != fabric_.node(members[i - 1]);
      hosts += next ? 1 : 0;
      one_rail = one_rail && rail(members[i]) == rail(members[0]);
    }
    view_.nodes = std::max(view_.nodes, hosts);
    view_.domains = std::max(view_.domains, static_cast<std::int64_t>(runs.size()) - 1);
    view_.one_rail = view_.one_rail && one_rail;
  }

  void see_outside() {
    Loads ring = no_loads(), all = no_loads(), pair = no_loads();
    Ranks members;
    std::vector<std::size_t> runs;
    for (std::int64_t first = 0; first < fabric_.ranks(); ++first) {
      if (leader(first) != first) {
        continue;
      }
      members.clear();
      for (std::int64_t i = 0; i < form_.size(); ++i) {
        members.push_back(first + i / form_.ranks * form_.apart + i % form_.ranks * form_.stride);
      }
      split(members, runs);
      count_hosts(members, runs);
      if (runs.size() > 2) {
        add_ring(members, runs, ring, pair);
        add_all(members, runs, all);
      }
    }
    if (view_.domains <= 1) {
      return;
    }
    std::int64_t ignored = 0;
    view_.outside = fabric_.host_binds();
    view_.outside_ring = share(ring, view_.binding_tier);
    view_.outside_all = share(all, view_.all_binding_tier);
    view_.outside_pair = share(pair, ignored);
    view_.outside_latency = hops(view_.tier);
  }

  /// Up through the switches to a tier and down again, as far as the catalog states their latency.
  [[nodiscard]] Seconds hops(std::int64_t tier) const {
    Seconds sum{};
    for (std::int64_t t = 1; t <= tier; ++t) {
      const auto& latency = graph_.network().tiers[static_cast<std::size_t>(t - 1)].hop_latency;
      sum += (t < tier ? 2.0 : 1.0) * (latency ? latency->value : Seconds{});
    }
    return sum;
  }

  const Fabric& fabric_;
  const FabricGraph& graph_;
  GroupView& view_;
  GroupForm form_;
  std::int64_t span_;
};

/// The view of a form that tiles the job.
inline GroupView walked_view(const Fabric& fabric, const GroupForm& form) {
  GroupView view;
  view.ranks = form.size();
  view.stride = form.stride;
  view.one_rail = view.ranks == 1 || fabric.graph().rails() > 1;
  if (view.ranks > 1) {
    WalkedGroups{fabric, form, view}.see();
  }
  return view;
}

}  // namespace headroom::test
