// SPDX-License-Identifier: Apache-2.0
#include <headroom/answers/markup/table.hpp>
#include <headroom/cli/render/render_collective.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/number_words.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace headroom::cli {
namespace {

BytesPerSecond busbw_of(const CollectiveQuestion& q, Seconds time) {
  const double factor = q.collective == Collective::send_recv ? 1.0 : traffic_factor(q.collective, q.view.ranks);
  return factor * q.bytes / time;
}

/// The provenance of the curve that prices a collective, derived ones included.
const CurveProvenance* provenance_of(const CollectiveSet& set, Collective collective) {
  const auto find = [](const auto& curves, std::string_view op) {
    const auto at =
        std::find_if(curves.begin(), curves.end(), [&](const auto& c) { return c.provenance.format == op; });
    return at == curves.end() ? nullptr : &at->provenance;
  };
  struct RingOp {
    Collective collective;
    std::string_view measured;  ///< as the op that takes the same steps
  };
  constexpr std::array ring_ops{
      RingOp{Collective::all_reduce, "all_reduce"}, RingOp{Collective::all_gather, "all_gather"},
      RingOp{Collective::broadcast, "all_gather"}, RingOp{Collective::reduce_scatter, "reduce_scatter"},
      RingOp{Collective::reduce, "reduce_scatter"}};
  for (const RingOp& op : ring_ops) {
    if (op.collective == collective) {
      return find(set.ring, op.measured);
    }
  }
  return find(set.all_to_all, "alltoall");
}

std::string link_name(const GroupView& view) {
  return view.inside == LinkKind::pcie     ? "PCIe"
         : view.inside == LinkKind::nvlink ? "NVLink"
                                           : std::string{name_of(view.inside)};
}

Seconds time_over(const ModelData& data,
                  const CollectiveQuestion& q,
                  const Device& device,
                  const GroupView& view,
                  CollectiveOptions options) {
  const ChosenCollectives chosen = choose_collectives(data, device, view);
  const NetworkCurve network = q.transport ? q.transport->curve : NetworkCurve{};
  return collective_time(q.collective, q.bytes, view, chosen.curves(), network, options).time +
         (q.eager ? chosen.set.eager_launch : Seconds{});
}

/// What else the group could have used: NVLink without the switch's reductions, PCIe with and without peer access, TCP.
std::vector<TransportGuess> guesses_of(const ModelData& data,
                                       const CollectiveQuestion& q,
                                       const Device& device,
                                       BytesPerSecond expected) {
  std::vector<TransportGuess> guesses;
  const GroupView& view = q.view;
  std::string name = link_name(view);
  name += view.domains > 1 ? " and the NICs" : view.staged ? " through the host's memory" : "";
  guesses.push_back({std::move(name), expected});
  if (view.in_switch && q.options.nvls && q.collective == Collective::all_reduce) {
    CollectiveOptions without = q.options;
    without.nvls = false;
    guesses.push_back({link_name(view) + " without NVLS", busbw_of(q, time_over(data, q, device, view, without)),
                       TransportGuess::Kind::same_links});
  }
  if (view.domains == 1 && device.pcie.rate) {
    GroupView over = view;
    over.inside = LinkKind::pcie;
    over.in_switch = false;
    over.inside_ring = over.inside_all = over.inside_pair = device.pcie.rate->value;
    for (const bool staged : {false, true}) {
      if (view.inside == LinkKind::pcie && staged == view.staged) {
        continue;
      }
      over.staged = staged;
      guesses.push_back({staged ? "PCIe through the host's memory, or sockets" : "PCIe with peer access",
                         busbw_of(q, time_over(data, q, device, over, q.options)), TransportGuess::Kind::fallback});
    }
  }
  return guesses;
}

/// Is this the transport you think it is?
void judge(CollectiveAnswer& a, BytesPerSecond measured, double p90) {
  const std::vector<TransportGuess>& guesses = a.guesses;
  const double ratio = measured / guesses.front().busbw;
  const std::string share = percent(ratio) + " of the expected " + format(guesses.front().busbw);
  a.as_expected = ratio >= 1.0 / (1.0 + std::max(p90, 0.1));
  if (a.as_expected) {
    a.verdict = share + ": " + guesses.front().name + " as it should be";
    return;
  }
  const auto away = [&](const TransportGuess& g) { return std::abs(std::log(measured / g.busbw)); };
  const auto nearest =
      std::min_element(guesses.begin(), guesses.end(), [&](const auto& x, const auto& y) { return away(x) < away(y); });
  if (nearest == guesses.begin()) {
    a.verdict =
        share + ": " + guesses.front().name + ", but slow; look for other traffic, a failed link, or too few channels";
  } else if (nearest->kind == TransportGuess::Kind::same_links) {
    a.as_expected = true;
    a.verdict = share + ": " + nearest->name + " as it should be (" + format(nearest->busbw) + ")";
  } else {
    a.verdict = share + ": not " + guesses.front().name + " but a PCIe or socket fallback, nearest " + nearest->name +
                " (" + format(nearest->busbw) + "); NCCL_DEBUG=INFO prints the transport of every channel";
  }
}

/// Bytes that a rank sends on the mean. In-switch reductions send the buffer up once and the reduced part down once
/// (Klenk et al. 2020), trees as many as rings in all.
Bytes sent_per_rank(const CollectiveAnswer& a) {
  const CollectiveQuestion& q = a.question;
  const bool tree = a.time.algorithm == nccl::Algorithm::nvls_tree;
  if (q.collective == Collective::all_reduce && (tree || a.time.algorithm == nccl::Algorithm::nvls)) {
    const auto local = static_cast<double>(q.view.per_domain);
    return (1.0 + 1.0 / local) * q.bytes +
           (tree ? bytes_per_rank(Collective::all_reduce, q.bytes / local, q.view.domains) : Bytes{});
  }
  return bytes_per_rank(q.collective, q.bytes, q.view.ranks);
}

/// With what a ring would send, where that is another number.
std::string sent_text(const CollectiveAnswer& a) {
  const Bytes sent = sent_per_rank(a);
  const Bytes ring = bytes_per_rank(a.question.collective, a.question.bytes, a.question.view.ranks);
  return format(sent) + (sent == ring ? "" : ", " + format(ring) + " by a ring");
}

std::string algorithm_text(const CollectiveAnswer& a) {
  const bool pairs = a.question.collective == Collective::all_to_all ||
                     a.question.collective == Collective::send_recv || a.question.collective == Collective::dispatch ||
                     a.question.collective == Collective::combine;
  return pairs ? "sends and receives" : std::string{nccl::algorithm_names[static_cast<std::size_t>(a.time.algorithm)]};
}

std::string group_text(const CollectiveAnswer& a) {
  const GroupView& v = a.question.view;
  std::string text = std::to_string(v.ranks) + " x " + a.gpu;
  if (v.domains > 1) {
    text += " in " + std::to_string(v.domains) + (v.nodes > v.domains ? " domains, " : " hosts, ") +
            (a.question.transport ? a.question.transport->name + " " : "") + format(v.outside_ring) + " a GPU";
  }
  if (v.per_domain > 1) {
    text += ", " + link_name(v) + " " + format(v.inside_ring) + (v.staged ? ", no peer access" : "");
  }
  return text;
}

/// ConfigError with every knob that says nothing of this collective on this group.
void require_knobs(const CollectiveQuestion& q) {
  const GroupView& view = q.view;
  const bool to_all = q.collective == Collective::all_to_all || q.collective == Collective::dispatch ||
                      q.collective == Collective::combine;
  Diagnostics idle;
  if (q.knobs.sharp && (q.collective != Collective::all_reduce || view.domains <= 1)) {
    idle.add("", {}, "--sharp reduces in the network's switches; it needs an all-reduce on several hosts");
  }
  if (q.knobs.sharp && q.transport && q.transport->id != "infiniband") {
    idle.add("", {}, "--sharp is of InfiniBand's switches, and these hosts are joined by " + q.transport->id);
  }
  if (q.knobs.pxn && (!to_all || view.domains <= 1 || view.per_domain <= 1)) {
    idle.add("", {},
             "--pxn says how every rank reaches the ranks of other hosts; it needs an all-to-all, dispatch or combine "
             "on several hosts of several GPUs");
  }
  idle.throw_if_any();
}

}  // namespace

