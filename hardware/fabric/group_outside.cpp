// SPDX-License-Identifier: Apache-2.0
#include <headroom/hardware/fabric/group_sight.hpp>

#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

namespace headroom {
namespace {

/// The sum of f(1) to f(count), where f has period `period`.
template <class Function>
std::int64_t periodic_sum(std::int64_t count, std::int64_t period, Function f) {
  const auto sum = [&](std::int64_t last) {
    std::int64_t result = 0;
    for (std::int64_t i = 1; i <= last; ++i) {
      result += f(i);
    }
    return result;
  };
  return count <= period ? sum(count) : count / period * sum(period) + sum(count % period);
}

struct Sends {
  std::int64_t from = 0, to = 0;
};

/// Flows out of and into a domain: those of rings that pass every domain, and those between single neighbours.
struct DomainFlows {
  std::vector<Sends> ring_out, ring_in, pair_out, pair_in;
};

/// Largest loads in units of one flow: by NIC of a host, and by tier for the uplinks out of a block of hosts.
struct Heaviest {
  std::vector<double> nic, up;
};

class OutsideSight {
 public:
  OutsideSight(const Fabric& fabric, const GroupShape& shape, GroupView& view)
      : fabric_(fabric),
        graph_(fabric.graph()),
        shape_(shape),
        view_(view),
        domain_(fabric.ranks_per_domain()),
        hosts_(fabric.graph().domain_gpus() / fabric.graph().wiring().gpus) {}

  void see() {
    for (const std::int64_t leader : typical_leaders(shape_, domain_, fabric_.ranks())) {
      count_hosts(leader);
    }
    if (view_.domains <= 1) {
      return;
    }
    const std::size_t nics = graph_.wiring().nics.size(), tiers = graph_.network().tiers.size();
    for (Heaviest* const loads : {&ring_, &all_, &pair_}) {
      loads->nic.assign(nics, 0.0);
      loads->up.assign(tiers > 0 ? tiers - 1 : 0, 0.0);
    }
    view_.tier = 1;
    for (const std::int64_t domain : typical_units(shape_, domain_, fabric_.ranks())) {
      load_nics(domain);
    }
    for (std::size_t tier = 0; tier + 1 < tiers; ++tier) {
      load_uplinks(tier);
    }
    std::int64_t ignored = 0;
    view_.outside = fabric_.host_binds();
    view_.outside_ring = share(ring_, view_.binding_tier);
    view_.outside_all = share(all_, view_.all_binding_tier);
    view_.outside_pair = share(pair_, ignored);
    view_.outside_latency = hops(view_.tier);
  }

 private:
  // ---- hosts ----

  void count_hosts(std::int64_t leader) {
    const auto changes = [&](auto place_of) {
      const auto within = [&](std::int64_t run) {
        const std::int64_t first = leader + run * shape_.apart;
        return periodic_sum(shape_.members - 1, shifts(shape_.stride), [&](std::int64_t c) {
          return place_of(first + c * shape_.stride) != place_of(first + (c - 1) * shape_.stride) ? 1 : 0;
        });
      };
      return within(0) + periodic_sum(shape_.runs - 1, shifts(shape_.apart), [&](std::int64_t run) {
               const std::int64_t last = leader + (run - 1) * shape_.apart + (shape_.members - 1) * shape_.stride;
               return within(run) + (place_of(leader + run * shape_.apart) != place_of(last) ? 1 : 0);
             });
    };
    view_.nodes = std::max(view_.nodes, 1 + changes([&](std::int64_t rank) { return fabric_.node(rank); }));
    view_.domains = std::max(view_.domains, 1 + changes([&](std::int64_t rank) { return fabric_.domain(rank); }));
    view_.one_rail = view_.one_rail && on_one_rail(leader);
  }

  [[nodiscard]] bool on_one_rail(std::int64_t leader) const {
    if (graph_.rails() <= 1) {
      return false;
    }
    for (std::int64_t a = 0; a < std::min(shape_.runs, shifts(shape_.apart)); ++a) {
      for (std::int64_t c = 0; c < std::min(shape_.members, shifts(shape_.stride)); ++c) {
        if (rail(leader + a * shape_.apart + c * shape_.stride) != rail(leader)) {
          return false;
        }
      }
    }
    return true;
  }

