// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/diagnosis/trace_reading.hpp>
#include <headroom/core/diagnostic.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>
#include <headroom/core/real.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

namespace headroom {
namespace {

/// Below this share of a step a cause is not named: steps of one run differ by as much.
constexpr double least_share = 0.03;

struct Window {
  TraceTime begin = 0, end = 0;
};

bool names_step(const std::string& name) {
  return name.starts_with("ProfilerStep#") || name.starts_with("ProfilerStep ");
}

/// Steps on the GPU's side where the trace has them, else from the start of one on the host to that of the next.
std::vector<Window> steps_of(const Timeline& timeline, std::int32_t device) {
  std::vector<Window> steps;
  for (const DeviceRange& range : timeline.ranges) {
    if (range.device == device && names_step(timeline.names.name(range.name)) && range.end > range.begin) {
      steps.push_back({range.begin, range.end});
    }
  }
  if (steps.empty()) {
    for (const HostSpan& span : timeline.host) {
      if (span.work == HostWork::annotation && names_step(timeline.names.name(span.name)) && span.end > span.begin) {
        steps.push_back({span.begin, span.end});
      }
    }
  }
  std::sort(steps.begin(), steps.end(), [](const Window& a, const Window& b) { return a.begin < b.begin; });
  // A GPU may still work on a step while the next has begun: each ends where the next begins.
  for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
    steps[i].end = steps[i + 1].begin;
  }
  if (steps.size() > 2) {
    steps.erase(steps.begin());
  }
  return steps;
}

Seconds length(TraceTime nanoseconds) {
  return Seconds{1e-9 * real(nanoseconds)};
}

std::string text_of(Seconds time) {
  return format(time);
}

std::string share_text(double share) {
  return format_number(100.0 * share, 3) + " %";
}

/// A cause that a change of `saved` cures: the step afterwards over the step now.
std::optional<double> ratio_without(Seconds step, Seconds saved) {
  return step.raw() > 0.0 ? std::optional{std::clamp(1.0 - saved / step, 0.0, 1.0)} : std::nullopt;
}

/// Where the traces of a run differ from one another.
struct Across {
  double slowest = 0.0;  ///< computing of the slowest rank over the mean
  std::size_t which = 0;
  Seconds waits{};  ///< mean exposed communication of the others beyond that rank's own
};

Across across(std::span<const TracedRank> ranks) {
  Across a;
  Seconds sum{};
  Seconds most{};
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const Seconds own = ranks[i].mean(&DeviceTime::computing);
    sum += own;
    if (own > most) {
      most = own;
      a.which = i;
    }
  }
  const Seconds mean = sum / real(ranks.size());
  a.slowest = mean.raw() > 0.0 ? most / mean : 1.0;
  Seconds others{};
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    others += i == a.which ? Seconds{} : ranks[i].mean(&DeviceTime::exposed_communication);
  }
  if (ranks.size() > 1) {
    a.waits =
        std::max(Seconds{}, others / real(ranks.size() - 1) - ranks[a.which].mean(&DeviceTime::exposed_communication));
  }
  return a;
}

/// Means over the ranks.
struct Means {
  Seconds step{}, computing{}, exposed_communication{}, exposed_copies{}, communication{}, copies{}, host_work{};
  std::array<Seconds, idle_cause_count> idle{};
  double kernels = 0.0, collectives = 0.0;
  Seconds kernel{}, collective{};

  [[nodiscard]] Seconds of(IdleCause cause) const { return idle[static_cast<std::size_t>(cause)]; }
};

Means means_of(std::span<const TracedRank> ranks) {
  Means m;
  const double each = 1.0 / real(ranks.size());
  for (const TracedRank& r : ranks) {
    m.step += each * r.step();
    m.computing += each * r.mean(&DeviceTime::computing);
    m.exposed_communication += each * r.mean(&DeviceTime::exposed_communication);
    m.exposed_copies += each * r.mean(&DeviceTime::exposed_copies);
    m.communication += each * r.mean(&DeviceTime::communication);
    m.copies += each * r.mean(&DeviceTime::copies);
    m.host_work += each * r.host_work;
    m.kernels += each * r.kernels;
    m.kernel += each * r.kernel;
    m.collectives += each * r.collectives;
    m.collective += each * r.collective;
    for (std::size_t i = 0; i < idle_cause_count; ++i) {
      m.idle[i] += each * r.mean_idle(static_cast<IdleCause>(i));
    }
  }
  return m;
}

void add(RunReading& reading, Cause cause) {
  if (cause.lost >= least_share) {
    reading.causes.push_back(std::move(cause));
  }
}

