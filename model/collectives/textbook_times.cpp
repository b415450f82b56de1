// SPDX-License-Identifier: Apache-2.0
#include <headroom/hardware/fabric/fabric.hpp>
#include <headroom/model/collectives/collective_steps.hpp>
#include <headroom/model/collectives/textbook_times.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace headroom {
namespace {

using A = TextbookAlgorithm;

/// Members of one level: the ranks of a node, or the nodes.
struct Level {
  double members = 1.0;
  Seconds message{};
  BytesPerSecond rate{};

  [[nodiscard]] bool there() const { return members > 1.0; }
  [[nodiscard]] double height() const { return static_cast<double>(tree_height(static_cast<std::int64_t>(members))); }
  /// The largest power of two that is not above the members.
  [[nodiscard]] double power() const { return std::exp2(std::floor(std::log2(members) + 1e-9)); }
  [[nodiscard]] bool is_power() const { return power() == members; }
  /// What a ring's passes send of a buffer: (m-1)/m.
  [[nodiscard]] double all_but_one() const { return (members - 1.0) / members; }
  /// One message; nothing where there is nobody to send to.
  [[nodiscard]] Seconds send(Bytes bytes) const { return there() ? message + bytes / rate : Seconds{}; }
  [[nodiscard]] Seconds steps(double count, Bytes bytes) const {
    return there() ? count * message + bytes / rate : Seconds{};
  }
};

/// The times of one collective of one group.
class Textbook {
 public:
  Textbook(Collective collective, Bytes buffer, const TextbookGroup& group)
      : collective_{collective},
        s_{buffer},
        n_{static_cast<double>(group.ranks)},
        group_{group},
        in_{static_cast<double>(group.per_node), group.inside_message, group.inside},
        out_{static_cast<double>(group.nodes()), group.message, group.link} {
    view_.ranks = group.ranks;
    view_.domains = group.nodes();
    view_.per_domain = view_.fewest = group.per_node;
    view_.inside_ring = group.inside;
    view_.outside_ring = group.link;
    cost_ = {group.inside_message, group.message};
  }

  [[nodiscard]] std::vector<TextbookTime> all() {
    switch (collective_) {
      case Collective::all_reduce: all_reduce(); break;
      case Collective::reduce_scatter:
      case Collective::all_gather: halves(); break;
      case Collective::all_to_all:
      case Collective::dispatch:
      case Collective::combine: to_all(); break;
      case Collective::broadcast:
      case Collective::reduce: rooted(); break;
      case Collective::send_recv: {
        const Level& way = out_.there() ? out_ : in_;
        add(A::one_message, 1.0, way.send(s_), s_, s_);
        break;
      }
      case Collective::count: break;
    }
    std::stable_sort(times_.begin(), times_.end(), [](const auto& a, const auto& b) { return a.time < b.time; });
    return std::move(times_);
  }

 private:
  TextbookTime& add(A algorithm, double steps, Seconds time, Bytes sent, Bytes nic) {
    times_.push_back(
        {algorithm, static_cast<std::int64_t>(steps), time, sent, out_.there() ? nic : Bytes{}, true, false});
    return times_.back();
  }
  [[nodiscard]] bool two_levels() const { return in_.there() && out_.there(); }
  [[nodiscard]] Bytes part() const { return s_ / in_.members; }

  /// One ring leaves a node by one NIC; with two levels also as many rings as a node has NICs.
  void ring() {
    const double steps = (collective_ == Collective::all_reduce ? 2.0 : 1.0) * (n_ - 1.0);
    const Bytes sent = bytes_per_rank(collective_, s_, group_.ranks);
    const Bytes chunk = s_ / n_;
    if (!two_levels()) {
      add(A::ring, steps, ring_time(collective_, s_, view_, cost_), sent, sent);
      return;
    }
    add(A::ring, steps, steps * std::max(in_.send(chunk), out_.send(chunk)), sent, sent);
    add(A::rings, steps, ring_time(collective_, s_, view_, cost_), sent, sent / in_.members);
  }