  /// Number of steps after which a rank is at the same position of a domain again.
  [[nodiscard]] std::int64_t shifts(std::int64_t step) const { return domain_ / std::gcd(domain_, step); }

  [[nodiscard]] std::int32_t rail(std::int64_t rank) const { return graph_.rail_of(fabric_.local(rank)); }

  // ---- flows ----

  /// Members of a group in one domain, as a range of indices.
  struct Run {
    std::int64_t first = 0, last = 0;
    [[nodiscard]] std::int64_t size() const { return last - first + 1; }
    /// The member that receives from the i-th member of another run.
    [[nodiscard]] std::int64_t counterpart(std::int64_t i) const { return first + i % size(); }
  };

  [[nodiscard]] Run run_at(std::int64_t leader, std::int64_t index) const {
    const auto place = [&](std::int64_t i) { return fabric_.domain(shape_.member(leader, i)); };
    Run run{index, index};
    while (run.first > 0 && place(run.first - 1) == place(index)) {
      --run.first;
    }
    while (run.last + 1 < shape_.size() && place(run.last + 1) == place(index)) {
      ++run.last;
    }
    return run;
  }

  /// A group in a part of the job: its leader, and its first and last rank there.
  struct Part {
    std::int64_t leader = 0, first = 0, last = 0;
  };
  [[nodiscard]] std::vector<Part> groups_among(std::int64_t begin, std::int64_t end) const {
    std::vector<Part> parts;
    parts.reserve(static_cast<std::size_t>(end - begin));
    for (std::int64_t rank = begin; rank < end; ++rank) {
      parts.push_back({shape_.leader(rank), rank, rank});
    }
    std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) {
      return a.leader < b.leader || (a.leader == b.leader && a.first < b.first);
    });
    std::size_t groups = 0;
    for (const Part& part : parts) {
      if (groups > 0 && parts[groups - 1].leader == part.leader) {
        parts[groups - 1].last = part.last;
      } else {
        parts[groups++] = part;
      }
    }
    parts.resize(groups);
    return parts;
  }

  /// Each member sends to its counterpart in the next domain, because each of NCCL's rings leaves a host through the
  /// NIC of another member. A single pair of neighbours sends only where a domain ends.
  [[nodiscard]] DomainFlows flows_of(std::int64_t domain) const {
    DomainFlows flows;
    for (const Part& part : groups_among(domain * domain_, (domain + 1) * domain_)) {
      const auto member = [&](std::int64_t i) { return shape_.member(part.leader, i); };
      const std::int64_t size = shape_.size();
      const Run here{shape_.index(part.first), shape_.index(part.last)};
      if (here.size() == size) {
        continue;  // never leaves the domain
      }
      const Run next = run_at(part.leader, here.last + 1 == size ? 0 : here.last + 1);
      const Run before = run_at(part.leader, here.first == 0 ? size - 1 : here.first - 1);
      for (std::int64_t i = 0; i < here.size(); ++i) {
        flows.ring_out.push_back({member(here.first + i), member(next.counterpart(i))});
      }
      for (std::int64_t i = 0; i < before.size(); ++i) {
        flows.ring_in.push_back({member(before.first + i), member(here.counterpart(i))});
      }
      if (here.last + 1 < size) {
        flows.pair_out.push_back({member(here.last), member(next.first)});
      }
      if (here.first > 0) {
        flows.pair_in.push_back({member(before.last), member(here.first)});
      }
    }
    return flows;
  }

  /// Whether two ranks below one block meet in no leaf switch: different rails, and no NVLink to change.
  [[nodiscard]] bool rails_part(std::int64_t a, std::int64_t b) const {
    return graph_.rails() > 1 && graph_.wiring().planes.planes == 0 && graph_.network().tiers.size() > 1 &&
           rail(a) != rail(b);
  }

  /// The local GPU through whose NICs a flow leaves: the one on the destination's rail where NVLink reaches it.
  [[nodiscard]] std::int64_t leaves(const Sends& flow) const {
    const bool relayed = graph_.rails() > 1 && rail(flow.from) != rail(flow.to) && !rails_part(flow.from, flow.to);
    return fabric_.local(relayed ? flow.to : flow.from);
  }

  // ---- loads of NICs ----

  void load_nics(std::int64_t domain) {
    const DomainFlows flows = flows_of(domain);
    load_nics(domain, flows.ring_out, flows.ring_in, ring_);
    load_nics(domain, flows.pair_out, flows.pair_in, pair_);
  }

