// SPDX-License-Identifier: Apache-2.0
// Hosts that send, streams that run in order, messages that meet across ranks, waits: timelines follow.
#include <headroom/calibrate/synthetic/rank_program.hpp>
#include <headroom/calibrate/synthetic/synthetic_run.hpp>
#include <headroom/core/real.hpp>
#include <headroom/model/serve/time/random_stream.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace headroom {
namespace {

constexpr TraceTime not_yet = -1;
constexpr TraceTime clock_base = 1'790'000'000'000'000'000;  // nanoseconds since 1970, some day of 2026
constexpr std::size_t launch_queue = 1024;  // launches that a driver takes before one of them has begun (CUDA 12)
constexpr std::array<std::int32_t, 3> stream_numbers{7, 20, 24};

TraceTime ticks(double seconds) {
  return std::max<TraceTime>(0, std::llround(seconds * 1e9));
}

/// Whether spans of the host are kept beside those of the GPU, which the simulation itself asks for.
enum class HostSpans : std::uint8_t { kept, dropped };

/// A message that ranks meet in.
struct Meeting {
  std::vector<std::pair<std::size_t, std::size_t>> who;  // rank, its work
  TraceTime last = 0, lasts = 0;
  std::string_view name;
  double bytes = 0.0;
  bool apart = false;  // ranks sent different messages, which never end
};

class SimulatedRank {
 public:
  SimulatedRank(const SyntheticRun& run, std::size_t number, HostSpans spans)
      : program_{run, static_cast<std::int64_t>(number)},
        acts_{program_.next_step()},
        run_{run},
        number_{number},
        noise_{run.seed, 1'000'000 + number},
        spans_{spans} {
    timeline.file = "rank" + std::to_string(number);
    const std::string process = std::to_string(4000 + number);
    timeline.threads = {process + "/" + process, process + "/" + std::to_string(9000 + number)};
    timeline.rank = static_cast<std::int64_t>(number);
    timeline.world_size = run.ranks;
    if (!run.gpu.empty()) {
      timeline.devices = {{0, run.gpu, run.units, run.memory}};
    }
  }

  /// Goes on until the program ends or what it needs has no end yet; false when it could not move at all.
  bool advance(std::unordered_map<std::int64_t, Meeting>& meetings, std::vector<SimulatedRank>& all) {
    bool moved = false;
    while (at_ < acts_.size() && act(acts_[at_], meetings, all)) {
      moved = true;
      if (++at_ == acts_.size()) {
        acts_ = program_.next_step();
        at_ = 0;
      }
    }
    return moved;
  }
  [[nodiscard]] bool done() const { return acts_.empty(); }
  [[nodiscard]] TraceTime host() const { return host_; }

  void finish(TraceTime hangs_until, TraceTime shift) {
    for (DeviceSpan& span : timeline.work) {
      span.end = span.end == not_yet ? hangs_until : span.end;
    }
    if (!done()) {  // the step that hangs
      end_step(std::max(host_, hangs_until));
    }
    const auto moved = [&](auto& spans) {
      for (auto& span : spans) {
        span.begin += shift;
        span.end += shift;
      }
    };
    moved(timeline.work);
    moved(timeline.host);
    moved(timeline.ranges);
    for (TracedProduct& product : timeline.products) {
      product.begin += shift;
    }
    const auto by_begin = [](const auto& a, const auto& b) { return a.begin < b.begin; };
    std::stable_sort(timeline.work.begin(), timeline.work.end(), by_begin);
    std::stable_sort(timeline.ranges.begin(), timeline.ranges.end(), by_begin);
    std::stable_sort(timeline.products.begin(), timeline.products.end(), by_begin);
    std::stable_sort(timeline.host.begin(), timeline.host.end(), [](const HostSpan& a, const HostSpan& b) {
      return a.begin < b.begin || (a.begin == b.begin && a.end > b.end);
    });
    timeline.events = static_cast<std::int64_t>(timeline.work.size() + timeline.host.size() + timeline.ranges.size());
  }