  /// The least of time(p) over numbers p of pieces that are powers of two.
  template <class Time>
  [[nodiscard]] static Seconds in_best_pieces(const Time& time) {
    constexpr std::int64_t most = std::int64_t{1} << 20;
    Seconds best = time(std::int64_t{1});
    for (std::int64_t pieces = 2; pieces <= most; pieces *= 2) {
      best = std::min(best, time(pieces));
    }
    return best;
  }

  /// NCCL's trees join nodes; ranks of one node form a chain.
  [[nodiscard]] Seconds trees(Bytes bytes, const GroupView& view) const {
    return in_best_pieces([&](std::int64_t pieces) { return tree_time(bytes, view, cost_, pieces); });
  }

  /// Two stages that pieces of the buffer pass one behind another, as NCCL's channels do: the first piece takes its way
  /// through both, the bytes of the others the slower stage's time. `within`, `across`: times of a piece by its bytes.
  template <class Within, class Across>
  [[nodiscard]] Seconds staged(const Within& within,
                               Seconds within_bytes,
                               const Across& across,
                               Seconds across_bytes) const {
    return in_best_pieces([&](std::int64_t count) {
      const auto pieces = static_cast<double>(count);
      return within(s_ / pieces) + across(s_ / pieces / in_.members) +
             (pieces - 1.0) / pieces * std::max(within_bytes, across_bytes);
    });
  }

  /// What the busiest node sends in both trees: an inner node of one, a leaf of the other.
  [[nodiscard]] double busiest() const { return out_.there() ? std::min(2.0, 0.5 * out_.members) : 0.0; }

  void all_reduce() {
    ring();
    const double chain = 2.0 * (in_.members - 1.0);
    const Bytes tree_nic = busiest() * part();
    add(A::double_tree, chain + 2.0 * out_.height(), trees(s_, view_), 2.0 * in_.all_but_one() * s_ + tree_nic,
        tree_nic);
    const double levels = in_.height() + out_.height();
    // The root sends to a child a level.
    add(A::tree, 2.0 * levels, 2.0 * (in_.height() * in_.send(s_) + out_.height() * out_.send(s_)), levels * s_,
        out_.height() * s_)
        .usual = false;
    doubling();
    halving();
    if (two_levels()) {
      const Bytes nic = 2.0 * out_.all_but_one() * part();
      add(A::hierarchical, chain + 2.0 * (out_.members - 1.0), hierarchical_time(s_, view_, cost_),
          2.0 * in_.all_but_one() * s_ + nic, nic);
    }
    in_switches();
  }

  /// Members beyond a power of two hand their buffer to a neighbour first and get the result back.
  void doubling() {
    double steps = 0.0;
    Bytes sent{}, nic{};
    Seconds time{};
    for (const Level* level : {&in_, &out_}) {
      const double swaps = std::log2(level->power());
      const double more = level->is_power() ? 0.0 : 1.0;
      steps += swaps + 2.0 * more;
      time += (swaps + 2.0 * more) * level->send(s_);
      sent += (swaps + more) * s_;
      nic = (swaps + more) * s_;
    }
    add(A::recursive_doubling, steps, time, sent, nic).usual = false;
  }

  void halving() {
    double steps = 0.0;
    Bytes sent{}, nic{}, share = s_;
    Seconds time{};
    for (const Level* level : {&in_, &out_}) {
      const double power = level->power(), swaps = std::log2(power);
      const double more = level->is_power() ? 0.0 : 1.0;
      const Bytes moved = 2.0 * (power - 1.0) / power * share;
      steps += 2.0 * swaps + 2.0 * more;
      time += level->steps(2.0 * swaps, moved) + 2.0 * more * level->send(share);
      nic = moved + more * share;
      sent += nic;
      share = share / power;
    }
    add(A::halving_doubling, steps, time, sent, nic).usual = false;
  }

