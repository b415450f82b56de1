// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/synthetic/telemetry_files.hpp>
#include <headroom/core/real.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <string_view>

namespace headroom {
namespace {

/// Microseconds with nanoseconds behind the point.
std::string microseconds(TraceTime nanoseconds) {
  const bool negative = nanoseconds < 0;
  const TraceTime size = negative ? -nanoseconds : nanoseconds;
  std::string part = std::to_string(size % 1000);
  part.insert(0, 3 - part.size(), '0');
  return (negative ? "-" : "") + std::to_string(size / 1000) + "." + part;
}

std::string quoted_json(std::string_view text) {
  std::string all = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      all += '\\';
    }
    all += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return all + "\"";
}

std::string whole(double value) {
  return std::to_string(std::llround(std::min(value, 9e15)));
}

void add_event(std::string& text,
               std::string_view category,
               std::string_view name,
               const std::string& where,
               TraceTime begin,
               TraceTime end,
               const std::string& arguments) {
  text += "  {\"ph\": \"X\", \"cat\": \"";
  text += category;
  text += "\", \"name\": " + quoted_json(name) + ", " + where + ", \"ts\": " + microseconds(begin) +
          ", \"dur\": " + microseconds(end - begin) + ", \"args\": {" + arguments + "}},\n";
}

/// The name that the profiler gives a collective, of its kernel's.
std::string_view collective_of(std::string_view kernel) {
  const auto holds = [&](std::string_view word) { return kernel.find(word) != std::string_view::npos; };
  return holds("AllGather")       ? "_allgather_base"
         : holds("ReduceScatter") ? "_reduce_scatter_base"
         : holds("SendRecv")      ? "send"
                                  : "allreduce";
}

std::string device_arguments(const Timeline& timeline, const DeviceSpan& span) {
  std::string text = "\"device\": " + std::to_string(span.device) +
                     ", \"context\": 1, \"stream\": " + std::to_string(span.stream) +
                     ", \"correlation\": " + std::to_string(span.correlation);
  if (span.work == DeviceWork::communication) {
    constexpr double element = 2.0;  // bytes, of bf16
    text += ", \"Collective name\": \"" + std::string{collective_of(timeline.names.name(span.name))} +
            "\", \"dtype\": \"BFloat16\", \"In msg nelems\": " + whole(span.bytes / element) +
            ", \"Group size\": " + std::to_string(timeline.world_size.value_or(1));
  } else if (span.work == DeviceWork::compute) {
    text += ", \"grid\": [" + std::to_string(span.blocks) + ", 1, 1], \"block\": [128, 1, 1]";
  } else {
    text += ", \"bytes\": " + whole(span.bytes);
  }
  return text;
}

}  // namespace

std::string kineto_text(const Timeline& timeline, const std::string& said) {
  std::string text = "{\n\"schemaVersion\": 1,\n\"deviceProperties\": [";
  for (std::size_t i = 0; i < timeline.devices.size(); ++i) {
    const TracedDevice& device = timeline.devices[i];
    text += (i == 0 ? "" : ", ") + std::string{"{\"id\": "} + std::to_string(device.id) +
            ", \"name\": " + quoted_json(device.name) + ", \"totalGlobalMem\": " + whole(device.memory) +
            ", \"numSms\": " + std::to_string(device.units) + "}";
  }
  text += "],\n";
  if (timeline.rank) {
    text += "\"distributedInfo\": {\"backend\": \"nccl\", \"rank\": " + std::to_string(*timeline.rank) +
            ", \"world_size\": " + std::to_string(timeline.world_size.value_or(1)) + "},\n";
  }
  if (!said.empty()) {
    text += "\"headroom\": " + said + ",\n";
  }
  text += "\"displayTimeUnit\": \"ms\",\n\"traceEvents\": [\n";
  const auto device_track = [](std::int32_t device, std::int32_t stream) {
    return "\"pid\": " + std::to_string(device) + ", \"tid\": " + std::to_string(stream);
  };
  for (const DeviceRange& range : timeline.ranges) {
    add_event(text, "gpu_user_annotation", timeline.names.name(range.name), device_track(range.device, 7), range.begin,
              range.end, "");
  }
  for (const DeviceSpan& span : timeline.work) {
    constexpr std::string_view categories[] = {"kernel", "kernel", "gpu_memcpy", "gpu_memset"};
    add_event(text, categories[static_cast<std::size_t>(span.work)], timeline.names.name(span.name),
              device_track(span.device, span.stream), span.begin, span.end, device_arguments(timeline, span));
  }
  auto product = timeline.products.begin();
  for (const HostSpan& span : timeline.host) {
    const std::string& thread = timeline.threads[span.thread];
    const std::size_t slash = thread.find('/');
    const std::string where = "\"pid\": " + thread.substr(0, slash) + ", \"tid\": " + thread.substr(slash + 1);
    constexpr std::string_view categories[] = {"cuda_runtime", "cpu_op", "user_annotation", "python_function"};
    std::string arguments = span.correlation >= 0 ? "\"correlation\": " + std::to_string(span.correlation) : "";
    while (product != timeline.products.end() && product->begin < span.begin) {
      ++product;
    }
    if (span.work == HostWork::op && product != timeline.products.end() && product->begin == span.begin &&
        product->thread == span.thread) {
      const std::string k = whole(product->k);
      const std::string_view type = product->wide ? "float" : "c10::BFloat16";
      arguments += std::string{arguments.empty() ? "" : ", "} + "\"Input Dims\": [[" + whole(product->m) + ", " + k +
                   "], [" + k + ", " + whole(product->n) + "]], \"Input type\": [\"" + std::string{type} + "\", \"" +
                   std::string{type} + "\"]";
    }
    add_event(text, categories[static_cast<std::size_t>(span.work)], timeline.names.name(span.name), where, span.begin,
              span.end, arguments);
  }
  if (text.ends_with(",\n")) {
    text.resize(text.size() - 2);
  }
  return text + "\n]\n}\n";
}

}  // namespace headroom