CollectiveAnswer answer_collective(const ModelData& data, const Device& device, const CollectiveQuestion& question) {
  require_knobs(question);
  CollectiveAnswer a;
  a.question = question;
  a.gpu = device.id;
  const ChosenCollectives chosen = choose_collectives(data, device, question.view);
  a.why = chosen.why;
  const NetworkCurve network = question.transport ? question.transport->curve : NetworkCurve{};
  const CurveProvenance* provenance = provenance_of(chosen.set, question.collective);
  double p90 = question.transport ? question.transport->p90 : 0.0;
  if (provenance != nullptr) {
    p90 = std::max(p90, provenance->p90);
    a.why += ", " + provenance->format + " " + format_number(100.0 * provenance->mape, 2) + " % off when held out";
  }
  KnobbedTime priced = with_knobs(question.knobs, chosen.curves(), network, question.view, question.options,
                                  question.collective, question.bytes, p90);
  a.time = priced.time;
  a.low = priced.low;
  a.high = priced.high;
  a.least = priced.links;
  a.notes = std::move(priced.notes);
  if (question.eager && a.time.time > Seconds{}) {
    a.time.launch += chosen.set.eager_launch;
    a.time.time += chosen.set.eager_launch;
    a.low += chosen.set.eager_launch / (1.0 + p90);
    a.high += chosen.set.eager_launch * (1.0 + p90);
  }
  a.per_nic = bytes_per_nic(question.knobs, a.time, question.view, question.collective, question.bytes);
  a.series = answer_series(question.series, question.collective, question.view.ranks, question.bytes,
                           [&](Collective collective, Bytes bytes) {
                             return with_knobs(question.knobs, chosen.curves(), network, question.view,
                                               question.options, collective, bytes, p90)
                                        .time.time +
                                    (question.eager ? chosen.set.eager_launch : Seconds{});
                           });
  a.algbw = question.bytes / a.time.time;
  a.busbw = busbw_of(question, a.time.time);
  if (question.measured) {
    a.guesses = guesses_of(data, question, device, a.busbw);
    judge(a, *question.measured, p90);
  }
  return a;
}

