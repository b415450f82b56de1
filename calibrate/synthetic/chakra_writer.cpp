// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/diagnosis/trace_reading.hpp>
#include <headroom/calibrate/synthetic/telemetry_files.hpp>
#include <headroom/core/json_writer.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

namespace headroom {
namespace {

/// Numbers of CollectiveCommType.
std::int64_t collective_type(std::string_view kernel) {
  const auto holds = [&](std::string_view word) { return kernel.find(word) != std::string_view::npos; };
  return holds("AllGather") ? 2 : holds("ReduceScatter") ? 7 : holds("AllToAll") ? 6 : holds("Broadcast") ? 5 : 0;
}

void ids(JsonWriter& json, std::string_view key, const std::vector<std::int64_t>& values) {
  json.key(key);
  json.compact_next();
  json.begin_array();
  for (const std::int64_t value : values) {
    json.text(std::to_string(value));  // protobuf maps 64-bit numbers to texts
  }
  json.end_array();
}

void attribute(JsonWriter& json, std::string_view name, std::string_view kind, std::int64_t value) {
  json.compact_next();
  json.begin_object();
  json.member("name", name);
  json.key(kind);
  if (kind == "boolVal") {
    json.boolean(value != 0);
  } else {
    json.text(std::to_string(value));
  }
  json.end_object();
}

}  // namespace

std::string chakra_text(const Timeline& timeline) {
  const TracedRank rank = traced_rank(timeline);
  const RankGraph& graph = rank.graph;
  const TraceTime base = graph.steps.front().begin;
  const auto micro = [](TraceTime time) { return std::to_string(std::max<TraceTime>(0, time) / 1000); };
  const auto calls = static_cast<std::int64_t>(graph.calls.size());
  JsonWriter json;
  json.begin_object();
  json.key("metadata");
  json.begin_object();
  json.member("version", "0.0.4");
  json.key("attr");
  json.begin_array();
  json.end_array();
  json.end_object();
  json.key("nodes");
  json.begin_array();
  constexpr std::string_view kinds[] = {"launch", "synchronize", "memory", "copy"};
  for (std::int64_t i = 0; i < calls; ++i) {
    const GraphCall& call = graph.calls[static_cast<std::size_t>(i)];
    json.begin_object();
    json.member("id", std::to_string(i));
    json.member("name", kinds[static_cast<std::size_t>(call.kind)]);
    json.member("type", "COMP_NODE");
    ids(json, "ctrlDeps", i > 0 ? std::vector<std::int64_t>{i - 1} : std::vector<std::int64_t>{});
    ids(json, "dataDeps",
        call.waits >= 0 && call.kind != CallKind::copy ? std::vector<std::int64_t>{calls + call.waits}
                                                       : std::vector<std::int64_t>{});
    json.member("startTimeMicros", micro(call.begin - base));
    json.member("durationMicros", micro(call.end - call.begin));
    json.key("attr");
    json.begin_array();
    attribute(json, "is_cpu_op", "boolVal", 1);
    json.end_array();
    json.end_object();
  }
  for (std::size_t i = 0; i < graph.work.size(); ++i) {
    const GraphWork& work = graph.work[i];
    const std::string& name = graph.names[static_cast<std::size_t>(work.name)];
    const bool message = work.work == DeviceWork::communication;
    json.begin_object();
    json.member("id", std::to_string(calls + static_cast<std::int64_t>(i)));
    json.member("name", name);
    json.member("type", message ? "COMM_COLL_NODE" : work.work == DeviceWork::compute ? "COMP_NODE" : "MEM_LOAD_NODE");
    ids(json, "ctrlDeps", work.call >= 0 ? std::vector<std::int64_t>{work.call} : std::vector<std::int64_t>{});
    std::vector<std::int64_t> behind;
    for (const std::int32_t before : {work.behind, work.after}) {
      if (before >= 0) {
        behind.push_back(calls + before);
      }
    }
    ids(json, "dataDeps", behind);
    json.member("startTimeMicros", micro(work.begin - base));
    json.member("durationMicros", micro(work.lasts()));
    json.key("attr");
    json.begin_array();
    attribute(json, "is_cpu_op", "boolVal", 0);
    attribute(json, "stream", "int64Val", work.stream);
    if (message) {
      attribute(json, "comm_type", "int64Val", collective_type(name));
      attribute(json, "comm_size", "int64Val", std::llround(work.bytes));
    } else if (work.flop > 0.0) {
      attribute(json, "num_ops", "int64Val", std::llround(work.flop));
    }
    json.end_array();
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return json.take();
}

}  // namespace headroom