  void in_switches() {
    // A switch joins the ranks of a node, all of them where nodes are not stated.
    const Level& scale_up = in_.there() ? in_ : out_;
    const Bytes through = (1.0 + 1.0 / scale_up.members) * s_;
    Seconds time = scale_up.steps(2.0, through);
    Bytes nic = in_.there() ? Bytes{} : through;
    double steps = 2.0;
    if (two_levels()) {
      GroupView across = view_;
      across.ranks = across.domains;
      across.per_domain = across.fewest = 1;
      const auto reduced = [&](Bytes piece) { return in_.steps(2.0, (1.0 + 1.0 / in_.members) * piece); };
      const Bytes by_ring = 2.0 * out_.all_but_one() * part(), by_tree = busiest() * part();
      const auto over = [&](const auto& stage, Bytes sent) {
        return staged(reduced, through / in_.rate, stage, sent / out_.rate);
      };
      const Seconds ring = over([&](Bytes piece) { return ring_time(collective_, piece, across, cost_); }, by_ring);
      const Seconds tree = over([&](Bytes piece) { return tree_time(piece, across, cost_, 1); }, by_tree);
      time = std::min(ring, tree);
      nic = ring <= tree ? by_ring : by_tree;
      steps += ring <= tree ? 2.0 * (out_.members - 1.0) : 2.0 * out_.height();
    }
    needs_switch(add(A::nvls, steps, time, in_.there() ? through + nic : through, nic));
    if (out_.there()) {
      GroupView inside = view_;
      inside.ranks = group_.per_node;
      inside.domains = 1;
      const Bytes within = 2.0 * in_.all_but_one() * s_;
      const Seconds sharp = staged([&](Bytes piece) { return ring_time(collective_, piece, inside, cost_); },
                                   in_.there() ? within / in_.rate : Seconds{},
                                   [&](Bytes piece) { return out_.steps(2.0, piece); }, part() / out_.rate);
      needs_switch(add(A::sharp, 2.0 * (in_.members - 1.0) + 2.0, sharp, within + part(), part()));
    }
  }

  static void needs_switch(TextbookTime& time) {
    time.usual = false;
    time.in_switch = true;
  }

  /// Reduce-scatter and all-gather.
  void halves() {
    ring();
    const Bytes sent = bytes_per_rank(collective_, s_, group_.ranks);
    const Bytes across = (out_.members - 1.0) / n_ * s_;
    const Seconds bytes =
        (in_.there() ? in_.all_but_one() * s_ / in_.rate : Seconds{}) + (out_.there() ? across / out_.rate : Seconds{});
    const auto messages = [&](double inside, double outside) { return inside * in_.message + outside * out_.message; };
    add(A::recursive_doubling, in_.height() + out_.height(), messages(in_.height(), out_.height()) + bytes, sent,
        across)
        .usual = false;
    if (two_levels()) {
      const double hops = in_.members - 1.0, jumps = out_.members - 1.0;
      add(A::hierarchical, hops + jumps, messages(hops, jumps) + bytes, sent, across);
      return;
    }
    const Level& scale_up = in_.there() ? in_ : out_;
    const bool gathers = collective_ == Collective::all_gather;
    const Bytes once = gathers ? s_ / n_ : sent;  // a multicast goes up once
    needs_switch(add(A::nvls, 1.0, scale_up.send(sent), once, once));
  }

  void to_all() {
    const double near = in_.members - 1.0, far = n_ - in_.members;
    const Bytes row = s_ / n_;
    const Bytes nic = far * row;
    add(A::pairwise, n_ - 1.0, near * in_.send(row) + far * out_.send(row), (n_ - 1.0) * row, nic);
    if (two_levels()) {
      const double jumps = out_.members - 1.0;
      add(A::hierarchical, near + jumps, near * in_.send(part()) + jumps * out_.send(s_ / out_.members),
          in_.all_but_one() * s_ + nic, nic);
      return;
    }
    const Level& way = in_.there() ? in_ : out_;
    const Bytes half = 0.5 * s_;
    add(A::bruck, way.height(), way.height() * way.send(half), way.height() * half, way.height() * half).usual = false;
  }

