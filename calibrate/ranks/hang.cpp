// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/ranks/call_order.hpp>
#include <headroom/calibrate/ranks/hang.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <utility>

namespace headroom {
namespace {

/// Ops whose ranks must all send and receive as much; others may pass unequal parts (NCCL User Guide, "Collective
/// operations"; torch.distributed's lists of tensors).
constexpr std::array<std::string_view, 12> equal_ops{"all_reduce",
                                                     "all_reduce_barrier",
                                                     "allreduce_coalesced",
                                                     "all_reduce_sparse",
                                                     "broadcast",
                                                     "_broadcast_oop",
                                                     "reduce",
                                                     "_reduce_oop",
                                                     "_all_gather_base",
                                                     "all_gather_into_tensor_coalesced",
                                                     "_reduce_scatter_base",
                                                     "reduce_scatter_tensor_coalesced"};

std::string op_text(const IssuedOp& op) {
  return op.name + (op.inputs > 0.0 ? " of " + format_count(op.inputs) : "") +
         (op.inputs > 0.0 && !op.dtype.empty() ? " " + op.dtype : "");
}

/// What must be equal on all ranks.
std::string meeting_text(const IssuedOp& op) {
  const bool equal = std::find(equal_ops.begin(), equal_ops.end(), op.name) != equal_ops.end();
  return op.name + "|" + op.dtype +
         (equal ? "|" + std::to_string(op.inputs) + "|" + std::to_string(op.outputs) : std::string{});
}

using OpsByNumber = std::map<std::int64_t, std::vector<const IssuedOp*>>;

std::string meeting_text(const std::vector<const IssuedOp*>& ops) {
  std::string text;
  for (const IssuedOp* const op : ops) {
    text += meeting_text(*op) + ";";
  }
  return text;
}

/// Whether one is issued as the other by what meets, or from the same line of the program.
bool meets(const std::vector<const IssuedOp*>& a, const std::vector<const IssuedOp*>& b) {
  return meeting_text(a) == meeting_text(b);
}
bool same_site(const std::vector<const IssuedOp*>& a, const std::vector<const IssuedOp*>& b) {
  return a.front()->site == b.front()->site;
}

/// A rank's collectives of one group.
struct Member {
  std::size_t record = 0;
  OpsByNumber ops;
};

class Comparison {
 public:
  explicit Comparison(std::span<const RankRecord> records) : records_{records} {}

  HangReading read() {
    check_ranks();
    merge_groups();
    problems_.throw_if_any();
    for (std::size_t g = 0; g < reading_.groups.size(); ++g) {
      reading_.progress.push_back(progress_of(g));
      find_parting(g);
    }
    place_ranks();
    play();
    find_left_out();
    find_other_order();
    find_last_comer();
    return std::move(reading_);
  }

 private:
  void check_ranks() {
    std::map<std::int64_t, const RankRecord*> seen;
    for (const RankRecord& record : records_) {
      const auto [at, fresh] = seen.emplace(record.rank, &record);
      if (!fresh) {
        problems_.add(record.file, {},
                      "rank " + std::to_string(record.rank) + " is told by " + at->second->file +
                          " as well; name one dump of each rank, of one moment");
      }
    }
  }

  /// Groups of one name and the same ranks are one.
  void merge_groups() {
    std::map<std::pair<std::string, std::vector<std::int64_t>>, std::size_t> known;
    bool shared = records_.size() < 2;
    for (std::size_t r = 0; r < records_.size(); ++r) {
      of_.emplace_back();
      for (const ProcessGroup& group : records_[r].groups) {
        const auto [at, fresh] = known.try_emplace({group.name, group.ranks}, reading_.groups.size());
        if (fresh) {
          reading_.groups.push_back(group);
          members_.emplace_back();
        }
        of_.back().push_back(at->second);
        if (!group.ranks.empty() && !std::binary_search(group.ranks.begin(), group.ranks.end(), records_[r].rank)) {
          continue;  // every rank knows of groups that it is no member of
        }
        members_[at->second].push_back({r, {}});
        shared = shared || members_[at->second].size() > 1;
      }
      for (const IssuedOp& op : records_[r].ops) {
        const std::size_t group = of_.back()[op.group];
        auto& members = members_[group];
        if (members.empty() || members.back().record != r) {
          problems_.add(records_[r].file, {},
                        "rank " + std::to_string(records_[r].rank) + " issued " + op.name + " to process group " +
                            quoted(reading_.groups[group].name) + ", of which it is no member");
          break;
        }
        if (!op.message) {
          members.back().ops[op.number].push_back(&op);
        }
      }
    }
    if (!shared) {
      problems_.add(records_.front().file, {},
                    "the ranks of these dumps share no process group; name dumps of one job, e.g. "
                    "nccl_trace_rank_0 nccl_trace_rank_1");
    }
    for (std::size_t g = 0; g < members_.size(); ++g) {
      if (reading_.groups[g].ranks.empty()) {
        for (const Member& member : members_[g]) {
          reading_.groups[g].ranks.push_back(records_[member.record].rank);
        }
        std::sort(reading_.groups[g].ranks.begin(), reading_.groups[g].ranks.end());
      }
    }
  }

