// SPDX-License-Identifier: Apache-2.0
#include <headroom/model/collectives/collective_time.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace headroom {
namespace {

using nccl::Algorithm;
using nccl::Protocol;

constexpr CurveUnit share_unit = CurveUnit::share;
constexpr CurveUnit time_unit = CurveUnit::seconds;

// Priors are medians of free fits to nine SKUs; data that do not constrain a parameter leave it at its prior.
constexpr std::array<CurveParameter, ring_parameter_count> ring_table{{
    {"launch", time_unit, 6e-6, 0.7, 0.5e-6, 40e-6},
    {"ll_hop", time_unit, 0.9e-6, 0.7, 0.01e-6, 20e-6},
    {"crowd", share_unit, 0.4, 0.7, 0.001, 5.0},
    {"ll_rate", share_unit, 0.4, 0.5, 0.005, 1.0},
    {"ll128_hop", time_unit, 5e-6, 1.0, 0.01e-6, 50e-6},
    {"ll128_rate", share_unit, 0.8, 0.2, 0.05, 1.0},
    {"simple_hop", time_unit, 9e-6, 0.7, 0.01e-6, 90e-6},
    {"share_2", share_unit, 0.7, 0.0, 0.005, 1.0},
    {"share_4", share_unit, 0.75, 0.0, 0.005, 1.0},
    {"share_8", share_unit, 0.8, 0.0, 0.005, 1.0},
    {"pipeline", time_unit, 1.2e-6, 0.8, 0.01e-6, 100e-6},
    {"nvls_latency", time_unit, 30e-6, 0.4, 1e-6, 200e-6},
    {"nvls_rate", share_unit, 0.68, 0.2, 0.05, 1.0},
    {"nvls_pipeline", time_unit, 4e-6, 0.8, 0.01e-6, 200e-6},
}};

constexpr std::array<CurveParameter, pair_parameter_count> pair_table{{
    {"launch", time_unit, 7e-6, 0.7, 0.5e-6, 40e-6},
    {"ll_hop", time_unit, 0.3e-6, 0.8, 0.001e-6, 5e-6},
    {"chunk", time_unit, 2.6e-6, 0.5, 0.05e-6, 50e-6},
    {"ll_rate", share_unit, 0.45, 0.5, 0.005, 1.0},
    {"ll_limit", CurveUnit::bytes, 23170.0, 0.0, 1024.0, 1048576.0},
    {"simple_latency", time_unit, 7e-6, 0.6, 0.1e-6, 100e-6},
    {"simple_hop", time_unit, 0.2e-6, 1.0, 0.001e-6, 5e-6},
    {"share_2", share_unit, 0.6, 0.0, 0.005, 1.0},
    {"share_4", share_unit, 0.65, 0.0, 0.005, 1.0},
    {"share_8", share_unit, 0.7, 0.0, 0.005, 1.0},
    {"pipeline", time_unit, 1.5e-6, 0.8, 0.01e-6, 100e-6},
}};

constexpr double at(const RingCurve& curve, RingParameter parameter) noexcept {
  return curve[static_cast<std::size_t>(parameter)];
}
constexpr double at(const PairCurve& curve, PairParameter parameter) noexcept {
  return curve[static_cast<std::size_t>(parameter)];
}
constexpr double hop_of(const RingCurve& curve, Protocol protocol) noexcept {
  return at(curve, protocol == Protocol::ll      ? RingParameter::ll_hop
                   : protocol == Protocol::ll128 ? RingParameter::ll128_hop
                                                 : RingParameter::simple_hop);
}
double hop_of(const NetworkCurve& network, Protocol protocol) noexcept {
  return network.hop[static_cast<std::size_t>(protocol)].raw();
}
constexpr double rate_of(const RingCurve& curve, Protocol protocol) noexcept {
  return protocol == Protocol::ll      ? at(curve, RingParameter::ll_rate)
         : protocol == Protocol::ll128 ? at(curve, RingParameter::ll128_rate)
                                       : 1.0;
}

/// Steps and bytes overlap in part: the time lies between the longer of the two and their sum.
double overlapped(double hops, double transfer) noexcept {
  return std::sqrt(hops * hops + transfer * transfer);
}
double pipelined(double x, double segment) noexcept {
  return x + 2.0 * std::sqrt(segment * x);
}

/// Degree (0 to 1) to which LL uses its full set of threads. NCCL halves the threads while one of a channel has less
/// than 8 bytes per rank to move (nccl::choose), so that 512 threads need 4 KiB per rank.
double crowded(double bytes, double ranks) noexcept {
  constexpr double full = 4096.0;
  constexpr double half_way = 0.7;
  const double filled = bytes / (ranks * full * half_way);
  return filled * filled / (1.0 + filled * filled);
}

/// `tier`: the tier whose uplinks limit the traffic out of a domain; 0: the NICs do.
CollectiveBound bound_of(const CollectiveTime& t, double inside, double outside, std::int64_t tier) noexcept {
  return t.latency + t.launch > t.transfer ? CollectiveBound::latency
         : outside <= inside               ? CollectiveBound::inside_link
         : tier > 0                        ? CollectiveBound::tier
                                           : CollectiveBound::nic;
}

double log2_of(std::int64_t count) noexcept {
  return std::log2(static_cast<double>(std::max<std::int64_t>(count, 1)));
}

/// Interpolates the shares linearly in the logarithm of the ranks between 2, 4 and 8.
double share_of(const CollectiveCurves& curves, const GroupView& view, double at_2, double at_4, double at_8) noexcept {
  if (curves.staged_shares && !view.staged) {
    return at_2;  // the measured server has peer access only between two ranks
  }
  const double doublings = std::log2(std::max(static_cast<double>(view.per_domain), 2.0)) - 1.0;
  const double first = std::clamp(doublings, 0.0, 1.0);
  const double second = std::clamp(doublings - 1.0, 0.0, 1.0);
  return std::exp2((1.0 - first) * std::log2(at_2) + (first - second) * std::log2(at_4) + second * std::log2(at_8));
}

/// A share of the link that it was measured on, at most the rate that the group sees.
BytesPerSecond sustained(const CollectiveCurves& curves,
                         const GroupView& view,
                         BytesPerSecond seen,
                         double share) noexcept {
  const bool shared = curves.link > BytesPerSecond{} && view.inside != LinkKind::nvlink;
  return shared ? std::min(share * curves.link, seen) : share * seen;
}

nccl::Communicator communicator_of(const CollectiveCurves& curves,
                                   const GroupView& view,
                                   Collective collective,
                                   CollectiveOptions options) noexcept {
  const NcclGraphs& g = curves.graphs;
  nccl::Communicator c;
  c.ranks = view.ranks;
  c.nodes = std::max<std::int64_t>(view.domains, 1);  // NCCL's tables treat a rack-scale NVLink domain as one node
  c.generation = g.generation;
  c.inside = view.inside == LinkKind::nvlink ? nccl::Inside::nvlink : nccl::Inside::pci;
  c.ll128 = g.ll128;
  c.ring.channels = g.ring_channels;
  c.ring.intra = g.ring_channel;
  const BytesPerSecond nics = static_cast<double>(view.per_domain) * view.outside_ring;
  c.ring.inter =
      view.domains > 1 ? std::min(g.ring_channel, nics / static_cast<double>(g.ring_channels)) : g.ring_channel;
  c.tree = c.ring;
  c.nvls.channels = g.nvls_channels;
  c.nvls.intra = g.nvls_channel;
  c.nvls.inter = view.domains > 1 ? std::min({g.nvls_channel, nics / static_cast<double>(g.nvls_channels),
                                              g.net_channel > BytesPerSecond{} ? g.net_channel : g.nvls_channel})
                                  : g.nvls_channel;
  // All-gather and reduce-scatter use NVLS only with registered buffers, which was never measured.
  c.nvls_supported = options.nvls && options.floating && collective == Collective::all_reduce && view.in_switch &&
                     g.nvls_ranks > 0 && view.per_domain >= g.nvls_ranks;
  c.nvswitch = view.in_switch;
  return c;
}

}  // namespace

