// SPDX-License-Identifier: Apache-2.0
// Phases of a step as its parts.
#include <headroom/calibrate/diagnosis/signal_causes.hpp>
#include <headroom/calibrate/telemetry/signal_text.hpp>
#include <headroom/core/number_words.hpp>
#include <headroom/core/quantity_text.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>

namespace headroom {
namespace {

enum class PhaseKind : std::uint8_t {
  data,
  copies,
  computing,
  communication,
  optimizer,
  sync,
  checkpoint,
  other,
  count
};
constexpr std::size_t phase_kinds = static_cast<std::size_t>(PhaseKind::count);
/// Keys of the parts, as in traces where they mean the same.
constexpr std::array<std::string_view, phase_kinds> phase_keys{
    "idle_data", "exposed_copies", "computing",  "exposed_communication",
    "optimizer", "idle_sync",      "checkpoint", "other"};

PhaseKind kind_of_phase(std::string_view name) {
  const auto any = [&](std::initializer_list<std::string_view> words) {
    return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return mentions(name, word); });
  };
  if (any({"checkpoint", "ckpt", "save"})) {
    return PhaseKind::checkpoint;
  }
  if (any({"reduce", "allgather", "all-gather", "all_gather", "nccl", "comm", "broadcast", "all-to-all", "all_to_all",
           "grad_sync", "grad-sync"})) {
    return PhaseKind::communication;
  }
  if (any({"h2d", "d2h", "copy", "copies", "transfer", "memcpy", "host-to-device", "host_to_device"})) {
    return PhaseKind::copies;
  }
  if (any({"data", "load", "batch_gen", "batch-gen", "decode", "augment", "preproc", "fetch"})) {
    return PhaseKind::data;
  }
  if (any({"forward", "backward", "fwd", "bwd", "compute", "computing", "kernel", "attention", "gemm", "matmul"})) {
    return PhaseKind::computing;
  }
  if (any({"optim", "update", "adam", "clip"})) {
    return PhaseKind::optimizer;
  }
  if (any({"sync", ".item", "wait", "barrier"})) {
    return PhaseKind::sync;
  }
  return PhaseKind::other;
}

/// Phases of one kind in a step.
struct KindSum {
  Seconds time{};
  double count = 0.0, bytes = 0.0, with_bytes = 0.0;
  std::vector<std::string> evidence;
};

struct Step {
  std::array<KindSum, phase_kinds> kinds{};
  Seconds whole{};
  [[nodiscard]] const KindSum& of(PhaseKind kind) const { return kinds[static_cast<std::size_t>(kind)]; }
};

/// The mean step of all files.
Step step_of(std::span<const StatedPhases> files, RunReading& reading) {
  Step step;
  const double each = 1.0 / static_cast<double>(files.size());
  for (const StatedPhases& file : files) {
    Seconds told{};
    for (const PhaseTime& phase : file.phases) {
      KindSum& kind = step.kinds[static_cast<std::size_t>(kind_of_phase(phase.name))];
      kind.time += each * phase.time;
      kind.count += each * phase.count;
      if (phase.bytes) {
        kind.bytes += each * phase.count * phase.bytes->raw();
        kind.with_bytes += each * phase.count;
      }
      kind.evidence.push_back(file.file + ":" + std::to_string(phase.line) + ": " + phase.name + " " +
                              format(phase.time) + " of a step" +
                              (phase.count > 1.5 ? " in " + format_number(phase.count) + " calls" : ""));
      told += phase.time;
    }
    step.whole += each * told;
    constexpr double tolerance = 0.01;
    if (file.step && *file.step > told * (1.0 + tolerance)) {
      KindSum& other = step.kinds[static_cast<std::size_t>(PhaseKind::other)];
      other.time += each * (*file.step - told);
      step.whole += each * (*file.step - told);
      reading.notes.push_back(file.file + ": the phases sum to " + format(told) + " of a step of " +
                              format(*file.step) + "; the rest stands under 'other'.");
    } else if (file.step && told > *file.step * (1.0 + tolerance)) {
      reading.notes.push_back(file.file + ": the phases sum to " + format(told) + ", more than the step of " +
                              format(*file.step) + ": some run side by side, and count in full here.");
    }
  }
  return step;
}

void add_phase_table(std::span<const StatedPhases> files, const Step& step, RunReading& reading) {
  FindingTable table{
      "phases",
      "Phases of a step",
      {{"phase", "<phase"}, {"part", "<counted as"}, {"time_s", "time"}, {"share", "share"}, {"count", "calls"}},
      {}};
  for (const StatedPhases& file : files) {
    for (const PhaseTime& phase : file.phases) {
      const auto kind = static_cast<std::size_t>(kind_of_phase(phase.name));
      table.rows.push_back(
          {phase.name, std::string{phase_keys[kind]}, phase.time, phase.time / step.whole, phase.count});
    }
  }
  reading.tables.push_back(std::move(table));
}

/// Cures of copies in the order to try, each on top of the one before.
struct CopyCure {
  std::string_view says;
  Seconds step{};
};

