// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/json_writer.hpp>
#include <headroom/model/serve/simulation/simulation_trace.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {
namespace {

using Slice = SimulationRecord::Slice;
using Span = SimulationRecord::Span;
using Waiting = SimulationRecord::Waiting;

constexpr std::array<std::string_view, 6> phase_names{"queue",  "prefill",  "transfer", "queue of decodes",
                                                      "decode", "preempted"};

/// Exact to the picosecond up to 75 minutes, beyond that to 16 digits.
double microseconds(Picoseconds time) {
  return static_cast<double>(time.count()) / 1e6;
}

class TraceWriter {
 public:
  TraceWriter(const SimulationRecord& record, const RequestLoad& load) : record_{record}, load_{load} {
    std::int64_t replicas = 0;
    for (const SimulationRecord::Engine& engine : record.engines()) {
      replicas += engine.lane == 0 ? 1 : 0;
      pids_.push_back(replicas - 1);
    }
    router_ = replicas;
  }

  std::string text() {
    json_.begin_object();
    json_.member("displayTimeUnit", "ms");
    left_out();
    json_.key("traceEvents");
    json_.begin_array();
    names();
    iterations();
    waiting();
    requests();
    json_.end_array();
    json_.end_object();
    return json_.take();
  }

 private:
  [[nodiscard]] std::int64_t pid_of(std::int32_t engine) const {
    return engine < 0 ? router_ : pids_[static_cast<std::size_t>(engine)];
  }

  void left_out() {
    json_.key("otherData");
    json_.begin_object();
    json_.member("iterations", record_.iterations());
    json_.member("iterations_left_out", record_.iterations_left_out());
    json_.member("requests", record_.recorded_requests());
    json_.member("requests_left_out", static_cast<std::int64_t>(load_.requests.size()) - record_.recorded_requests());
    json_.member("request_phases_left_out", record_.spans_left_out());
    json_.member("counts_of_waiting_left_out", record_.waiting_left_out());
    json_.end_object();
  }

  void metadata(std::string_view what, std::int64_t pid, std::int64_t tid, const std::string& name) {
    json_.compact_next();
    json_.begin_object();
    json_.member("name", what);
    json_.member("ph", "M");
    json_.member("pid", pid);
    json_.member("tid", tid);
    json_.key("args");
    json_.begin_object();
    json_.member("name", std::string_view{name});
    json_.end_object();
    json_.end_object();
  }

  void names() {
    const auto engines = record_.engines();
    const bool disaggregated = !engines.empty() && engines.front().prefill;
    for (std::size_t i = 0; i < engines.size(); ++i) {
      const SimulationRecord::Engine& engine = engines[i];
      if (engine.lane == 0) {
        const std::string_view kind = engine.prefill  ? "prefill replica "
                                      : disaggregated ? "decode replica "
                                                      : "replica ";
        metadata("process_name", pids_[i], 0, std::string{kind} + std::to_string(engine.replica));
      }
      metadata("thread_name", pids_[i], engine.lane, "iterations" + lane_text(engine));
    }
    metadata("process_name", router_, 0, "router");
  }

  /// ", lane 1" for engines of a pipeline, ", model 1" for those that share a replica.
  [[nodiscard]] std::string lane_text(const SimulationRecord::Engine& engine) const {
    const bool several = std::any_of(record_.engines().begin(), record_.engines().end(), [&](const auto& other) {
      return other.prefill == engine.prefill && other.lane > 0;
    });
    return several ? (engine.models ? ", model " : ", lane ") + std::to_string(engine.lane) : "";
  }

  /// Begins an event and leaves its JSON object open.
  void begin_event(std::string_view name, std::string_view phase, std::int64_t pid, std::int64_t tid, Picoseconds at) {
    json_.compact_next();
    json_.begin_object();
    json_.member("name", name);
    json_.member("ph", phase);
    json_.member("pid", pid);
    json_.member("tid", tid);
    json_.member("ts", microseconds(at));
  }

  void counter(const std::string& name,
               std::string_view unit,
               std::int64_t pid,
               std::int64_t tid,
               Picoseconds at,
               std::int64_t value) {
    begin_event(name, "C", pid, tid, at);
    json_.key("args");
    json_.begin_object();
    json_.member(unit, value);
    json_.end_object();
    json_.end_object();
  }

  void iterations() {
    std::vector<const Slice*> slices;
    for (const Slice& slice : record_.slices()) {
      slices.push_back(&slice);
    }
    std::stable_sort(slices.begin(), slices.end(),
                     [](const Slice* a, const Slice* b) { return a->engine < b->engine; });
    for (std::size_t i = 0; i < slices.size(); ++i) {
      const Slice& slice = *slices[i];
      const SimulationRecord::Engine& engine = record_.engines()[static_cast<std::size_t>(slice.engine)];
      write_slice(slice, engine.lane);
      const bool follows = i + 1 < slices.size() && slices[i + 1]->engine == slice.engine;
      write_counters(slice, engine, !follows || slices[i + 1]->begin > slice.end);
    }
  }

