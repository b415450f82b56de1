// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/diagnosis/hang_reading.hpp>
#include <headroom/calibrate/ranks/hang.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

namespace headroom {
namespace {

/// "rank 3", "ranks 0, 1 and 2", "ranks 0 to 6", of many the first.
std::string ranks_text(std::span<const std::int64_t> ranks) {
  if (ranks.empty()) {
    return "no rank";
  }
  if (ranks.size() == 1) {
    return "rank " + std::to_string(ranks.front());
  }
  if (ranks.size() > 2 && ranks.back() - ranks.front() == static_cast<std::int64_t>(ranks.size()) - 1) {
    return "ranks " + std::to_string(ranks.front()) + " to " + std::to_string(ranks.back());
  }
  constexpr std::size_t most = 8;
  std::string text = "ranks ";
  for (std::size_t i = 0; i < std::min(most, ranks.size()); ++i) {
    const bool last = i + 1 == ranks.size();
    text += (i == 0 ? "" : (last ? " and " : ", ")) + std::to_string(ranks[i]);
  }
  return text + (ranks.size() > most ? " and " + std::to_string(ranks.size() - most) + " more" : "");
}

std::string capital(std::string text) {
  text.front() = text.front() == 'r' ? 'R' : (text.front() == 'n' ? 'N' : text.front());
  return text;
}

/// 'default_pg' where a group has a description, else its name.
std::string group_text(const ProcessGroup& group) {
  const bool plain = group.says.empty() || group.says == "undefined";
  return "process group " + quoted(plain ? group.name : group.says);
}

/// "all_reduce, number 12 of process group 'default_pg'".
std::string place_text(const HangReading& hang, const RankPlace& place) {
  return place.op + ", number " + std::to_string(place.number) + " of " + group_text(hang.groups[place.group]);
}

const RankPlace* place_of(const HangReading& hang, std::int64_t rank) {
  const auto found =
      std::find_if(hang.ranks.begin(), hang.ranks.end(), [&](const RankPlace& p) { return p.rank == rank; });
  return found != hang.ranks.end() ? &*found : nullptr;
}

/// What happens at the end of the wait.
std::string watchdog_text(const HangReading& hang) {
  return hang.patience ? " The watchdog ends the job " + format(*hang.patience) + " after the wait began." : "";
}

/// Ranks that wait for one of these.
std::vector<std::int64_t> waiting_for(const HangReading& hang, std::span<const std::int64_t> others) {
  std::vector<std::int64_t> ranks;
  for (const RankPlace& place : hang.ranks) {
    const bool waits = std::any_of(place.waits_for.begin(), place.waits_for.end(), [&](std::int64_t rank) {
      return std::find(others.begin(), others.end(), rank) != others.end();
    });
    if (waits) {
      ranks.push_back(place.rank);
    }
  }
  return ranks;
}

/// A line of evidence for each of these ranks with a record; of many the first.
std::vector<std::string> lines_of(const HangReading& hang, std::span<const std::int64_t> ranks) {
  constexpr std::size_t most = 4;
  std::vector<std::string> lines;
  for (const std::int64_t rank : ranks) {
    const RankPlace* const place = place_of(hang, rank);
    if (place != nullptr && lines.size() < most) {
      lines.push_back(place->file + ": rank " + std::to_string(rank) +
                      (place->op.empty() ? " issued nothing"
                                         : (place->waits ? " waits in " : " ended ") + place_text(hang, *place)) +
                      (place->site.empty() ? "" : ", from " + place->site));
    }
  }
  return lines;
}

void add_parting(const HangReading& hang, RunReading& reading) {
  const Parting& parting = *hang.parting;
  const bool waits = std::any_of(hang.ranks.begin(), hang.ranks.end(), [](const RankPlace& p) { return p.waits; });
  const std::string who = ranks_text(parting.ranks);
  std::string says = capital(who) + (parting.even ? " are not at one: one side issued " : " issued ") + parting.issued +
                     " as number " + std::to_string(parting.number) + " of " + group_text(hang.groups[parting.group]) +
                     (parting.even ? " and the other " : " where the others issued ") + parting.others;
  switch (parting.reason) {
    case PartingReason::skipped: says += ": one that the others issued was left out"; break;
    case PartingReason::extra: says += ": one was issued that the others do not have"; break;
    case PartingReason::unknown: break;
  }
  says += waits ? ". From there on nothing moves." + watchdog_text(hang)
                : ". NCCL does not say what such calls give: their numbers are wrong, or they never end.";
  constexpr std::array cures{
      "Let every rank issue the same collectives in the same order: look at the branch before this one, and at "
      "loops whose counts the ranks' own data decides.",
      "Let all ranks send as much: pad to a size that they agree on first, or drop the last short batch.",
      "Cast to one type before the collective on all ranks."};
  std::vector<std::string> evidence;
  if (const RankPlace* const place = place_of(hang, parting.ranks.front())) {
    evidence.push_back(place->file + ": rank " + std::to_string(place->rank) + ", op " + std::to_string(parting.index) +
                       " of its record: " + parting.issued + (parting.site.empty() ? "" : ", from " + parting.site) +
                       (parting.other_site.empty() ? "" : "; others from " + parting.other_site));
  }
  const PartingKind kind = parting.reason == PartingReason::unknown ? parting.kind : PartingKind::op;
  reading.causes.push_back({CauseKind::mismatched_collective, waits ? 1.0 : 0.0, std::nullopt, std::move(says),
                            cures[static_cast<std::size_t>(kind)], std::move(evidence)});
}

std::string left_out_text(const HangReading& hang, std::span<const std::int64_t> ranks) {
  if (!hang.left_out || std::find(ranks.begin(), ranks.end(), hang.left_out->rank) == ranks.end()) {
    return "";
  }
  return " Rank " + std::to_string(hang.left_out->rank) + " left out number " + std::to_string(hang.left_out->number) +
         " of " + group_text(hang.groups[hang.left_out->group]) + ", which the others issued from " +
         hang.left_out->site + ".";
}

void add_stopped(const HangReading& hang, RunReading& reading) {
  for (const bool silent : {false, true}) {
    const std::vector<std::int64_t>& ranks = silent ? hang.silent : hang.stopped;
    if (ranks.empty()) {
      continue;
    }
    const std::vector<std::int64_t> waiting = waiting_for(hang, ranks);
    const RankPlace* const place = place_of(hang, waiting.empty() ? -1 : waiting.front());
    const std::string who = capital(ranks_text(ranks));
    const std::string one = ranks.size() == 1 ? "it" : "them";
    std::vector<std::int64_t> told = silent ? std::vector<std::int64_t>{} : ranks;
    told.insert(told.end(), waiting.begin(), waiting.end());
    reading.causes.push_back(
        {CauseKind::dead_rank, 1.0, std::nullopt,
         who + (silent ? " left no record" : " issued nothing more") + ", and " + ranks_text(waiting) +
             (waiting.size() == 1 ? " waits for " : " wait for ") + one +
             (place != nullptr ? " in " + place_text(hang, *place) : "") + "." + left_out_text(hang, ranks) +
             watchdog_text(hang),
         silent
             ? "Look at the end of its log and at its node's kernel log (a GPU's Xid, the killer of processes without "
               "memory): the process is gone; go on from the last checkpoint without that node."
             : "See where its process stands (py-spy dump --pid): it is alive, in a loop of its own, at an "
               "exception that was caught, or through with fewer steps than the others.",
         lines_of(hang, told)});
  }
}

void add_circle(const HangReading& hang, RunReading& reading) {
  if (hang.circle.empty()) {
    return;
  }
  std::string says = capital(ranks_text(hang.circle)) + " wait for each other: ";
  for (std::size_t i = 0; i < hang.circle.size(); ++i) {
    const RankPlace* const place = place_of(hang, hang.circle[i]);
    const std::int64_t next = hang.circle[(i + 1) % hang.circle.size()];
    says += (i == 0 ? "" : "; ") + ("rank " + std::to_string(hang.circle[i])) +
            (place != nullptr ? " in " + place_text(hang, *place) + "," : "") + " for rank " + std::to_string(next);
  }
  reading.causes.push_back(
      {CauseKind::opposite_order, 1.0, std::nullopt, says + "." + watchdog_text(hang),
       "Enter the groups in one order on all ranks, or end the first collective (wait, synchronize) "
       "before the next group is entered.",
       lines_of(hang, hang.circle)});
}

void add_last_comer(const HangReading& hang, RunReading& reading) {
  constexpr double least_share = 0.03;  // as of traces: steps of one run differ by as much
  if (!hang.last_comer || hang.stuck() || hang.last_comer->waits < least_share * hang.last_comer->over) {
    return;
  }
  const LastComer& last = *hang.last_comer;
  const double lost = std::min(1.0, last.waits / last.over);
  reading.causes.push_back({CauseKind::straggler, lost, 1.0 - lost,
                            "The others wait for rank " + std::to_string(last.rank) + ": their collectives last " +
                                format(last.waits) + " longer than its own in " + format(last.over) + ".",
                            "Look at its clock, its share of the work and its host; replace the GPU where it stays "
                            "slow.",
                            lines_of(hang, {&last.rank, 1})});
}

FindingCell number_cell(std::int64_t number) {
  return number >= 0 ? FindingCell{number} : FindingCell{};
}

constexpr std::size_t most_told = 64;

void add_tables(const HangReading& hang, RunReading& reading) {
  FindingTable groups{"process_groups",
                      "Process groups",
                      {{"group", "<group"},
                       {"ranks", "ranks"},
                       {"complete", "last that ended"},
                       {"furthest", "last issued"},
                       {"op", "<op"},
                       {"absent", "<who did not come"}},
                      {}};
  for (std::size_t g = 0; g < hang.groups.size() && groups.rows.size() < most_told; ++g) {
    const GroupProgress& progress = hang.progress[g];
    if (progress.furthest >= 0) {
      groups.rows.push_back({hang.groups[g].name + (hang.groups[g].says.empty() ? "" : " " + hang.groups[g].says),
                             static_cast<std::int64_t>(hang.groups[g].ranks.size()), number_cell(progress.complete),
                             number_cell(progress.furthest), progress.op,
                             progress.absent.empty() ? FindingCell{} : FindingCell{ranks_text(progress.absent)}});
    }
  }
  FindingTable ranks{"rank_states",
                     "Where ranks stand",
                     {{"rank", "rank"},
                      {"issued", "issued"},
                      {"number", "number"},
                      {"group", "<group"},
                      {"op", "<op"},
                      {"state", "<state"},
                      {"waits_for", "<waits for"},
                      {"site", "<from"}},
                     {}};
  const auto text_or_none = [](const std::string& text) { return text.empty() ? FindingCell{} : FindingCell{text}; };
  for (const RankPlace& place : hang.ranks) {
    if (ranks.rows.size() == most_told) {
      reading.notes.push_back("Of " + std::to_string(hang.ranks.size()) + " ranks the first " +
                              std::to_string(most_told) + " are shown.");
      break;
    }
    ranks.rows.push_back(
        {place.rank, static_cast<std::int64_t>(place.issued), number_cell(place.number),
         place.op.empty() ? FindingCell{} : FindingCell{hang.groups[place.group].name}, text_or_none(place.op),
         place.op.empty() ? FindingCell{} : FindingCell{std::string{place.waits ? "waits" : "ended"}},
         place.waits_for.empty() ? FindingCell{} : FindingCell{ranks_text(place.waits_for)}, text_or_none(place.site)});
  }
  reading.tables.push_back(std::move(groups));
  reading.tables.push_back(std::move(ranks));
}

}  // namespace

void add_hang_reading(std::span<const RankRecord> records, RunReading& reading) {
  const HangReading hang = hang_of(records);
  reading.ranks = std::max(reading.ranks, static_cast<std::int64_t>(records.size()));
  if (hang.parting) {
    add_parting(hang, reading);
  }
  add_stopped(hang, reading);
  add_circle(hang, reading);
  add_last_comer(hang, reading);
  add_tables(hang, reading);
  if (!hang.unseen.empty()) {
    reading.notes.push_back("Process groups name " + ranks_text(hang.unseen) +
                            " as well, whose records were not passed; nobody waits for them.");
  }
  if (!hang.in_flight.empty()) {
    reading.notes.push_back("All ranks came to " + hang.in_flight +
                            ", and it had not ended when the records were written: where the watchdog wrote them, a "
                            "link, a GPU or a kernel before it stands still; else the run was moving.");
  } else if (hang.stuck() && !hang.parting) {
    reading.notes.emplace_back(
        "Where the records were asked for while the run was moving, they show that moment and no "
        "standstill.");
  }
  if (!hang.other_order.empty() && hang.circle.empty()) {
    reading.notes.push_back(hang.other_order);
  }
}

}  // namespace headroom