std::string collective_text(const CollectiveAnswer& a) {
  const CollectiveTime& t = a.time;
  std::string text = std::string{name_of(a.question.collective)} + " of " + format(a.question.bytes) + " on " +
                     group_text(a) + "\n" + (a.question.placed.empty() ? "" : a.question.placed + "\n") + "\n";
  Table table{{"", "<"}};
  table.row({"time", format(t.time) + "  (" + format(a.low) + " to " + format(a.high) + ")"});
  table.row({"algbw", format(a.algbw)});
  table.row({"busbw", format(a.busbw)});
  table.row({"sent per rank", sent_text(a)});
  if (a.per_nic > Bytes{}) {
    table.row({"sent per NIC", format(a.per_nic)});
  }
  table.row({"NCCL takes", algorithm_text(a) + ", " +
                               std::string{nccl::protocol_names[static_cast<std::size_t>(t.protocol)]} + ", " +
                               std::to_string(t.channels) + " channels, an SM each"});
  table.row({"bound by", std::string{collective_bound_names[static_cast<std::size_t>(t.bound)]}});
  table.row({"links alone", format(a.least) + ": headroom " + format_number(t.time / a.least) + "x"});
  text += table.text(0) + "\n";
  Table parts{{"part", "time"}};
  parts.row({a.question.eager ? "launch, outside a graph" : "launch", format(t.launch)});
  parts.row({"steps, alone", format(t.latency)});
  parts.row({"bytes, alone", format(t.transfer)});
  text += parts.text(0);
  if (a.question.measured) {
    Table guesses{{"transport", "busbw"}};
    for (const TransportGuess& g : a.guesses) {
      guesses.row({g.name, format(g.busbw)});
    }
    text += "\n" + guesses.text(0) + "measured " + format(*a.question.measured) + ", " + a.verdict + "\n";
  }
  text += series_text(a.series);
  text += "\ncurve: " + a.why + "\n";
  for (const std::string& note : a.notes) {
    text += note + "\n";
  }
  if (a.question.transport) {
    text += "network: " + a.question.transport->id + ", fitted " + a.question.transport->fitted + "\n";
  }
  return text;
}

Value collective_document(const CollectiveAnswer& a) {
  const CollectiveQuestion& q = a.question;
  return object("schema"_m = "headroom.collective/1", "collective"_m = name_of(q.collective), "gpu"_m = a.gpu,
                "bytes"_m = q.bytes, "gpus"_m = q.view.ranks, "hosts"_m = q.view.domains,
                q.placed.empty() ? Value{}
                                 : object("placed"_m = q.placed, "stride"_m = q.view.stride,
                                          "outside_ring_bytes_per_s"_m = q.view.outside_ring),
                "time_s"_m = Interval<Seconds>{a.low, a.time.time, a.high}, "algbw_bytes_per_s"_m = a.algbw,
                "busbw_bytes_per_s"_m = a.busbw, "sent_bytes_per_rank"_m = sent_per_rank(a),
                "sent_bytes_per_nic"_m = when(a.per_nic > Bytes{}, a.per_nic), "algorithm"_m = algorithm_text(a),
                "protocol"_m = nccl::protocol_names[static_cast<std::size_t>(a.time.protocol)],
                "channels"_m = static_cast<std::int64_t>(a.time.channels),
                "bound"_m = collective_bound_names[static_cast<std::size_t>(a.time.bound)],
                "launch_s"_m = a.time.launch, "latency_s"_m = a.time.latency, "transfer_s"_m = a.time.transfer,
                "link_bound_s"_m = a.least, "measured_busbw_bytes_per_s"_m = q.measured,
                "verdict"_m = when(q.measured.has_value(), a.verdict), "curve"_m = a.why,
                "network"_m = q.transport ? Value{q.transport->id} : Value{},
                "registered"_m = when(q.knobs.registered, true), "sharp"_m = when(q.knobs.sharp, true),
                "pxn"_m = q.knobs.pxn, "notes"_m = when(!a.notes.empty(), Value{a.notes}), series_document(a.series));
}

}  // namespace headroom::cli
