// SPDX-License-Identifier: Apache-2.0
#include <headroom/calibrate/synthetic/telemetry_files.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace headroom {
namespace {

struct Quoted {
  std::string_view words;
};
/// A count that is kept as a real number, in whole ones.
struct Whole {
  double value;
};
/// With nanoseconds behind the point.
struct Microseconds {
  TraceTime nanoseconds;
};

/// Text of a trace, which is long: its numbers are written where they stand, without strings in between.
class TraceText {
 public:
  TraceText& operator<<(std::string_view part) {
    text_ += part;
    return *this;
  }

  TraceText& operator<<(std::integral auto number) {
    std::array<char, 24> digits;
    text_.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr);
    return *this;
  }

  TraceText& operator<<(Whole whole) { return *this << std::llround(std::min(whole.value, 9e15)); }

  TraceText& operator<<(Microseconds at) {
    const TraceTime size = at.nanoseconds < 0 ? -at.nanoseconds : at.nanoseconds;
    const auto digit = [&](TraceTime unit) { return static_cast<char>('0' + size / unit % 10); };
    const std::array<char, 4> part{'.', digit(100), digit(10), digit(1)};
    return *this << (at.nanoseconds < 0 ? "-" : "") << size / 1000 << std::string_view{part.data(), part.size()};
  }

  TraceText& operator<<(Quoted quoted) {
    text_ += '"';
    for (const char c : quoted.words) {
      if (c == '"' || c == '\\') {
        text_ += '\\';
      }
      text_ += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
    text_ += '"';
    return *this;
  }

  /// The text, whose last event is followed by no comma.
  std::string taken() {
    if (text_.ends_with(",\n")) {
      text_.resize(text_.size() - 2);
    }
    return std::move(text_);
  }

 private:
  std::string text_;
};

/// Begins an event up to its arguments; `end_event` ends it.
void begin_event(TraceText& text, std::string_view category, std::string_view name) {
  text << "  {\"ph\": \"X\", \"cat\": \"" << category << "\", \"name\": " << Quoted{name};
}

void begin_arguments(TraceText& text, TraceTime begin, TraceTime end) {
  text << ", \"ts\": " << Microseconds{begin} << ", \"dur\": " << Microseconds{end - begin} << ", \"args\": {";
}

void end_event(TraceText& text) {
  text << "}},\n";
}

/// The name that the profiler gives a collective, of its kernel's.
std::string_view collective_of(std::string_view kernel) {
  const auto holds = [&](std::string_view word) { return kernel.find(word) != std::string_view::npos; };
  return holds("AllGather")       ? "_allgather_base"
         : holds("ReduceScatter") ? "_reduce_scatter_base"
         : holds("SendRecv")      ? "send"
                                  : "allreduce";
}

void add_arguments(TraceText& text, const Timeline& timeline, const DeviceSpan& span) {
  text << "\"device\": " << span.device << ", \"context\": 1, \"stream\": " << span.stream
       << ", \"correlation\": " << span.correlation;
  if (span.work == DeviceWork::communication) {
    constexpr double element = 2.0;  // bytes, of bf16
    text << ", \"Collective name\": \"" << collective_of(timeline.names.name(span.name))
         << "\", \"dtype\": \"BFloat16\", \"In msg nelems\": " << Whole{span.bytes / element}
         << ", \"Group size\": " << timeline.world_size.value_or(1);
  } else if (span.work == DeviceWork::compute) {
    text << ", \"grid\": [" << span.blocks << ", 1, 1], \"block\": [128, 1, 1]";
  } else {
    text << ", \"bytes\": " << Whole{span.bytes};
  }
}

void add_dimensions(TraceText& text, const TracedProduct& product) {
  const std::string_view type = product.wide ? "float" : "c10::BFloat16";
  text << "\"Input Dims\": [[" << Whole{product.m} << ", " << Whole{product.k} << "], [" << Whole{product.k} << ", "
       << Whole{product.n} << "]], \"Input type\": [\"" << type << "\", \"" << type << "\"]";
}

}  // namespace

std::string kineto_text(const Timeline& timeline, const std::string& said) {
  TraceText text;
  text << "{\n\"schemaVersion\": 1,\n\"deviceProperties\": [";
  for (std::size_t i = 0; i < timeline.devices.size(); ++i) {
    const TracedDevice& device = timeline.devices[i];
    text << (i == 0 ? "" : ", ") << "{\"id\": " << device.id << ", \"name\": " << Quoted{device.name}
         << ", \"totalGlobalMem\": " << Whole{device.memory} << ", \"numSms\": " << device.units << "}";
  }
  text << "],\n";
  if (timeline.rank) {
    text << "\"distributedInfo\": {\"backend\": \"nccl\", \"rank\": " << *timeline.rank
         << ", \"world_size\": " << timeline.world_size.value_or(1) << "},\n";
  }
  if (!said.empty()) {
    text << "\"headroom\": " << said << ",\n";
  }
  text << "\"displayTimeUnit\": \"ms\",\n\"traceEvents\": [\n";
  const auto add_track = [&](std::int64_t device, std::int64_t stream) {
    text << ", \"pid\": " << device << ", \"tid\": " << stream;
  };
  for (const DeviceRange& range : timeline.ranges) {
    begin_event(text, "gpu_user_annotation", timeline.names.name(range.name));
    add_track(range.device, 7);
    begin_arguments(text, range.begin, range.end);
    end_event(text);
  }
  for (const DeviceSpan& span : timeline.work) {
    constexpr std::string_view categories[] = {"kernel", "kernel", "gpu_memcpy", "gpu_memset"};
    begin_event(text, categories[static_cast<std::size_t>(span.work)], timeline.names.name(span.name));
    add_track(span.device, span.stream);
    begin_arguments(text, span.begin, span.end);
    add_arguments(text, timeline, span);
    end_event(text);
  }
  auto product = timeline.products.begin();
  for (const HostSpan& span : timeline.host) {
    const std::string_view thread = timeline.threads[span.thread];
    const std::size_t slash = thread.find('/');
    constexpr std::string_view categories[] = {"cuda_runtime", "cpu_op", "user_annotation", "python_function"};
    begin_event(text, categories[static_cast<std::size_t>(span.work)], timeline.names.name(span.name));
    text << ", \"pid\": " << thread.substr(0, slash) << ", \"tid\": " << thread.substr(slash + 1);
    begin_arguments(text, span.begin, span.end);
    if (span.correlation >= 0) {
      text << "\"correlation\": " << span.correlation;
    }
    while (product != timeline.products.end() && product->begin < span.begin) {
      ++product;
    }
    if (span.work == HostWork::op && product != timeline.products.end() && product->begin == span.begin &&
        product->thread == span.thread) {
      text << (span.correlation >= 0 ? ", " : "");
      add_dimensions(text, *product);
    }
    end_event(text);
  }
  return text.taken() + "\n]\n}\n";
}

}  // namespace headroom
