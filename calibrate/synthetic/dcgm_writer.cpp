// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/diagnosis/work_words.hpp>
#include <headroom/calibrate/synthetic/telemetry_files.hpp>
#include <headroom/core/real.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <unordered_map>
#include <vector>

namespace headroom {
namespace {

/// Of large kernels, cycles in which the pipe works, and in which memory's interface moves data.
constexpr double pipe_share = 0.65;
constexpr double memory_share = 0.85;

struct Busy {
  double any = 0.0, filled = 0.0, tensor = 0.0, memory = 0.0;  // nanoseconds
};

std::string share_text(double nanoseconds, double period) {
  char text[16];
  std::snprintf(text, sizeof text, "%-8.3f", std::min(1.0, nanoseconds / period));
  return text;
}

}  // namespace

std::string dcgm_text(std::span<const Timeline> ranks, Seconds period) {
  const auto each = std::max<TraceTime>(1, std::llround(1e9 * period.raw()));
  TraceTime begin = 0;
  TraceTime end = 0;
  bool first = true;
  for (const Timeline& rank : ranks) {
    for (const DeviceSpan& span : rank.work) {
      begin = first ? span.begin : std::min(begin, span.begin);
      end = first ? span.end : std::max(end, span.end);
      first = false;
    }
  }
  const auto rows = static_cast<std::size_t>((end - begin) / each + 1);
  std::vector<std::vector<Busy>> busy(ranks.size(), std::vector<Busy>(rows));
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const Timeline& rank = ranks[r];
    const double units = rank.devices.empty() ? 0.0 : real(rank.devices.front().units);
    // By name and by the op that sends it, once each.
    std::unordered_map<std::int64_t, std::string_view> ops;
    const HostSpan* op = nullptr;
    for (const HostSpan& span : rank.host) {
      op = span.work == HostWork::op ? &span : op;
      if (span.work == HostWork::runtime && span.correlation >= 0 && op != nullptr && span.begin < op->end) {
        ops.emplace(span.correlation, rank.names.name(op->name));
      }
    }
    TraceTime covered = begin;
    for (const DeviceSpan& span : rank.work) {
      const auto sent = ops.find(span.correlation);
      const WorkUse use = span.work == DeviceWork::compute
                              ? use_of(rank.names.name(span.name), sent != ops.end() ? sent->second : "")
                              : WorkUse::other;
      const double fill = units > 0.0 && span.blocks > 0 ? std::min(1.0, real(span.blocks) / units) : 0.0;
      for (TraceTime at = span.begin; at < span.end;) {
        const auto row = static_cast<std::size_t>((at - begin) / each);
        const TraceTime until = std::min(span.end, begin + static_cast<TraceTime>(row + 1) * each);
        Busy& now = busy[r][row];
        const double all = real(until - at);
        now.any += real(std::max<TraceTime>(0, until - std::max(at, covered)));
        now.filled += fill * all;
        now.tensor += use == WorkUse::product || use == WorkUse::attention ? pipe_share * fill * all : 0.0;
        now.memory += use == WorkUse::pass ? memory_share * all : 0.0;
        covered = std::max(covered, until);
        at = until;
      }
    }
  }
  std::string text = "#Entity   GRACT   SMACT   TENSO   DRAMA   GPUTL\nID\n";
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      const Busy& now = busy[r][row];
      const double all = real(each);
      text += "GPU " + std::to_string(r) + "     " + share_text(now.any, all) + share_text(now.filled, all) +
              share_text(now.tensor, all) + share_text(now.memory, all) +
              std::to_string(std::llround(100.0 * std::min(1.0, now.any / all))) + "\n";
    }
  }
  return text;
}

}  // namespace headroom
