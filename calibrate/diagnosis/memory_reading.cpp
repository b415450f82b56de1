// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/diagnosis/memory_reading.hpp>
#include <headroom/calibrate/snapshots/memory_history.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace headroom {
namespace {

std::string holder_text(const std::string& site) {
  return site.empty() ? "what was there before the record" : site;
}

/// A time from the first event on, where events have one.
FindingCell time_cell(std::int64_t time_us, std::int64_t first_us) {
  return time_us > 0 && first_us > 0 ? FindingCell{Seconds{1e-6 * static_cast<double>(time_us - first_us)}}
                                     : FindingCell{};
}

struct MemoryTables {
  FindingTable devices{"memory_devices",
                       "Memory of PyTorch's allocator",
                       {{"file", "<file"},
                        {"gpu", "GPU"},
                        {"allocated_bytes", "allocated"},
                        {"reserved_bytes", "reserved"},
                        {"peak_bytes", "peak allocated"},
                        {"peak_reserved_bytes", "reserved then"},
                        {"held_free_bytes", "free within"},
                        {"largest_free_bytes", "largest piece"}},
                       {}};
  FindingTable holders{
      "memory_holders",
      "Who holds the memory at the peak",
      {{"held_bytes", "held"}, {"share", "share"}, {"blocks", "blocks"}, {"site", "<allocated by"}, {"file", "<file"}},
      {}};
  FindingTable moments{"memory_over_time",
                       "Memory over time",
                       {{"event", "event"},
                        {"time_s", "time"},
                        {"allocated_bytes", "allocated"},
                        {"reserved_bytes", "reserved"},
                        {"file", "<file"}},
                       {}};
};

void add_refusal(const MemorySnapshot& snapshot, const MemoryHistory& history, RunReading& reading) {
  const RefusedRequest& refused = *history.refused;
  const Bytes free = refused.held_free + refused.device_free;
  const std::string where = snapshot.file + ", GPU " + std::to_string(history.device) + ": ";
  std::vector<std::string> evidence{where + "asked " + format(refused.asked) +
                                    (refused.site.empty() ? "" : " by " + refused.site) + " with " +
                                    format(refused.allocated) + " allocated of " + format(refused.reserved) +
                                    " reserved, " + format(refused.device_free) + " left on the device"};
  if (refused.fragmented()) {
    if (refused.expandable_grants) {
      evidence.push_back(where + "replayed with expandable segments on " +
                         format(refused.reserved + refused.device_free) + " the request is " +
                         (*refused.expandable_grants ? "granted" : "refused as well"));
    }
    const bool cures = refused.expandable_grants.value_or(true);
    reading.causes.push_back(
        {CauseKind::fragmentation, 1.0, std::nullopt,
         "A request of " + format(refused.asked) + " found no memory although " + format(free) +
             " are free: " + format(refused.held_free) + " lie in pieces within segments, of which the largest holds " +
             format(refused.largest) + ", and " + format(refused.device_free) + " on the device.",
         cures ? "Set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True; else use a smaller micro batch, or sizes that "
                 "repeat from step to step."
               : "Use a smaller micro batch or sizes that repeat from step to step; expandable segments alone do not "
                 "help.",
         std::move(evidence)});
    return;
  }
  const std::string who = history.holders.empty() ? "" : holder_text(history.holders.front().site);
  reading.causes.push_back(
      {CauseKind::out_of_memory, 1.0, std::nullopt,
       "A request of " + format(refused.asked) + " found " + format(free) +
           " free: " + format(std::max(Bytes{}, refused.asked - free)) + " too little" +
           (who.empty() ? "."
                        : "; most of the peak of " + format(history.peak.allocated) + ", " +
                              format(history.holders.front().held) + ", is held by " + who + "."),
       "Use a smaller micro batch, recompute activations, or shard more; headroom plan says what fits.",
       std::move(evidence)});
}

void add_snapshot(const MemorySnapshot& snapshot, RunReading& reading, MemoryTables& tables) {
  constexpr std::size_t most_holders = 12;
  bool history_told = false;
  for (const MemoryHistory& history : memory_histories(snapshot)) {
    tables.devices.rows.push_back({snapshot.file, history.device, history.allocated, history.reserved,
                                   history.peak.allocated, history.peak.reserved, history.held_free, history.largest});
    for (std::size_t i = 0; i < std::min(most_holders, history.holders.size()); ++i) {
      const MemoryHolder& holder = history.holders[i];
      const double share = history.peak.allocated.raw() > 0.0 ? holder.held / history.peak.allocated : 0.0;
      tables.holders.rows.push_back({holder.held, share, holder.blocks, holder_text(holder.site), snapshot.file});
    }
    const std::int64_t first = history.moments.empty() ? 0 : history.moments.front().time_us;
    for (const MemoryMoment& moment : history.moments) {
      if (history.moments.size() == 1) {
        break;  // the snapshot's own, which stands above
      }
      tables.moments.rows.push_back({static_cast<std::int64_t>(moment.event), time_cell(moment.time_us, first),
                                     moment.allocated, moment.reserved, snapshot.file});
      history_told = true;
    }
    if (history.refused) {
      add_refusal(snapshot, history, reading);
    } else if (history.reserved.raw() > 0.0) {
      const double unused = history.held_free / history.reserved;
      constexpr double much = 0.2;
      if (unused > much) {
        reading.notes.push_back(snapshot.file + ": " + percent_number(unused, 3) + " % of the " +
                                format(history.reserved) + " that the allocator holds are free, in pieces of up to " +
                                format(history.largest) + "; a request above that takes more of the device.");
      }
    }
  }
  if (!history_told) {
    reading.notes.push_back(snapshot.file +
                            ": no history was recorded, so the peak is that of the snapshot's moment; call "
                            "torch.cuda.memory._record_memory_history() first.");
  }
}

}  // namespace

void add_memory_reading(std::span<const MemorySnapshot> snapshots,
                        std::span<const MemoryTimeline> timelines,
                        RunReading& reading) {
  MemoryTables tables;
  for (const MemorySnapshot& snapshot : snapshots) {
    add_snapshot(snapshot, reading, tables);
  }
  for (FindingTable* const table : {&tables.devices, &tables.holders, &tables.moments}) {
    if (!table->rows.empty()) {
      reading.tables.push_back(std::move(*table));
    }
  }
  FindingTable purposes{"memory_purposes",
                        "Memory by what it is for",
                        {{"purpose", "<for"},
                         {"at_peak_bytes", "at the peak"},
                         {"share", "share"},
                         {"own_peak_bytes", "its own peak"},
                         {"file", "<file"}},
                        {}};
  for (const MemoryTimeline& timeline : timelines) {
    for (std::size_t i = 0; i < memory_purposes.size(); ++i) {
      if (timeline.own_peak[i].raw() > 0.0) {
        purposes.rows.push_back({std::string{memory_purposes[i]}, timeline.at_peak[i],
                                 timeline.peak.raw() > 0.0 ? timeline.at_peak[i] / timeline.peak : 0.0,
                                 timeline.own_peak[i], timeline.file});
      }
    }
    reading.notes.push_back(timeline.file + ": the peak is " + format(timeline.peak) + ", " +
                            format(Seconds{1e-9 * static_cast<double>(timeline.peak_ns)}) + " after the first of " +
                            format_count(static_cast<double>(timeline.events)) + " events in " +
                            format(Seconds{1e-9 * static_cast<double>(timeline.span_ns)}) + ".");
  }
  if (!purposes.rows.empty()) {
    reading.tables.push_back(std::move(purposes));
  }
}

}  // namespace headroom