  Timeline timeline;
  std::vector<TraceTime> step_ends;  ///< of the last work of each step

 private:
  double noisy(double seconds) { return seconds * std::exp(run_.host_noise * noise_.normal()); }

  void host_span(std::string_view name, TraceTime begin, TraceTime end, HostWork work, std::int64_t correlation = -1) {
    if (spans_ == HostSpans::kept) {
      timeline.host.push_back({begin, end, timeline.names.number(name), thread_, work, correlation});
    }
  }

  /// The last `count` spans of the host end later than they were told to.
  void host_spans_end(std::size_t count, TraceTime at) {
    if (spans_ == HostSpans::kept) {
      for (std::size_t i = timeline.host.size() - count; i < timeline.host.size(); ++i) {
        timeline.host[i].end = at;
      }
    }
  }

  /// When a stream is free for more; not_yet: nobody knows.
  TraceTime free(GpuStream stream) const {
    TraceTime at = 0;
    const auto wait = [&](std::size_t work) {
      if (work < timeline.work.size() && at != not_yet) {
        at = timeline.work[work].end == not_yet ? not_yet : std::max(at, timeline.work[work].end);
      }
    };
    const auto s = static_cast<std::size_t>(stream);
    wait(last_[s]);
    wait(behind_[s]);
    return at;
  }

  TraceTime all_free() const {
    TraceTime at = 0;
    for (std::size_t s = 0; s < last_.size(); ++s) {
      const TraceTime one = free(static_cast<GpuStream>(s));
      at = one == not_yet || at == not_yet ? not_yet : std::max(at, one);
    }
    return at;
  }

  std::size_t put(std::string_view name,
                  GpuStream stream,
                  DeviceWork work,
                  TraceTime begin,
                  TraceTime end,
                  std::int64_t correlation,
                  const HostStep& step) {
    const auto s = static_cast<std::size_t>(stream);
    timeline.work.push_back(
        {begin, end, timeline.names.number(name), 0, stream_numbers[s], work, correlation, step.blocks, step.bytes});
    last_[s] = timeline.work.size() - 1;
    behind_[s] = none;
    return last_[s];
  }

  /// The op and the call of a launch; when the call began.
  TraceTime send(std::string_view op, std::string_view call, const HostStep& step) {
    const std::size_t sent = timeline.work.size();
    const TraceTime begin = host_;
    const TraceTime launch = begin + ticks(noisy(run_.op_time.raw()));
    host_ = launch + ticks(noisy(run_.launch_time.raw()));
    if (sent >= launch_queue) {  // the call returns once there is room
      host_ = std::max(host_, timeline.work[sent - launch_queue].begin);
    }
    host_span(op, begin, host_ + 500, HostWork::op);
    host_span(call, launch, host_, HostWork::runtime, correlation_);
    if (step.m > 0.0 && spans_ == HostSpans::kept) {
      timeline.products.push_back({begin, thread_, step.wide, 1.0F, static_cast<float>(step.m),
                                   static_cast<float>(step.n), static_cast<float>(step.k)});
    }
    host_ += 500;
    return launch;
  }

  bool act(const HostStep& step, std::unordered_map<std::int64_t, Meeting>& meetings, std::vector<SimulatedRank>& all) {
    switch (step.act) {
      case HostAct::launch:
      case HostAct::copy: return run_on_gpu(step);
      case HostAct::collective: return send_message(step, meetings, all);
      case HostAct::busy: host_ += ticks(step.seconds); return true;
      case HostAct::named: {
        const TraceTime begin = host_;
        host_ += ticks(step.seconds);
        host_span(step.name, begin, host_, HostWork::annotation);
        return true;
      }
      case HostAct::read_back: return read_back(step);
      case HostAct::wait_all:
      case HostAct::give_memory: {
        const TraceTime free_at = all_free();
        if (free_at == not_yet) {
          return false;
        }
        const TraceTime begin = host_;
        host_ = std::max(host_, free_at) + ticks(step.seconds) + 2000;
        host_span(step.name, begin, host_, HostWork::runtime, correlation_++);
        return true;
      }
      case HostAct::get_memory: {
        const TraceTime begin = host_;
        host_ += ticks(step.seconds);
        host_span(step.name, begin, host_, HostWork::runtime, correlation_++);
        return true;
      }
      case HostAct::after_messages:
        behind_[static_cast<std::size_t>(GpuStream::compute)] = last_[static_cast<std::size_t>(GpuStream::messages)];
        return true;
      case HostAct::other_thread: thread_ = step.blocks > 0 ? 1 : 0; return true;
      case HostAct::begin_step:
        step_begin_ = host_;
        step_first_ = timeline.work.size();
        return true;
      case HostAct::end_step:
        if (free(GpuStream::compute) == not_yet) {
          return false;
        }
        end_step(host_);
        return true;
    }
    return true;
  }