void add_idle_causes(RunReading& reading, const Means& m) {
  const auto lost = [&](Seconds time) { return time / m.step; };
  const Seconds data = m.of(IdleCause::data);
  add(reading, {CauseKind::data_loading,
                lost(data),
                ratio_without(m.step, data),
                "The GPU waits " + text_of(data) + " of each step of " + text_of(m.step) +
                    " while its host makes or fetches samples.",
                "Load ahead with more workers, or prepare samples before the run.",
                {}});
  const Seconds sync = m.of(IdleCause::sync);
  // Without the wait the host runs ahead, and the step is what the GPU or the host takes, the longer one.
  const Seconds ahead = std::max(m.step - sync, m.host_work);
  add(reading, {CauseKind::host_sync,
                lost(sync),
                ratio_without(m.step, m.step - ahead),
                "The host waits for the GPU to run dry before it sends more: " + text_of(sync) + " of each step of " +
                    text_of(m.step) + " pass with nothing to do.",
                "Read numbers back every hundred steps in place of each (.item(), .cpu(), prints, "
                "synchronize), so that the host runs ahead.",
                {}});
  const Seconds host = m.of(IdleCause::host) + m.of(IdleCause::launch);
  const bool many = m.kernels > 0.0 && m.kernel < Seconds{20e-6};
  add(reading, {many ? CauseKind::launch_bound : CauseKind::host_bound,
                lost(host),
                ratio_without(m.step, host),
                many ? "The host sends " + format_number(m.kernels, 3) + " kernels of " + text_of(m.kernel) +
                           " a step more slowly than the GPU runs them: " + text_of(host) + " of " + text_of(m.step) +
                           " pass between them."
                     : "The host is busy with the program for " + text_of(host) + " of each step of " +
                           text_of(m.step) + " while the GPU has nothing to do.",
                many ? "Capture the step as a CUDA graph, or compile it so that fewer and longer kernels run."
                     : "Move work of the host out of the step, or let it run ahead.",
                {}});
}

void add_traffic_causes(RunReading& reading, const Means& m) {
  const auto lost = [&](Seconds time) { return time / m.step; };
  constexpr Seconds small{100e-6};
  const bool tiny = m.collectives >= 16.0 && m.collective < small;
  add(reading,
      {tiny ? CauseKind::small_messages : CauseKind::exposed_communication,
       lost(m.exposed_communication),
       ratio_without(m.step, m.exposed_communication),
       "Collectives take " + text_of(m.communication) + " of each step, " + text_of(m.exposed_communication) +
           " of them with no computing beside them" +
           (tiny ? ", in " + format_number(m.collectives, 3) + " pieces of " + text_of(m.collective) : "") + ".",
       tiny ? "Send fewer and larger messages: larger buckets."
            : "Overlap them with computing, send less, or use faster links.",
       {}});
  add(reading, {CauseKind::exposed_copies,
                lost(m.exposed_copies),
                ratio_without(m.step, m.exposed_copies),
                "Copies and fills take " + text_of(m.copies) + " of each step, " + text_of(m.exposed_copies) +
                    " of them with nothing beside them.",
                "Copy from pinned memory on a stream of its own while the step before computes.",
                {}});
}

void add_rank_causes(RunReading& reading, std::span<const TracedRank> ranks, const Means& m) {
  if (ranks.size() < 2) {
    return;
  }
  const Across a = across(ranks);
  const TracedRank& slow = ranks[a.which];
  if (a.slowest < 1.0 + least_share) {
    return;
  }
  const std::string who = slow.rank ? "rank " + std::to_string(*slow.rank) : slow.file;
  add(reading,
      {CauseKind::straggler,
       a.waits / m.step,
       ratio_without(m.step, a.waits),
       "The others wait for " + who + ", whose kernels take " + share_text(a.slowest - 1.0) + " more than the mean.",
       "Look at its clock, its share of the work and its neighbours; replace the GPU where it stays slow.",
       {slow.file + ": computing " + text_of(slow.mean(&DeviceTime::computing)) + " a step"}});
}

/// The names with the most time over all ranks; of equal ones the first by name.
std::vector<KernelTotal> longest(std::span<const TracedRank> ranks) {
  constexpr std::size_t most_kernels = 8;
  std::map<std::pair<std::string, std::string_view>, KernelTotal> all;
  for (const TracedRank& rank : ranks) {
    for (const KernelTotal& named : rank.names) {
      KernelTotal& sum = all.try_emplace({named.name, named.work}, KernelTotal{named.name, named.work}).first->second;
      sum.time += named.time;
      sum.count += named.count;
    }
  }
  std::vector<KernelTotal> kernels;
  for (auto& [key, total] : all) {
    kernels.push_back(std::move(total));
  }
  std::stable_sort(kernels.begin(), kernels.end(),
                   [](const KernelTotal& a, const KernelTotal& b) { return a.time > b.time; });
  kernels.resize(std::min(kernels.size(), most_kernels));
  return kernels;
}

}  // namespace

Seconds TracedRank::step() const noexcept {
  Seconds sum{};
  for (const DeviceTime& time : steps) {
    sum += time.window();
  }
  return sum / real(std::max<std::size_t>(1, steps.size()));
}

Seconds TracedRank::mean(Seconds DeviceTime::*part) const noexcept {
  Seconds sum{};
  for (const DeviceTime& time : steps) {
    sum += time.*part;
  }
  return sum / real(std::max<std::size_t>(1, steps.size()));
}