const std::array<CurveParameter, ring_parameter_count>& ring_parameters() noexcept {
  return ring_table;
}
const std::array<CurveParameter, pair_parameter_count>& pair_parameters() noexcept {
  return pair_table;
}

BytesPerSecond ring_rate(const CollectiveCurves& curves, const RingCurve& curve, const GroupView& view) noexcept {
  return sustained(curves, view, view.inside_ring,
                   share_of(curves, view, at(curve, RingParameter::share_2), at(curve, RingParameter::share_4),
                            at(curve, RingParameter::share_8)));
}

GroupCollectives::GroupCollectives(const CollectiveCurves& curves,
                                   const NetworkCurve& network,
                                   const GroupView& view,
                                   CollectiveOptions options) noexcept
    : curves_{curves},
      network_{network},
      view_{view},
      pair_rate_{sustained(curves,
                           view,
                           view.inside_all,
                           share_of(curves,
                                    view,
                                    at(curves.all_to_all, PairParameter::share_2),
                                    at(curves.all_to_all, PairParameter::share_4),
                                    at(curves.all_to_all, PairParameter::share_8)))} {
  constexpr std::array kinds{Collective::all_reduce, Collective::all_gather, Collective::reduce_scatter};
  for (std::size_t i = 0; i < plans && view.ranks > 1; ++i) {
    rate_[i] = ring_rate(curves_, curve_of(i), view_);
    plans_[i].communicator = communicator_of(curves, view, kinds[i], options);
    plans_[i].table = nccl::tune(plans_[i].communicator, kinds[i]);
    build(i, kinds[i]);
  }
}