  /// A chain through all ranks, or with two levels one a NIC, each with its share of the buffer. The root sends all of
  /// it within its node.
  void chain() {
    const double inward = out_.members * (in_.members - 1.0), outward = out_.members - 1.0;
    const Seconds time = in_best_pieces([&](std::int64_t count) {
      const auto pieces = static_cast<double>(count);
      const Seconds in = in_.send(s_ / pieces), out = out_.send(part() / pieces);
      return inward * in + outward * out + (pieces - 1.0) * std::max(in, out);
    });
    add(A::chain, n_ - 1.0, time, s_, part());
  }

  void rooted() {
    chain();
    const double levels = in_.height() + out_.height();
    add(A::tree, levels, in_.height() * in_.send(s_) + out_.height() * out_.send(s_), levels * s_, out_.height() * s_);
    const Seconds message = std::max(in_.there() ? in_.message : Seconds{}, out_.there() ? out_.message : Seconds{});
    const BytesPerSecond rate = !in_.there() ? out_.rate : !out_.there() ? in_.rate : std::min(in_.rate, out_.rate);
    const Bytes twice = 2.0 * (n_ - 1.0) / n_ * s_;
    add(A::scattered, levels + n_ - 1.0, (levels + n_ - 1.0) * message + twice / rate, twice, twice);
    if (!two_levels()) {
      needs_switch(add(A::nvls, 1.0, (in_.there() ? in_ : out_).send(s_), s_, s_));
    }
  }

  Collective collective_;
  Bytes s_;
  double n_;
  TextbookGroup group_;
  Level in_, out_;
  GroupView view_;
  MessageCost cost_;
  std::vector<TextbookTime> times_;
};

}  // namespace

std::vector<TextbookTime> textbook_times(Collective collective, Bytes buffer, const TextbookGroup& group) {
  return group.ranks <= 1 ? std::vector<TextbookTime>{} : Textbook{collective, buffer, group}.all();
}

const TextbookTime& taken_of(std::span<const TextbookTime> times, std::optional<TextbookAlgorithm> only) noexcept {
  const auto usual = std::find_if(times.begin(), times.end(), [](const TextbookTime& t) { return t.usual; });
  const auto named =
      !only ? times.end()
            : std::find_if(times.begin(), times.end(), [&](const TextbookTime& t) { return t.algorithm == *only; });
  return named != times.end() ? *named : usual != times.end() ? *usual : times.front();
}

std::vector<TextbookCrossover> textbook_crossovers(Collective collective, const TextbookGroup& group, bool usual) {
  std::vector<TextbookCrossover> crossovers;
  if (group.ranks <= 1) {
    return crossovers;
  }
  const auto fastest = [&](double bytes) {
    const std::vector<TextbookTime> times = textbook_times(collective, Bytes{bytes}, group);
    const auto at =
        std::find_if(times.begin(), times.end(), [&](const TextbookTime& t) { return usual ? t.usual : !t.in_switch; });
    return at->algorithm;
  };
  constexpr double smallest = 64.0, largest = 0x1p40;
  TextbookAlgorithm now = fastest(smallest);
  for (double bytes = 2.0 * smallest; bytes <= largest; bytes *= 2.0) {
    const TextbookAlgorithm next = fastest(bytes);
    if (next == now) {
      continue;
    }
    double low = 0.5 * bytes, high = bytes;
    while (high / low > 1.0001) {
      const double middle = std::sqrt(low * high);
      (fastest(middle) == now ? low : high) = middle;
    }
    crossovers.push_back({now, next, Bytes{high}});
    now = next;
  }
  return crossovers;
}

}  // namespace headroom