  void load_nics(std::int64_t domain, std::span<const Sends> out, std::span<const Sends> in, Heaviest& heaviest) {
    const std::size_t nics = heaviest.nic.size();
    std::vector<double> leaving(static_cast<std::size_t>(hosts_) * nics, 0.0);
    std::vector<double> arriving = leaving;
    const auto add = [&](std::vector<double>& load, std::int64_t rank, std::int64_t local) {
      const std::span<const std::int32_t> ports = graph_.nics_of(local);
      const auto first = static_cast<std::size_t>(fabric_.node(rank) - domain * hosts_) * nics;
      for (const std::int32_t port : ports) {
        load[first + static_cast<std::size_t>(port)] += 1.0 / static_cast<double>(ports.size());
      }
    };
    for (const Sends& flow : out) {
      add(leaving, flow.from, leaves(flow));
    }
    for (const Sends& flow : in) {
      add(arriving, flow.to, fabric_.local(flow.to));
    }
    for (std::size_t i = 0; i < leaving.size(); ++i) {
      heaviest.nic[i % nics] = std::max({heaviest.nic[i % nics], leaving[i], arriving[i]});
    }
  }

  // ---- loads of uplinks ----

  /// A block of hosts below one switch of a tier, as a range of ranks.
  struct Block {
    std::size_t tier = 0;
    std::int64_t number = 0;
    std::int64_t begin = 0, end = 0;
    [[nodiscard]] bool holds(std::int64_t rank) const { return rank >= begin && rank < end; }
  };

  /// The first rank on a host or after it.
  [[nodiscard]] std::int64_t first_rank(std::int64_t host) const {
    return std::min(fabric_.ranks(), host / hosts_ * domain_ + std::min(host % hosts_ * graph_.wiring().gpus, domain_));
  }

  void load_uplinks(std::size_t tier) {
    const std::int64_t below = graph_.network().tiers[tier].nodes;
    const std::int64_t meet = std::lcm(below, hosts_);  // hosts after which domains and blocks start together again
    for (const std::int64_t unit : typical_units(shape_, meet / hosts_ * domain_, fabric_.ranks())) {
      for (std::int64_t number = unit * (meet / below); number < (unit + 1) * (meet / below); ++number) {
        const Block block{tier, number, first_rank(number * below), first_rank((number + 1) * below)};
        if (block.begin < block.end) {
          load_ring(block);
          load_all(block);
        }
      }
    }
  }

  void load_ring(const Block& block) {
    std::vector<double> ring_up(switches(block.tier), 0.0);
    std::vector<double> ring_down = ring_up, pair_up = ring_up, pair_down = ring_up;
    for (std::int64_t domain = block.begin / domain_; domain <= (block.end - 1) / domain_; ++domain) {
      const DomainFlows flows = flows_of(domain);
      add_leaving(block, flows.ring_out, ring_up);
      add_arriving(block, flows.ring_in, ring_down);
      add_leaving(block, flows.pair_out, pair_up);
      add_arriving(block, flows.pair_in, pair_down);
    }
    keep_heaviest(ring_, block.tier, ring_up);
    keep_heaviest(ring_, block.tier, ring_down);
    keep_heaviest(pair_, block.tier, pair_up);
    keep_heaviest(pair_, block.tier, pair_down);
  }

  void add_leaving(const Block& block, std::span<const Sends> flows, std::vector<double>& load) {
    for (const Sends& flow : flows) {
      if (block.holds(flow.from) && crosses(block, flow, flow.to)) {
        add_uplink(load, block.tier, leaves(flow));
      }
    }
  }
  void add_arriving(const Block& block, std::span<const Sends> flows, std::vector<double>& load) {
    for (const Sends& flow : flows) {
      if (block.holds(flow.to) && crosses(block, flow, flow.from)) {
        add_uplink(load, block.tier, fabric_.local(flow.to));
      }
    }
  }

  /// Whether a flow with one end in a block leaves it upward; also records the highest tier reached.
  bool crosses(const Block& block, const Sends& flow, std::int64_t other) {
    const bool up = !block.holds(other) || (block.tier == 0 && rails_part(flow.from, flow.to));
    if (up) {
      view_.tier = std::max(view_.tier, static_cast<std::int64_t>(block.tier) + 2);
    }
    return up;
  }