Seconds TracedRank::mean_idle(IdleCause cause) const noexcept {
  Seconds sum{};
  for (const DeviceTime& time : steps) {
    sum += time.idle[static_cast<std::size_t>(cause)];
  }
  return sum / real(std::max<std::size_t>(1, steps.size()));
}

TracedRank traced_rank(const Timeline& timeline) {
  if (timeline.work.empty()) {
    Diagnostics diagnostics;
    diagnostics.add(timeline.file, {},
                    "the trace holds no work of a GPU; profile with ProfilerActivity.CUDA beside the CPU");
    diagnostics.throw_if_any();
  }
  TracedRank rank;
  rank.file = timeline.file;
  rank.rank = timeline.rank;
  TraceTime most = -1;
  for (const std::int32_t device : devices_with_work(timeline)) {
    TraceTime sum = 0;
    for (const DeviceSpan& span : timeline.work) {
      sum += span.device == device ? span.end - span.begin : 0;
    }
    if (sum > most) {
      most = sum;
      rank.device = device;
    }
  }
  for (const TracedDevice& device : timeline.devices) {
    if (device.id == rank.device || rank.gpu.empty()) {
      rank.gpu = device.name;
      rank.units = device.units;
    }
  }
  const std::vector<Window> windows = steps_of(timeline, rank.device);
  rank.named_steps = !windows.empty();
  for (const Window& window : windows) {
    rank.steps.push_back(device_time(timeline, rank.device, window.begin, window.end));
  }
  if (rank.steps.empty()) {
    rank.steps.push_back(device_time(timeline, rank.device));
  }
  const TraceTime begin = rank.steps.front().begin;
  const TraceTime end = rank.steps.back().end;
  const double each = 1.0 / real(rank.steps.size());
  Seconds kernels{};
  Seconds collectives{};
  double filled = 0.0;
  for (const DeviceSpan& span : timeline.work) {
    if (span.device != rank.device || span.begin < begin || span.begin >= end) {
      continue;
    }
    const Seconds time = length(span.end - span.begin);
    if (span.work == DeviceWork::compute) {
      rank.kernels += each;
      kernels += each * time;
      const double blocks = span.blocks > 0 && rank.units > 0 ? real(span.blocks) / real(rank.units) : 0.0;
      filled += std::min(1.0, blocks) * time.raw();
    } else if (span.work == DeviceWork::communication) {
      rank.collectives += each;
      collectives += each * time;
    }
  }
  rank.kernel = rank.kernels > 0.0 ? kernels / rank.kernels : Seconds{};
  rank.collective = rank.collectives > 0.0 ? collectives / rank.collectives : Seconds{};
  rank.sm_active = end > begin ? filled / length(end - begin).raw() : 0.0;
  for (const NamedTime& named : time_by_name(timeline, rank.device)) {
    rank.names.push_back({timeline.names.name(named.name), device_work_names[static_cast<std::size_t>(named.work)],
                          named.time, named.count});
  }
  rank.host_work = host_work(timeline, begin, end) * each;
  return rank;
}

RunReading reading_of(std::span<const TracedRank> ranks) {
  RunReading reading;
  reading.ranks = static_cast<std::int64_t>(ranks.size());
  const Means m = means_of(ranks);
  bool named = true;
  for (const TracedRank& rank : ranks) {
    reading.files.push_back(rank.file);
    reading.steps += static_cast<std::int64_t>(rank.named_steps ? rank.steps.size() : 0);
    named = named && rank.named_steps;
  }
  reading.gpu = ranks.front().gpu;
  reading.step = m.step;
  reading.parts = {{"computing", m.computing},
                   {"exposed_communication", m.exposed_communication},
                   {"exposed_copies", m.exposed_copies},
                   {"idle_sync", m.of(IdleCause::sync)},
                   {"idle_data", m.of(IdleCause::data)},
                   {"idle_host", m.of(IdleCause::host)},
                   {"idle_launch", m.of(IdleCause::launch)},
                   {"idle_wait", m.of(IdleCause::wait)},
                   {"idle_ends", m.of(IdleCause::ends)}};
  const Seconds busy = m.computing + m.exposed_communication + m.exposed_copies;
  reading.use.busy = m.step.raw() > 0.0 ? std::optional{busy / m.step} : std::nullopt;
  if (ranks.front().sm_active > 0.0) {
    reading.use.sm_active = ranks.front().sm_active;
  }
  reading.kernels = longest(ranks);
  if (m.step.raw() > 0.0) {
    add_idle_causes(reading, m);
    add_traffic_causes(reading, m);
    add_rank_causes(reading, ranks, m);
  }
  std::stable_sort(reading.causes.begin(), reading.causes.end(),
                   [](const Cause& a, const Cause& b) { return a.lost > b.lost; });
  if (!named) {
    reading.notes.emplace_back("The trace names no steps (profiler.step()): its whole window stands for one step.");
  }
  return reading;
}

}  // namespace headroom