const RingCurve& GroupCollectives::curve_of(std::size_t which) const noexcept {
  return which == all_reduce ? curves_.all_reduce : which == all_gather ? curves_.all_gather : curves_.reduce_scatter;
}

void GroupCollectives::build(std::size_t which, Collective collective) noexcept {
  Plan& plan = plans_[which];
  const auto choose = [&](double bytes) {
    return nccl::choose(plan.table, plan.communicator, collective, Bytes{bytes});
  };
  constexpr double smallest = 64.0;
  constexpr double largest = 0x1p40;
  constexpr double step = std::numbers::sqrt2;
  nccl::Choice now = choose(smallest);
  Seconds least{};
  const auto close = [&](double below) {
    plan.segments[plan.count++] = {Bytes{below}, least, now.algorithm, now.protocol};
    least = std::max(least, priced(which, collective, Bytes{below}, now.algorithm, now.protocol).time);
  };
  for (double bytes = smallest * step; bytes < largest && plan.count + 1 < most_segments; bytes *= step) {
    const nccl::Choice next = choose(bytes);
    if (next.algorithm == now.algorithm && next.protocol == now.protocol) {
      continue;
    }
    double low = bytes / step;
    double high = bytes;
    while (high / low > 1.001) {
      const double middle = std::sqrt(low * high);
      const nccl::Choice between = choose(middle);
      (between.algorithm == now.algorithm && between.protocol == now.protocol ? low : high) = middle;
    }
    close(high);
    now = next;
  }
  close(0x1p62);
}

GroupCollectives::Parts GroupCollectives::tree_parts(const RingCurve& curve,
                                                     BytesPerSecond simple,
                                                     double buffer,
                                                     Algorithm algorithm,
                                                     Protocol protocol) const noexcept {
  const auto g = static_cast<double>(view_.per_domain);
  const auto k = static_cast<double>(std::max<std::int64_t>(view_.domains, 1));
  const bool in_switch = algorithm != Algorithm::tree;
  const double through = in_switch ? 1.0 + 1.0 / g : 2.0 * (g - 1.0) / g;
  const BytesPerSecond rate =
      in_switch ? at(curve, RingParameter::nvls_rate) * view_.inside_ring : rate_of(curve, protocol) * simple;
  Parts parts;
  parts.hops = in_switch ? at(curve, RingParameter::nvls_latency) : 2.0 * (g - 1.0) * hop_of(curve, protocol);
  parts.inside = g > 1.0 ? buffer * through / rate.raw() : 0.0;
  parts.segment = at(curve, in_switch ? RingParameter::nvls_pipeline : RingParameter::pipeline);
  if (k > 1.0) {
    parts.network_hops = 2.0 * std::floor(log2_of(view_.domains)) * hop_of(network_, protocol);
    parts.outside = 2.0 * (k - 1.0) / k * buffer / (g * network_.tree_share * view_.outside_ring.raw());
  }
  return parts;
}

