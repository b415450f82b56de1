// SPDX-License-Identifier: Apache-2.0
// Messages between ranks and copies between host and GPU that nothing hides.
#include <headroom/calibrate/diagnosis/trace_causes.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace headroom {
namespace {

/// Works that are selected, as numbers of a rank and step.
struct Traffic {
  double count = 0.0, time = 0.0, bytes = 0.0;  // nanoseconds
  [[nodiscard]] double each() const { return count > 0.0 ? time / count : 0.0; }
};

template <class Select>
Traffic with_scaled(RunChanges& changes, const TracedRun& run, double scale, Select select) {
  Traffic all;
  double steps = 0.0;
  for (std::size_t r = 0; r < changes.size(); ++r) {
    const RankGraph& graph = run.graph(r);
    steps += real(static_cast<std::int64_t>(graph.steps.size()));
    for (std::size_t i = 0; i < graph.work.size(); ++i) {
      if (select(graph.work[i])) {
        all.count += 1.0;
        all.time += real(run.replay.as_it_was()[r].work[i]);
        all.bytes += graph.work[i].bytes;
        changes[r].work[i] = static_cast<TraceTime>(scale * real(changes[r].work[i]));
      }
    }
  }
  const double each = 1.0 / std::max(1.0, steps);
  return {all.count * each, all.time * each, all.bytes * each};
}

bool is_message(const GraphWork& work) {
  return work.work == DeviceWork::communication;
}

constexpr double bulk_copy = 1e6;  // bytes; smaller ones are numbers that are read back
bool is_copy_in(const GraphWork& work) {
  return work.work == DeviceWork::copy && !work.to_host && work.bytes >= bulk_copy;
}

void add_messages(TracedRun& run) {
  RunChanges changes = run.replay.as_it_was();
  const Traffic all = with_scaled(changes, run, 0.0, is_message);
  if (all.count <= 0.0) {
    return;
  }
  const double step = 1e9 * run.step.raw();
  constexpr double few = 16.0;
  constexpr double small = 100'000.0;  // nanoseconds: of a message that its latency and not its bytes decide
  const bool tiny = all.count >= few && all.each() < small;
  if (tiny) {  // few messages are also sent by few calls
    for (std::size_t r = 0; r < changes.size(); ++r) {
      for (const GraphWork& work : run.graph(r).work) {
        if (is_message(work) && work.call >= 0) {
          changes[r].call[static_cast<std::size_t>(work.call)] = 0;
          changes[r].gap[static_cast<std::size_t>(work.call)] = 0;
        }
      }
    }
  }
  // What hides messages hides all but the last, which nothing comes after.
  const double ratio = run.replay.ratio(changes) + all.each() / std::max(1.0, step);
  const std::string rate = all.bytes > 0.0 && all.time > 0.0
                               ? ", at " + format(BytesPerSecond{1e9 * all.bytes / all.time}) + " of their bytes"
                               : "";
  const std::string takes = "Messages between ranks take " + format(Seconds{1e-9 * all.time}) + " of each step of " +
                            format(run.step) + ", " + format_number(all.count, 3) + " of " +
                            format(Seconds{1e-9 * all.each()}) + rate + "; ";
  run.add(tiny ? CauseKind::small_messages : CauseKind::exposed_communication, ratio,
          takes + (tiny ? "each is too small for its link." : "the GPU computes nothing beside them."),
          tiny ? "Send fewer and larger messages: larger buckets."
               : "Overlap them with computing (buckets beside the backward pass, gathers ahead), send less, or use "
                 "faster links.");
}

void add_copies(TracedRun& run) {
  const auto free_host = [&](RunChanges& changes) {
    for (std::size_t r = 0; r < changes.size(); ++r) {
      for (std::size_t i = 0; i < changes[r].waits.size(); ++i) {
        const GraphCall& call = run.graph(r).calls[i];
        changes[r].waits[i] = call.kind == CallKind::copy && !call.sent_back ? 0 : changes[r].waits[i];
      }
    }
  };
  RunChanges pinned = run.replay.as_it_was();
  const Traffic copies = with_scaled(pinned, run, 0.5, is_copy_in);
  if (copies.count <= 0.0) {
    return;
  }
  RunChanges beside = run.replay.as_it_was();
  static_cast<void>(with_scaled(beside, run, 0.0, is_copy_in));
  free_host(beside);
  const double step = 1e9 * run.step.raw();
  // A copy beside the step before is hidden as far as it is shorter than that.
  const double hidden = std::max(run.replay.ratio(beside), 0.5 * copies.time / std::max(1.0, step));
  const std::size_t before = run.reading.causes.size();
  run.add(
      CauseKind::exposed_copies, hidden,
      "Copies to the GPU take " + format(Seconds{1e-9 * copies.time}) + " of each step of " + format(run.step) +
          ", with nothing beside them.",
      "Copy from pinned memory, then on a stream of its own while the step before computes; keep on the GPU what is "
      "used again.");
  if (run.reading.causes.size() == before) {
    return;
  }
  const auto row = [&](const std::string& cure, double ratio) {
    return std::vector<FindingCell>{cure, ratio * run.step, ratio};
  };
  run.reading.tables.push_back({"copies",
                                "Cures of copies, in the order to try:",
                                {{"cure", "<cure"}, {"step_s", "step"}, {"time_ratio", "of now"}},
                                {row("as it is", 1.0), row("pinned memory, twice the rate", run.replay.ratio(pinned)),
                                 row("and beside the step before", hidden)}});
}

}  // namespace

void add_traffic_causes(TracedRun& run) {
  add_messages(run);
  add_copies(run);
}

}  // namespace headroom