  [[nodiscard]] GroupProgress progress_of(std::size_t g) const {
    GroupProgress progress;
    for (const Member& member : members_[g]) {
      for (const auto& [number, ops] : member.ops) {
        if (ops.front()->state == OpState::completed) {
          progress.complete = std::max(progress.complete, number);
        }
        if (number > progress.furthest) {
          progress.furthest = number;
          progress.op = op_text(*ops.front());
        }
      }
    }
    for (const std::int64_t rank : reading_.groups[g].ranks) {
      const bool came = std::any_of(members_[g].begin(), members_[g].end(), [&](const Member& m) {
        return records_[m.record].rank == rank && m.ops.contains(progress.furthest);
      });
      if (progress.furthest >= 0) {
        (came ? progress.arrived : progress.absent).push_back(rank);
      }
    }
    return progress;
  }

  [[nodiscard]] const Member* common_member(const std::vector<const Member*>& members,
                                            std::int64_t number,
                                            bool& even) const {
    std::map<std::string, std::vector<const Member*>> sides;
    for (const Member* const member : members) {
      sides[meeting_text(member->ops.at(number))].push_back(member);
    }
    std::size_t most = 0;
    const Member* common = nullptr;
    even = false;
    for (const auto& [text, side] : sides) {
      even = side.size() == most ? true : (side.size() > most ? false : even);
      if (side.size() > most) {
        most = side.size();
        common = side.front();
      }
    }
    return sides.size() > 1 ? common : nullptr;
  }

  void find_parting(std::size_t g) {
    std::vector<const Member*> members;
    std::int64_t from = std::numeric_limits<std::int64_t>::min();
    std::int64_t last = std::numeric_limits<std::int64_t>::max();
    for (const Member& member : members_[g]) {
      if (!member.ops.empty()) {
        members.push_back(&member);
        from = std::max(from, member.ops.begin()->first);
        last = std::min(last, member.ops.rbegin()->first);
      }
    }
    if (members.size() < 2) {
      return;
    }
    for (auto at = members.front()->ops.lower_bound(from); at != members.front()->ops.end() && at->first <= last;
         ++at) {
      const std::int64_t number = at->first;
      if (!std::all_of(members.begin(), members.end(), [&](const Member* m) { return m->ops.contains(number); })) {
        continue;  // a dump of active ops alone leaves numbers out
      }
      bool even = false;
      if (const Member* const common = common_member(members, number, even)) {
        note_parting(g, number, members, *common, even);
        return;
      }
    }
  }

  void note_parting(
      std::size_t g, std::int64_t number, const std::vector<const Member*>& members, const Member& common, bool even) {
    Parting parting;
    parting.group = g;
    parting.number = number;
    parting.even = even;
    const std::string most = meeting_text(common.ops.at(number));
    const Member* odd = nullptr;
    for (const Member* const member : members) {
      const bool differs = meeting_text(member->ops.at(number)) != most;
      if (differs || even) {
        parting.ranks.push_back(records_[member->record].rank);
      }
      odd = odd == nullptr && differs ? member : odd;
    }
    std::sort(parting.ranks.begin(), parting.ranks.end());
    const IssuedOp& issued = *odd->ops.at(number).front();
    const IssuedOp& others = *common.ops.at(number).front();
    parting.issued = op_text(issued);
    parting.others = op_text(others);
    parting.site = issued.site;
    parting.other_site = others.site;
    parting.index = static_cast<std::int64_t>(&issued - records_[odd->record].ops.data());
    parting.kind = issued.name != others.name || odd->ops.at(number).size() != common.ops.at(number).size()
                       ? PartingKind::op
                       : (issued.dtype != others.dtype ? PartingKind::dtype : PartingKind::size);
    parting.reason =
        goes_on_as(*odd, number, common, number + 1, meets) > 0
            ? PartingReason::skipped
            : (goes_on_as(*odd, number + 1, common, number, meets) > 0 ? PartingReason::extra : PartingReason::unknown);
    const auto created = issued.created_ns;
    if (!reading_.parting || created < parted_at_) {
      reading_.parting = std::move(parting);
      parted_at_ = created;
    }
  }