  bool run_on_gpu(const HostStep& step) {
    const TraceTime free_at = free(step.stream);
    if (free_at == not_yet || waits_for_queue()) {
      return false;
    }
    const bool copy = step.act == HostAct::copy;
    const std::int64_t correlation = correlation_;
    const TraceTime launch = send(step.op, copy ? "cudaMemcpyAsync" : "cudaLaunchKernel", step);
    const TraceTime begin = std::max(launch + ticks(run_.reach.raw()), free_at);
    const TraceTime end = begin + ticks(step.seconds);
    put(step.name, step.stream, copy ? DeviceWork::copy : DeviceWork::compute, begin, end, correlation, step);
    ++correlation_;
    if (step.blocking) {
      host_ = std::max(host_, end + 1500);
      host_spans_end(2, host_);
      host_spans_end(1, host_ - 500);  // the call
    }
    return true;
  }

  [[nodiscard]] bool waits_for_queue() const {
    const std::size_t sent = timeline.work.size();
    return sent >= launch_queue && timeline.work[sent - launch_queue].begin == not_yet;
  }

  bool send_message(const HostStep& step,
                    std::unordered_map<std::int64_t, Meeting>& meetings,
                    std::vector<SimulatedRank>& all) {
    const TraceTime computing = free(GpuStream::compute);
    const TraceTime free_at = free(GpuStream::messages);
    if (computing == not_yet || free_at == not_yet || waits_for_queue()) {
      return false;
    }
    const std::int64_t correlation = correlation_;
    const TraceTime launch = send(step.op, "cudaLaunchKernelExC", step);
    ++correlation_;
    const TraceTime begin = std::max({launch + ticks(run_.reach.raw()), computing, free_at});
    if (step.group < 0) {
      put(step.name, step.stream, DeviceWork::communication, begin, begin + ticks(step.seconds), correlation, step);
      return true;
    }
    const std::size_t work = put(step.name, step.stream, DeviceWork::communication, begin, not_yet, correlation, step);
    Meeting& meeting = meetings[step.group];
    if (meeting.who.empty()) {
      meeting.name = step.name;
      meeting.bytes = step.bytes;
    }
    meeting.apart = meeting.apart || meeting.name != step.name || meeting.bytes != step.bytes;
    meeting.who.emplace_back(number_, work);
    meeting.last = std::max(meeting.last, begin);
    meeting.lasts = std::max(meeting.lasts, ticks(step.seconds));
    if (static_cast<std::int64_t>(meeting.who.size()) == step.members && !meeting.apart) {
      for (const auto& [rank, its] : meeting.who) {
        all[rank].timeline.work[its].end = meeting.last + meeting.lasts;
      }
      meetings.erase(step.group);
    }
    return true;
  }