GroupCollectives::Parts GroupCollectives::ring_parts(const RingCurve& curve,
                                                     BytesPerSecond simple,
                                                     Collective collective,
                                                     double buffer,
                                                     Algorithm algorithm,
                                                     Protocol protocol) const noexcept {
  const auto n = static_cast<double>(view_.ranks);
  const auto g = static_cast<double>(view_.per_domain);
  const auto k = static_cast<double>(std::max<std::int64_t>(view_.domains, 1));
  const double passes = collective == Collective::all_reduce ? 2.0 : 1.0;
  // PAT halves the distance at every step (Bruck et al. 1997), with one rank per host.
  const bool pat = algorithm == Algorithm::pat;
  const double between = k <= 1.0 ? 0.0 : pat ? std::floor(log2_of(view_.domains)) : passes * (k - 1.0);
  const double steps = pat ? 0.0 : passes * (n - 1.0) - between;
  const bool ll = protocol == Protocol::ll;
  const double crowd = ll ? at(curve, RingParameter::crowd) * crowded(buffer, n) : 0.0;
  const double volume = traffic_factor(collective, view_.ranks) * buffer;
  Parts parts;
  parts.hops = steps * hop_of(curve, protocol) * (1.0 + crowd);
  parts.network_hops = between * hop_of(network_, protocol);
  parts.inside = g > 1.0 ? volume / (rate_of(curve, protocol) * simple.raw()) : 0.0;
  parts.outside = k > 1.0 ? volume / (g * network_.ring_share * view_.outside_ring.raw()) : 0.0;
  parts.segment = ll ? 0.0 : at(curve, RingParameter::pipeline);
  return parts;
}

CollectiveTime GroupCollectives::priced(
    std::size_t which, Collective collective, Bytes bytes, Algorithm algorithm, Protocol protocol) const noexcept {
  const RingCurve& curve = curve_of(which);
  const bool tree = algorithm == Algorithm::tree || algorithm == Algorithm::nvls || algorithm == Algorithm::nvls_tree;
  const Parts parts = tree ? tree_parts(curve, rate_[which], bytes.raw(), algorithm, protocol)
                           : ring_parts(curve, rate_[which], collective, bytes.raw(), algorithm, protocol);
  const double x = std::max(pipelined(parts.inside, parts.segment),
                            pipelined(parts.outside, parts.segment + network_.pipeline.raw()));
  CollectiveTime t;
  t.algorithm = algorithm;
  t.protocol = protocol;
  t.launch = Seconds{at(curve, RingParameter::launch)};
  t.latency = Seconds{parts.hops + parts.network_hops};
  t.transfer = Seconds{x};
  t.time = Seconds{t.launch.raw() + parts.network_hops + overlapped(parts.hops, x)};
  t.bound = bound_of(t, parts.inside, parts.outside, view_.binding_tier);
  return t;
}

CollectiveTime GroupCollectives::ring(std::size_t which, Collective collective, Bytes bytes) const noexcept {
  const Plan& plan = plans_[which];
  std::size_t i = 0;
  while (i + 1 < plan.count && bytes >= plan.segments[i].below) {
    ++i;
  }
  const Segment& segment = plan.segments[i];
  CollectiveTime t = priced(which, collective, bytes, segment.algorithm, segment.protocol);
  t.time = std::max(t.time, segment.least);
  const NcclGraphs& g = curves_.graphs;
  t.channels =
      t.algorithm == Algorithm::nvls || t.algorithm == Algorithm::nvls_tree ? g.nvls_channels : g.ring_channels;
  if (t.protocol != Protocol::simple) {
    // NCCL drops channels while their threads would have less than 8 bytes each; for LL, 8 bytes per rank.
    const double each = t.protocol == Protocol::ll ? 512.0 * 8.0 * static_cast<double>(view_.ranks) : 640.0 * 8.0;
    t.channels = std::clamp(static_cast<int>(bytes.raw() / each), 1, t.channels);
  }
  return t;
}

CollectiveTime GroupCollectives::pairs(Bytes bytes, const Spread& spread) const noexcept {
  const Bytes limit{at(curves_.all_to_all, PairParameter::ll_limit) * spread.ranks};
  if (bytes <= limit) {
    return pairs_by(Protocol::ll, bytes, spread);
  }
  CollectiveTime t = pairs_by(Protocol::simple, bytes, spread);
  t.time = std::max(t.time, pairs_by(Protocol::ll, limit, spread).time);
  return t;
}

