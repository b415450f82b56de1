// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real_text.hpp>
#include <headroom/model/collectives/collective_knobs.hpp>

#include <algorithm>
#include <utility>

namespace headroom {
namespace {

bool sends_to_all(Collective collective) {
  return collective == Collective::all_to_all || collective == Collective::dispatch ||
         collective == Collective::combine;
}

bool in_switch(const CollectiveTime& time) {
  return time.algorithm == nccl::Algorithm::nvls || time.algorithm == nccl::Algorithm::nvls_tree;
}

/// The ranks of one host, and one rank of each host.
GroupView inside_view(const GroupView& view) {
  GroupView inside = view;
  inside.ranks = view.per_domain;
  inside.domains = inside.nodes = 1;
  return inside;
}
GroupView rail_view(const GroupView& view) {
  GroupView rail = view;
  rail.ranks = view.domains;
  rail.per_domain = rail.fewest = 1;
  rail.one_rail = true;
  rail.outside_all = std::max(view.outside_all, view.outside_ring);
  return rail;
}

/// The bytes of an all-reduce that the network's switches reduce, at the links' rates: S/g over a NIC; within a host
/// those of a reduction in its switch, or of halves of a ring.
Seconds sharp_bound(const GroupView& view, Bytes bytes) {
  const auto g = static_cast<double>(view.per_domain);
  const double ring = traffic_factor(Collective::all_reduce, view.per_domain);
  const double within = view.in_switch ? std::min(ring, 1.0 + 1.0 / g) : ring;
  const Seconds inside = g > 1.0 ? within * bytes / view.inside_ring : Seconds{};
  return std::max(inside, bytes / (g * view.outside_ring));
}

}  // namespace

KnobbedTime with_knobs(CollectiveKnobs knobs,
                       const CollectiveCurves& curves,
                       const NetworkCurve& network,
                       const GroupView& view,
                       CollectiveOptions options,
                       Collective collective,
                       Bytes bytes,
                       double p90) {
  const GroupCollectives group{curves, network, view, options};
  KnobbedTime k;
  k.time = group.time(collective, bytes);
  k.low = k.time.time / (1.0 + p90);
  k.high = k.time.time * (1.0 + p90);
  k.links = group.link_bound(collective, bytes);
  if (knobs.sharp) {
    GroupView reduced = view;
    const double less = traffic_factor(Collective::all_reduce, view.ranks);
    for (BytesPerSecond* rate : {&reduced.outside_ring, &reduced.outside_all, &reduced.outside_pair}) {
      *rate *= less;
    }
    const GroupCollectives in_network{curves, network, reduced, options};
    k.time = in_network.time(collective, bytes);
    k.links = sharp_bound(view, bytes);
    k.low = std::min(k.low, k.time.time / (1.0 + p90));
    k.notes.push_back("SHARP: a NIC sends its share once, where rings and trees send " + general_text(less, 3) +
                      " times as much; nobody measured it here, and the interval reaches up to the time "
                      "without it");
  }
  if (knobs.pxn && *knobs.pxn) {
    const GroupView near = inside_view(view), far = rail_view(view);
    const CollectiveTime inside = collective_time(collective, bytes, near, curves, network, options);
    const CollectiveTime across = collective_time(collective, bytes, far, curves, network, options);
    const Seconds plain = k.time.time;
    k.time = across.time >= inside.time ? across : inside;
    k.low = std::min(k.low, k.time.time / (1.0 + p90));
    k.high = std::max((inside.time + across.time) * (1.0 + p90), k.time.time * (1.0 + p90));
    k.notes.push_back("PXN: " + counted(view.domains - 1, "message") + " to other hosts, each of " +
                      counted(view.per_domain, "rank") + ", in place of " +
                      std::to_string(view.ranks - view.per_domain) + " messages (" + format(plain) +
                      "); what passes over the host's links first is not measured, and the interval reaches up to one "
                      "after the other");
  } else if (knobs.pxn) {
    k.notes.emplace_back("without PXN a rank sends a message of its own to every rank of the other hosts");
  }
  if (knobs.registered) {
    k.low = std::min(k.low, k.time.launch + k.links);
    std::string note =
        "registered buffers: no copy through NCCL's own; nobody measured how much that saves, and the "
        "interval reaches down to the links alone";
    if (in_switch(k.time)) {
      const int channels = view.domains > 1 ? 6 : 4;
      note += "; NVLS then takes " + std::to_string(channels) + " channels, an SM each, not " +
              std::to_string(k.time.channels);
      k.time.channels = std::min(k.time.channels, channels);
    }
    k.notes.push_back(std::move(note));
  }
  return k;
}

Bytes bytes_per_nic(CollectiveKnobs knobs,
                    const CollectiveTime& time,
                    const GroupView& view,
                    Collective collective,
                    Bytes bytes) noexcept {
  if (view.domains <= 1) {
    return {};
  }
  const auto n = static_cast<double>(view.ranks);
  const auto g = static_cast<double>(view.per_domain);
  const auto k = static_cast<double>(view.domains);
  if (sends_to_all(collective)) {
    return (n - g) / n * bytes;
  }
  if (collective == Collective::send_recv) {
    return bytes;
  }
  if (knobs.sharp) {
    return bytes / g;
  }
  const bool tree = time.algorithm == nccl::Algorithm::nvls_tree || time.algorithm == nccl::Algorithm::tree;
  if (collective == Collective::all_reduce && tree) {
    return 2.0 * (k - 1.0) / k * bytes / g;
  }
  return bytes_per_rank(collective, bytes, view.ranks) / g;
}

}  // namespace headroom