  void write_slice(const Slice& slice, std::int64_t lane) {
    std::string name = slice.chunks == 0 ? "decode" : slice.decodes == 0 ? "prefill" : "mixed";
    if (slice.iterations > 1) {
      name += " x " + std::to_string(slice.iterations);
    }
    begin_event(name, "X", pid_of(slice.engine), lane, slice.begin);
    json_.member("dur", microseconds(slice.end - slice.begin));
    json_.key("args");
    json_.begin_object();
    json_.member("iterations", slice.iterations);
    json_.member("sequences", slice.decodes + slice.chunks);
    json_.member("decodes", slice.decodes);
    json_.member("prompt_chunks", slice.chunks);
    json_.member("prompt_tokens", slice.prompt_tokens);
    json_.end_object();
    json_.end_object();
  }

  /// Blocks grow inside a stretch, so they are written at its start and at the start of its last iteration, which holds
  /// the most. What is freed at the end shows in the next slice, or as 0 where the engine rests.
  void write_counters(const Slice& slice, const SimulationRecord::Engine& engine, bool rests) {
    const std::int64_t pid = pid_of(slice.engine);
    const std::string lane = lane_text(engine);
    counter("batch" + lane, "sequences", pid, engine.lane, slice.begin, slice.decodes + slice.chunks);
    if (slice.iterations > 1) {
      counter("KV blocks in use" + lane, "blocks", pid, engine.lane, slice.begin, slice.blocks_before);
    }
    counter("KV blocks in use" + lane, "blocks", pid, engine.lane, slice.last, slice.blocks);
    if (rests) {
      counter("batch" + lane, "sequences", pid, engine.lane, slice.end, 0);
      counter("KV blocks in use" + lane, "blocks", pid, engine.lane, slice.end, 0);
    }
  }

  void waiting() {
    for (const Waiting& count : record_.waiting()) {
      if (count.engine >= 0) {
        const SimulationRecord::Engine& engine = record_.engines()[static_cast<std::size_t>(count.engine)];
        counter("waiting" + lane_text(engine), "requests", pid_of(count.engine), engine.lane, count.time, count.count);
      } else {
        const bool prompts = count.engine == SimulationRecord::shared_prefill_queue;
        counter(prompts ? "waiting for prefill" : "waiting", "requests", router_, 0, count.time, count.count);
      }
    }
  }

  /// The phases of one request in one process, one after another inside one event.
  void requests() {
    std::vector<const Span*> spans;
    for (const Span& span : record_.spans()) {
      spans.push_back(&span);
    }
    std::stable_sort(spans.begin(), spans.end(), [](const Span* a, const Span* b) { return a->request < b->request; });
    for (std::size_t first = 0; first < spans.size();) {
      std::size_t end = first + 1;
      while (end < spans.size() && spans[end]->request == spans[first]->request &&
             pid_of(spans[end]->engine) == pid_of(spans[first]->engine)) {
        ++end;
      }
      begin_async("request", 'b', *spans[first], spans[first]->begin);
      request_args(*spans[first]);
      for (std::size_t i = first; i < end; ++i) {
        const std::string_view name = phase_names[static_cast<std::size_t>(spans[i]->phase)];
        begin_async(name, 'b', *spans[i], spans[i]->begin);
        json_.end_object();
        begin_async(name, 'e', *spans[i], spans[i]->end);
        json_.end_object();
      }
      begin_async("request", 'e', *spans[first], spans[end - 1]->end);
      json_.end_object();
      first = end;
    }
  }

  /// The id is local to the process, so that visits of a request to two processes are two events.
  void begin_async(std::string_view name, char phase, const Span& span, Picoseconds at) {
    begin_event(name, std::string_view{&phase, 1}, pid_of(span.engine), 0, at);
    json_.member("cat", "request");
    json_.key("id2");
    json_.begin_object();
    json_.member("local", std::string_view{std::to_string(span.request)});
    json_.end_object();
  }

  void request_args(const Span& span) {
    const Request& request = load_.requests[span.request];
    json_.key("args");
    json_.begin_object();
    json_.member("request", static_cast<std::int64_t>(span.request));
    json_.member("prompt_tokens", request.prompt_tokens);
    json_.member("output_tokens", request.output_tokens);
    json_.member("cached_tokens", request.cached_tokens);
    json_.member("service_class", request.service_class);
    json_.end_object();
    json_.end_object();
  }

  const SimulationRecord& record_;
  const RequestLoad& load_;
  std::vector<std::int64_t> pids_;  ///< process id of each engine
  std::int64_t router_ = 0;
  JsonWriter json_;
};

}  // namespace

std::string simulation_trace(const SimulationRecord& record, const RequestLoad& load) {
  return TraceWriter{record, load}.text();
}

}  // namespace headroom