  bool read_back(const HostStep& step) {
    const TraceTime free_at = free(GpuStream::compute);
    if (free_at == not_yet || waits_for_queue()) {
      return false;
    }
    const TraceTime begin = host_;
    host_span("aten::item", begin, begin, HostWork::op);
    const std::int64_t correlation = correlation_;
    const TraceTime launch = send("aten::_local_scalar_dense", "cudaMemcpyAsync", step);
    ++correlation_;
    HostStep copy = step;
    copy.bytes = 4.0;
    const TraceTime starts = std::max(launch + ticks(run_.reach.raw()), free_at);
    put("Memcpy DtoH (Device -> Pinned)", GpuStream::compute, DeviceWork::copy, starts, starts + 1500, correlation,
        copy);
    const TraceTime waits = host_;
    host_ = std::max(host_, starts + 1500) + 2500;
    host_spans_end(3, host_);
    host_spans_end(1, waits - 500);  // the call
    host_span("cudaStreamSynchronize", waits, host_, HostWork::runtime, correlation_++);
    return true;
  }

  void end_step(TraceTime at) {
    const std::string name = "ProfilerStep#" + std::to_string(step_++);
    const std::uint32_t thread = std::exchange(thread_, 0U);
    host_span(name, step_begin_, at, HostWork::annotation);
    thread_ = thread;
    TraceTime first = 0;
    TraceTime last = 0;
    for (std::size_t i = step_first_; i < timeline.work.size(); ++i) {
      const DeviceSpan& span = timeline.work[i];
      first = i == step_first_ ? span.begin : std::min(first, span.begin);
      last = std::max(last, span.end);
    }
    if (last > first) {
      timeline.ranges.push_back({first, last, timeline.names.number(name), 0});
      step_ends.push_back(last);
    }
  }

  static constexpr std::size_t none = ~std::size_t{0};

  RankProgram program_;
  std::span<const HostStep> acts_;  // of the step that runs
  const SyntheticRun& run_;
  std::size_t number_;
  RandomStream noise_;
  HostSpans spans_;
  std::size_t at_ = 0;
  TraceTime host_ = 1000;
  std::uint32_t thread_ = 0;
  std::int64_t correlation_ = 1, step_ = 0;
  TraceTime step_begin_ = 0;
  std::size_t step_first_ = 0;
  std::array<std::size_t, 3> last_{none, none, none}, behind_{none, none, none};
};

/// Ranks one after the other, each as far as it goes, until all are done or none moves.
std::vector<SimulatedRank> run_all(const SyntheticRun& run, HostSpans spans) {
  std::vector<SimulatedRank> ranks;
  ranks.reserve(static_cast<std::size_t>(run.ranks));
  for (std::int64_t i = 0; i < run.ranks; ++i) {
    ranks.emplace_back(run, static_cast<std::size_t>(i), spans);
  }
  std::unordered_map<std::int64_t, Meeting> meetings;
  bool moves = true;
  while (moves) {
    moves = false;
    for (SimulatedRank& rank : ranks) {
      moves = rank.advance(meetings, ranks) || moves;
    }
  }
  return ranks;
}

}  // namespace

std::vector<Timeline> simulate(const SyntheticRun& run, Seconds clocks) {
  std::vector<SimulatedRank> ranks = run_all(run, HostSpans::kept);
  TraceTime end = 0;
  for (const SimulatedRank& rank : ranks) {
    end = std::max(end, rank.host());
  }
  RandomStream skew{run.seed, 999};
  std::vector<Timeline> timelines;
  for (SimulatedRank& rank : ranks) {
    const auto shift = static_cast<TraceTime>(1e9 * clocks.raw() * (2.0 * skew.uniform() - 1.0));
    rank.finish(end + ticks(run.watchdog.raw()), clock_base + shift);
    timelines.push_back(std::move(rank.timeline));
  }
  return timelines;
}

Seconds mean_step(const SyntheticRun& run) {
  const std::vector<SimulatedRank> ranks = run_all(run, HostSpans::dropped);
  double sum = 0.0;
  std::int64_t steps = 0;
  for (const SimulatedRank& rank : ranks) {
    if (rank.step_ends.size() > 1) {
      sum += 1e-9 * real(rank.step_ends.back() - rank.step_ends.front());
      steps += static_cast<std::int64_t>(rank.step_ends.size()) - 1;
    }
  }
  return Seconds{steps > 0 ? sum / real(steps) : 0.0};
}

}  // namespace headroom