  /// How many of a rank's ops from one number on are those of another from another number on, up to 16; 0: the two
  /// part before either ends.
  template <class Equal>
  static std::int64_t goes_on_as(
      const Member& a, std::int64_t from_a, const Member& b, std::int64_t from_b, Equal are_equal) {
    constexpr std::int64_t enough = 16;
    std::int64_t equal = 0;
    for (; equal < enough; ++equal) {
      const auto x = a.ops.find(from_a + equal);
      const auto y = b.ops.find(from_b + equal);
      if (x == a.ops.end() || y == b.ops.end()) {
        break;
      }
      if (!are_equal(x->second, y->second)) {
        return 0;
      }
    }
    return equal;
  }

  /// Ops that all look alike tell by their lines which of them a rank left out.
  void find_left_out() {
    for (std::size_t g = 0; g < members_.size() && !reading_.parting && !reading_.left_out; ++g) {
      const auto of_rank = [&](std::int64_t rank) {
        return std::find_if(members_[g].begin(), members_[g].end(),
                            [&](const Member& m) { return records_[m.record].rank == rank; });
      };
      const GroupProgress& progress = reading_.progress[g];
      if (progress.arrived.empty()) {
        continue;
      }
      const auto whole = of_rank(progress.arrived.front());
      for (const std::int64_t rank : reading_.stopped) {
        const auto late = of_rank(rank);
        if (late != members_[g].end() && whole != members_[g].end() && !late->ops.empty() &&
            !late->ops.contains(progress.furthest)) {
          note_left_out(g, rank, *late, *whole);
        }
      }
    }
  }
  void note_left_out(std::size_t g, std::int64_t rank, const Member& late, const Member& whole) {
    for (const auto& [number, ops] : late.ops) {
      const auto others = whole.ops.find(number);
      if (others == whole.ops.end() || same_site(ops, others->second)) {
        continue;
      }
      constexpr std::int64_t sure = 2;  // one line alone may repeat by chance
      if (goes_on_as(late, number, whole, number + 1, same_site) >= sure) {
        reading_.left_out = LeftOut{rank, g, number, others->second.front()->site};
      }
      return;
    }
  }

  void set_op(RankPlace& place, std::size_t record, const IssuedOp& op) const {
    place.op = op_text(op);
    place.group = of_[record][op.group];
    place.number = op.number;
    place.site = op.site;
  }

  void place_ranks() {
    for (std::size_t r = 0; r < records_.size(); ++r) {
      const RankRecord& record = records_[r];
      RankPlace place;
      place.rank = record.rank;
      place.file = record.file;
      place.issued = record.ops.size();
      const auto pending = std::find_if(record.ops.begin(), record.ops.end(),
                                        [](const IssuedOp& op) { return op.state != OpState::completed; });
      if (!record.ops.empty()) {
        set_op(place, r, pending != record.ops.end() ? *pending : record.ops.back());
        place.waits = pending != record.ops.end();
      }
      reading_.ranks.push_back(std::move(place));
    }
  }

  /// What is left of each rank, played; ranks without a record come last and never enter anything.
  void play() {
    std::vector<std::int64_t> numbers;
    std::map<std::int64_t, std::size_t> places;
    const auto place = [&](std::int64_t rank) {
      if (places.emplace(rank, numbers.size()).second) {
        numbers.push_back(rank);
      }
    };
    for (const RankRecord& record : records_) {
      place(record.rank);
    }
    for (const ProcessGroup& group : reading_.groups) {
      std::for_each(group.ranks.begin(), group.ranks.end(), place);
    }
    std::vector<std::vector<std::size_t>> members(reading_.groups.size());
    std::vector<CallSequence> left(numbers.size());
    std::vector<std::vector<const IssuedOp*>> calls(records_.size());
    for (std::size_t g = 0; g < members.size(); ++g) {
      for (const std::int64_t rank : reading_.groups[g].ranks) {
        members[g].push_back(places.at(rank));
      }
    }
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      left[i].passed.resize(members.size(), -1);
      for (std::size_t g = 0; g < members.size() && i >= records_.size(); ++g) {
        left[i].passed[g] = reading_.progress[g].complete;
      }
    }
    for (std::size_t r = 0; r < records_.size(); ++r) {
      for (const IssuedOp& op : records_[r].ops) {
        const std::size_t g = of_[r][op.group];
        if (op.message) {
          continue;
        }
        if (op.state == OpState::completed) {
          left[r].passed[g] = std::max(left[r].passed[g], op.number);
        } else if (left[r].calls.empty() || left[r].calls.back().group != g ||
                   left[r].calls.back().number != op.number) {
          left[r].passed[g] = left[r].calls.empty() ? std::max(left[r].passed[g], op.number - 1) : left[r].passed[g];
          left[r].calls.push_back({g, op.number, meeting_text(op)});
          calls[r].push_back(&op);
        } else {
          left[r].calls.back().what += meeting_text(op);
        }
      }
    }
    const CallPlay played = play_calls(left, members);
    // What did not end yet may still end: a rank stands where it waits.
    for (std::size_t r = 0; r < records_.size(); ++r) {
      if (!played.waits_for[r].empty()) {
        set_op(reading_.ranks[r], r, *calls[r][played.left[r]]);
      }
    }
    std::vector<std::vector<std::size_t>> waits = played.waits_for;
    add_messages(waits, places);
    tell_waits(numbers, waits, left);
  }