  /// Adds one flow to the uplinks: by rail in the first tier (a leaf per rail), else to the whole block.
  void add_uplink(std::vector<double>& load, std::size_t tier, std::int64_t local) const {
    if (tier > 0) {
      load.front() += 1.0;
      return;
    }
    const std::span<const std::int32_t> nics = graph_.nics_of(local);
    for (const std::int32_t nic : nics) {
      load[static_cast<std::size_t>(nic % graph_.rails())] += 1.0 / static_cast<double>(nics.size());
    }
  }

  [[nodiscard]] std::size_t switches(std::size_t tier) const {
    return tier == 0 ? static_cast<std::size_t>(graph_.rails()) : 1;
  }

  static void keep_heaviest(Heaviest& heaviest, std::size_t tier, const std::vector<double>& load) {
    heaviest.up[tier] = std::max(heaviest.up[tier], *std::max_element(load.begin(), load.end()));
  }

  /// Each member sends one unit, spread over all ranks of other domains; what goes to ranks outside the block leaves
  /// it. Uniform sends load the rails evenly.
  void load_all(const Block& block) {
    const auto n = static_cast<double>(shape_.size());
    double load = 0.0;
    for (const Part& part : groups_among(block.begin, block.end)) {
      if (fabric_.domain(part.leader) == fabric_.domain(shape_.member(part.leader, shape_.size() - 1))) {
        continue;
      }
      const Run here{shape_.index(part.first), shape_.index(part.last)};
      Run home{here.first, here.first - 1};
      for (std::int64_t i = here.first; i <= here.last; ++i) {
        if (i > home.last) {
          home = run_at(part.leader, i);
        }
        const auto at_home = static_cast<double>(home.size());
        const double near = std::max(at_home, near_ranks(block, part.leader, here, i));
        load += (n - near) / (n - at_home) / static_cast<double>(switches(block.tier));
      }
    }
    all_.up[block.tier] = std::max(all_.up[block.tier], load);
  }

  /// Number of members in `here` that a member reaches without leaving the block.
  [[nodiscard]] double near_ranks(const Block& block, std::int64_t leader, const Run& here, std::int64_t index) const {
    if (block.tier > 0 || graph_.rails() == 1 || graph_.wiring().planes.planes > 0) {
      return static_cast<double>(here.size());
    }
    const std::int64_t rank = shape_.member(leader, index);
    double near = 0.0;
    for (std::int64_t i = here.first; i <= here.last; ++i) {
      const std::int64_t other = shape_.member(leader, i);
      const bool beyond = rails_part(other, rank) && fabric_.domain(other) != fabric_.domain(rank);
      near += beyond ? 0.0 : 1.0;
    }
    return near;
  }

  // ---- results ----

  /// The smallest capacity over load; `tier` is the tier whose uplinks limit it, 0 for the hosts' own links.
  [[nodiscard]] BytesPerSecond share(const Heaviest& loads, std::int64_t& tier) const {
    BytesPerSecond least = fabric_.host_out();
    tier = 0;
    for (std::size_t i = 0; i < loads.nic.size(); ++i) {
      const NodeWiring::Nic& nic = graph_.wiring().nics[i];
      const double load = loads.nic[i];
      least = load > 0.0 ? std::min(least, nic.rate / graph_.network().tiers[0].oversubscription / load) : least;
    }
    for (std::size_t t = 0; t < loads.up.size(); ++t) {
      const BytesPerSecond capacity =
          graph_.uplink(static_cast<std::int64_t>(t) + 1) / static_cast<double>(switches(t));
      if (loads.up[t] > 0.0 && capacity / loads.up[t] < least) {
        least = capacity / loads.up[t];
        tier = static_cast<std::int64_t>(t) + 1;
      }
    }
    return least;
  }

  /// Latency up through the switches to a tier and down again, as far as the catalog states it.
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
  const GroupShape& shape_;
  GroupView& view_;
  std::int64_t domain_;  ///< ranks of a scale-up domain
  std::int64_t hosts_;   ///< hosts of a scale-up domain
  Heaviest ring_, all_, pair_;
};

}  // namespace

void see_outside(const Fabric& fabric, const GroupShape& shape, GroupView& view) {
  OutsideSight{fabric, shape, view}.see();
}

}  // namespace headroom