/// Pinned memory copies about twice as fast as pageable memory, which the driver copies once more (CUDA C++ Best
/// Practices Guide, "Pinned Memory"; some 6 against 12 GB/s on PCIe 3.0); copies on a stream of their own run beside
/// the kernels, so that the longer one of both remains.
std::vector<CopyCure> copy_cures(Seconds copies, Seconds step) {
  const Seconds rest = step - copies;
  const Seconds pinned = 0.5 * copies;
  return {{"pinned memory copies twice as fast", rest + pinned},
          {"and on a stream of its own beside the kernels", std::max(rest, pinned)}};
}

void add_copy_cures(Seconds copies, Seconds step, RunReading& reading) {
  FindingTable table{"copy_cures",
                     "Copies: cures in the order to try",
                     {{"cure", "<cure"}, {"step_s", "a step"}, {"step_ratio", "of now"}},
                     {}};
  for (const CopyCure& cure : copy_cures(copies, step)) {
    table.rows.push_back({std::string{cure.says}, cure.step, cure.step / step});
  }
  reading.tables.push_back(std::move(table));
}

void add_phase_causes(const Step& step, RunReading& reading) {
  const auto add = [&](CauseKind kind, PhaseKind phase, double ratio, std::string says, std::string cure) {
    const double lost = step.of(phase).time / step.whole;
    if (lost >= least_signal_share) {
      reading.causes.push_back(
          {kind, lost, std::clamp(ratio, 0.0, 1.0), std::move(says), std::move(cure), step.of(phase).evidence});
    }
  };
  const auto without = [&](PhaseKind phase) { return 1.0 - step.of(phase).time / step.whole; };
  const auto part = [&](PhaseKind phase) {
    return format(step.of(phase).time) + " of each step of " + format(step.whole);
  };
  add(CauseKind::data_loading, PhaseKind::data, without(PhaseKind::data),
      "Loading data takes " + part(PhaseKind::data) + ", in which the GPU waits.",
      "Load ahead with more workers and a larger prefetch, or prepare samples before the run.");
  add(CauseKind::host_sync, PhaseKind::sync, without(PhaseKind::sync),
      "The host waits for " + part(PhaseKind::sync) + ".",
      "Read numbers back every hundred steps in place of each, so that the host runs ahead.");
  const KindSum& sums = step.of(PhaseKind::communication);
  constexpr double many = 16.0;
  constexpr Seconds short_call{100e-6};
  constexpr double small_message = 1e6;  // below it a collective is latency, not bandwidth
  const bool small = sums.count >= many && (sums.time < sums.count * short_call ||
                                            (sums.with_bytes > 0.0 && sums.bytes / sums.with_bytes < small_message));
  add(small ? CauseKind::small_messages : CauseKind::exposed_communication, PhaseKind::communication,
      without(PhaseKind::communication),
      "Collectives take " + part(PhaseKind::communication) +
          (small ? ", in " + format_number(sums.count) + " small pieces" : std::string{}) + ".",
      small ? "Fuse them: larger buckets (25 MB and more), so that fewer and larger messages travel."
            : "Overlap them with the backward pass, send less, or use faster links.");
  if (const KindSum& copies = step.of(PhaseKind::copies); copies.time / step.whole >= least_signal_share) {
    const std::vector<CopyCure> cures = copy_cures(copies.time, step.whole);
    add(CauseKind::exposed_copies, PhaseKind::copies, cures.back().step / step.whole,
        "Copies between host and GPU take " + part(PhaseKind::copies) + ".",
        "Copy from pinned memory (a step of " + format(cures.front().step) +
            "), then on a stream of its own beside the "
            "kernels (" +
            format(cures.back().step) + "); in fewer and larger pieces; and keep on the GPU what is used again.");
    add_copy_cures(copies.time, step.whole, reading);
  }
  add(CauseKind::checkpointing, PhaseKind::checkpoint, without(PhaseKind::checkpoint),
      "Checkpoints take " + part(PhaseKind::checkpoint) + ".",
      "Write them beside the steps (asynchronously, from a copy in the host's memory), or less often.");
}

}  // namespace

void add_phases(const Signals& signals, RunReading& reading) {
  if (signals.phases.empty()) {
    return;
  }
  const Step step = step_of(signals.phases, reading);
  add_phase_table(signals.phases, step, reading);
  add_phase_causes(step, reading);
  if (!reading.parts.empty()) {
    return;  // a trace tells the parts more finely
  }
  reading.step = step.whole;
  for (const StatedPhases& file : signals.phases) {
    reading.steps += file.steps;
  }
  reading.ranks = std::max<std::int64_t>(reading.ranks, static_cast<std::int64_t>(signals.phases.size()));
  for (std::size_t i = 0; i < phase_kinds; ++i) {
    reading.parts.push_back({phase_keys[i], step.kinds[i].time});
  }
  const double computing = (step.of(PhaseKind::computing).time + step.of(PhaseKind::optimizer).time) / step.whole;
  constexpr double most_of_it = 0.6;
  if (computing >= most_of_it) {
    reading.notes.push_back("Kernels take " + percent(computing) +
                            " of a step: what is left to gain lies in them (tensor cores, a larger batch, fused and "
                            "compiled ops); a trace or Nsight Compute's counters tell which.");
  }
}

}  // namespace headroom