CollectiveTime GroupCollectives::pairs_by(Protocol protocol, Bytes bytes, const Spread& spread) const noexcept {
  const PairCurve& curve = curves_.all_to_all;
  const double ranks = spread.ranks;
  const double links = spread.inside > 0.0 ? spread.inside * bytes.raw() / pair_rate_.raw() : 0.0;
  const double nics =
      spread.outside > 0.0 ? spread.outside * bytes.raw() / (network_.pair_share * view_.outside_all.raw()) : 0.0;
  constexpr double chunk = 16384.0;
  const bool ll = protocol == Protocol::ll;
  const double network_hop = spread.outside > 0.0 ? hop_of(network_, protocol) : 0.0;
  const double segment = at(curve, PairParameter::pipeline);
  const double hops =
      ll ? (ranks - 1.0) * at(curve, PairParameter::ll_hop)
         : at(curve, PairParameter::simple_latency) + (ranks - 1.0) * at(curve, PairParameter::simple_hop);
  const double moved = ll ? overlapped(at(curve, PairParameter::chunk) * bytes.raw() / ranks / chunk,
                                       std::max(links, nics) / at(curve, PairParameter::ll_rate))
                          : std::max(pipelined(links, segment), pipelined(nics, segment + network_.pipeline.raw()));
  CollectiveTime t;
  t.launch = Seconds{at(curve, PairParameter::launch)};
  t.protocol = protocol;
  t.latency = Seconds{hops + network_hop};
  t.transfer = Seconds{moved};
  t.time = t.launch + Seconds{network_hop + (ll ? hops + moved : overlapped(hops, moved))};
  t.bound = bound_of(t, links, nics, view_.all_binding_tier);
  t.channels = curves_.graphs.ring_channels;
  return t;
}

CollectiveTime GroupCollectives::time(Collective collective, Bytes bytes) const noexcept {
  if (view_.ranks <= 1 || bytes <= Bytes{}) {
    return {};
  }
  const auto n = static_cast<double>(view_.ranks);
  const auto g = static_cast<double>(view_.per_domain);
  switch (collective) {
    case Collective::all_reduce: return ring(all_reduce, collective, bytes);
    case Collective::all_gather: return ring(all_gather, collective, bytes);
    case Collective::reduce_scatter: return ring(reduce_scatter, collective, bytes);
    // Every link carries S, as in an all-gather or reduce-scatter of n/(n-1) S.
    case Collective::broadcast: return ring(all_gather, Collective::all_gather, n / (n - 1.0) * bytes);
    case Collective::reduce: return ring(reduce_scatter, Collective::reduce_scatter, n / (n - 1.0) * bytes);
    case Collective::all_to_all:
    case Collective::dispatch:
    case Collective::combine: return pairs(bytes, {n, (g - 1.0) / n, (n - g) / n});
    case Collective::send_recv: {
      const bool next_host = view_.domains > 1;  // the neighbour in the next host is slower
      return pairs(2.0 * bytes, {2.0, next_host ? 0.0 : 0.5, next_host ? 0.5 : 0.0});
    }
    case Collective::count: break;
  }
  return {};
}

Seconds GroupCollectives::link_bound(Collective collective, Bytes bytes) const noexcept {
  if (view_.ranks <= 1) {
    return {};
  }
  const auto n = static_cast<double>(view_.ranks);
  const auto g = static_cast<double>(view_.per_domain);
  const auto k = static_cast<double>(std::max<std::int64_t>(view_.domains, 1));
  const bool pairwise =
      collective == Collective::all_to_all || collective == Collective::dispatch || collective == Collective::combine;
  if (pairwise) {
    const Seconds inside = g > 1.0 ? (g - 1.0) / n * bytes / view_.inside_all : Seconds{};
    return k > 1.0 ? std::max(inside, (n - g) / n * bytes / view_.outside_all) : inside;
  }
  if (collective == Collective::send_recv) {
    return bytes / (k > 1.0 ? view_.outside_all : view_.inside_all);
  }
  // Reduction in the switch sends at least S (1 + 1/g); every other algorithm sends its traffic factor.
  const double least = collective == Collective::all_reduce && view_.in_switch
                           ? std::min(traffic_factor(collective, view_.ranks), 1.0 + 1.0 / g)
                           : traffic_factor(collective, view_.per_domain > 1 ? view_.per_domain : view_.ranks);
  const Seconds inside = g > 1.0 ? least * bytes / view_.inside_ring : Seconds{};
  const double crossing = (collective == Collective::all_reduce ? 2.0 : 1.0) * (k - 1.0) / k;
  return k > 1.0 ? std::max(inside, crossing * bytes / (g * view_.outside_ring)) : inside;
}

CollectiveTime collective_time(Collective collective,
                               Bytes bytes,
                               const GroupView& view,
                               const CollectiveCurves& curves,
                               const NetworkCurve& network,
                               CollectiveOptions options) noexcept {
  return GroupCollectives{curves, network, view, options}.time(collective, bytes);
}

}  // namespace headroom