  /// A message that did not end waits for the other rank where that has fewer of them open.
  void add_messages(std::vector<std::vector<std::size_t>>& waits, const std::map<std::int64_t, std::size_t>& places) {
    struct Open {
      std::array<std::int64_t, 2> counts{};  // sent, received
    };
    std::map<std::array<std::int64_t, 3>, Open> open;  // group, from, to
    for (std::size_t r = 0; r < records_.size(); ++r) {
      for (const IssuedOp& op : records_[r].ops) {
        if (op.message && op.from >= 0 && op.state != OpState::completed) {
          ++open[{static_cast<std::int64_t>(of_[r][op.group]), op.from, op.to}].counts[op.name == "send" ? 0 : 1];
        }
      }
    }
    for (const auto& [key, told] : open) {
      const std::vector<std::int64_t>& ranks = reading_.groups[static_cast<std::size_t>(key[0])].ranks;
      const auto size = static_cast<std::int64_t>(ranks.size());
      if (told.counts[0] == told.counts[1] || key[1] >= size || key[2] >= size) {
        continue;
      }
      const bool sender_waits = told.counts[0] > told.counts[1];
      const std::size_t from = places.at(ranks[static_cast<std::size_t>(key[1])]);
      const std::size_t to = places.at(ranks[static_cast<std::size_t>(key[2])]);
      waits[sender_waits ? from : to].push_back(sender_waits ? to : from);
    }
  }

  void tell_waits(const std::vector<std::int64_t>& numbers,
                  const std::vector<std::vector<std::size_t>>& waits,
                  const std::vector<CallSequence>& left) {
    std::vector<bool> waited(numbers.size(), false);
    bool any = false;
    for (std::size_t r = 0; r < waits.size(); ++r) {
      for (const std::size_t other : waits[r]) {
        waited[other] = true;
        any = true;
        if (r < records_.size()) {
          reading_.ranks[r].waits_for.push_back(numbers[other]);
        }
      }
    }
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (i >= records_.size()) {
        (waited[i] ? reading_.silent : reading_.unseen).push_back(numbers[i]);
      } else if (waited[i] && waits[i].empty() && !reading_.ranks[i].waits) {
        reading_.stopped.push_back(numbers[i]);
      }
    }
    if (reading_.stopped.empty() && reading_.silent.empty() && !reading_.parting) {
      for (const std::size_t i : waiting_circle(waits)) {
        reading_.circle.push_back(numbers[i]);
      }
    }
    for (auto* const list : {&reading_.stopped, &reading_.silent, &reading_.unseen}) {
      std::sort(list->begin(), list->end());
    }
    if (any) {
      note_patience();
    } else if (!reading_.parting) {
      for (std::size_t r = 0; r < records_.size() && reading_.in_flight.empty(); ++r) {
        if (!left[r].calls.empty()) {
          const RankPlace& place = reading_.ranks[r];
          reading_.in_flight = place.op + ", number " + std::to_string(place.number) + " of process group " +
                               quoted(reading_.groups[place.group].name);
        }
      }
    }
    std::stable_sort(reading_.ranks.begin(), reading_.ranks.end(),
                     [](const RankPlace& a, const RankPlace& b) { return a.rank < b.rank; });
  }

  /// The watchdog ends the job when the first of what waits has waited for its timeout.
  void note_patience() {
    double least = 0.0;
    for (const RankRecord& record : records_) {
      for (const IssuedOp& op : record.ops) {
        if (op.state != OpState::completed && op.timeout_ms > 0.0) {
          least = least > 0.0 ? std::min(least, op.timeout_ms) : op.timeout_ms;
        }
      }
    }
    if (least > 0.0) {
      reading_.patience = Seconds{1e-3 * least};
    }
  }

