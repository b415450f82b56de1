// SPDX-License-Identifier: Apache-2.0
#include <headroom/core/json_writer.hpp>
#include <headroom/model/train/schedules/schedule_model.hpp>
#include <headroom/model/train/schedules/schedule_trace.hpp>

#include <array>
#include <string_view>

namespace headroom {
namespace {

struct Track {
  std::int32_t tid = 0;
  std::string_view name;
};
constexpr Track compute_track{0, "compute"};
constexpr Track forward_track{1, "send activations"};
constexpr Track backward_track{2, "send gradients"};
constexpr std::array tracks{compute_track, forward_track, backward_track};

struct Letter {
  std::string_view name, category;
};
constexpr std::array<Letter, 5> letters{
    {{"F", "forward"}, {"B", "backward"}, {"I", "backward input"}, {"W", "backward weight"}, {"FB", "overlapped"}}};

double microseconds(Seconds time) {
  return time.raw() * 1e6;
}

void metadata(JsonWriter& json, std::string_view what, std::int32_t pid, std::int32_t tid, std::string_view name) {
  json.compact_next();
  json.begin_object();
  json.member("name", what);
  json.member("ph", "M");
  json.member("pid", pid);
  json.member("tid", tid);
  json.key("args");
  json.begin_object();
  json.member("name", name);
  json.end_object();
  json.end_object();
}

/// A run of the schedule, after others: when it starts, and the step's micro-batches before it.
struct Flush {
  Seconds start{};
  std::int32_t micro_batches = 0;
};

/// Leaves the object open for its args.
void begin_event(JsonWriter& json,
                 const std::string& name,
                 std::string_view category,
                 std::int32_t pid,
                 const Track& track,
                 Seconds start,
                 Seconds end,
                 const Flush& flush) {
  json.compact_next();
  json.begin_object();
  json.member("name", std::string_view{name});
  json.member("cat", category);
  json.member("ph", "X");
  json.member("ts", microseconds(flush.start + start));
  json.member("dur", microseconds(end - start));
  json.member("pid", pid);
  json.member("tid", track.tid);
  json.key("args");
  json.begin_object();
}

void end_event(JsonWriter& json) {
  json.end_object();
  json.end_object();
}

void write_pass(
    JsonWriter& json, const PipelineShape& shape, const Flush& flush, std::int32_t stage, const TimedPass& timed) {
  const Pass& pass = timed.pass;
  const Letter& letter = letters[static_cast<std::size_t>(pass.kind)];
  const std::int32_t chunk = chunk_of(shape, pass.position, pass.micro_batch);
  std::string name = std::string{letter.name} + " " + std::to_string(flush.micro_batches + pass.micro_batch);
  if (pass.kind == PassKind::pair) {
    name += "+" + std::to_string(flush.micro_batches + pass.backward_micro_batch);
  } else if (shape.chunks > 1) {
    name += "." + std::to_string(chunk);
  }
  begin_event(json, name, letter.category, stage, compute_track, timed.start, timed.end, flush);
  json.member("micro_batch", flush.micro_batches + pass.micro_batch);
  if (pass.kind == PassKind::pair) {
    json.member("backward_micro_batch", flush.micro_batches + pass.backward_micro_batch);
  }
  const bool two_way = model_of(shape.schedule).placement == StagePlacement::two_way;
  json.member(two_way ? "direction" : "chunk", chunk);
  end_event(json);
}

void write_send(
    JsonWriter& json, const PipelineShape& shape, const Flush& flush, std::int32_t stage, const TimedSend& send) {
  const std::int32_t to = stage_of(shape, send.position + (send.forward ? 1 : -1), send.micro_batch);
  const std::int32_t micro_batch = flush.micro_batches + send.micro_batch;
  const std::string name =
      (send.forward ? "F " : "B ") + std::to_string(micro_batch) + " to stage " + std::to_string(to);
  begin_event(json, name, "send", stage, send.forward ? forward_track : backward_track, send.start, send.end, flush);
  json.member("micro_batch", micro_batch);
  json.member("to_stage", to);
  end_event(json);
}

}  // namespace

std::string schedule_trace(const PipelineShape& shape, const SimulatedStep& step, std::int32_t flushes) {
  JsonWriter json;
  json.begin_object();
  json.member("displayTimeUnit", "ms");
  json.key("traceEvents");
  json.begin_array();
  for (std::int32_t stage = 0; stage < shape.stages; ++stage) {
    const SimulatedStage& simulated = step.stages[static_cast<std::size_t>(stage)];
    metadata(json, "process_name", stage, 0, "stage " + std::to_string(stage));
    for (const Track& track : tracks) {
      metadata(json, "thread_name", stage, track.tid, track.name);
    }
    for (std::int32_t k = 0; k < flushes; ++k) {
      const Flush flush{static_cast<double>(k) * step.total, k * shape.micro_batches};
      for (const TimedPass& pass : simulated.passes) {
        write_pass(json, shape, flush, stage, pass);
      }
      for (const TimedSend& send : simulated.sends) {
        write_send(json, shape, flush, stage, send);
      }
    }
  }
  return json.finish();
}

}  // namespace headroom