  /// Ranks enter groups that they share in one order, or may block each other.
  void find_other_order() {
    for (const std::vector<Member>& members : members_) {
      for (std::size_t i = 1; i < members.size() && reading_.other_order.empty(); ++i) {
        compare_order(members.front().record, members[i].record);
      }
    }
  }

  using Step = std::pair<std::size_t, std::int64_t>;                             // group and number
  using Windows = std::map<std::size_t, std::pair<std::int64_t, std::int64_t>>;  // by group, first and last number

  [[nodiscard]] std::vector<Step> steps_of(std::size_t record, const Windows& windows) const {
    std::vector<Step> steps;
    for (const IssuedOp& op : records_[record].ops) {
      const std::size_t g = of_[record][op.group];
      const auto window = windows.find(g);
      const Step step{g, op.number};
      if (!op.message && window != windows.end() && op.number >= window->second.first &&
          op.number <= window->second.second && (steps.empty() || steps.back() != step)) {
        steps.push_back(step);
      }
    }
    return steps;
  }

  void compare_order(std::size_t a, std::size_t b) {
    Windows windows;  // that both have
    for (std::size_t g = 0; g < members_.size(); ++g) {
      const OpsByNumber* x = nullptr;
      const OpsByNumber* y = nullptr;
      for (const Member& member : members_[g]) {
        x = member.record == a ? &member.ops : x;
        y = member.record == b ? &member.ops : y;
      }
      if (x != nullptr && y != nullptr && !x->empty() && !y->empty()) {
        windows[g] = {std::max(x->begin()->first, y->begin()->first), std::min(x->rbegin()->first, y->rbegin()->first)};
      }
    }
    if (windows.size() < 2) {
      return;
    }
    const std::vector<Step> one = steps_of(a, windows);
    const std::vector<Step> two = steps_of(b, windows);
    for (std::size_t i = 0; i < std::min(one.size(), two.size()); ++i) {
      if (one[i].first != two[i].first) {
        const auto told = [&](const Step& step) {
          return "number " + std::to_string(step.second) + " of " + quoted(reading_.groups[step.first].name);
        };
        reading_.other_order = "Ranks " + std::to_string(records_[a].rank) + " and " +
                               std::to_string(records_[b].rank) +
                               " enter groups that they share in different orders (" + told(one[i]) + " against " +
                               told(two[i]) + "), and NCCL may block where kernels of both are in the way.";
        return;
      }
    }
  }

  /// Of the group with the most collectives whose durations all its ranks know.
  void find_last_comer() {
    std::size_t most = 0;
    for (const std::vector<Member>& members : members_) {
      if (members.size() < 2) {
        continue;
      }
      std::vector<double> sums(members.size(), 0.0);
      std::size_t known = 0;
      std::int64_t first = 0;
      std::int64_t last = 0;
      for (const auto& [number, ops] : members.front().ops) {
        const bool all = std::all_of(members.begin(), members.end(), [&, at = number](const Member& m) {
          const auto found = m.ops.find(at);
          return found != m.ops.end() && found->second.front()->lasted_ms.has_value();
        });
        if (!all) {
          continue;
        }
        for (std::size_t i = 0; i < members.size(); ++i) {
          sums[i] += *members[i].ops.at(number).front()->lasted_ms;
        }
        first = known == 0 ? ops.front()->created_ns : first;
        last = ops.front()->created_ns;
        ++known;
      }
      constexpr std::size_t enough = 4;
      if (known < std::max(enough, most + 1) || last <= first) {
        continue;
      }
      most = known;
      const auto least = std::min_element(sums.begin(), sums.end());
      double all = 0.0;
      for (const double sum : sums) {
        all += sum;
      }
      const double others = (all - *least) / real(static_cast<std::int64_t>(sums.size()) - 1);
      reading_.last_comer = LastComer{records_[members[static_cast<std::size_t>(least - sums.begin())].record].rank,
                                      Seconds{1e-3 * (others - *least)}, Seconds{1e-9 * real(last - first)}};
    }
  }

  std::span<const RankRecord> records_;
  HangReading reading_;
  std::vector<std::vector<std::size_t>> of_;  ///< per record, groups of the reading
  std::vector<std::vector<Member>> members_;  ///< per group of the reading
  std::int64_t parted_at_ = 0;
  Diagnostics problems_;
};

}  // namespace

HangReading hang_of(std::span<const RankRecord> records) {
  return Comparison{records}.read();
}

}  // namespace headroom
